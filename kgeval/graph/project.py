"""GDS graphs come from here and nowhere else: named after this process, always dropped, leftovers swept.

The projected graph holds entities and one undirected relation a pair (type SIMPLE, no self-loops). All relations are projected
first, once and directed (RAW); GDS makes the simple graph of them and RAW is dropped. Where the layout is plain labels and types, the
native projection is used (about 6 times faster), and the degrees over all relations are taken before RAW goes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from kgeval.errors import KgevalError, QueryError
from kgeval.graph.algorithms import Expected
from kgeval.graph.connect import Graph
from kgeval.graph.failures import QueryEnded, QueryTimeout
from kgeval.graph.processes import abandoned, mark
from kgeval.graph.queries import all_queries
from kgeval.records import Layout

_COUNTER = itertools.count(1)
SIMPLE, RAW = "SIMPLE", "RAW"


@dataclass(frozen=True)
class Projection:
    """A graph in GDS. `edges`: edges of the simple graph, each once. `every`: how many entities have each degree over all
    relations; null where that was not counted."""

    graph: Graph
    name: str
    nodes: int
    edges: int
    every: Mapping[int, int] | None = None


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
    return f"{mark()}_{next(_COUNTER)}"


def drop(graph: Graph, name: str) -> None:
    """Drops a GDS graph; fine if it is not there, or if the server is gone (its graphs die with it)."""
    with suppress(KgevalError):
        graph.tidy(all_queries()["drop-graph"], {"graph_name": name})


def sweep(graph: Graph) -> list[str]:
    """Drops graphs that kgeval processes of this machine left behind when they were killed. Returns their names."""
    left = []
    for row in graph.read(all_queries()["list-graphs"]):
        if abandoned(row["graph"]):
            drop(graph, row["graph"])
            left.append(row["graph"])
    return left


def clear(graph: Graph) -> list[str]:
    """Clears what killed kgeval processes of this machine left on the server: projections, and queries that still run. In words."""
    left = []
    if graph.info.gds is not None:
        with suppress(KgevalError):
            left += [f"projection {name} of a run that was killed" for name in sweep(graph)]
    if stopped := graph.stop_abandoned():
        left.append(f"{stopped} queries of runs that were killed")
    return left


def _native(graph: Graph, layout: Layout, expected: Expected, name: str, timeout: float | None) -> Projection | None:
    """The native projection, or None where it does not show exactly the layout's graph."""
    if expected.self_loops or layout.scope_property or not 0 < len(layout.entity_labels) <= 500:
        return None
    if not expected.relations:
        return None
    params = {"graph_name": name, "nodes": layout.entity_labels, "relations": {RAW: {"type": "*", "orientation": "NATURAL"}}}
    try:
        row = graph.read(all_queries()["native-graph"], params, timeout=timeout)[0]
    except (QueryTimeout, QueryEnded):
        raise  # the other way is slower
    except QueryError:
        return None
    if (row["nodes"], row["relationships"]) != (expected.entities, expected.relations):
        drop(graph, name)
        return None
    degrees = graph.read(all_queries()["raw-degrees"], {"graph_name": name}, timeout=timeout)
    return Projection(graph, name, row["nodes"], _simple(graph, name, timeout), {d["degree"]: d["entities"] for d in degrees})


def _simple(graph: Graph, name: str, timeout: float | None) -> int:
    """Makes SIMPLE of RAW; how many edges it has, each counted once."""
    made = graph.read(all_queries()["raw-to-simple"], {"graph_name": name}, timeout=timeout)[0]
    return int(made["relationships"]) // 2


def _by_cypher(graph: Graph, layout: Layout, name: str, timeout: float | None) -> Projection:
    params = {"layout": layout.model_dump(), "graph_name": name}
    rows = graph.read(all_queries()["raw-graph"], params, timeout=timeout)
    if not rows or rows[0]["nodes"] is None:
        raise QueryError("the layout has no entities to project", fix="kgeval layout detect shows what the database holds")
    nodes = rows[0]["nodes"]
    if not rows[0]["relationships"]:
        return Projection(graph, name, nodes, 0)
    return Projection(graph, name, nodes, _simple(graph, name, timeout))
