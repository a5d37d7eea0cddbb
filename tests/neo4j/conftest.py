"""One server for the whole suite, or for each of its workers. KGEVAL_TEST_URI and KGEVAL_TEST_PASSWORD use a running one (it is wiped!)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kgeval.graph.connect import Address, Graph, open_graph


@pytest.fixture(scope="session")
def address() -> Iterator[Address]:
    """Where the suite's Neo4j is: a running one by environment, else an embedded one in a home of its own."""
    uri = os.environ.get("KGEVAL_TEST_URI")
    if uri:
        if os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1") != "1":
            pytest.exit("KGEVAL_TEST_URI is one server that every test wipes: run pytest without -n", returncode=4)
        yield Address(uri, "neo4j", os.environ["KGEVAL_TEST_PASSWORD"], source="KGEVAL_TEST_URI")
        return
    from kgeval.graph.server import ensure_started, stop

    with tempfile.TemporaryDirectory(prefix="kgeval-tests-") as folder:
        home = Path(folder) / "home"
        yield ensure_started(home=home, say=lambda _: None)
        stop(home)


@pytest.fixture(scope="session")
def connection(address: Address) -> Iterator[Graph]:
    with open_graph(address) as graph:
        yield graph


@pytest.fixture
def graph(connection: Graph) -> Graph:
    """The connection, database emptied (in slices: a large leftover graph does not fit one transaction)."""
    connection.schema_command("MATCH ()-[r]->() CALL (r) { DELETE r } IN TRANSACTIONS OF 20000 ROWS")
    connection.schema_command("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 20000 ROWS")
    return connection


@pytest.fixture
def draw(graph: Graph) -> Callable[[str], None]:
    """Draws a picture: runs one writing statement on the emptied database."""

    def run(statement: str) -> None:
        graph.write(statement)

    return run
