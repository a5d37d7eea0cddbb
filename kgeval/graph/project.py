"""GDS graphs come from here and nowhere else: named after this process, always dropped, leftovers swept.

The projected graph holds entities and one undirected relation a pair (type SIMPLE, no self-loops). Where the layout is
plain labels and types, the native projection is used (about 6 times faster) and every relation is there too (type ALL).
"""

from __future__ import annotations

import itertools
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from kgeval.errors import KgevalError, QueryError
from kgeval.graph.connect import Graph
from kgeval.graph.queries import all_queries
from kgeval.records import Layout

_COUNTER = itertools.count(1)
_NAME = re.compile(r"^kgeval_(?P<host>.+)_(?P<pid>\d+)_(?P<start>\d+)_\d+$")
SIMPLE, ALL = "SIMPLE", "ALL"


@dataclass(frozen=True)
class Projection:
    """A graph in GDS. `edges`: edges of the simple graph, each once. `has_all`: every relation is there too, as ALL."""

    graph: Graph
    name: str
    nodes: int
    edges: int
    has_all: bool


@dataclass(frozen=True)
class Expected:
    """What the database says before projecting; the projection must agree, or the slower, exact way is taken."""

    entities: int
    relations: int
    self_loops: int


@contextmanager
def projected(graph: Graph, layout: Layout, expected: Expected, *, timeout: float | None = None) -> Iterator[Projection]:
    """The simple entity graph in GDS, for the time of the `with` block. `timeout` (seconds) holds for each query of the
    projection and for each later call of the GDS client.

    Raises: QueryError (no GDS memory, no right to project), QueryTimeout.
    """
    graph.limit_gds(timeout)
    sweep(graph)
    name = graph_name()
    try:
        yield _native(graph, layout, expected, name, timeout) or _by_cypher(graph, layout, name, timeout)
    finally:
        drop(graph, name)


def graph_name() -> str:
    """A name that says whose it is: kgeval_HOST_PID_START_N."""
    return f"kgeval_{_host()}_{os.getpid()}_{_started(os.getpid()) or 0}_{next(_COUNTER)}"


def drop(graph: Graph, name: str) -> None:
    """Drops a GDS graph; fine if it is not there, or if the server is gone (its graphs die with it)."""
    with suppress(KgevalError):
        graph.read(all_queries()["drop-graph"], {"graph_name": name})


def sweep(graph: Graph) -> list[str]:
    """Drops graphs that kgeval processes of this machine left behind when they were killed. Returns their names."""
    left = []
    for row in graph.read(all_queries()["list-graphs"]):
        found = _NAME.match(row["graph"])
        if found and found["host"] == _host() and _started(int(found["pid"])) != int(found["start"]):
            drop(graph, row["graph"])
            left.append(row["graph"])
    return left


def _native(graph: Graph, layout: Layout, expected: Expected, name: str, timeout: float | None) -> Projection | None:
    """The native projection, or None where it does not show exactly the layout's graph."""
    if expected.self_loops or layout.entity_excluded_labels or layout.scope_property or not 0 < len(layout.entity_labels) <= 500:
        return None
    if not expected.relations:
        return None
    every = {"type": "*", "orientation": "UNDIRECTED"}
    relations = {ALL: every, SIMPLE: {**every, "aggregation": "SINGLE"}}
    params = {"graph_name": name, "nodes": layout.entity_labels, "relations": relations}
    try:
        row = graph.read(all_queries()["native-graph"], params, timeout=timeout)[0]
    except QueryError:
        return None
    degrees = graph.read(all_queries()["projected-degrees"], {"graph_name": name, "types": [ALL]}, timeout=timeout)
    all_ends = sum(d["degree"] * d["entities"] for d in degrees)
    if row["nodes"] != expected.entities or all_ends != 2 * expected.relations:
        drop(graph, name)
        return None
    return Projection(graph, name, row["nodes"], (row["relationships"] - all_ends) // 2, has_all=True)


def _by_cypher(graph: Graph, layout: Layout, name: str, timeout: float | None) -> Projection:
    params = {"layout": layout.model_dump(), "graph_name": name}
    rows = graph.read(all_queries()["simple-graph"], params, timeout=timeout)
    if not rows or rows[0]["nodes"] is None:
        raise QueryError("the layout has no entities to project", fix="kgeval layout detect shows what the database holds")
    return Projection(graph, name, rows[0]["nodes"], rows[0]["relationships"] // 2, has_all=False)


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname()) or "host"


def _started(pid: int) -> int | None:
    """When a process started (seconds since 1970), or None if there is none."""
    import psutil

    try:
        return int(psutil.Process(pid).create_time())
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None
