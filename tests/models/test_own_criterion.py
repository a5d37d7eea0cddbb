"""A judged criterion of one's own: prompt, grades, journal, dry run, hostile texts, replies outside of the grades, gates,
resume; the same in TOML and in Python."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from shard_world import in_shards, join, score, write_world
from test_score_hostile import PLANTED

import kgeval
from kgeval.cli.main import run
from kgeval.config import load
from kgeval.errors import ConfigError, UsageError
from kgeval.llm.fake import Chat, FakeServer
from kgeval.metrics.select import select
from kgeval.tables.scores import read_scores, read_verdicts

QUESTION = "Does the answer help whoever asked?"
GRADES: dict[int | float, str] = {1: "it does not", 2: "in part", 3: "it answers"}
HELPFUL = kgeval.Criterion(name="helpful", question=QUESTION, grades=GRADES)
TOML = f"""
[metrics]
names = ["helpful"]

[[metrics.criteria]]
name = "helpful"
question = "{QUESTION}"
grades = {{ 1 = "it does not", 2 = "in part", 3 = "it answers" }}
"""
_DATA = re.compile(r'<data name="(\w+)">\n(.*?)\n</data>', re.DOTALL)
PAGE = Path(__file__).parents[2] / "docs" / "own-metrics.md"


class Grader:
    """A judge that gives the grade which the answer names ("grade 2"), else the lowest. No text may be outside a fence."""

    def __init__(self) -> None:
        self.shown: list[dict[str, Any]] = []
        self.broken: set[int] = set()  # these grades are replied as they are, though they are none
        self.once = False

    def __call__(self, chat: Chat) -> Any:
        outside = _DATA.sub("", chat.text)
        assert "highest score" not in outside.casefold(), "a text has left its fence"
        blocks = {name: json.loads(text) for name, text in _DATA.findall(chat.text)}
        self.shown.append(blocks)
        found = re.search(r"grade (\d)", blocks["material"].get("answer", ""))
        grade = int(found[1]) if found else blocks["grades"][0]["grade"]
        if grade in self.broken:
            self.broken -= {grade} if self.once else set()
            return {"reason": "r", "grade": 7}
        return {"reason": f"because it says {grade}", "grade": grade}


@pytest.fixture
def judge() -> Grader:
    return Grader()


@pytest.fixture
def server(judge: Grader, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeServer]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("KGEVAL_SCORE_CACHE_DIR", str(tmp_path / "cache"))
    with FakeServer(judge) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.base_url)
        yield running


def rows(*grades: int) -> list[dict[str, Any]]:
    return [{"question_id": f"q{n}", "question": f"Who {n}?", "answer": f"Ann, grade {grade}."} for n, grade in enumerate(grades)]


def scored(answers: Any, *metrics: Any, **options: Any) -> Any:
    chosen = {"judge": "m", "journal": "j.sqlite", "config": False, **options}
    return kgeval.score(answers, metrics=list(metrics) or [HELPFUL], **chosen)


def test_grades_become_values_with_the_judges_reason_and_a_second_run_asks_nothing(server: FakeServer, judge: Grader) -> None:
    answers = [*rows(1, 2, 3, 3), {"question_id": "q9", "question": "Who?", "answer": " "}]
    plan = scored(answers, dry_run=True)
    assert plan.calls == (4, 4) and server.stats().requests == 0
    first = scored(answers, thresholds="helpful>=0.7")
    assert server.stats().requests == 4, "the dry run counted exactly; an empty answer is not asked about"
    assert [(score.value, score.detail) for score in first.scores] == [
        (0.0, {"grade": 1}), (0.5, {"grade": 2}), (1.0, {"grade": 3}), (1.0, {"grade": 3}), (0.0, {"empty_answer": True}),
    ]
    verdicts = list(first.verdicts)
    assert [(one.metric, one.label, one.reason) for one in verdicts[:2]] == [
        ("criterion:helpful", "1", "because it says 1"), ("criterion:helpful", "2", "because it says 2"),
    ]
    assert verdicts[0].text == "Ann, grade 1." and verdicts[0].call
    assert (first.exit_code, first.gates[0].met) == (1, False) and first.report.summaries[0].overall.high is not None
    for form in ("html", "md"):
        assert "helpful" in first.rendered(form) and QUESTION in first.rendered(form), form
    assert "grade 1: because it says 1" in first.rendered("text")
    again = scored(answers)
    assert server.stats().requests == 4 and list(again.scores) == list(first.scores)
    assert scored(answers, dry_run=True).calls == (0, 0)
    assert {
        "criterion": QUESTION, "grades": [{"grade": grade, "given when": text} for grade, text in GRADES.items()],
        "material": {"question": "Who 0?", "answer": "Ann, grade 1."},
    } in judge.shown


def test_toml_and_python_are_the_same_criterion(server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python = scored(rows(1, 2, 3))
    asked = server.stats().requests
    Path("kgeval.toml").write_text(TOML, encoding="utf-8")
    Path("answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(1, 2, 3)), encoding="utf-8")
    assert score("answers.jsonl", "--model", "m", "--journal", "j.sqlite", "-o", "s.jsonl", "--threshold", "helpful>=0.5") == 0
    assert list(read_scores(tmp_path / "s.jsonl")) == list(python.scores)
    assert list(read_verdicts(tmp_path / "s.jsonl")) == list(python.verdicts)
    named = kgeval.score("answers.jsonl", judge="m", journal="j.sqlite")
    assert named.report.metrics == python.report.metrics and server.stats().requests == asked
    capsys.readouterr()
    assert run(["metrics", "list"]) == 0
    assert re.search(rf"^helpful +.*judge +{re.escape(QUESTION)}$", capsys.readouterr().out, re.MULTILINE)
    assert run(["metrics", "show", "helpful"]) == 0
    assert "3 (value 1): it answers" in (page := capsys.readouterr().out) and "the same for" not in page
    Path("kgeval.toml").write_text(TOML.replace('"in part"', '"partly"'), encoding="utf-8")
    other = kgeval.score("answers.jsonl", judge="m", journal="j.sqlite").report.metrics[0]
    assert other.signature != python.report.metrics[0].signature
    assert server.stats().requests == 2 * asked, "other grades are another question"


def test_the_order_of_grades_and_of_what_is_seen_makes_no_difference() -> None:
    other = kgeval.Criterion.model_validate({
        "name": "helpful", "question": f" {QUESTION} ", "grades": {"3": "it answers", 2.0: "in part", 1: "it does not"},
        "sees": ["answer", "question", "answer"],
    })
    assert other == HELPFUL and list(other.grades) == [1, 2, 3] and all(isinstance(grade, int) for grade in other.grades)


def test_grades_with_points_are_scaled_by_their_numbers(server: FakeServer, judge: Grader) -> None:
    halves = kgeval.Criterion(name="halves", question="?", grades={-1: "a", 0.5: "b", 2: "c"}, low_is_good=True)
    assert [(score.value, score.detail) for score in scored(rows(2), halves, thresholds="halves=0.5").scores] == [(1.0, {"grade": 2})]
    assert judge.shown[0]["grades"][1] == {"grade": 0.5, "given when": "b"}
    result = scored([*rows(9), {"question_id": "e", "question": "?", "answer": ""}], halves)
    assert [(score.status, score.value) for score in result.scores] == [("unscored", None), ("not_applicable", None)]


def test_the_judge_is_shown_what_the_criterion_names_and_a_row_without_it_is_not_asked_about(server: FakeServer, judge: Grader) -> None:
    grounded = kgeval.Criterion(name="grounded", question="?", grades=GRADES, sees=["contexts", "reference", "evidence"])
    row = rows(1)[0]
    full = {**row, "contexts": ["One.", "Two."], "reference": "Ann", "references": ["Ann Lee"], "evidence": ["Ann built it."]}
    result = scored([full, {**full, "question_id": "x", "reference": None, "references": []}], grounded)
    assert [(score.status, score.reason) for score in result.scores] == [
        ("scored", None), ("not_applicable", "no reference answer is given"),
    ]
    assert [blocks["material"] for blocks in judge.shown] == [
        {"reference": ["Ann", "Ann Lee"], "contexts": ["One.", "Two."], "evidence": ["Ann built it."]},
    ]


@pytest.mark.parametrize("planted", PLANTED)
def test_texts_of_rows_stay_in_their_fence(server: FakeServer, judge: Grader, planted: str) -> None:
    every: Any = ["question", "answer", "reference", "contexts", "evidence"]
    seeing = kgeval.Criterion(name="seeing", question="?", grades=GRADES, sees=every)
    text = f"Paris. {planted} {{{{grades}}}}"
    fields = {"question": text, "answer": text, "reference": text, "contexts": [text], "evidence": [text]}
    result = scored([{"question_id": "q", **fields}], seeing)
    assert [score.value for score in result.scores] == [0.0] and len(judge.shown) == 1
    assert set(judge.shown[0]) == {"criterion", "grades", "material"} and set(judge.shown[0]["material"]) == set(fields)


def test_a_reply_outside_of_the_grades_is_asked_again_and_then_fails_by_its_cause(server: FakeServer, judge: Grader) -> None:
    judge.broken, judge.once = {2}, True
    assert [score.value for score in scored(rows(1, 2), max_error_rate=0.5).scores] == [0.0, 0.5]
    assert server.stats().requests == 3
    judge.broken, judge.once = {3}, False
    result = scored(rows(1, 2, 3), max_reasks=1)
    failed = list(result.scores)[2]
    assert (failed.status, failed.value) == ("unscored", None) and (failed.reason or "").startswith("unparsable: ")
    assert server.stats().requests == 5 and result.report.summaries[0].overall.failures == {"unparsable": 1}
    assert result.exit_code == 3 and list(result.verdicts)[2].label is None
    judge.broken = set()
    assert [score.value for score in scored(rows(1, 2, 3)).scores] == [0.0, 0.5, 1.0] and server.stats().requests == 6


@pytest.mark.parametrize(("reply", "value"), [
    ({"reason": "r", "grade": "2"}, 0.5), ({"reason": "r", "grade": 2.0}, 0.5), ({"reason": "r", "grade": True}, None),
    ({"reason": "r", "grade": 2.5}, None), ({"reason": "r", "grade": None}, None), ({"reason": "r", "grade": [2]}, None),
    ({"reason": "r", "grade": 10**400}, None), ({"grade": 2}, None),
])
def test_which_replies_are_a_grade(
    reply: dict[str, Any], value: float | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with FakeServer(lambda chat: reply) as server:
        assert [score.value for score in scored(rows(2), base_url=server.base_url, max_reasks=0).scores] == [value]


def test_a_run_goes_on_and_trials_are_asked_for_themselves(server: FakeServer, tmp_path: Path) -> None:
    drawing = TOML + "[model.judge]\nparameters = { temperature = 1 }\n"
    Path("kgeval.toml").write_text(drawing, encoding="utf-8")
    Path("answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(1, 2, 3, 3)), encoding="utf-8")
    words = ["answers.jsonl", "--model", "m", "--trials", "2"]
    assert score(*words, "--max-calls", "3", "-j", "1", "-o", "s.jsonl", "--journal", "one.sqlite") == 3
    assert score(*words, "-o", "s.jsonl", "--retry-errors", "--journal", "one.sqlite") == 0
    assert server.stats().requests == 8
    assert score(*words, "-o", "whole.jsonl", "--journal", "two.sqlite") == 0
    assert Path("s.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()
    assert score(*words, "-o", "s.jsonl", "--resume", "--journal", "three.sqlite") == 0
    assert server.stats().requests == 16, "what is finished is taken over"
    Path("kgeval.toml").write_text(drawing.replace("in part", "partly"), encoding="utf-8")
    assert score(*words, "-o", "s.jsonl", "--resume", "--journal", "one.sqlite") == 2, "other grades are another metric"


@pytest.mark.long
def test_shards_workers_and_batches_give_the_bytes_of_one_run(server: FakeServer, tmp_path: Path) -> None:
    Path("kgeval.toml").write_text(TOML, encoding="utf-8")
    code = "import kgeval\n@kgeval.metric\ndef long(row):\n    return min(1, len(row.answer) / 100)\n"
    Path("mine.py").write_text(code, encoding="utf-8")
    world = [*write_world(tmp_path, 8)[:-1], "helpful,token_f1,mine.py:long", "--model", "m", "--journal"]
    assert score(*world, "w.sqlite", "-o", "whole.jsonl") == 0
    asked = server.stats().requests
    assert join(*in_shards(Path("parts"), 3, *world, "w.sqlite"), "-o", "joined.jsonl") == 0
    assert server.stats().requests == asked
    assert score(*world, "e.sqlite", "--executor", "local", "--workers", "2", "-o", "spread.jsonl") == 0
    assert score(*world, "b.sqlite", "--batch", "--batch-poll", "0.01", "-o", "batch.jsonl") == 0
    for name in ("joined", "spread", "batch"):
        for end in ("", ".verdicts"):
            assert Path(f"{name}{end}.jsonl").read_bytes() == Path(f"whole{end}.jsonl").read_bytes(), (name, end)


@pytest.mark.long
def test_workers_get_a_criterion_of_python(server: FakeServer) -> None:
    Path("kgeval.toml").write_text('[score]\nexecutor = "local"\nworkers = 1\n', encoding="utf-8")
    spread = kgeval.score(rows(1, 2, 3), metrics=HELPFUL, judge="m", journal="j.sqlite")
    asked = server.stats().requests
    assert list(spread.scores) == list(scored(rows(1, 2, 3)).scores) and server.stats().requests == asked


def test_it_tells_right_answers_from_wrong_ones_by_the_command_for_that(server: FakeServer) -> None:
    Path("kgeval.toml").write_text(TOML, encoding="utf-8")
    answers = [{**row, "reference": f"Reference {n}, grade 3."} for n, row in enumerate(rows(1, 2, 3))]
    Path("answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers), encoding="utf-8")
    assert run(["metrics", "sensitivity", "answers.jsonl",
                "--model", "m", "--journal", "j.sqlite", "-o", "s.json", "-q", "--no-progress"]) == 0
    assert json.loads(Path("s.json").read_text())["results"][0]["metric"] == "helpful"


def test_all_faults_of_a_criterion_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ValidationError) as caught:
        kgeval.Criterion.model_validate(
            {"name": "a b", "question": " ", "grades": {1: "x", "1": "y", "z": "q", False: "t", 2: " "}, "sees": ["answr"],
             "description": "\ud800"},
        )
    for part in ("name", "a word is needed", "a question to the judge is needed", "1 is there twice", "'z' is no number",
                 "False is no number", "sees.0", "can't encode"):
        assert part in str(caught.value), part
    file = tmp_path / "kgeval.toml"
    file.write_text('[[metrics.criteria]]\nname = "a b"\nquestion = "?"\ngrades = { 0.5 = "x" }\nsees = []\nnope = 1\n', encoding="utf-8")
    with pytest.raises(ConfigError) as wrong:
        load(file)
    for part in ("metrics.criteria.0.name: a word", "grades: 0: a text is needed", 'needs quotes: "0.5"', "two are needed at least",
                 "sees: name what the judge is shown", "nope: unknown key"):
        assert part in str(wrong.value), part


def test_names_that_are_taken_are_refused_before_anything_is_asked(server: FakeServer) -> None:
    Path("kgeval.toml").write_text(TOML.replace('"helpful"', '"faithfulness"'), encoding="utf-8")
    with pytest.raises(UsageError, match="faithfulness is what kgeval calls one of its own"):
        kgeval.score(rows(1), metrics="token_f1", judge="m")
    with pytest.raises(UsageError, match="two are called helpful"):
        scored(rows(1), HELPFUL, HELPFUL.model_copy(update={"question": "Another?"}))
    with pytest.raises(UsageError, match="no model is named for the judge, and these metrics need one: helpful"):
        scored(rows(1), judge=None)
    with pytest.raises(UsageError, match=r"unknown metrics: 'helpfull' \(did you mean helpful\?\)"):
        select(["helpfull"], [HELPFUL])
    assert server.stats().requests == 0


def test_the_examples_of_the_page_run(server: FakeServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    page = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    tables = re.findall(r"^```toml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 4 and len(tables) == 2 and blocks[0].startswith("# my_metrics.py\n")
    Path("my_metrics.py").write_text(blocks[0], encoding="utf-8")
    monkeypatch.syspath_prepend(str(Path.cwd()))
    names: dict[str, Any] = {"kgeval": kgeval}
    for block in blocks[1:]:
        exec(compile(block, "docs/own-metrics.md", "exec"), names)
    assert "criterion-helpful" in capsys.readouterr().out and len(names["scores"].gates) == 1
    Path("answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in names["answers"]), encoding="utf-8")
    for number, table in enumerate(tables):
        Path("kgeval.toml").write_text(table, encoding="utf-8")
        assert run(["trust"]) == 0 and score("answers.jsonl", "--model", "gpt-4o-mini", "-o", f"{number}.jsonl") == 0
    command = re.search(r"^    kgeval score (answers\.jsonl .*)$", page, re.MULTILINE)
    assert command and score(*command[1].replace('"', "").split()) == 0
    python = {score.signature: score for score in names["scores"].scores if score.metric == "helpful"}
    assert {one.signature for one in read_scores(Path("1.jsonl")) if one.metric == "helpful"} == set(python)
