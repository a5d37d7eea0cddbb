"""What a comparison concludes, and what its gates and exit code make of it, through a real server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from compare_world import PairJudge
from python_compare_world import asked_of

import kgeval
from kgeval.llm.fake import FakeServer

HALVES = ("scores", "pairwise-choice")


def judge_of(kind: str) -> Any:
    """A judge that reads no answer: the first is always better, or all are worth the same."""
    def spoil(_: Any, reply: Any) -> Any:
        score = {"first": (5, 1), "constant": (3, 3)}[kind]
        return {
            name: {"first": {"reason": "r", "score": score[0]}, "second": {"reason": "r", "score": score[1]}} if "first" in reply[name]
            else {"winner": "first" if kind == "first" else "tie", "reason": "r"} for name in reply
        }

    return PairJudge(spoil=spoil)


def rows(name: str, worth: Any, count: int = 100) -> list[dict[str, Any]]:
    return [{"question_id": f"q{n}", "answer": text} for n in range(count) if (text := said(name, n, worth(n))) is not None]


def said(name: str, number: int, worth: int | None) -> str:
    return "" if worth is None else f"Mill {number}, says {name}: worth {worth}."


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


def compared(judge: Any, given: dict[str, Any], *, count: int = 100, documents: int | None = None, **options: Any) -> Any:
    return asked_of(FakeServer(judge), given, count=count, documents=documents, **options)


def told(result: Any) -> str:
    return " ".join(str(result).split())


@pytest.mark.parametrize("align", ["pair", "none"])
def test_a_system_that_is_silent_on_sixty_of_a_hundred_questions_does_not_win(align: str) -> None:
    quiet = {"quiet": rows("quiet", lambda n: None if n < 60 else 5), "plain": rows("plain", lambda n: 4)}
    result = compared(PairJudge(), quiet, align=align, thresholds="quiet:plain:relative>=0")
    (outcome,) = result.report.outcomes
    assert (outcome.conclusion, round(outcome.figure.value, 2)) == ("no difference found", -0.2)
    assert result.exit_code == 1 and [gate.met for gate in result.gates] == [False]
    assert "quiet gave no answer to 60 of 100 questions; plain answered all." in told(result)
    silent = [verdict for verdict in result.verdicts if verdict.unanswered == "a"]
    assert len({verdict.question_id for verdict in silent}) == 60 and all(one.winner == "b" and one.call is None for one in silent)


def test_both_silent_is_a_tie_and_nothing_may_be_the_right_answer() -> None:
    both = {"one": rows("one", lambda n: None if n < 20 else 5), "two": rows("two", lambda n: None if n < 30 else 1)}
    result = compared(PairJudge(), both, levels=lambda n: "negative" if n in (25, 26) else "node")
    (pair,) = [pair for pair in result.report.pairs if (pair.aspect, pair.by) == ("overall", "all")]
    assert (pair.n_scored, pair.rates.tie, pair.failures) == (98, pytest.approx(20 / 98), {"not judged": 2})


def test_errors_are_missing_and_may_turn_the_conclusion() -> None:
    broken = [row | ({"answer": "", "error": "timeout: 30 s"} if n < 30 else {}) for n, row in enumerate(rows("good", lambda n: 5))]
    worse = rows("poor", lambda n: 4 if n % 3 else 5)
    result = compared(PairJudge(), {"good": broken, "poor": worse}, max_error_rate=0.5, thresholds="good:poor:relative>=0.1")
    (outcome,) = result.report.outcomes
    assert outcome.missing == 30 and outcome.conclusion == "a better"  # +67 % of 70 is +17 % of 100 if all are lost
    assert [gate.met for gate in result.gates] == [True]
    strict = compared(PairJudge(), {"good": broken, "poor": worse}, max_error_rate=0.5, thresholds="good:poor:relative>=0.5")
    assert strict.exit_code == 3 and "30 questions without a result could decide it" in strict.gates[0].reason
    closer = rows("poor", lambda n: 5 if n % 3 else 4)
    open_one = compared(PairJudge(), {"good": broken, "poor": closer}, max_error_rate=0.5)
    assert open_one.report.outcomes[0].conclusion == "not decidable" and open_one.exit_code == 3
    assert "good gave no answer to 30 of 100 questions (30 errors)" in told(open_one)


@pytest.mark.parametrize("procedure", HALVES)
@pytest.mark.parametrize(("kind", "why"), [
    ("first", "100 % of the judge's verdicts turn round when the order of the answers does"),
    ("constant", "the judge gave one and the same score"),
])
def test_a_judge_that_reads_nothing_passes_no_gate(procedure: str, kind: str, why: str) -> None:
    given = {"A": rows("A", lambda n: 2), "D": rows("D", lambda n: 3)}
    result = compared(judge_of(kind), given, procedure=procedure, thresholds="A:D:low>=-0.05")
    assert result.exit_code == 3 and [gate.met for gate in result.gates] == [None]
    assert result.report.outcomes[0].conclusion == "not decidable" and why in result.gates[0].reason
    assert told(result).count("Not decidable between A and D") == 1


def test_documents_are_what_was_drawn() -> None:
    # every document is of one mind: ten questions of one are one
    given = {"A": rows("A", lambda n: 4 if n % 8 < 6 else 2, 80), "B": rows("B", lambda n: 3, 80)}
    alone = compared(PairJudge(), given, count=80)
    assert alone.report.outcomes[0].conclusion == "a better"
    grouped = compared(PairJudge(), given, count=80, documents=8)
    (outcome,) = grouped.report.outcomes
    assert (outcome.conclusion, outcome.groups.unit, outcome.groups.groups) == ("no difference found", "document", 8)
    assert 6 < outcome.groups.effective < 9 and "from 8 documents (as sure as 7 independent questions)" in told(grouped)
    few = compared(PairJudge(), given, count=80, documents=4)
    assert few.exit_code == 3 and "the 80 questions come from 4 documents" in few.messages[0]
    meant = compared(PairJudge(), given, count=80, documents=4, cluster="question")
    assert meant.report.outcomes[0].conclusion == "a better" and meant.exit_code == 0


def test_labels_of_people_lead_headline_and_gate() -> None:
    # the judge takes every second answer of `new` for worse than it is
    given = {"new": rows("new", lambda n: 5 if n % 2 else 2), "old": rows("old", lambda n: 3)}
    labels = [
        {"question_id": f"q{n}", "system_a": "new", "system_b": "old", "label": "b" if n % 40 == 2 else "a"}
        for n in range(100) if n % 10 in (1, 2, 7, 8)
    ]
    Path("labels.jsonl").write_text("".join(json.dumps(label) + "\n" for label in labels))
    asked: dict[str, Any] = {"thresholds": "new:old:low>=0.2"}
    bare = compared(PairJudge(), given, **asked)
    assert bare.report.outcomes[0].conclusion == "no difference found" and bare.exit_code == 1
    led = compared(PairJudge(), given, labels=Path("labels.jsonl"), **asked)
    (outcome,) = led.report.outcomes
    assert outcome.of == "relative win rate, corrected by 40 labels of people (PPI++)" and outcome.conclusion == "a better"
    assert led.exit_code == 0 and next(iter(outcome.beside)) == "as the judge has it"
    assert "new is better than old: relative win rate, corrected by 40 labels of people (PPI++) +" in told(led)
    other = compared(PairJudge(), given, labels=Path("labels.jsonl"), thresholds="new:old:win>=0.2")
    assert other.exit_code == 3 and "labels of people lead here" in other.gates[0].reason
    assert isinstance(led, kgeval.CompareResult)


def test_labels_that_all_say_the_same_are_not_passed_over() -> None:
    """There is nothing to correct by, and they contradict the judge on every question."""
    given = {"new": rows("new", lambda n: 2), "old": rows("old", lambda n: 3)}
    labels = [{"question_id": f"q{n}", "system_a": "new", "system_b": "old", "label": "a"} for n in range(0, 100, 4)]
    Path("labels.jsonl").write_text("".join(json.dumps(label) + "\n" for label in labels))
    led = compared(PairJudge(), given, labels=Path("labels.jsonl"), thresholds="old:new:low>=0")
    (outcome,) = led.report.outcomes
    assert (outcome.conclusion, outcome.of) == ("a better", "relative win rate by 25 labels of people, which all say the same")
    assert led.exit_code == 1
    few = compared(PairJudge(), given, labels=Path("labels.jsonl").write_text("".join(
        json.dumps(label) + "\n" for label in labels[:5])) and Path("labels.jsonl"))
    assert few.report.outcomes[0].conclusion == "b better"
    assert "by the 5 labels of people alone, which do not decide +100 %" in told(few)


def test_gates_are_not_met_by_what_is_not_there() -> None:
    quiet = {"quiet": rows("quiet", lambda n: 5 if n < 10 else None), "plain": rows("plain", lambda n: 4)}
    result = compared(PairJudge(), quiet, thresholds="quiet:plain:gap>=0")
    assert result.exit_code == 3 and "answers that are not there have no points" in result.gates[0].reason
    lost = [row for n, row in enumerate(rows("good", lambda n: 5)) if n % 3]
    half = compared(PairJudge(), {"good": lost, "poor": rows("poor", lambda n: 4)}, allow_missing=True, thresholds="good:poor:low>=0.5")
    assert half.report.outcomes[0].missing == 34 and [gate.met for gate in half.gates] == [None]
    assert "good gave no answer to 34 of 100 questions (34 not in its answers); poor answered all." in told(half)


def test_a_field_that_no_question_has_is_refused() -> None:
    with pytest.raises(kgeval.KgevalError, match="cluster documnt: no question has it"):
        compared(PairJudge(), {"A": rows("A", lambda n: 4), "B": rows("B", lambda n: 3)}, documents=20, cluster="documnt")
