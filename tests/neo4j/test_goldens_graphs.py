"""Commands that need Neo4j, on the sample graph or on an empty database. See tests/goldens/README.md."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from server_world import empty, new_server

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "goldens"))
from cases import GRAPHS
from golden import EXPECTED, PLACES, Case, check, check_names, command, surroundings, transcript

from kgeval.graph.connect import Address, Graph, open_graph
from kgeval.llm.fake import FakeServer


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with FakeServer(seed=7) as server:
        yield server.base_url


@pytest.fixture(scope="module")
def worlds(address: Address, connection: Graph) -> Iterator[Callable[[str], tuple[Address, Graph]]]:
    """A server for each world, that nothing else was written to before: the suite's for the first one asked for, if it is one. GDS takes
    nodes in the order of their internal ids, and so communities, and the first of equal examples, depend on what stood in the database
    once."""
    with ExitStack() as opened:
        servers: dict[str, tuple[Address, Graph]] = {}
        # a database never forgets the name of a label
        free = [] if connection.read("CALL db.labels() YIELD label RETURN label") else [(address, connection)]

        def server_of(world: str) -> tuple[Address, Graph]:
            if world not in servers:
                if not free and os.environ.get("KGEVAL_TEST_URI"):
                    pytest.skip("goldens of graphs need servers that nothing was written to")
                servers[world] = free.pop() if free else started(opened)
            return servers[world]

        yield server_of


def started(opened: ExitStack) -> tuple[Address, Graph]:
    found = opened.enter_context(new_server())
    return found, opened.enter_context(open_graph(found))


def test_every_golden_of_a_graph_has_a_case() -> None:
    check_names("graphs", [f"{case.name}.txt" for case in GRAPHS])


@pytest.mark.parametrize("case", GRAPHS, ids=lambda case: case.name)
def test_command(case: Case, url: str, worlds: Callable[[str], tuple[Address, Graph]], tmp_path: Path) -> None:
    address, connection = worlds(case.world)
    environment = {"NEO4J_URI": address.uri, "NEO4J_USERNAME": address.username, "NEO4J_PASSWORD": address.password}
    prepare(case.world, connection, environment, tmp_path)
    before = size(connection)
    check(EXPECTED / "graphs" / f"{case.name}.txt", transcript(case, tmp_path, {"url": url}, environment))
    assert case.world == "empty" or size(connection) == before, "a case of the sample graph changes it for those that follow"


def prepare(world: str, graph: Graph, environment: dict[str, str], folder: Path) -> None:
    """An empty database, or the sample graph, loaded once."""
    if world == "empty":
        empty(graph)
    elif size(graph)["n"] == 0:
        with surroundings(folder, environment):
            done = command(["import", str(PLACES["sample"] / "graph.json"), "--graph", "harbour", "--no-progress"])
        assert done.code == 0, done.err


def size(graph: Graph) -> dict[str, int]:
    return graph.read("MATCH (n) RETURN count(n) AS n, sum(COUNT { (n)-->() }) AS r")[0]
