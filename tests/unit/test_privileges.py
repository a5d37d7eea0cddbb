"""What the rights of a user hide, from rows as SHOW USER PRIVILEGES gives them (Neo4j's manual, "Read privileges"). Users with roles are
of the Enterprise edition, which the suite does not start."""

from __future__ import annotations

import pytest

from kgeval.graph.privileges import hidden_parts
from kgeval.graph.server_info import view_notes
from kgeval.records import ServerInfo


def row(access: str, action: str, segment: str, resource: str = "all_properties", graph: str = "*") -> dict[str, str]:
    return {"access": access, "action": action, "resource": resource, "graph": graph, "segment": segment}


READER = [
    row("GRANTED", "match", "NODE(*)"), row("GRANTED", "match", "RELATIONSHIP(*)"),
    row("GRANTED", "access", "database", "database"),
]


@pytest.mark.parametrize("rows", [
    [], READER,
    [row("GRANTED", action, f"{kind}(*)", resource) for kind in ("NODE", "RELATIONSHIP")
     for action, resource in (("traverse", "graph"), ("read", "all_properties"))],
    [row("GRANTED", "graph_actions", f"{kind}(*)", "graph", "HOME") for kind in ("NODE", "RELATIONSHIP")],
    [*READER, row("DENIED", "match", "NODE(Payment)", graph="accounts")],
    [*READER, row("DENIED", "write", "NODE(*)", "graph"), row("GRANTED", "match", "NODE(Payment)")],
    [{**one, "graph": "Neo4j"} for one in READER],
], ids=["unknown", "reader", "two rights for one", "all on the home graph", "denied elsewhere", "no writing", "of this database"])
def test_who_sees_all_is_told_nothing(rows: list[dict[str, str]]) -> None:
    assert hidden_parts(rows, "neo4j") == []


@pytest.mark.parametrize(("rows", "hidden"), [
    ([*READER, row("DENIED", "traverse", "NODE(Payment)", "graph")], ["denied: NODE(Payment)"]),
    ([*READER, row("DENIED", "read", "NODE(*)", "property(iban)")], ["denied: property(iban) of NODE(*)"]),
    ([READER[0], row("GRANTED", "match", "RELATIONSHIP(KNOWS)")], ["of relations only: RELATIONSHIP(KNOWS)"]),
    ([row("GRANTED", "traverse", "NODE(*)", "graph"), READER[1]], ["of nodes only: NODE(*)"]),
    ([row("GRANTED", "match", "NODE(FOR(n:Post) WHERE n.secret = false)"), READER[1]],
     ["of nodes only: NODE(FOR(n:Post) WHERE n.secret = false)"]),
    ([READER[0]], ["no relations"]),
    ([*READER, *(row("DENIED", "match", f"NODE(L{n})") for n in range(7))],
     ["denied: NODE(L0), NODE(L1), NODE(L2), NODE(L3), NODE(L4) and 2 more"]),
])
def test_what_is_hidden_is_named(rows: list[dict[str, str]], hidden: list[str]) -> None:
    assert hidden_parts(rows, "neo4j") == hidden
    info = ServerInfo(uri="bolt://x", database="neo4j", neo4j="5.26", edition="enterprise", hidden=hidden)
    assert len(view_notes(info)) == 1 and hidden[0] in view_notes(info)[0]
    assert view_notes(info.model_copy(update={"hidden": []})) == []
