"""What helps: the nearest word for one that is not there, plain text where no colours are wanted, ways out that work as printed."""

from __future__ import annotations

import io
import re
import sys
import tomllib
from pathlib import Path

import pytest

import kgeval
from kgeval.cli.common import coloured
from kgeval.cli.main import run
from kgeval.errors import DISTRIBUTIONS, EXTRAS, ConnectError, ModelError
from kgeval.graph.connect import Address
from kgeval.graph.server_info import inspect
from kgeval.llm.embed_sources import local_model
from kgeval.llm.rerank import Reranker

PACKAGE = Path(kgeval.__file__).parent


@pytest.mark.parametrize(("words", "said"), [
    (["audti"], "Did you mean 'audit'?"),
    (["questions", "generat"], "Did you mean 'generate'?"),
    (["audit", "--version"], "It stands before the command: kgeval --version"),
    (["audit", "--exampels", "3"], "Did you mean '--examples'?"),
    (["audit", "--check", "duplicate", "--uri", "bolt://127.0.0.1:1"], "did you mean duplicates"),
    (["checks", "show", "qqqqqq"], "Fix: kgeval checks list names all"),
    (["cypher", "show", "nothing"], "no such query: nothing\nFix: kgeval cypher list names all"),
    (["cypher", "show", "isolated-entiti"], "did you mean: isolated-entity"),
    (["audit", "--uri", "bolt://127.0.0.1:1"], "127.0.0.1:1',))\nFix: "),
    (["schema", "check", "qqqqqq"], "no such schema: qqqqqq\nFix: kgeval schema list names all"),
    (["schema", "check", "anwser"], "did you mean: answer"),
    (["schema", "check", "answer"], "Fix: kgeval schema check answer FILE"),
])
def test_what_was_meant_is_said(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 2
    shown = capsys.readouterr().err
    assert said in shown and "gds-session" not in shown and "did you mean: kgeval" not in shown


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("name", "value", "colours"), [
    ("TERM", "xterm-256color", True), ("NO_COLOR", "", True), ("NO_COLOR", "1", False), ("TERM", "dumb", False),
])
def test_no_colours_where_none_are_wanted(name: str, value: str, colours: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(name, value)
    assert coloured(Terminal()) == colours
    assert not coloured(io.StringIO())


def test_colours_are_decided_in_one_place() -> None:
    deciding = [path.name for path in PACKAGE.rglob("*.py") if re.search(r"colour=\S*isatty|Screen\(.*isatty", path.read_text())]
    assert deciding == []


@pytest.mark.parametrize(("password", "said"), [("", "no password is given"), ("wrong", "refuses user 'neo4j' or the password")])
def test_a_password_that_is_not_there_is_not_one_that_is_refused(password: str, said: str) -> None:
    from neo4j.exceptions import AuthError

    class Refusing:
        def session(self, **_: object) -> None:
            raise AuthError("The client is unauthorized due to authentication failure.")

    with pytest.raises(ConnectError, match=said):
        inspect(Refusing(), Address("bolt://x", "neo4j", password))  # type: ignore[arg-type]


@pytest.mark.parametrize("use", [
    lambda: local_model("all-MiniLM-L6-v2", None, 8).vectors(["a"]), lambda: Reranker("cross-encoder/x")._load("x", offline=True),
])
def test_without_sentence_transformers_the_way_out_is_said(use: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ModelError) as caught:
        use()  # type: ignore[operator]
    assert "need sentence-transformers" in str(caught.value) and "--embedding-url" in str(caught.value)


def test_what_installs_a_library_stands_in_one_place() -> None:
    """A fix names an extra that pyproject.toml has, by `errors.install`."""
    wrong = [
        f"{path.name}: {line.strip()}" for path in PACKAGE.rglob("*.py") if path.name != "errors.py"
        for line in path.read_text(encoding="utf-8").splitlines() if re.search(r"pip install (?!--upgrade|jgo|cryptography)[\"\w']", line)
    ]
    assert wrong == []
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for module, (extra, _) in EXTRAS.items():
        name = DISTRIBUTIONS.get(module, module)
        assert any(wanted.startswith(name) for wanted in extras[extra]), module
        assert not any(wanted.startswith(name) for wanted in project["dependencies"]), module
