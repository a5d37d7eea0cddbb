"""What a server says of itself when it is first asked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from neo4j import Query, Record
from neo4j.exceptions import ClientError, Neo4jError

from kgeval.graph.server_info import WHAT, _told


class Session:
    """A session that says which version of GDS there is, or gives an error of this code instead."""

    def __init__(self, code: str = "", version: str = "") -> None:
        self.code, self.version = code, version

    def run(self, query: Query, _params: object) -> Rows:
        if self.code and query.text == WHAT[-1]:
            raise Neo4jError._hydrate_neo4j(code=self.code, message="told so")
        return Rows([Record({"v": self.version})])


class Rows(list[Record]):
    """A result of one column."""

    def keys(self) -> list[str]:
        return ["v"]

    def consume(self) -> SimpleNamespace:
        return SimpleNamespace(plan=None, query_type="r")


def asked(**answer: str) -> str | None:
    session: Any = Session(**answer)
    rows = _told(session)[len(WHAT) - 1:]
    return str(rows[0]["v"]) if rows else None


def test_gds_is_missing_only_where_its_function_is_not_known_or_not_allowed() -> None:
    assert asked(version="2.13.9") == "2.13.9"
    assert asked(code="Neo.ClientError.Statement.SyntaxError") is None
    assert asked(code="Neo.ClientError.Security.Forbidden") is None


@pytest.mark.parametrize("code", [
    "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration", "Neo.ClientError.Transaction.TransactionTerminated",
])
def test_a_query_that_was_ended_says_nothing_of_gds(code: str) -> None:
    with pytest.raises(ClientError, match="told so"):
        asked(code=code)
