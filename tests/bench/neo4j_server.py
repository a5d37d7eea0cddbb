"""The Neo4j that the benches run on."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kgeval.graph.connect import Address, Graph
from kgeval.graph.server import ensure_started, stop


@contextmanager
def server() -> Iterator[Address]:
    """A running Neo4j that may be wiped: KGEVAL_TEST_URI, else an embedded one that is stopped at the end, however that comes."""
    uri = os.environ.get("KGEVAL_TEST_URI")
    if uri:
        yield Address(uri, "neo4j", os.environ["KGEVAL_TEST_PASSWORD"], source="KGEVAL_TEST_URI")
        return
    with tempfile.TemporaryDirectory(prefix="kgeval-bench-") as folder:
        home = Path(folder) / "home"
        try:
            yield ensure_started(home=home, say=lambda text: print(text, file=sys.stderr))
        finally:
            stop(home)


def wipe(graph: Graph) -> None:
    """Empties the database, in slices: a large graph does not fit one transaction."""
    graph.schema_command("MATCH ()-[r]->() CALL (r) { DELETE r } IN TRANSACTIONS OF 20000 ROWS")
    graph.schema_command("MATCH (n) CALL (n) { DELETE n } IN TRANSACTIONS OF 20000 ROWS")
