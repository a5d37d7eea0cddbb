"""Databases with a thousand labels and types. A server never forgets a label that it has seen, and asks its count store for each that it
ever saw: the databases are on a server that nothing else was written to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from server_world import empty, new_server

from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph, open_graph
from kgeval.graph.layouts import catalogue
from kgeval.workflows.layouts import choose_layout


@pytest.fixture(scope="module")
def own_server() -> Iterator[tuple[Address, Graph]]:
    with new_server() as address, open_graph(address) as connection:
        yield address, connection


@pytest.fixture
def address(own_server: tuple[Address, Graph]) -> Address:
    return own_server[0]


@pytest.fixture
def graph(own_server: tuple[Address, Graph]) -> Graph:
    empty(own_server[1])
    return own_server[1]


@pytest.mark.long
def test_a_thousand_labels_are_audited(graph: Graph, address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", address.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    graph.write("UNWIND range(1, 1000) AS i CREATE (:$('L' + i) {id: 'n' + i, name: 'N' + i})")
    graph.write("MATCH (a {id: 'n1'}), (b {id: 'n2'}) CREATE (a)-[:R]->(b)")
    assert run(["audit", "-q", "--no-structure", "--layout", "generic", "-o", str(tmp_path / "r.json")]) == 0


@pytest.mark.long
def test_a_thousand_labels_and_types_are_counted_and_bound(graph: Graph) -> None:
    graph.write("UNWIND range(1, 1000) AS i CREATE (:$('L' + i) {name: 'n' + i})-[:$('T' + i)]->(:$('L' + i) {name: 'm' + i})")
    seen = catalogue(graph)
    assert (len(seen.labels), len(seen.types), seen.source) == (1000, 1000, "count store")
    bound = choose_layout(graph, "auto", None, {}, say=print)
    assert (len(bound.entity_labels), len(bound.relation_types), bound.relations_join_entities_only) == (1000, 1000, True)
