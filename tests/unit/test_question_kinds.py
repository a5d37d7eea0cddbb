"""The table of kinds, what --kind means, and how questions that repeat one before are found."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kgeval.cli.main import run
from kgeval.errors import UsageError
from kgeval.llm.calls import Reply
from kgeval.llm.prompts import load_prompt, prompt_names
from kgeval.questions.duplicates import QuestionFingerprint, Twins, fingerprint_of, text_fingerprint
from kgeval.questions.kinds import MakingOptions, all_kinds, groups, orders_of
from kgeval.records import Question


def test_every_kind_is_told_in_full_and_its_prompts_exist() -> None:
    known = prompt_names()
    for name, kind in all_kinds().items():
        assert name == kind.name and kind.about and kind.source and kind.group and kind.level
        assert ("model" in kind.needs) == (kind.first is not None)
        assert {call for call in (kind.first, *(later.prompt for later in kind.later)) if call} <= set(known)
        assert "model" not in kind.needs_of(MakingOptions(0, template=True)) or not kind.template
    assert {"node", "edge", "subgraph"} == {kind.name for kind in groups()["levels"]}


def test_a_group_is_all_its_kinds_and_a_number_is_for_each() -> None:
    orders = orders_of(["levels=3", "summary"], 50)
    assert [(order.kind.name, order.n) for order in orders] == [("node", 3), ("edge", 3), ("subgraph", 3), ("summary", 50)]


def test_all_faults_of_kind_are_named_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        orders_of(["nod", "edge=0", "edge=x", "levels", "node"], 5)
    message = str(caught.value)
    for part in ("'nod' is no kind", "did you mean node", "'edge=0'", "'edge=x'", "'node' is named twice", "kgeval questions kinds"):
        assert part in message


def test_the_list_of_kinds_has_needs_calls_and_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["questions", "kinds"]) == 0
    text = capsys.readouterr().out
    assert "subgraph" in text and "sum-up-passages, ask-subgraph" in text and "Zeng et al. 3" in text
    assert run(["questions", "kinds", "-f", "json"]) == 0
    listed = {row["kind"]: row for row in json.loads(capsys.readouterr().out)}
    assert set(listed) == set(all_kinds()) and listed["node"]["needs"] == ["a model"] and listed["subgraph"]["needs"][-1] == "GDS"


class Wheel:
    """An embedder by hand: a question's vector is an angle, the number of its letters x in degrees. `asked`: what was embedded."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> Any:
        import numpy as np

        self.asked += texts
        angles = np.radians([float(text.count("x")) for text in texts])
        return np.column_stack([np.cos(angles), np.sin(angles)]).astype(np.float32)


def at(text: str, degrees: int) -> QuestionFingerprint:
    return text_fingerprint(text + "x" * degrees)


def test_repeats_are_found_by_words_and_by_angle_and_the_first_is_kept() -> None:
    twins = Twins(Wheel(), 0.9, earlier=[at("old ", 180)])  # cosine 0.9 is 25.8 degrees
    found = twins.sift([at("a", 0), at(" a ", 0), at("A:", 0), at("b", 0), at("c", 60), at("d", 60), at("older ", 180)])
    assert found == [None, "exact", "normalised", "embedding", None, "embedding", "embedding"]
    assert twins.sift([at("a", 0), at("e", 60), at("f", 120)]) == ["exact", "embedding", None]


def test_near_questions_about_other_names_or_numbers_or_with_other_answers_are_all_kept() -> None:
    def ask(text: str, answer: str | None = None) -> QuestionFingerprint:
        return fingerprint_of(Question(id="q", question=text, reference=answer))

    twins, same = Twins(lambda texts: Wheel()([""] * len(texts))), "embedding"
    assert twins.sift([ask("What happened in 1914?"), ask("What came in 1915?"), ask("What was there in 1914?")]) == [None, None, same]
    assert twins.sift([ask("Who built it for Ada?"), ask("Who built it for Bo?"), ask("Who made it for Ada?")]) == [None, None, same]
    given = [ask("what lies north?", "Ostrand"), ask("what lies south?", "Velmouth"), ask("what is north?", "ostrand"), ask("what is it?")]
    assert twins.sift(given) == [None, None, same, same]


def test_without_an_embedder_or_for_templates_only_words_are_compared() -> None:
    wheel = Wheel()
    assert Twins(wheel).sift([at("a", 0), at("b", 0)], embed=False) == [None, None] and not wheel.asked
    assert Twins().sift([at("a", 0), at("b", 0), at("B", 0)]) == [None, None, "normalised"]


def test_a_question_that_has_no_other_with_its_names_is_not_embedded_until_one_comes() -> None:
    wheel = Wheel()
    twins = Twins(wheel, earlier=[text_fingerprint("Where is Ada?")])
    assert twins.sift([text_fingerprint("Where is Bo?"), text_fingerprint("Where is Cy?")]) == [None, None] and not wheel.asked
    assert twins.sift([text_fingerprint("Where lives Bo?")]) == ["embedding"] and wheel.asked == ["Where is Bo?", "Where lives Bo?"]
    assert twins.sift([text_fingerprint("Where sleeps Bo?")]) == ["embedding"] and wheel.asked[2:] == ["Where sleeps Bo?"]


def test_many_questions_are_compared_with_all_before_them() -> None:
    twins = Twins(Wheel(), 0.9999)  # a degree apart: cosine 0.99985
    assert twins.sift([at("", degrees) for degrees in range(1, 101)]) == [None] * 100
    assert twins.sift([at("y", 70), at("y", 101), at("z", 101)]) == ["embedding", None, "embedding"]


def test_a_question_file_is_needed_where_people_confirm(tmp_path: Path) -> None:
    assert run(["questions", "confirm", str(tmp_path / "none.jsonl")]) == 2


FIRST = {kind.first for kind in all_kinds().values() if kind.first}
MAKING = FIRST - {"sum-up-passages", "sum-up-document"} | {"ask-subgraph", "ask-summary"}


@pytest.mark.parametrize("name", sorted(MAKING))
def test_every_prompt_that_makes_questions_says_how_to_decline(name: str) -> None:
    system = " ".join(load_prompt(name).system.split())
    assert "decline: leave" in system and system.index("decline: leave") > system.index("change nothing")


def test_a_declined_reply_is_counted_and_no_question_whatever_else_stands_in_it() -> None:
    """Whatever the reply form, an empty question ends it before its numbers are looked up."""
    from kgeval.llm.calls import Outcome, Task
    from kgeval.questions.kinds import MakingContext, RejectedError
    from kgeval.records import Structure

    class Form(Reply):
        question: str
        passage: int = 99

    class Declines:
        dry = False

        def prompt(self, name: str) -> Any:
            return load_prompt(name)

        def ask(self, task: Task[Any]) -> Outcome[Any]:
            return Outcome(task.id, Form(question=" \n"))

        def later(self, call: object) -> None:
            raise AssertionError(call)

    desk = MakingContext(Structure(kind="node", number=0, seed=0, nodes=[]), MakingOptions(0), Declines())
    with pytest.raises(RejectedError) as caught:
        desk.ask("kasiak-single", {}, Form)
    assert caught.value.cause == "declined"
