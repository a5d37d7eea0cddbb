"""Projections for the steps of a task: on whatever runs the algorithms, and made once for all steps that share them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from kgeval.graph.algorithms import Algorithms, Expected, View
from kgeval.graph.failures import ProjectionLost
from kgeval.graph.plugin import Plugin
from kgeval.records import Layout

if TYPE_CHECKING:
    from kgeval.graph.connect import Graph


@contextmanager
def projected(graph: Graph, layout: Layout, expected: Expected, *, timeout: float | None = None) -> Iterator[View]:
    """The layout's simple graph for the time of the `with` block, wherever this graph's algorithms run.

    Raises: QueryError (no memory, no right to project), QueryTimeout, ConnectError (nothing here can run algorithms).
    """
    where: Algorithms = graph.algorithms or Plugin(graph)
    if graph.shared is not None:
        with graph.shared.forgetting(layout):
            yield graph.shared.view(where, layout, expected, timeout=timeout)
        return
    with where.projected(layout, expected, timeout=timeout) as view:
        yield view


class SharedViews:
    """Projections that several steps of one run use: made once, dropped at the end of `sharing`."""

    def __init__(self) -> None:
        self._kept = ExitStack()
        self._views: dict[str, View] = {}

    def known(self, layout: Layout, *, timeout: float | None) -> View | None:
        """The layout's projection, if some step made it before. `timeout`: as in `view`."""
        view = self._views.get(layout.model_dump_json())
        if view is not None:
            view.timeout = timeout
        return view

    def view(self, where: Algorithms, layout: Layout, expected: Expected, *, timeout: float | None) -> View:
        """The layout's projection, made now if no step made it before. What fails is tried again by the next step. `timeout`: seconds for
        each call from now on, whatever the step before had."""
        view = self.known(layout, timeout=timeout)
        if view is None:
            view = self._kept.enter_context(where.projected(layout, expected, timeout=timeout))
            self._views[layout.model_dump_json()] = view
        return view

    @contextmanager
    def forgetting(self, layout: Layout) -> Iterator[None]:
        """Where the layout's projection turns out to be gone within the block, the next step makes another one."""
        try:
            yield
        except ProjectionLost:
            self._views.pop(layout.model_dump_json(), None)
            raise

    def close(self) -> None:
        """Drops them all."""
        self._views.clear()
        self._kept.close()


@contextmanager
def sharing(graph: Graph) -> Iterator[None]:
    """Within the block, `projected` makes each projection once and keeps it to the end. A block within a block shares with it."""
    if graph.shared is not None:
        yield
        return
    graph.shared = SharedViews()
    try:
        yield
    finally:
        views, graph.shared = graph.shared, None
        views.close()
