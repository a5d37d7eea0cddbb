"""Files of answers: places in order whatever the order of arrival, forms, targets, and what a later run takes over."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgeval.errors import IncompleteError, InputError, UsageError
from kgeval.files.answers import AnswerFile, Counted, Taking, cause_of, read_answers, targets, write_answers
from kgeval.files.partial import partial_of
from kgeval.files.scores import ScoreFile
from kgeval.records import Aligned, Answer, AnswerReport, Passage, Question, RunManifest, Stages
from kgeval.systems.engine import Answering, Tally, adjusted, answers
from kgeval.systems.spec import ablated, merged, nested, parse_spec
from kgeval.systems.system import Ask

RUN = RunManifest(kgeval="0", command="answer", started="2026-01-01T00:00:00+00:00", seconds=1.0)
FORMS = ["a.jsonl", "a.json", "a.csv", "a.parquet"]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
NAME = TEXT.filter(lambda text: bool(text.strip()))
NUMBER = st.none() | st.integers(0, 2**40)
SECONDS = st.none() | st.floats(0, 1e6)


def one(name: str, text: str = "A", error: str | None = None, trial: int | None = None) -> Answer:
    return Answer(question_id=name, system="s", answer="" if error else text, error=error, trial=trial)


def report(*, complete: bool = True) -> AnswerReport:
    return AnswerReport(run=RUN, complete=complete)


def filled(output: Path, names: list[str], *, taking: Taking = "nothing", error: str | None = None) -> AnswerFile:
    """A run over the names; what is taken over is not added again."""
    file = AnswerFile([output], fingerprint="f", taking=taking)
    for name in names:
        place, taken = file.place(name, "s", None)
        if not taken:
            file.add(place, one(name, error=error if name == "2" else None))
    return file


@st.composite
def any_answer(draw: st.DrawFn) -> Answer:
    return Answer(
        question_id=draw(NAME), system=draw(NAME), variant=draw(st.none() | NAME), answer=draw(TEXT),
        contexts=draw(st.none() | st.lists(st.builds(Passage, text=TEXT, chunk_id=st.none() | NAME, score=SECONDS), max_size=3)),
        retrieved_nodes=draw(st.none() | st.lists(NAME, max_size=3)), latency_s=draw(SECONDS), calls=draw(NUMBER), cost=draw(SECONDS),
        stages=draw(st.none() | st.builds(Stages, retrieval=SECONDS)), trial=draw(NUMBER), error=draw(st.none() | NAME),
        extra=draw(st.dictionaries(TEXT, st.none() | st.integers(-9, 9) | TEXT, max_size=3)),
    )


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(any_answer(), min_size=1, max_size=4))
def test_what_is_written_is_read_back_equal(form: str, written: list[Answer]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_answers(Path(folder) / form, written)
        found = list(read_answers(Path(folder) / form))
    assert found == written


def test_answers_that_come_in_any_order_are_written_in_the_order_of_their_places(tmp_path: Path) -> None:
    with AnswerFile([tmp_path / "a.jsonl"], fingerprint="f") as file:
        places = [file.place(f"q{n}", "s", None)[0] for n in range(200)]
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda at: file.add(places[at], one(f"q{at}")), reversed(range(200))))
        assert file.finish(report()) == [tmp_path / "a.jsonl", tmp_path / "a.run.json"]
    assert [answer.question_id for answer in read_answers(tmp_path / "a.jsonl")] == [f"q{n}" for n in range(200)]


@pytest.mark.parametrize("form", FORMS)
def test_resuming_takes_what_is_finished_and_retrying_what_has_no_error(form: str, tmp_path: Path) -> None:
    output = tmp_path / form
    with filled(output, ["1", "2", "3"], error="timeout: 5 s") as file:
        file.finish(report())
    with AnswerFile([output], fingerprint="f", taking="finished") as file:
        assert [file.place(name, "s", None)[1] for name in "4321"] == [False, True, True, True]
    with AnswerFile([output], fingerprint="f", taking="answered") as file:
        assert [file.place(name, "s", None)[1] for name in "123"] == [True, False, True]
        file.add(1, one("2", "B"))
        file.finish(report())
    assert [answer.answer for answer in read_answers(output)] == ["A", "B", "A"]


def test_what_was_not_asked_because_the_run_was_stopped_is_not_finished(tmp_path: Path) -> None:
    with filled(tmp_path / "a.jsonl", ["1", "2"], error="budget: reached") as file:
        file.finish(report(complete=False))
    assert partial_of(tmp_path / "a.jsonl").exists()
    with AnswerFile([tmp_path / "a.jsonl"], fingerprint="f", taking="finished") as file:
        assert [file.place(name, "s", None)[1] for name in "12"] == [True, False]


def test_a_cut_line_is_dropped_and_another_fingerprint_refused(tmp_path: Path) -> None:
    output = tmp_path / "a.jsonl"
    with filled(output, ["1", "2"]):
        pass
    partial = partial_of(output)
    partial.write_bytes(partial.read_bytes()[:-9])
    with AnswerFile([output], fingerprint="f", taking="finished") as file:
        assert [file.place(name, "s", None)[1] for name in "12"] == [True, False]
        with pytest.raises(InputError, match="another run is writing it"):
            AnswerFile([output], fingerprint="f")
    with pytest.raises(InputError, match="was made from other questions, systems or settings"):
        AnswerFile([output], fingerprint="other", taking="finished")


def test_answers_of_a_killed_run_are_put_aside_not_thrown_away(tmp_path: Path) -> None:
    output = tmp_path / "a.jsonl"
    with filled(output, ["1", "2"]):
        pass
    kept = partial_of(output).read_bytes()
    with AnswerFile([output], fingerprint="other") as file:
        assert file.aside is not None and "a.jsonl.partial.1" in file.aside and "--resume" in file.aside
        assert (tmp_path / "a.jsonl.partial.1").read_bytes() == kept
    partial_of(output).write_bytes(kept)
    with AnswerFile([output], fingerprint="f", taking="finished") as file:
        assert file.aside is None and [file.place(name, "s", None)[1] for name in "12"] == [True, True]
        file.finish(report(complete=False))
    with AnswerFile([output], fingerprint="f") as file:  # what the result holds is not lost
        assert file.aside is None
    with ScoreFile([tmp_path / "s.jsonl"], fingerprint="f") as scores:
        assert scores.aside is None


def test_a_line_that_is_no_answer_is_asked_again(tmp_path: Path) -> None:
    output = tmp_path / "a.jsonl"
    with filled(output, ["1"]):
        pass
    with partial_of(output).open("a") as file:
        file.write('{"answer": {"question_id": "2"}}\n{"other": 1}\n{"answer": 3}\n')
    with AnswerFile([output], fingerprint="f", taking="finished") as file:
        assert [file.place(name, "s", None)[1] for name in "12"] == [True, False]


def test_an_answer_that_comes_after_the_end_goes_nowhere(tmp_path: Path) -> None:
    file = filled(tmp_path / "a.jsonl", ["1"])
    file.close()
    with (tmp_path / "other").open("w+b") as other:  # it may have got the number that the file had
        with pytest.raises(OSError, match="Bad file"):
            file.add(1, one("2"))
        assert other.read() == b""


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


def test_the_trials_of_a_question_are_taken_over_one_by_one(tmp_path: Path) -> None:
    output = tmp_path / "a.jsonl"
    with AnswerFile([output], fingerprint="f") as file:
        for trial in (1, 2):
            file.add(file.place("q", "s", trial)[0], one("q", f"A{trial}", trial=trial))
    with AnswerFile([output], fingerprint="f", taking="finished") as file:
        assert [file.place("q", "s", trial)[1] for trial in (1, 2, 3)] == [True, True, False]
        assert [answer.answer for answer in file.answers()] == ["A1", "A2"]


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


def test_the_engine_names_answers_itself_and_keeps_those_before_an_error(tmp_path: Path) -> None:
    output = tmp_path / "a.jsonl"
    with AnswerFile([output], fingerprint="f") as file, pytest.raises(IncompleteError):
        list(answers(asked(["1", "2", "boom"]), Echo(), Answering(at_a_time=1), file, Tally(0.1)))
    with AnswerFile([output], fingerprint="f", taking="finished") as file:
        made = list(answers(asked(["1", "2", "3"]), Echo(), Answering(), file, Tally(0.1)))
        assert [answer if answer is None else answer.question_id for answer in made] == [None, None, "3"]
        assert [(answer.system, answer.trial, answer.signature) for answer in file.answers()] == [("echo", None, "echo:1")] * 3


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


@pytest.mark.slow
def test_memory_stays_flat_from_two_thousand_to_twelve_thousand_answers(tmp_path: Path) -> None:
    code = (
        "import resource, sys\nfrom pathlib import Path\nsys.path.insert(0, sys.argv[2])\nfrom test_answer_partial import *\n"
        "def peak(n):\n"
        "    made = (Question(id=f'q{i}', question='Q' * 500) for i in range(n))\n"
        "    with AnswerFile([Path(sys.argv[1]) / f'{n}.jsonl'], fingerprint='f') as file:\n"
        "        for _ in answers(made, Echo(), Answering(), file, Tally(0.1)): pass\n"
        "        file.finish(report())\n"
        "    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "first = peak(2_000)\nprint(peak(12_000) - first)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path), str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 4_000, "kB for ten thousand answers of 500 characters more: 5,000 kB would be their texts alone"
