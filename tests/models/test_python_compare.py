"""`kgeval.compare` with a judge over HTTP: answers of every kind, names of systems, dry run, journal, budget, gates, files, faults."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from answer_world import script, spec
from compare_world import UNDECIDED, PairJudge
from test_compare_cli import SYSTEM

import kgeval
from kgeval.llm.fake import Chat, FakeServer

GOOD, POOR = (4, 5, 4, 3), (2, 3, 2, 1)


def questions(count: int) -> list[dict[str, Any]]:
    return [{"id": f"q{n}", "question": f"Who built mill {n}?", "level": ("node", "edge")[n % 2]} for n in range(count)]


def answers(name: str, worths: tuple[int, ...], count: int = 4) -> list[dict[str, Any]]:
    return [{"question_id": f"q{n}", "answer": f"Mill {n}, says {name}: worth {worths[n % 4]}."} for n in range(count)]


QUESTIONS = questions(4)


BOTH: dict[str, Any] = {"good": answers("good", GOOD), "poor": answers("poor", POOR)}


def compared(server: FakeServer, given: Any = None, **options: Any) -> Any:
    usual: dict[str, Any] = {
        "questions": QUESTIONS, "judge": "judge-1", "base_url": server.base_url, "config": False, "journal": Path("j.sqlite"), "trials": 2,
        "temperature": 0.5,
    }
    return kgeval.compare(BOTH if given is None else given, **usual | options)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(PairJudge()) as running:
        yield running


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


def test_a_dry_run_counts_the_calls_and_a_second_call_asks_nothing(server: FakeServer) -> None:
    plan = compared(server, dry_run=True, baseline_biased=True)
    assert isinstance(plan, kgeval.ComparePlan) and server.stats().requests == 0
    first = compared(server, baseline_biased=True)
    asked = server.stats().requests
    assert plan.calls == (asked, asked) == (4 * 2 * 2 * 2 + 4,) * 2
    assert "pairs 1, questions over all pairs 4, trials 2 (rejudge)" in str(plan) and "dry run: nothing was sent" in str(plan)
    again = compared(server, baseline_biased=True)
    assert server.stats().requests == asked and list(again.verdicts) == list(first.verdicts)
    assert compared(server, baseline_biased=True, dry_run=True).calls == (0, 0)


def test_the_result_is_rows_verdicts_files_and_a_page(server: FakeServer, tmp_path: Path) -> None:
    result = compared(server, aspects="relevance,directness")
    assert isinstance(result, kgeval.CompareResult) and (result.exit_code, result.gates) == (UNDECIDED, [])
    assert list(result.messages) == [
        "not decidable between good and poor: only 4 questions have a result, and fewer than 10 decide nothing",
    ]
    frame = result.to_pandas().set_index("aspect")
    assert list(frame.index) == ["overall", "relevance", "directness"] and set(frame["system_a"]) == {"good"}
    assert (frame.loc["overall", "win"], frame.loc["overall", "relative"], frame.loc["overall", "n_scored"]) == (1, 1, 4)
    verdicts = list(result.verdicts)
    assert len(verdicts) == 4 * 2 * 2 * 2 * 2 and {verdict.winner for verdict in verdicts} == {"a"}
    lines = result.save("v.jsonl").read_text().splitlines()
    assert len(lines) == len(verdicts) and json.loads(lines[0])["reason_a"] == "f"
    assert json.loads(result.save("r.jsonl", redact=True).read_text().splitlines()[0])["reason_a"] is None
    assert (tmp_path / "v.jsonl").stat().st_mode & 0o077 == 0
    for name, text in (("r.html", "<html"), ("r.md", "# Comparison"), ("r.csv", "scores,good,poor,overall"), ("r.xml", "<testsuites")):
        assert text in result.save(name).read_text()
    assert json.loads(result.save("r.json").read_text())["run"]["arguments"]["names"] == ["good", "poor"]
    assert "relative win rate" in str(result) and result._repr_html_().startswith("<iframe")
    with pytest.raises(kgeval.KgevalError, match="unknown ending"):
        result.save("r.docx")


def test_names_count_whatever_files_and_rows_say(server: FakeServer) -> None:
    """A DataFrame, an iterator, a file that has another name, and rows that name another system."""
    frame = pd.DataFrame(BOTH["good"]).assign(system="graph", seconds=float("nan"))
    Path("run-17.jsonl").write_text("".join(json.dumps(row | {"system": "graph"}) + "\n" for row in BOTH["poor"]))
    result = compared(server, {"old/1": frame, "new": "run-17.jsonl", "third": iter(BOTH["poor"])})
    pairs = [(pair.system_a, pair.system_b) for pair in result.report.pairs if pair.aspect == "overall" and pair.by == "all"]
    assert pairs == [("old/1", "new"), ("old/1", "third"), ("new", "third")]
    assert result.report.run.arguments["answers"] == ["old_1", "run-17.jsonl", "third"]
    rows = pd.concat([pd.DataFrame(BOTH[name]).assign(system=name) for name in BOTH])
    assert [use.system for use in compared(server, rows).report.systems] == ["good", "poor"], "one table of several systems"


def test_what_answer_gave_is_compared_under_the_name_that_the_call_gives_it(server: FakeServer) -> None:
    """Answers of a function of one's own, and questions as a file."""
    def mine(question: str) -> str:
        return f"Mill {question[-2]}: worth {GOOD[int(question[-2])]}."

    given = kgeval.answer(QUESTIONS, system=mine, config=False)
    result = compared(server, {"new": given, "poor": BOTH["poor"]})
    (pair,) = [pair for pair in result.report.pairs if pair.aspect == "overall" and pair.by == "all"]
    assert (pair.system_a, pair.system_b, pair.rates.win) == ("new", "poor", 1)


def test_thresholds_are_gates(server: FakeServer) -> None:
    many = {"good": answers("good", GOOD, 12), "poor": answers("poor", POOR, 12)}
    result = compared(server, many, questions=questions(12), thresholds=["poor:relative>=0", "good:win>=0.5"])
    assert result.exit_code == 1 and [gate.met for gate in result.gates] == [False, True]
    with pytest.raises(kgeval.GateError, match=r"poor vs good: relative \(overall\) >= 0 \(-1\)"):
        result.raise_for_gates()
    compared(server, many, questions=questions(12), thresholds="good:win>=0.5").raise_for_gates()
    with pytest.raises(kgeval.GateError, match="only 4 questions have a result, and fewer than 10 decide nothing"):
        compared(server, thresholds="good:win>=0.5").raise_for_gates()


def test_everything_wrong_with_the_options_is_one_error_in_the_words_of_python(server: FakeServer) -> None:
    with pytest.raises(kgeval.KgevalError) as caught:
        compared(server, trials=0, procedure="best", filter_system="a", wordings="many", meaning_sample=-1)
    message = caught.value.message
    for expected in ("trials:", "procedure:", "filter_system: unknown (did you mean filter_systems?)", "wordings:", "meaning_sample:"):
        assert expected in message, message
    for options, expected in (
        ({"show": "both"}, "show both: no question has"),
        ({"self_checks": "good"}, "self_checks good: its file has one answer"), ({"verdicts": "v.jsonl"}, "verdicts: unknown"),
        ({"thresholds": "x:win>=1"}, "no system is called x"), ({"pairs": "good:bad"}, "good:bad"),
    ):
        with pytest.raises(kgeval.KgevalError) as caught:
            compared(server, **options)
        assert expected in caught.value.message
    assert server.stats().requests == 0


def test_faulty_rows_are_named_by_system_and_row(server: FakeServer) -> None:
    with pytest.raises(kgeval.KgevalError) as caught:
        compared(server, {"good": BOTH["good"], "poor": [*BOTH["poor"][:3], {"question_id": "q9", "answer": 1}]})
    faults = " ".join(getattr(caught.value, "faults", ()))
    assert "poor:4" in faults and "kgeval-rows" not in faults
    with pytest.raises(kgeval.KgevalError, match="only one system, good"):
        compared(server, {"good": BOTH["good"]})
    with pytest.raises(kgeval.KgevalError, match="nothing to compare"):
        compared(server, {})
    with pytest.raises(kgeval.KgevalError, match="a DataFrame, a list or an iterator of mappings is needed, not int"):
        compared(server, {"good": BOTH["good"], "poor": 3})
    with pytest.raises(kgeval.KgevalError, match="the same file"):
        compared(server, {"good": "a.jsonl", "poor": "a.jsonl"})
    assert server.stats().requests == 0


def test_a_budget_ends_early_and_raises_nothing(server: FakeServer) -> None:
    result = compared(server, max_calls=3, max_concurrency=1)
    assert result.exit_code == 3 and result.report.complete is False and "the same call goes on" in result.messages[0]
    assert compared(server).exit_code == UNDECIDED


def test_stop_when_sure_stops(server: FakeServer) -> None:
    questions = [{"id": f"q{n}", "question": f"Who built mill {n}?"} for n in range(60)]
    both = {
        name: [{"question_id": f"q{n}", "answer": f"{name} {n}: worth {worth}."} for n in range(60)] for name, worth in (("a", 4), ("b", 1))
    }
    result = compared(server, both, questions=questions, stop_when_sure=True, trials=1, repeats=1)
    (stopped,) = result.report.stopped
    assert (stopped.decision, stopped.calls) == ("a", server.stats().requests) and stopped.questions < 60


def test_systems_answer_anew(server: FakeServer, tmp_path: Path) -> None:
    specs = [
        f"{name}={spec(script(tmp_path, SYSTEM.replace('WORTH', worth).replace('WORDS', '12'), name))}"
        for name, worth in (("one", "2"), ("two", "4"))
    ]
    result = compared(server, (), systems=specs)
    assert result.report.trial_kind == "regenerate" and result.report.pairs[0].rates.loss == 1
    reader = compared(server, BOTH, systems=["good=closed-book"], reader="reader-1", align="none", dry_run=True)
    assert isinstance(reader, kgeval.ComparePlan)
    with pytest.raises(kgeval.KgevalError, match="closed-book needs a reader"):
        compared(server, BOTH, systems=["x=closed-book"])


def test_the_reader_of_a_built_in_system_shares_the_budget_of_the_judge() -> None:
    with FakeServer() as server:
        options: dict[str, Any] = {"systems": ["closed-book"], "reader": "reader-1", "align": "none", "trials": 1, "repeats": 1}
        result = compared(server, {"poor": BOTH["poor"]}, max_calls=6, max_concurrency=1, **options)
        models = [request.body["model"] for request in server.requests]
    assert result.exit_code == 3 and set(models) == {"reader-1", "judge-1"} and len(models) == 6
    assert {ref.name for ref in result.report.run.models} == {"reader-1", "judge-1"}


def test_inside_a_running_event_loop_from_threads_and_over_one_session(server: FakeServer) -> None:
    async def cell() -> Any:
        return compared(server)

    one = asyncio.run(cell())
    with ThreadPoolExecutor(2) as pool:
        others = list(pool.map(lambda _: compared(server), range(2)))
    with kgeval.connect(config=False) as session:
        others.append(kgeval.compare(
            BOTH, questions=QUESTIONS, judge="judge-1", base_url=server.base_url, journal="j.sqlite", trials=2, temperature=0.5,
            connection=session,
        ))
    assert all(list(other.verdicts) == list(one.verdicts) for other in others)
    assert server.stats().requests == 4 * 2 * 2 * 2


def test_the_section_of_kgeval_toml_counts(server: FakeServer) -> None:
    Path("kgeval.toml").write_text('[compare]\naspects = ["relevance"]\ntie_region = 0.2\nno_force = true\nthresholds = ["poor:win>=0"]\n')
    result = compared(server, config=None, thresholds="good:win>=0.5")
    assert result.report.run.arguments["no_force"] is True and {pair.aspect for pair in result.report.pairs} == {"overall", "relevance"}
    assert [gate.of for gate in result.gates] == ["poor vs good", "good vs poor"], "those of the file and those of the call"


def test_an_error_of_an_iterator_comes_through_and_a_reply_that_cannot_be_used_is_in_the_report(server: FakeServer) -> None:
    def broken() -> Iterator[dict[str, Any]]:
        yield BOTH["good"][0]
        raise RuntimeError("the export broke off")

    with pytest.raises(RuntimeError, match="broke off"):
        compared(server, {"good": broken(), "poor": BOTH["poor"]})

    def spoil(chat: Chat, reply: Any) -> Any:
        return "no json" if "mill 2" in chat.text else reply

    with FakeServer(PairJudge(spoil=spoil)) as stubborn:
        result = compared(stubborn, max_reasks=0, max_error_rate=1, journal=Path("other.sqlite"))
    assert result.report.pairs[0].failures == {"unparsable": 1} and result.exit_code == UNDECIDED
