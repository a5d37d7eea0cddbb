"""Answering: answers in order whatever the order of arrival, forms and targets of files, and what a run that is started again asks."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgeval.errors import IncompleteError, UsageError
from kgeval.llm.answer_store import AnswerStore
from kgeval.records import Aligned, Answer, Passage, Question, Stages
from kgeval.systems.engine import Answering, AnswerRows, Tally, adjusted, answers
from kgeval.systems.spec import ablated, merged, nested, parse_spec
from kgeval.systems.system import Ask
from kgeval.tables.answers import Counted, cause_of, read_answers, targets, write_answers

FORMS = ["a.jsonl", "a.json", "a.csv", "a.parquet"]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
NAME = TEXT.filter(lambda text: bool(text.strip()))
NUMBER = st.none() | st.integers(0, 2**40)
SECONDS = st.none() | st.floats(0, 1e6)


def one(name: str, text: str = "A", error: str | None = None, trial: int | None = None) -> Answer:
    return Answer(question_id=name, system="s", answer="" if error else text, error=error, trial=trial)


@st.composite
def any_answer(draw: st.DrawFn) -> Answer:
    return Answer(
        question_id=draw(NAME), system=draw(NAME), variant=draw(st.none() | NAME), answer=draw(TEXT),
        contexts=draw(st.none() | st.lists(st.builds(Passage, text=TEXT, chunk_id=st.none() | NAME, score=SECONDS), max_size=3)),
        retrieved_nodes=draw(st.none() | st.lists(NAME, max_size=3)), latency_s=draw(SECONDS), calls=draw(NUMBER), cost=draw(SECONDS),
        stages=draw(st.none() | st.builds(Stages, retrieval=SECONDS)), trial=draw(NUMBER), error=draw(st.none() | NAME),
        extra=draw(st.dictionaries(TEXT, st.none() | st.integers(-9, 9) | TEXT, max_size=3)),
    )


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(any_answer(), min_size=1, max_size=4))
def test_what_is_written_is_read_back_equal(form: str, written: list[Answer]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_answers(Path(folder) / form, written)
        found = list(read_answers(Path(folder) / form))
    assert found == written


def test_a_folder_or_a_name_with_the_system_in_it_is_one_file_a_system(tmp_path: Path) -> None:
    def found(*outputs: str) -> list[list[str]]:
        systems = ["a", "b/../c", ".d", "g@t=0.3"]
        return [[str(file) for file in target.files] for target in targets([Path(name) for name in outputs], systems)]

    assert found("run") == [["run/a.jsonl"], ["run/b_.._c.jsonl"], ["run/d.jsonl"], ["run/g@t=0.3.jsonl"]]
    assert found("x.{system}.csv", "y/{system}") == [
        ["x.a.csv", "y/a/answers.jsonl"], ["x.b_.._c.csv", "y/b_.._c/answers.jsonl"], ["x.d.csv", "y/d/answers.jsonl"],
        ["x.g@t=0.3.csv", "y/g@t=0.3/answers.jsonl"],
    ]
    assert found("a.jsonl", "b.csv") == [["a.jsonl", "b.csv"]] and targets([], ["a"])[0].files == ()
    with pytest.raises(UsageError, match="two systems would be written to"):
        targets([Path("run")], ["a/b", "a:b"])


def test_sums_are_over_the_rows_that_tell_them() -> None:
    counted = Counted("s", None, "sig")
    for at, answer in enumerate([one("1"), one("2", error="timeout: 5 s"), one("3", ""), one("4", error="Strange thing")]):
        counted.add(answer.model_copy(update={"latency_s": float(at), "input_tokens": None if at else 7}))
    made = counted.record()
    assert (made.answers, made.empty, made.errors) == (4, 1, {"other": 1, "timeout": 1})
    assert (made.n_latency, made.latency_s, made.slowest_s, made.input_tokens, made.output_tokens) == (2, 1.0, 2.0, 7, None)
    assert [cause_of(text) for text in ("crashed", "no_answer: x", "http://x", "a: b")] == ["crashed", "no_answer", "http", "other"]


class Echo:
    """A system without a process."""

    name, variant, signature, adjusts, parallel = "echo", None, "echo:1", True, 4

    def answer(self, ask: Ask) -> Answer:
        if ask.question_id == "boom":
            raise IncompleteError("broken")
        return Answer(question_id="wrong", system="wrong", answer=f"{ask.question} {ask.target_words} {ask.previous}", trial=7)

    def close(self) -> None: ...

    def __enter__(self) -> Echo:
        return self

    def __exit__(self, *_: object) -> None: ...


def asked(names: list[str]) -> list[Question]:
    return [Question(id=name, question=f"Q{name}") for name in names]


def test_an_answer_is_asked_again_with_a_length() -> None:
    first = Answer(question_id="1", system="echo", answer="long")
    again = adjusted(Echo(), Ask("1", "Q"), 30, previous=first, attempt=2, other="graph")
    assert again.answer == "Q 30 long" and again.aligned_to is not None
    assert again.aligned_to == Aligned(system="graph", target_words=30, attempt=2) and again.question_id == "1"


def test_specs_name_kinds_arguments_and_labels() -> None:
    def read(text: str) -> tuple[str, str, str, str]:
        spec = parse_spec(text)
        return spec.kind, spec.name, spec.argument, spec.label

    assert read("graph+text") == ("builtin", "graph+text", "", "")
    assert read("mine=command:python x.py --k=3") == ("command", "command", "python x.py --k=3", "mine")
    assert read("command:env A=b python x.py") == ("command", "command", "env A=b python x.py", "")
    assert read("https://h/v1?a=b") == read("http:https://h/v1?a=b") == ("http", "http", "https://h/v1?a=b", "")
    assert read("file:a=b.jsonl") == ("file", "file", "a=b.jsonl", "")
    with pytest.raises(UsageError, match="did you mean closed-book"):
        parse_spec("closed_book")


def test_settings_nest_by_dots_and_ablations_change_one_thing_at_a_time() -> None:
    assert nested([("a.b", 1), ("a.c", 2), ("d", 3)]) == {"a": {"b": 1, "c": 2}, "d": 3}
    with pytest.raises(UsageError, match="a has a value already"):
        nested([("a", 1), ("a.b", 2)])
    assert merged({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}) == {"a": {"b": 3, "c": 2}}
    assert ablated({"k": 1, "t": 2}, {"k": [1, 5], "t": [3]}) == [
        (None, {"k": 1, "t": 2}), ("k=5", {"k": 5, "t": 2}), ("t=3", {"k": 1, "t": 3}),
    ]


class Slow(Echo):
    """A system of which the first answers come last."""

    parallel = 8

    def answer(self, ask: Ask) -> Answer:
        time.sleep(0.02 if int(ask.question_id) % 8 == 0 else 0)
        return super().answer(ask)


def test_answers_that_come_in_any_order_are_in_the_order_of_the_questions(tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "j.sqlite", "run") as store, AnswerRows(store, run="run") as rows:
        list(answers(asked([str(n) for n in range(60)]), Slow(), Answering(trials=2), rows, Tally(0.1)))
        found = [(answer.question_id, answer.trial) for answer in rows]
    assert found == [(str(n), trial) for n in range(60) for trial in (1, 2)]


def test_the_engine_names_answers_itself_and_the_journal_has_those_before_an_error(tmp_path: Path) -> None:
    def run(names: list[str]) -> tuple[list[str | None], list[tuple[str, int | None, str | None]]]:
        with AnswerStore(tmp_path / "j.sqlite", "run") as store, AnswerRows(store, run="run") as rows:
            store.begin()
            made = list(answers(asked(names), Echo(), Answering(at_a_time=1), rows, Tally(0.1)))
            return [answer and answer.question_id for answer in made], [(one.system, one.trial, one.signature) for one in rows]

    with pytest.raises(IncompleteError):
        run(["1", "2", "boom"])
    assert run(["1", "2", "3"]) == ([None, None, "3"], [("echo", None, "echo:1")] * 3)


@pytest.mark.parametrize("again", [False, True])
def test_an_error_is_an_answer_until_it_is_retried_and_what_was_not_asked_is_none(tmp_path: Path, again: bool) -> None:
    calls: list[str] = []
    errors = {"2": "timeout: 5 s", "3": "budget: reached"}

    class Failing(Echo):
        def answer(self, ask: Ask) -> Answer:
            calls.append(ask.question_id)
            error = errors.get(ask.question_id)
            return Answer(question_id=ask.question_id, system="echo", answer="" if error else "A", error=error)

    def causes(*, failed_again: bool) -> list[str | None]:
        with AnswerStore(tmp_path / "j.sqlite", "run") as store, AnswerRows(store, run="run") as rows:
            store.begin(failed_again=failed_again)
            list(answers(asked(list("1234")), Failing(), Answering(at_a_time=1), rows, Tally(1.0)))
            return [answer.error and answer.error.partition(":")[0] for answer in rows]

    assert causes(failed_again=False) == [None, "timeout", "budget", "budget"] and calls == ["1", "2", "3"]
    errors.clear()
    assert causes(failed_again=again) == [None, None if again else "timeout", None, None]
    assert calls[3:] == (["2", "3", "4"] if again else ["3", "4"])


@pytest.mark.long
def test_memory_stays_flat_from_two_thousand_to_twelve_thousand_answers(tmp_path: Path) -> None:
    code = (
        "import resource, sys\nfrom pathlib import Path\nsys.path.insert(0, sys.argv[2])\nfrom test_answering import *\n"
        "def peak(n):\n"
        "    made = (Question(id=f'q{i}', question='Q' * 500) for i in range(n))\n"
        "    with AnswerStore(Path(sys.argv[1]) / 'j.sqlite', str(n)) as store, AnswerRows(store, run=str(n)) as rows:\n"
        "        for _ in answers(made, Echo(), Answering(), rows, Tally(0.1)): pass\n"
        "        write_answers(Path(sys.argv[1]) / f'{n}.jsonl', rows)\n"
        "    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "first = peak(2_000)\nprint(peak(12_000) - first)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path), str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 4_000, "kB for ten thousand answers of 500 characters more: 5,000 kB would be their texts alone"
