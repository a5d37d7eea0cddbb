"""The procedures by hand: what a judge is shown, and what his reply comes to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from kgeval.comparison.judge.grades import (
    BIASED,
    KNOWN,
    ZENG,
    Aspect,
    biased_aspects,
    chosen_aspects,
    grade_texts,
    load_grades,
    read_grades,
)
from kgeval.comparison.judge.procedures import JudgeCase, JudgeReply, judge_procedure
from kgeval.comparison.judge.replies import Content, chosen, forced, graded, graded_pairs, statements
from kgeval.errors import InputError, UsageError
from kgeval.llm.asker import Later
from kgeval.llm.calls import Failure, Outcome, Task
from kgeval.llm.prompts import Prompt, load_prompt, render
from kgeval.llm.replies import UnusableError, read_reply
from kgeval.llm.schemas import shape_of
from kgeval.records import Procedure

PROCEDURES: tuple[Procedure, ...] = ("scores", "single", "pairwise-choice", "differential", "biased")
CASE = JudgeCase("Who built it?", "Ada did.", "Nobody knows.")


class Told:
    """An asker that gives one reply after the other, as JSON texts a model could send, and keeps what it was asked."""

    def __init__(self, *replies: Any, dry: bool = False) -> None:
        self.replies, self.dry, self.tasks, self.put_off = list(replies), dry, list[Task[Any]](), list[Later]()

    def prompt(self, name: str) -> Prompt:
        return load_prompt(name)

    def ask(self, task: Task[Any]) -> Outcome[Any]:
        render(task.prompt, task.slots, {})
        self.tasks.append(task)
        said = self.replies.pop(0)
        if isinstance(said, Failure):
            return Outcome(task.id, None, said)
        return Outcome(task.id, read_reply(json.dumps(said), task.reply), calls=(f"key{len(self.tasks)}",))

    def later(self, call: Later) -> None:
        self.put_off.append(call)


def points(first: int, second: int, **other: tuple[int, int]) -> dict[str, Any]:
    """A reply of `scores`: these points in every aspect, or others."""
    given = {name: other.get(name, (first, second)) for name in ZENG}
    sides = (("first", 0), ("second", 1))
    return {name: {side: {"reason": f"{side[0]} {name}", "score": both[at]} for side, at in sides} for name, both in given.items()}


def choices(winner: str, names: tuple[str, ...] = ZENG) -> dict[str, Any]:
    return {name: {"reason": f"r {name}", "winner": winner} for name in names}


def judged(procedure: Procedure, *replies: Any, case: JudgeCase = CASE) -> tuple[JudgeReply, Told]:
    asker = Told(*replies)
    return judge_procedure(procedure, chosen_aspects(())).judge(asker, case), asker


def test_there_are_six_aspects_with_six_grades_each_in_three_wordings_and_no_two_are_alike() -> None:
    every = [grades for aspect in load_grades().values() for grades in (aspect.grades, *(given for _, given in aspect.wordings))]
    texts = [text for grades in every for text in grades]
    assert tuple(load_grades()) == (*KNOWN, *ZENG) and len(texts) == len(set(texts)) == 6 * 6 * 3
    assert {judge_procedure("scores", chosen_aspects(names)).wordings for names in (ZENG, KNOWN)} == {3}
    assert {name: len(grades) for name, grades in grade_texts(chosen_aspects(())).items()} == dict.fromkeys(ZENG, 6)


@pytest.mark.parametrize("procedure", ["scores", "single"])
def test_the_judge_reads_the_grades_word_for_word(procedure: Procedure) -> None:
    way = judge_procedure(procedure, chosen_aspects(()))
    shown = {part["aspect"]: part for part in way.shown()}  # type: ignore[union-attr, index, call-overload]
    assert {name: list(part["grades"].values()) for name, part in shown.items()} == grade_texts(way.aspects)  # type: ignore[index, union-attr, call-overload]
    assert [list(part["grades"]) for part in shown.values()] == [["0", "1", "2", "3", "4", "5"]] * 4  # type: ignore[index, call-overload]


def test_points_of_the_first_answer_are_those_of_a_or_of_b_as_the_case_says() -> None:
    said, asker = judged("scores", points(5, 2))
    assert said.points == dict.fromkeys(ZENG, (5.0, 2.0)) and said.reasons["relevance"] == ("f relevance", "s relevance")
    assert (asker.tasks[0].slots["first"], asker.tasks[0].slots["second"]) == ("Ada did.", "Nobody knows.")
    turned, asker = judged("scores", points(5, 2), case=JudgeCase("Who built it?", "Ada did.", "Nobody knows.", a_first=False))
    assert turned.points == dict.fromkeys(ZENG, (2.0, 5.0)) and turned.reasons["relevance"] == ("s relevance", "f relevance")
    assert (asker.tasks[0].slots["first"], asker.tasks[0].slots["second"]) == ("Nobody knows.", "Ada did.")


def test_single_shows_each_answer_alone() -> None:
    reply = {name: {"reason": "r", "score": 3} for name in ZENG}
    said, asker = judged("single", reply, {**reply, "relevance": {"reason": "less", "score": 1}})
    assert said.points["relevance"] == (3.0, 1.0) and said.points["directness"] == (3.0, 3.0) and said.call == "key1+key2"
    assert [set(task.slots) for task in asker.tasks] == [{"question", "aspects", "answer"}] * 2
    assert "Nobody" not in json.dumps(asker.tasks[0].slots) and "Ada" not in json.dumps(asker.tasks[1].slots)


def test_a_choice_is_one_point_and_a_tie_half_a_point_each() -> None:
    reply = {**choices("first"), "relevance": {"reason": "r", "winner": "Tie"}, "directness": {"reason": "r", "winner": "second"}}
    said, _ = judged("pairwise-choice", reply)
    assert said.points == {"comprehensiveness": (1, 0), "relevance": (0.5, 0.5), "empowerment": (1, 0), "directness": (0, 1)}


def test_differential_judges_only_what_one_answer_alone_says() -> None:
    content = {"common": ["it was built"], "only_first": ["by Ada"], "only_second": []}
    said, asker = judged("differential", content, choices("first"))
    assert said.points == dict.fromkeys(ZENG, (1.0, 0.0)) and said.call == "key1+key2"
    second = asker.tasks[1].slots
    assert (second["common"], second["only_first"], second["only_second"]) == (["it was built"], ["by Ada"], [])
    assert "first" not in second, "the answers themselves are not shown again"


def test_differential_is_a_tie_without_a_second_call_where_neither_says_anything_of_its_own() -> None:
    said, asker = judged("differential", {"common": ["it was built"], "only_first": [" "], "only_second": []})
    assert said.points == dict.fromkeys(ZENG, (0.5, 0.5)) and len(asker.tasks) == 1


def test_the_biased_baseline_has_its_own_aspects_no_ties_and_an_overall_winner_of_the_models_choice() -> None:
    reply = {name: {"explanation": "e", "winner": "first"} for name in BIASED} | {"overall": {"explanation": "e", "winner": "second"}}
    said, _ = judged("biased", reply)
    way = judge_procedure("biased", chosen_aspects(("relevance",)))
    assert way.aspect_names == (*BIASED, "overall") and way.positions == 1 and not way.aligned
    assert said.points == {**dict.fromkeys(BIASED, (1.0, 0.0)), "overall": (0.0, 1.0)}
    with pytest.raises(UnusableError):
        judged("biased", {**reply, "overall": {"explanation": "e", "winner": "tie"}})


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_a_failed_call_is_its_cause_and_no_score(procedure: Procedure) -> None:
    said, _ = judged(procedure, Failure("timeout", "after 2 s"), Failure("timeout", "after 2 s"))
    assert (said.points, said.failure) == ({}, "timeout: after 2 s")


@pytest.mark.parametrize("procedure", ["scores", "single", "pairwise-choice", "differential"])
def test_a_judge_who_is_informed_is_shown_what_is_known_and_else_asked_as_the_paper_does(procedure: Procedure) -> None:
    known = {"right_answers": ["Ada"], "evidence": ["Ada built the mill."]}
    case = JudgeCase("Who built it?", "Ada did.", "Nobody knows.", known=known, wording=2)
    reply = {name: {"reason": "r", "winner": "first"} if "choice" in procedure or procedure == "differential" else (
        {"reason": "r", "score": 3} if procedure == "single" else {side: {"reason": "r", "score": 3} for side in ("first", "second")}
    ) for name in KNOWN}
    content = [{"common": [], "only_first": ["a"], "only_second": []}] if procedure == "differential" else []
    asker = Told(*content, reply, *([reply] if procedure == "single" else []))
    judge_procedure(procedure, chosen_aspects(KNOWN), informed=True).judge(asker, case)
    last = asker.tasks[-1]
    assert last.prompt.name.endswith("-known") and last.slots["known"] == known
    wording = load_grades()["correctness"].wordings[1]
    assert last.slots["aspects"][0]["asks"] == wording[0]  # type: ignore[index, call-overload]
    plain = judge_procedure(procedure, chosen_aspects(("zeng",)))
    assert plain.aspect_names == ZENG and not any(name.endswith("-known") for name in plain.prompts)


def test_the_biased_baseline_is_shown_nothing() -> None:
    assert not judge_procedure("biased", chosen_aspects(()), informed=True).informed


def test_an_error_has_fewer_points_than_an_honest_refusal_and_a_rightful_refusal_all() -> None:
    grades = load_grades()["correctness"].grades
    assert "wrong" in grades[0] and "wrong" in grades[1] and "declines" in grades[2] and "cannot be answered" in grades[5]


@pytest.mark.parametrize("score", [6, -1, 4.5, "4.5", "4/5", "five", True, None, [4], 1e400], ids=repr)
def test_a_score_that_is_no_whole_point_from_0_to_5_makes_the_reply_unusable(score: Any) -> None:
    reply = points(3, 3)
    reply["relevance"]["second"]["score"] = score
    with pytest.raises(UnusableError):
        read_reply(json.dumps(reply), graded_pairs(ZENG))


@pytest.mark.parametrize(("score", "value"), [(4, 4), ("4", 4), (4.0, 4), (" 0 ", 0)])
def test_a_whole_number_is_read_however_it_is_written(score: Any, value: int) -> None:
    read = read_reply(json.dumps({"relevance": {"reason": "r", "score": score}}), graded(("relevance",)))
    assert read.relevance.score == value  # type: ignore[attr-defined]


LACKING = (("relevance",), ("relevance", "first"), ("relevance", "first", "reason"), ("relevance", "second", "score"))


@pytest.mark.parametrize("lacking", LACKING)
def test_a_reply_that_lacks_an_aspect_a_side_a_reason_or_a_score_is_no_reply(lacking: tuple[str, ...]) -> None:
    reply = points(3, 3)
    *way, last = lacking
    part = reply
    for step in way:
        part = part[step]
    del part[last]
    with pytest.raises(UnusableError):
        read_reply(json.dumps(reply), graded_pairs(ZENG))


def test_an_empty_reason_is_no_reason() -> None:
    with pytest.raises(ValidationError):
        chosen(("relevance",)).model_validate({"relevance": {"reason": " \n", "winner": "tie"}})


def test_the_reason_stands_before_the_verdict_in_every_schema() -> None:
    for reply in (graded_pairs(ZENG), graded(ZENG), chosen(ZENG), forced((*BIASED, "overall"))):
        parts = shape_of(reply).schema["$defs"].values()
        told = [list(part["properties"]) for part in parts if "first" not in part["properties"]]
        assert told and all(names[0] in ("reason", "explanation") and names[1] in ("score", "winner") for names in told)
        assert shape_of(reply).strict


def test_trial_and_repeat_make_one_number_that_never_depends_on_how_many_there_are() -> None:
    numbers = [JudgeCase("q", "a", "b", trial, repeat).number for trial in range(1, 40) for repeat in range(1, 40)]
    assert len(set(numbers)) == len(numbers) and numbers[:3] == [0, 1, 2]
    assert JudgeCase("q", "a", "b", 2, 1).number == 1000
    assert {JudgeCase("q", "a", "b", trial, 2, sampled=False).number for trial in (1, 2)} == {0}, "without draws it is one request"


def test_in_a_dry_run_the_second_step_of_differential_is_put_off_and_not_certain() -> None:
    asker = Told(Failure("cancelled"), dry=True)
    assert judge_procedure("differential", chosen_aspects(())).judge(asker, CASE).failure == "cancelled"
    assert [(call.stage, call.certain) for call in asker.put_off] == [("compare-unique", False)]


def test_statements_are_counted_once_and_empty_ones_not_at_all() -> None:
    assert statements(["a", " a ", "", "b"]) == ["a", "b"]
    assert len(statements([str(n) for n in range(500)])) == 100
    assert Content(common=[], only_first=[], only_second=[]).common == []


def test_unknown_aspects_are_refused_with_the_nearest_one() -> None:
    assert [one.name for one in chosen_aspects(("directness", "relevance"))] == ["relevance", "directness"]
    with pytest.raises(UsageError, match="did you mean relevance"):
        chosen_aspects(("relevence",))
    with pytest.raises(UsageError, match="needs written grades"):
        judge_procedure("scores", biased_aspects())
    assert judge_procedure("pairwise-choice", biased_aspects()).aspect_names == BIASED


def test_aspects_of_ones_own_are_read_and_all_faults_come_at_once(tmp_path: Path) -> None:
    good = tmp_path / "good.toml"
    good.write_text('[safety]\nasks = "Is it safe?"\ngrades = ["a", "b", "c", "d", "e", "f"]\n')
    assert read_grades(good) == {"safety": Aspect("safety", "Is it safe?", ("a", "b", "c", "d", "e", "f"))}
    more = good.read_text() + '[[safety.wordings]]\nasks = "Safe?"\ngrades = ["u", "v", "w", "x", "y", "z"]\n'
    good.write_text(more)
    assert read_grades(good)["safety"].wordings == (("Safe?", ("u", "v", "w", "x", "y", "z")),)
    good.write_text(more.replace('"z"', '7') + 'points = 3\n')
    with pytest.raises(InputError, match="no table of aspects"):
        read_grades(good)
    bad = tmp_path / "bad.toml"
    bad.write_text('[overall]\nasks = ""\ngrades = ["a"]\nmore = 1\n[copy]\nasks = "x"\ngrades = [1, 2, 3, 4, 5, 6]\n')
    with pytest.raises(InputError) as caught:
        read_grades(bad)
    assert len(caught.value.faults) == 6
    bad.write_text("[safety\n")
    with pytest.raises(InputError, match="TOML"):
        read_grades(bad)


def test_the_page_of_the_grades_has_them_word_for_word() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "judge-procedures.md").read_text(encoding="utf-8")
    for aspect in load_grades().values():
        assert f"**{aspect.name}**: {aspect.asks}" in page
        assert all(f"| {points} | {text} |" in page for points, text in enumerate(aspect.grades))
