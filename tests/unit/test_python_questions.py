"""`kgeval.generate_questions`, `kgeval.check_questions` and the functions behind them. Without a server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import kgeval
from kgeval.config import CheckOptions, Config, GenerateOptions
from kgeval.errors import ConnectError, GateError, InputError, UsageError
from kgeval.workflows import questions_check, questions_generate
from kgeval.workflows.session import Session, options_of


def questions(folder: Path) -> Path:
    rows = [{"id": f"q{n}", "question": text, "reference": "Ann"} for n, text in enumerate(("Who is it?", "Who is it?", "Is it Ann?"))]
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_checks_without_a_model_keep_the_questions_and_raise_for_thresholds(tmp_path: Path) -> None:
    with Session("questions check", keep_rows=True) as session:
        options = CheckOptions(no_model=True, thresholds=("duplicate>=0.9",))
        result = questions_check.run(session, [questions(tmp_path)], options)
    assert [question.id for question in result.questions] == ["q0", "q1", "q2"]
    assert set(result.to_pandas()["check"]) >= {"leak", "duplicate"} and result.exit_code == 1
    with pytest.raises(GateError, match=r"questions\.jsonl: duplicate >= "):
        result.raise_for_gates()


def test_checks_that_need_a_model_name_them_all_before_a_file_is_read(tmp_path: Path) -> None:
    with Session("questions check") as session, pytest.raises(UsageError, match="answerable, closed_book"):
        questions_check.run(session, [tmp_path / "none.jsonl"], CheckOptions())


def test_all_faulty_options_of_making_are_told_at_once() -> None:
    with pytest.raises(UsageError) as fault:
        options_of(
            GenerateOptions, {"n": 0, "tries": 0, "profile": "poem", "kinds": "nodde"},
            names=partial(questions_generate.names, Session("questions generate")),
        )
    assert all(name in str(fault.value) for name in ("n:", "tries:", "profile:", "nodde"))


def test_the_section_of_the_file_has_a_key_that_is_no_option() -> None:
    config = Config.model_validate({"questions": {"kinds": ["node"], "file": "q.jsonl", "n": 7}})
    options = options_of(GenerateOptions, {"n": 9}, config.questions)
    assert (options.kinds, options.n) == (("node",), 9)


def test_a_kind_that_needs_a_model_is_refused_before_a_server_is_looked_for() -> None:
    with Session("questions generate") as session, pytest.raises(UsageError, match="no model is named for the generator"):
        questions_generate.run(session, GenerateOptions(kinds=("node",)))


ROWS: list[dict[str, Any]] = [
    {"id": "q1", "question": "Who built it?", "reference": "Ann"}, {"id": "q2", "question": "Was it Ann?", "reference": "Ann"},
    {"id": "q3", "question": "Who built it?", "reference": "Ann"},
]


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("NEO4J_URI", "NEO4J_USERNAME", "NEO4J_DATABASE", "NEO4J_PASSWORD"):
        monkeypatch.delenv(name, raising=False)


def checked(questions: Any, **options: Any) -> Any:
    return kgeval.check_questions(questions, **{"no_model": True, "config": False, **options})


@pytest.mark.slow
@pytest.mark.parametrize("form", ["file", "frame", "list", "iterator", "records", "result"])
def test_questions_of_every_kind_are_checked_the_same(form: str) -> None:
    pd.DataFrame(ROWS).to_json("q.jsonl", orient="records", lines=True)
    questions: Any = {
        "file": "q.jsonl", "frame": pd.DataFrame(ROWS), "list": ROWS, "iterator": iter(ROWS),
        "records": [kgeval.Question(**row) for row in ROWS], "result": checked(ROWS),
    }[form]
    result = checked(questions, thresholds="leak>=0.9")
    figures = result.to_pandas().set_index("check")
    assert {name: (figures.loc[name, "passed"], figures.loc[name, "failed"]) for name in ("leak", "duplicate")} == {
        "leak": (2, 1), "duplicate": (2, 1),
    }
    name = "q.jsonl" if form == "file" else "questions"
    assert [file.path for file in result.report.run.inputs] == [name] and set(figures["file"]) == {name}
    assert [(gate.of, gate.met) for gate in result.gates] == [(name, False)]
    assert len(result) == 3 and [question.id for question in result] == ["q1", "q2", "q3"] and all(question.checks for question in result)
    with pytest.raises(GateError, match=f"{name}: leak"):
        result.raise_for_gates()


def test_two_sets_stand_side_by_side_and_their_questions_are_not_kept() -> None:
    both = checked([checked(ROWS[:2]), pd.DataFrame(ROWS[2:])])
    assert set(both.to_pandas()["file"]) == {"questions-1", "questions-2"} and both.report.twins_across == 1
    assert (len(both), list(both)) == (0, [])
    for use in (lambda: both.save("q.jsonl"), lambda: checked(both), lambda: kgeval.score([{"answer": "x"}], questions=both)):
        with pytest.raises(UsageError, match="the questions were not kept"):
            use()


def test_questions_that_were_checked_are_scored_against() -> None:
    answers = [{"question_id": row["id"], "answer": "Ann"} for row in ROWS]
    scores = kgeval.score(answers, questions=checked(ROWS), metrics="exact_match", config=False)
    assert [score.value for score in scores.scores] == [1.0, 1.0, 1.0]


def test_questions_whose_file_is_gone_are_an_error_and_not_none() -> None:
    with Session("questions check", outputs=(Path("kept.jsonl"),)) as session:
        result = questions_check.run(session, [questions(Path())], CheckOptions(no_model=True))
    Path("kept.jsonl").unlink()
    with pytest.raises(InputError, match=r"kept\.jsonl: the questions are not there any more"):
        checked(result)


def raising() -> Iterator[dict[str, Any]]:
    yield ROWS[0]
    raise ZeroDivisionError("mine")


def test_what_a_generator_of_questions_raises_comes_through() -> None:
    with pytest.raises(ZeroDivisionError, match="mine"):
        checked(raising())
    with pytest.raises(ZeroDivisionError, match="mine"):
        kgeval.generate_questions("bolt://127.0.0.1:1", kinds="hops", template=True, earlier=raising(), config=False)


@pytest.mark.parametrize(("rows", "words"), [
    (pd.DataFrame([["q1", "x", "y"]], columns=["id", "question", "question"]), "questions: columns of the same name: question"),
    ([ROWS[0], 7], "questions: rows that cannot be read: 1"), ([], "questions: there are no rows"),
    ([{"id": "q1"}], "the rows have 1 fault; nothing was done\n  questions:1: question: missing"),
    (7, "questions: a path, a DataFrame, a list or an iterator of mappings is needed, not int"),
])
def test_questions_that_cannot_be_read_are_named(rows: Any, words: str) -> None:
    with pytest.raises((InputError, UsageError)) as fault:
        checked(rows)
    assert words in str(fault.value) and "kgeval-rows" not in str(fault.value) and "jsonl" not in str(fault.value)


def test_missing_cells_and_mixed_types_of_a_frame_are_as_in_a_file() -> None:
    frame = pd.DataFrame([ROWS[0] | {"level": float("nan")}, {"id": 2, "question": "Where?", "reference": None, "level": "easy"}])
    assert [(one.id, one.level, one.reference) for one in checked(frame)] == [("q1", None, "Ann"), ("2", "easy", None)]


def test_faulty_options_of_questions_come_all_at_once_in_the_words_of_python() -> None:
    with pytest.raises(UsageError) as fault:
        checked(ROWS, near=7, exmples=2, judge=3, connection=5, examples="many")
    for words in (
        "exmples: unknown (did you mean examples?)", "near: unknown", "; judge: ",
        "connection: a neo4j.Driver", "examples: no whole",
    ):
        assert words in str(fault.value), words
    with pytest.raises(UsageError) as fault:
        kgeval.generate_questions(kinds=7, n="x", tries=0, seed=-1)  # type: ignore[call-overload]
    assert all(words in str(fault.value) for words in ("kinds: ", "n: no whole number", "tries: ", "seed: "))


@pytest.mark.parametrize(("options", "words"), [
    ({}, "no kind of question is named"), ({"kinds": "node"}, "no model is named for the generator"),
    ({"kinds": {"hops": 0, "nod": 1}}, "kinds: 'hops=0': '0' is no number from 1 to 1,000,000; 'nod' is no kind of question"),
])
def test_kinds_that_cannot_be_made_are_refused_before_a_server_is_looked_for(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)) as fault:
        kgeval.generate_questions("bolt://127.0.0.1:1", config=False, **options)
    assert "--" not in str(fault.value)


def test_a_graph_is_opened_for_checks_only_where_the_call_names_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:1")
    assert checked(ROWS).exit_code == 0
    for named in ({"graph": "novels"}, {"connection": "bolt://127.0.0.1:1"}, {"layout": "kgeval"}):
        with pytest.raises(ConnectError):
            checked(ROWS, **named)


def test_two_sets_may_be_lists_files_and_results_in_any_mixture(tmp_path: Path) -> None:
    one = checked(ROWS)
    file = one.save(tmp_path / "q.jsonl")
    for pair in ([ROWS, ROWS], [str(file), ROWS], [one, ROWS], [ROWS, one]):
        assert len(checked(pair).report.sets) == 2


def test_the_report_on_checks_can_be_saved_too(tmp_path: Path) -> None:
    result = checked(ROWS)
    assert json.loads(result.save(tmp_path / "r.json").read_text())["sets"] and "leak" in result.save(tmp_path / "r.md").read_text()
    for name, options in (("r.docx", {}), ("q.jsonl", {"redact": True})):
        with pytest.raises(UsageError):
            result.save(tmp_path / name, **options)
