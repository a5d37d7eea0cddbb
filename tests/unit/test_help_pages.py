"""`kgeval help`, and what messages promise of it; libraries that are not there."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

import kgeval
from kgeval.cli import help as helping
from kgeval.cli.main import COMMANDS, cli, run

PACKAGE = Path(kgeval.__file__).parent


@cache
def texts() -> list[tuple[Path, str]]:
    return list(_texts())


def _texts() -> Iterator[tuple[Path, str]]:
    """Every text in the package's code that is no docstring, and its templates and pages."""
    for path in PACKAGE.rglob("*.py"):
        if "scripts" in path.parts:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
                yield path, node.value
    for path in PACKAGE.rglob("*.j2"):
        yield path, path.read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_page_that_a_message_names_is_there() -> None:
    named = {(topic, path.name) for path, text in texts() for topic in re.findall(r"kgeval help ([a-z0-9][a-z0-9/-]*)", text)}
    topics = {topic for topic, _ in named} - {"lists"}
    assert len(topics) > 20 and topics - set(helping.pages()) == set()


@pytest.mark.slow
def test_no_message_names_a_file_of_the_checkout() -> None:
    assert [(path.name, text[:80]) for path, text in texts() if re.search(r"docs/[a-z0-9/-]+\.md", text)] == []


def test_a_page_is_printed_listed_and_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    page = helping.pages()["answer-files"].read_text(encoding="utf-8")
    for topic in ("answer-files", "docs/answer-files.md"):
        assert CliRunner().invoke(cli, ["help", topic]).output == page
    assert CliRunner().invoke(cli, ["help", "self-loop"]).output.startswith("# "), "the last part is enough where it is the only one"
    listed = CliRunner().invoke(cli, ["help"]).output
    assert "answer-files " in listed and "rules/..." in listed and "decisions" not in listed
    assert [line.partition("/")[0] for line in listed.splitlines()[:3]] == ["tutorials"] * 3 and "how-to/find-hallucinations " in listed
    assert run(["help", "answer-fils"]) == 2
    assert "did you mean answer-files" in capsys.readouterr().err


@pytest.mark.parametrize(("module", "name", "command"), [
    ("lancedb", "lancedb", "'kgeval-toolkit[vectors]'"), ("docx", "python-docx", "'kgeval-toolkit[documents]'"),
    ("matplotlib", "matplotlib", "matplotlib"),
])
def test_a_library_that_is_missing_is_one_error_with_the_way_to_add_it(
    module: str, name: str, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    import types

    import click

    monkeypatch.setitem(sys.modules, module, None)
    made = types.ModuleType("commands_of_tests")
    made.it = click.command()(lambda: __import__(module))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "commands_of_tests", made)
    monkeypatch.setitem(COMMANDS, "it", ("commands_of_tests:it", ""))
    assert run(["it"]) == 2
    error = capsys.readouterr().err
    assert f"this needs {name}, which cannot be loaded" in error and error.rstrip().endswith(f"Fix: pip install {command}")


def test_a_part_of_kgeval_that_is_missing_is_a_traceback() -> None:
    from kgeval.errors import library_missing

    assert library_missing(ModuleNotFoundError("no", name="kgeval.nothing")) is None
    assert library_missing(ModuleNotFoundError("no", name="ctypes")) is None
    assert library_missing(ImportError("no name")) is None
