"""Commands that need Neo4j, on the sample graph or on an empty database. See tests/goldens/README.md."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import empty, new_server

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "goldens"))
from cases import GRAPHS
from golden import EXPECTED, PLACES, Case, check, check_names, command, surroundings, transcript

from kgeval.graph.connect import Address, Graph, open_graph
from kgeval.llm.fake import FakeServer

LOADED: list[dict[str, object]] = []  # the size of the sample graph, while it stands in the database


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with FakeServer(seed=7) as server:
        yield server.base_url


@pytest.fixture(scope="module")
def address() -> Iterator[Address]:
    """A server that nothing was written to before: GDS takes nodes in the order of their internal ids, and so communities, and the first
    of equal examples, depend on what stood in the database once."""
    if os.environ.get("KGEVAL_TEST_URI"):
        pytest.skip("goldens of graphs need a server of their own")
    with new_server() as found:
        yield found


@pytest.fixture(scope="module")
def connection(address: Address) -> Iterator[Graph]:
    with open_graph(address) as graph:
        yield graph


def test_every_golden_of_a_graph_has_a_case() -> None:
    check_names("graphs", [f"{case.name}.txt" for case in GRAPHS])


@pytest.mark.parametrize("case", GRAPHS, ids=lambda case: case.name)
def test_command(case: Case, url: str, connection: Graph, address: Address, tmp_path: Path) -> None:
    environment = {"NEO4J_URI": address.uri, "NEO4J_USERNAME": address.username, "NEO4J_PASSWORD": address.password}
    prepare(case.world, connection, environment, tmp_path)
    check(EXPECTED / "graphs" / f"{case.name}.txt", transcript(case, tmp_path, {"url": url}, environment))


def prepare(world: str, graph: Graph, environment: dict[str, str], folder: Path) -> None:
    """An empty database, or the sample graph alone, loaded where this file has not loaded it yet or something changed it."""
    if world == "harbour" and graph.read("MATCH (n) RETURN count(n) AS n, sum(COUNT { (n)-->() }) AS r") == LOADED:
        return
    empty(graph)
    LOADED.clear()
    if world == "harbour":
        with surroundings(folder, environment):
            done = command(["import", str(PLACES["sample"] / "graph.json"), "--graph", "harbour", "--no-progress"])
        assert done.code == 0, done.err
        LOADED.extend(graph.read("MATCH (n) RETURN count(n) AS n, sum(COUNT { (n)-->() }) AS r"))
