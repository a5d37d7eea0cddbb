"""`kgeval answer`: what is refused before anything is asked, and files of answers with gaps and names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from answer_world import SIMPLE, lines, questions, script, spec

from kgeval.cli.main import run
from kgeval.config import Config, SystemOptions, SystemSection
from kgeval.errors import UsageError
from kgeval.workflows.answer_systems import chosen_systems


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def answer(*arguments: object) -> int:
    return run(["answer", *[str(argument) for argument in arguments], "--no-progress"])


def test_a_file_may_be_given_a_name_and_what_its_own_run_did_not_ask_is_an_error_of_that_question(tmp_path: Path) -> None:
    rows = [
        {"question_id": "q0", "system": "old@k=2", "variant": "k=2", "answer": "A"},
        {"question_id": "q1", "system": "old@k=2", "answer": "", "error": "budget: the run was stopped before this question"},
        {"question_id": "q2", "system": "old@k=2", "answer": "C"},
    ]
    (tmp_path / "old.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert answer(questions(tmp_path, 3), "--system", "mine=file:old.jsonl", "--max-error-rate", 0.5, "-o", "a.jsonl", "-q") == 0
    found = lines(tmp_path / "a.jsonl")
    assert [(row["system"], row["answer"], row.get("variant")) for row in found] == [
        ("mine", "A", "k=2"), ("mine", "", None), ("mine", "C", None),
    ]
    assert found[1]["error"].startswith("no_answer: the file has none to this question: budget")


def test_lengths_that_lack_or_differ_are_told_before_anything_is_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = spec(script(tmp_path, 'open(mark, "w")\n' + SIMPLE))
    for text, said in (
        ("id,target_words\nq0,5\n", "questions without target_words: 2\n  q1\n  q2"),
        ("id,target_words\nq0,5\nq0,6\nq1,5\nq2,5\n", "w.csv:3: another length for q0, which has 5 already"),
    ):
        (tmp_path / "w.csv").write_text(text)
        assert answer(questions(tmp_path, 3), "--system", mine, "--target-words", "w.csv") == 2
        assert said in capsys.readouterr().err
    assert not (tmp_path / "mine.mark").exists()


def test_each_adapter_may_have_a_folder_of_its_own() -> None:
    config = Config(systems=[SystemSection(name="b", spec="lightrag:mix", folder=Path("ix-b"))])

    def folders(*given: str) -> list[str | None]:
        found = chosen_systems(config, SystemOptions(systems=("a=lightrag", "b"), folders=given))
        return [str(one.folder) if one.folder else None for one in found]

    assert folders() == [None, "ix-b"] and folders("ix") == ["ix", "ix"]
    assert folders("a=ix-a") == ["ix-a", "ix-b"] and folders("ix", "b=other") == ["ix", "other"]
    for wrong in (("c=ix",), ("a=",), ("x", "y"), ("a=x", "a=y")):
        with pytest.raises(UsageError, match="--folder"):
            folders(*wrong)
    with pytest.raises(UsageError, match=r"several are called b"):
        chosen_systems(Config(systems=[*config.systems, *config.systems]), SystemOptions())
