"""Shared by the steps that need graph algorithms: projects the entity graph for the time of a `with` block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kgeval.auditing.check import CheckRun
from kgeval.graph.algorithms import Expected, View
from kgeval.graph.queries import all_queries
from kgeval.graph.views import projected


@contextmanager
def simple_graph(check: CheckRun) -> Iterator[View | None]:
    """The simple entity graph, projected, or None where no two entities are joined (there is nothing to project).

    Raises: QueryError, QueryTimeout, ConnectError (nothing here runs algorithms).
    """
    shared = check.graph.shared
    if shared is not None and (known := shared.known(check.layout, timeout=check.timeout)) is not None:  # as counted when it was projected
        yield known if known.edges else None
        return
    expected = count(check)
    if expected.relations == expected.self_loops:
        yield None
        return
    with projected(check.graph, check.layout, expected, timeout=check.timeout) as view:
        yield view


def count(check: CheckRun) -> Expected:
    """Entities, relations and self-loops of the layout's graph."""
    layout = {"layout": check.layout.model_dump()}
    entities = check.graph.read(all_queries()["entities-by-type"], layout, timeout=check.timeout)
    relations = check.graph.read(all_queries()["relations-by-type"], layout, timeout=check.timeout)
    return Expected(
        entities=sum(row["count"] for row in entities), relations=sum(row["count"] for row in relations),
        self_loops=sum(row["self_loops"] for row in relations),
    )
