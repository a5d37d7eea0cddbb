"""Commands that need Neo4j, on the sample graph or on an empty database. See tests/goldens/README.md."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from server_world import empty, new_server

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
def untouched(address: Address, connection: Graph) -> Iterator[tuple[Address, Graph]]:
    """A server that nothing was written to before, the suite's if it is one: GDS takes nodes in the order of their internal ids, and so
    communities, and the first of equal examples, depend on what stood in the database once."""
    if not connection.read("CALL db.labels() YIELD label RETURN label"):  # a database never forgets the name of a label
        yield address, connection
        return
    if os.environ.get("KGEVAL_TEST_URI"):
        pytest.skip("goldens of graphs need a server that nothing was written to")
    with new_server() as found, open_graph(found) as graph:
        yield found, graph


def test_every_golden_of_a_graph_has_a_case() -> None:
    check_names("graphs", [f"{case.name}.txt" for case in GRAPHS])


@pytest.mark.parametrize("case", GRAPHS, ids=lambda case: case.name)
def test_command(case: Case, url: str, untouched: tuple[Address, Graph], tmp_path: Path) -> None:
    address, connection = untouched
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
