"""What a connection says when it cannot be, and that reading can never write."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from kgeval.auditing import engine
from kgeval.auditing.engine import run_check
from kgeval.errors import ConnectError, QueryError
from kgeval.graph.connect import Address, Graph, open_graph
from kgeval.graph.failures import QueryTimeout, translated
from kgeval.graph.queries import all_queries, parse
from kgeval.graph.server_info import gds_warning
from kgeval.records import Layout, ServerInfo

LAYOUT = Layout(name="test", entity_labels=["E"], name_keys=["name"], relation_types=["R"], relations_join_entities_only=True)
ROGUE = """// isolated-entity: a check that tries to write.
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
CREATE (n:Rogue) RETURN 1 AS count, 1 AS total, [] AS sample
"""


def test_the_server_refuses_a_write_sent_by_an_audit(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    rogue, faults = parse(ROGUE, Path("isolated-entity.cypher"))
    assert not faults
    monkeypatch.setattr(engine, "all_queries", lambda: {**all_queries(), "isolated-entity": rogue})
    finding = run_check(graph, LAYOUT, "isolated-entity")
    assert finding.status == "error"
    assert "AccessMode" in (finding.reason or "")
    assert graph.read("MATCH (n) RETURN count(n) AS n") == [{"n": 0}]


@pytest.mark.parametrize("statement", [
    "CREATE (n)", "MATCH (n) SET n.x = 1", "MATCH (n) DETACH DELETE n", "CREATE INDEX kgeval_no FOR (n:E) ON (n.x)",
])
def test_every_kind_of_write_is_refused_in_a_read(graph: Graph, statement: str) -> None:
    with pytest.raises(QueryError):
        graph.read(statement)


@pytest.mark.long
def test_gds_write_endpoints_are_refused_in_a_read(graph: Graph) -> None:
    graph.write("CREATE (:E)-[:R]->(:E)")
    graph.read("CALL gds.graph.project('kgeval_test_write', '*', '*') YIELD nodeCount RETURN nodeCount")
    try:
        with pytest.raises(QueryError):
            graph.read("CALL gds.wcc.write('kgeval_test_write', {writeProperty: 'w'}) YIELD componentCount RETURN componentCount")
    finally:
        graph.gds.graph.drop("kgeval_test_write")


def test_a_wrong_password_is_named_and_never_shown(address: Address) -> None:
    wrong = dataclasses.replace(address, password="not-the-password")
    with pytest.raises(ConnectError, match="refuses user 'neo4j'") as caught:
        open_graph(wrong)
    assert "not-the-password" not in str(caught.value) + repr(wrong)
    assert "NEO4J_PASSWORD" in caught.value.fix


def test_a_server_that_is_not_there_is_named_at_once() -> None:
    with pytest.raises(ConnectError, match="cannot be reached"):
        open_graph(Address("bolt://127.0.0.1:1", "neo4j", "x"), timeout=2)


def test_an_address_that_is_none_is_named() -> None:
    with pytest.raises(ConnectError, match="not a Neo4j address"):
        open_graph(Address("http://localhost", "neo4j", "x"))


def test_a_missing_database_is_named(address: Address) -> None:
    with pytest.raises(ConnectError, match="no database 'nowhere'"):
        open_graph(dataclasses.replace(address, database="nowhere"))


def test_a_query_over_its_time_limit_is_stopped_by_the_server(graph: Graph) -> None:
    with pytest.raises(QueryTimeout, match="time limit"):
        graph.read("UNWIND range(1, 1000000000) AS i WITH i WHERE i < 0 RETURN i", timeout=0.2)


def test_ctrl_c_stays_ctrl_c_where_the_drivers_clean_up_fails_over_it() -> None:
    """An interrupt in the middle of a message leaves half of it behind, and the driver's rollback stumbles over that."""
    with pytest.raises(KeyboardInterrupt), translated():
        try:
            raise KeyboardInterrupt
        finally:
            raise BufferError("Existing exports of data: object cannot be re-sized")
    with pytest.raises(BufferError), translated():
        raise BufferError("of another origin")


@pytest.mark.parametrize(("neo4j", "gds", "word"), [
    ("5.26.28", None, "missing"), ("5.26.28", "2.12.1", "not of the line"), ("2026.01.4", "2.13.9", "not of the line"),
])
def test_a_missing_or_foreign_gds_is_warned_of(neo4j: str, gds: str | None, word: str) -> None:
    info = ServerInfo(uri="bolt://x", database="neo4j", neo4j=neo4j, edition="community", gds=gds)
    assert word in (gds_warning(info) or "")


def test_the_right_gds_line_gives_no_warning(graph: Graph) -> None:
    assert gds_warning(graph.info) is None
