"""Small files for `kgeval stats`, and its commands through the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kgeval.cli.main import run
from kgeval.records import StatsReport


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are written where nothing else is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "130")


def wrote(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def report(capsys: pytest.CaptureFixture[str], *arguments: str) -> StatsReport:
    """The report of a command that succeeds."""
    assert run(["stats", *arguments, "-f", "json"]) == 0, capsys.readouterr().err
    return StatsReport.model_validate_json(capsys.readouterr().out)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["stats", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def wide(columns: dict[str, Any], name: str = "s.csv") -> str:
    rows = [",".join(["question_id", *columns])]
    rows += [",".join([f"q{at}", *("" if value is None else repr(float(value)) for value in row)]) for at, row in
             enumerate(zip(*columns.values(), strict=True))]
    return wrote(name, "\n".join(rows) + "\n")


def duels(outcomes: list[tuple[str, str, str]], name: str = "d.csv") -> str:
    return wrote(name, "question_id,left,right,winner\n" + "".join(f"q{at},{a},{b},{w}\n" for at, (a, b, w) in enumerate(outcomes)))
