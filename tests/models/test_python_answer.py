"""`kgeval.answer`: functions of the user's own, built-in systems with a model over HTTP, rows of any kind, dry runs, faults."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from answer_world import SIMPLE, script, spec
from waiting import LONGEST, wait_until

import kgeval
from kgeval.cli.main import run
from kgeval.errors import InputError, UsageError
from kgeval.llm.fake import FakeServer, Rule
from kgeval.records import Answer


def rows(count: int = 4) -> list[dict[str, Any]]:
    return [{"id": f"q{n}", "question": f"Who built mill {n}?", "reference": f"SECRET {n}"} for n in range(count)]


def answered(questions: Any = None, **options: Any) -> Any:
    return kgeval.answer(rows() if questions is None else questions, config=False, **options)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("kgeval.llm.places.JOURNAL", str(tmp_path / "journal.sqlite"))  # what earlier tests answered is not there
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)


def mine(question: str) -> str:
    return f"It was {question}"


def test_a_function_of_ones_own_answers_and_the_result_is_gone_through_framed_saved_and_scored(tmp_path: Path) -> None:
    result = answered(system=mine)
    found = list(result)
    expected = [(f"q{n}", "mine", mine(f"Who built mill {n}?")) for n in range(4)]
    assert [(one.question_id, one.system, one.answer) for one in found] == expected
    assert len(result) == 4 and result.exit_code == 0 and all((one.latency_s or 0) > 0 for one in found)
    assert list(result.to_pandas()["answer"]) == [one.answer for one in found]
    assert "mine" in str(result) and result._repr_html_().startswith("<pre>") and result.written == ()
    assert repr(result) == "AnswersResult(exit_code=0)" and result.gates == []
    for name in ("a.jsonl", "a.csv", "a.parquet", "a.json"):
        assert result.save(name) == Path(name) and Path("a.run.json").exists()
        scores = kgeval.score(name, questions=rows(), metrics="token_f1", config=False)
        assert [score.value for score in scores.scores] == [score.value for score in kgeval.score(
            result, questions=rows(), metrics="token_f1", config=False,
        ).scores]
    with pytest.raises(UsageError, match="not written as"):
        result.save("a.txt")
    run_record = result.report.run
    assert (run_record.arguments["systems"], run_record.arguments["questions"]) == (["mine"], "questions")
    assert [file.path for file in run_record.inputs] == ["questions"]


def test_a_name_that_ends_in_a_slash_is_a_folder_as_for_the_command() -> None:
    result = answered(system=mine, output="run.v1/")
    assert result.written[0] == Path("run.v1/mine.jsonl")
    assert result.save("again.v1/") == Path("again.v1") and Path("again.v1/mine.jsonl").is_file()
    with pytest.raises(UsageError, match=r"^output: answers are not written as \.v1"):
        answered(system=mine, output="other.v1")
    with pytest.raises(UsageError, match="is a file, and a name that ends in / is a folder"):
        answered(system=mine, output="run.v1/mine.jsonl/")
    with pytest.raises(UsageError, match="unknown"):
        answered(system=mine, output="left.v1/", sistem=3)
    assert not Path("left.v1").exists()


@dataclass
class Reply:
    answer: str
    contexts: list[str]


class Shop:
    """An object with a method, and one that is called."""

    def answer(self, question: str) -> dict[str, Any]:
        return {"answer": "A", "contexts": [{"text": question, "score": np.float32(0.5)}], "cost": np.float64(0.25), "why": {"k": (1, 2)}}

    def __call__(self, question: str) -> str:
        raise AssertionError(question)


def test_texts_mappings_records_and_objects_are_answers_and_what_is_none_is_the_error_of_its_row() -> None:
    def record(question: str) -> Answer:
        return Answer(question_id="other", system="other", answer=question[:3], trial=7, calls=2)

    def cut(question: str, end: str) -> str:
        return question[-2:] + end

    result = answered(rows(2), system={
        "shop": Shop(), "record": record, "data": lambda _: Reply("B", ["c"]), "part": partial(cut, end="!"),
    })
    by = {name: [one for one in result if one.system == name] for name in ("shop", "record", "data", "part")}
    shop = by["shop"][0]
    assert (shop.answer, shop.cost, shop.extra) == ("A", 0.25, {"why": {"k": [1, 2]}})
    assert shop.contexts and (shop.contexts[0].text, shop.contexts[0].score) == ("Who built mill 0?", 0.5)
    assert [(one.question_id, one.answer, one.trial, one.calls) for one in by["record"]] == [("q0", "Who", None, 2), ("q1", "Who", None, 2)]
    assert by["data"][0].contexts is not None and by["data"][0].contexts[0].text == "c" and by["part"][1].answer == "1?!"
    for reply, error in (
        (None, "bad_reply: a text, a mapping or a record is needed, not NoneType"), (3, "bad_reply: a text, a mapping or a record is"),
        ({"text": "x"}, "bad_reply: answer: missing"), ({"answer": "x", "contexts": 5}, "bad_reply: contexts"),
        ({"answer": object()}, "bad_reply: a value of type object cannot be read"), ({"error": "busy"}, "system_error: busy"),
        ({"answer": "x", "cost": float("inf")}, "bad_reply: cost"),
    ):
        made = next(iter(answered(rows(1), system={"f": lambda _, reply=reply: reply})))
        assert made.answer == "" and (made.error or "").startswith(error), (reply, made.error)


def test_what_a_function_raises_is_the_error_of_its_row_and_too_many_stop_the_run() -> None:
    def odd(question: str) -> str:
        if "1" in question:
            raise ValueError("no mill: sk-0123456789abcdefghij")
        return "A"

    result = answered(system=odd)
    errors = [one.error for one in result]
    assert errors[0] is None and (errors[1] or "").startswith("system_error: ValueError: no mill") and "sk-0123" not in str(errors)
    assert result.exit_code == 3 and result.messages == ["incomplete: 1 of 4 answers failed"]
    assert result.report.systems[0].errors == {"system_error": 1}
    calls: list[str] = []

    def broken(question: str) -> str:
        calls.append(question)
        raise RuntimeError("down")

    stopped = answered(rows(60), system=broken)
    assert len(calls) < 60 and not stopped.report.complete and len(stopped) == 60
    assert "of 20 answers failed, a share of 0.1 is allowed (max_error_rate)" in stopped.messages[0]


def test_a_function_that_ends_the_program_ends_its_answer() -> None:
    def quits(question: str) -> str:
        sys.exit("no licence")

    result = answered(rows(2), system=quits, max_error_rate=1)
    assert [one.error for one in result] == ["system_error: SystemExit: no licence"] * 2


def test_an_asynchronous_function_runs_inside_a_running_event_loop_several_calls_at_a_time() -> None:
    at_once: list[int] = []
    inside = 0

    async def slow(question: str) -> dict[str, str]:
        nonlocal inside
        inside += 1
        at_once.append(inside)
        await asyncio.sleep(0.05)
        inside -= 1
        if "2" in question:
            raise TimeoutError("of its own")
        return {"answer": question}

    async def cell() -> Any:
        return answered(system={"async": slow, "sync": mine}, max_error_rate=1)

    before = threading.active_count()
    result = asyncio.run(cell())
    assert [one.error for one in result] == [None, None, "system_error: TimeoutError: of its own", None, *[None] * 4]
    assert max(at_once) > 1 and next(iter(result)).answer == "Who built mill 0?"
    assert max(one.latency_s or 0 for one in result if one.system == "async") >= 0.05
    wait_until(lambda: threading.active_count() == before)  # the loop of its own has ended
    at_once.clear()
    answered(system={"hidden": lambda question: slow(question)}, max_error_rate=1)
    assert max(at_once) == 1, "a function that only its reply shows to be asynchronous"


def test_other_functions_are_called_in_the_thread_of_the_caller_or_in_as_many_as_are_asked_for() -> None:
    meeting = threading.Barrier(3)

    def thread(question: str) -> str:
        return threading.current_thread().name

    def meet(question: str) -> str:
        meeting.wait(LONGEST)
        return thread(question)

    here = threading.current_thread().name
    assert {one.answer for one in answered(system=thread)} == {here}
    several = {one.answer for one in answered(rows(9), system=meet, processes=3)}
    assert len(several) == 3 and here not in several


@pytest.mark.long
def test_a_call_that_takes_too_long_is_ended_where_it_can_be_and_else_counted() -> None:
    async def hangs(question: str) -> str:
        await asyncio.sleep(0 if "0" in question else 60)
        return "A"

    def slow(question: str) -> str:
        time.sleep(1.1 if "0" in question else 0)
        return "A"

    result = answered(rows(2), system=[hangs, slow], question_timeout=1, max_error_rate=1)
    assert [one.error for one in result] == [None, "timeout: no reply in 1 s", None, None]
    assert result.messages == [
        "note: slow: answers that took longer than 1 s: 1; a call that is not asynchronous cannot be ended, so they count",
    ]


def test_settings_are_keywords_of_a_function_and_ablations_are_variants(tmp_path: Path) -> None:
    def ranked(question: str, *, k: int = 5, question_id: str = "", trial: int | None = None) -> str:
        return f"{k} {question_id} {trial}"

    result = answered(rows(1), system=ranked, settings={"ranked:k": 2}, ablations={"k": [2, 3]}, trials=2)
    assert [(one.system, one.variant, one.answer, one.trial) for one in result] == [
        ("ranked", None, "2 q0 1", 1), ("ranked", None, "2 q0 2", 2),
        ("ranked@k=3", "k=3", "3 q0 1", 1), ("ranked@k=3", "k=3", "3 q0 2", 2),
    ]
    with pytest.raises(UsageError, match=r"ranked: cannot be called with a question and n: got an unexpected keyword argument 'n'"):
        answered(system=ranked, settings={"n": 2})
    with pytest.raises(UsageError, match="mine cannot be asked for a length") as caught:
        answered(system=mine, target_words=5)
    assert "--" not in str(caught.value)

    def long(question: str, target_words: int) -> str:
        return "word " * target_words

    assert [(one.answer.split().count("word"), one.aligned_to and one.aligned_to.target_words) for one in answered(
        rows(1), system=long, target_words=7,
    )] == [(7, 7)]


def test_closed_book_asks_a_model_what_the_dry_run_counts_and_a_second_run_makes_no_call(tmp_path: Path) -> None:
    with FakeServer([Rule(match="mill", reply={"answer": "Ada Quill."})]) as server:
        options: dict[str, Any] = {
            "system": ["closed-book", {"mine": mine}], "model": "m", "base_url": server.base_url, "journal": tmp_path / "j.sqlite",
        }
        plan = answered(dry_run=True, **options)
        assert plan.calls == (4, 4) and server.stats().requests == 0
        assert str(plan).startswith("mine: 4 questions; what they cost is not known here\n")
        first = answered(pd.DataFrame(rows()), **options)
        assert server.stats().requests == 4 and len(first) == 8
        again = answered(iter(rows()), **options)
        assert server.stats().requests == 4
    assert [one.answer for one in again] == [one.answer for one in first] == ["Ada Quill."] * 4 + [mine(row["question"]) for row in rows()]
    assert first.report.run.arguments["model"] == "m" and first.report.run.models[0].role == "reader"


def test_a_budget_ends_early_and_raises_nothing(tmp_path: Path) -> None:
    with FakeServer() as server:
        result = answered(
            system="closed-book", model="m", base_url=server.base_url, journal=tmp_path / "j.sqlite", max_calls=2, max_concurrency=1,
        )
    assert result.exit_code == 3 and [(one.error or "").partition(":")[0] for one in result] == ["", "", "budget", "budget"]


def test_an_iterator_that_raises_in_the_middle_comes_through_and_bad_rows_are_told() -> None:
    def broken() -> Iterator[dict[str, Any]]:
        yield from rows(2)
        raise KeyError("gone")

    asked: list[str] = []
    with pytest.raises(KeyError, match="gone"):
        answered(broken(), system={"f": asked.append})
    for faulty, words in (([{"id": "a"}], "question"), ([], "there are no rows"), ([3], "a row is a mapping, not int")):
        with pytest.raises(InputError) as caught:
            answered(faulty, system={"f": asked.append})
        assert words in str(caught.value)
    frame = pd.DataFrame([["a", "b"]], columns=["question", "question"])
    with pytest.raises(InputError, match="columns of the same name: question"):
        answered(frame, system={"f": asked.append})
    assert asked == []


def test_all_faults_of_a_call_are_told_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        answered(
            system=[{"a/b": mine}, 5, Shop, lambda question: question, {"mine": mine}, mine], trials="many", modle="m", resume=True,
            sweep=True, processes=0, settings={"k": object()}, ablations={"k": ["a,b"]},
        )
    told = str(caught.value)
    for part in (
        "system: 'a/b' is no name", "or a mapping of names to these is needed, not int", "not the class Shop",
        "system: <lambda> has no name of its own", "system: two are called mine", "trials: no whole number",
        "modle: unknown (did you mean model?)", "sweep: unknown", "resume, retry_errors, fresh_answers: need output", "processes: ",
        "settings: a value of type object cannot be set", "ablations: k: a value with a comma cannot be varied",
    ):
        assert part in told, part
    for options, words in (
        ({"system": "vectr"}, "system vectr: there is no such system; did you mean vector?"), ({}, "no system is named"),
        ({"system": "closed-book"}, "closed-book needs a reader"),
        ({"system": {"f": mine}, "settings": {"g:k": 1}}, "no system is called g"),
        ({"system": mine, "output": "a.txt"}, "answers are not written as .txt"),
    ):
        with pytest.raises(UsageError) as caught:
            answered(**options)
        assert words in str(caught.value) and "--" not in str(caught.value).replace("kgeval", ""), str(caught.value)


def test_a_run_that_was_broken_off_goes_on_with_its_output(tmp_path: Path) -> None:
    asked: list[str] = []
    server = {"is_up": False}  # a plain variable would be a value that the function is made with: another system

    def paid(question: str) -> str:
        if not server["is_up"] and "2" in question:
            raise KeyboardInterrupt
        asked.append(question)
        return "A"

    with pytest.raises(KeyboardInterrupt):
        answered(system=paid, output="a.jsonl")
    server["is_up"] = True
    result = answered(system=paid, output="a.jsonl")
    assert len(asked) == len(set(asked)) == 4 and len(list(result)) == 4
    assert result.written == [Path("a.jsonl"), Path("a.run.json")] and result.files == [Path("a.jsonl")]
    answered(system=paid, output="a.jsonl", resume=True)
    assert len(asked) == 4
    answered(rows(3), system=paid, output="a.jsonl", resume=True)
    assert len(asked) == 7, "other questions are another run"
    each = answered(system={"a": paid, "b": mine}, output=tmp_path / "answers")
    assert [path.name for path in each.files] == ["a.jsonl", "b.jsonl"] and [one.system for one in each] == ["a"] * 4 + ["b"] * 4
    assert each.save("all-{system}.json") == Path("all-{system}.json") and len(json.loads(Path("all-b.json").read_text())) == 4


def test_a_command_gives_from_python_what_it_gives_on_the_command_line(tmp_path: Path) -> None:
    command = spec(script(tmp_path, SIMPLE))
    Path("q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows()))
    assert run(["answer", "q.jsonl", "--system", command, "--limit", "2", "-o", "a.jsonl", "-q", "--no-progress"]) == 0
    result = answered("q.jsonl", system=command, limit=2)
    by_command = [Answer.model_validate_json(line) for line in Path("a.jsonl").read_text().splitlines()]
    assert [one.model_dump(exclude={"latency_s"}) for one in result] == [one.model_dump(exclude={"latency_s"}) for one in by_command]
    record = json.loads(Path("a.run.json").read_text())["run"]["arguments"]
    assert {**record, "outputs": None} == {**result.report.run.arguments, "outputs": None}
