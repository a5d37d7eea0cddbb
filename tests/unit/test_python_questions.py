"""The functions behind `kgeval questions`, called without the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kgeval.config import CheckOptions, Config, GenerateOptions
from kgeval.errors import GateError, UsageError
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
    with pytest.raises(GateError, match=r"duplicate of questions\.jsonl"):
        result.raise_for_gates()


def test_checks_that_need_a_model_name_them_all_before_a_file_is_read(tmp_path: Path) -> None:
    with Session("questions check") as session, pytest.raises(UsageError, match="answerable, closed_book"):
        questions_check.run(session, [tmp_path / "none.jsonl"], CheckOptions())


def test_all_faulty_options_of_making_are_told_at_once() -> None:
    with pytest.raises(UsageError) as fault:
        questions_generate.generate_options(Config(), {"n": 0, "tries": 0, "profile": "poem"})
    assert all(name in str(fault.value) for name in ("n:", "tries:", "profile:"))


def test_the_section_of_the_file_has_a_key_that_is_no_option() -> None:
    config = Config.model_validate({"questions": {"kinds": ["node"], "file": "q.jsonl", "n": 7}})
    options = options_of(GenerateOptions, {"n": 9}, config.questions)
    assert (options.kinds, options.n) == (("node",), 9)


def test_a_kind_that_needs_a_model_is_refused_before_a_server_is_looked_for() -> None:
    with Session("questions generate") as session, pytest.raises(UsageError, match="no model is named for the generator"):
        questions_generate.run(session, GenerateOptions(kinds=("node",)))
