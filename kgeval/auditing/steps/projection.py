"""Shared by the steps that need graph algorithms: projects the entity graph for the time of a `with` block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kgeval.auditing.graph_reader import GraphReader
from kgeval.graph.algorithms import Expected, View
from kgeval.graph.connect import Graph
from kgeval.graph.views import projected
from kgeval.records import Layout


@contextmanager
def simple_graph(graph: Graph, layout: Layout, *, timeout: float | None) -> Iterator[View | None]:
    """The simple entity graph, projected, or None where no two entities are joined (there is nothing to project).

    Raises: QueryError, QueryTimeout, ConnectError (nothing here runs algorithms).
    """
    shared = graph.shared
    if shared is not None and (known := shared.known(layout, timeout=timeout)) is not None:  # as counted when it was projected
        with shared.forgetting(layout):
            yield known if known.edges else None
        return
    expected = count(graph, layout, timeout=timeout)
    if expected.relations == expected.self_loops:
        yield None
        return
    with projected(graph, layout, expected, timeout=timeout) as view:
        yield view


def count(graph: Graph, layout: Layout, *, timeout: float | None) -> Expected:
    """Entities, relations and self-loops of the layout's graph."""
    reader = GraphReader(graph, layout, timeout)
    entities, relations = reader.rows("entities-by-type"), reader.rows("relations-by-type")
    return Expected(
        entities=sum(row["count"] for row in entities), relations=sum(row["count"] for row in relations),
        self_loops=sum(row["self_loops"] for row in relations),
    )
