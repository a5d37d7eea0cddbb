"""Random walks, components and communities of a graph of entities in GDS: many walks in one call, seeded, one thread.

The projected graph holds the named entities that have relations, and every relation between two of them, undirected, self-loops left
out: a walk's step takes each relation of an entity alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kgeval.errors import QueryError
from kgeval.graph.connect import Graph
from kgeval.graph.failures import QueryTimeout
from kgeval.graph.project import drop, graph_name, sweep
from kgeval.graph.queries import all_queries
from kgeval.records import Layout

ORDERED_MOST = 200_000  # relations that are sorted by name before they are projected; sorting many takes longer than walking
LARGEST_SEED = 2**62


@dataclass(frozen=True)
class WalkGraph:
    """A graph in GDS to walk on. `ordered`: projected in the order of names, so that a rebuilt graph is walked alike."""

    graph: Graph
    name: str
    ordered: bool
    timeout: float | None

    def walks(self, sources: Sequence[int], *, steps: int, seed: int) -> dict[int, list[int]]:
        """One walk of at most so many steps from each of these nodes (numbers of `node_number`), in one call: start -> nodes.

        Raises: QueryError, QueryTimeout.
        """
        if not sources:
            return {}
        found = self._lists("random-walks", sources=list(sources), nodes=steps + 1, seed=seed % LARGEST_SEED)
        return {walk[0]: walk for walk in found["walks"]}

    def components(self) -> dict[int, int]:
        """Node -> its weakly connected component."""
        return self._groups("walk-components")

    def communities(self, seed: int) -> dict[int, int]:
        """Node -> its Leiden community."""
        return self._groups("walk-communities", seed=seed % LARGEST_SEED)

    def _groups(self, query: str, **params: Any) -> dict[int, int]:
        found = self._lists(query, **params)
        return dict(zip(found["nodes"], found["groups"], strict=True))

    def _lists(self, query: str, **params: Any) -> dict[str, Any]:
        return self.graph.read_lists(all_queries()[query], {"graph_name": self.name, **params}, timeout=self.timeout)


@contextmanager
def walkable(
    graph: Graph, layout: Layout, *, entities: int, relations: int, timeout: float | None = None,
) -> Iterator[WalkGraph]:
    """The graph to walk on, for the time of the `with` block. `entities`, `relations`: how many named entities there are, and how many
    relations between two of them (at least one).

    Raises: ConnectError without GDS; QueryError, QueryTimeout.
    """
    graph.need_gds()
    sweep(graph)
    name, ordered = graph_name(), relations <= ORDERED_MOST
    try:
        if ordered or not _native(graph, layout, name, expected=(entities, 2 * relations), timeout=timeout):
            params = {"layout": layout.model_dump(), "graph_name": name, "ordered": ordered}
            rows = graph.read(all_queries()["walk-graph"], params, timeout=timeout)
            if not rows or not rows[0]["relationships"]:
                raise QueryError("no relation joins two entities: there is nothing to walk on", fix="kgeval layout check tells why")
        yield WalkGraph(graph, name, ordered, timeout)
    finally:
        drop(graph, name)


def _native(graph: Graph, layout: Layout, name: str, *, expected: tuple[int, int], timeout: float | None) -> bool:
    """The native projection, several times faster; false where it does not show exactly the layout's graph."""
    if layout.entity_excluded_labels or layout.scope_property or not 0 < len(layout.entity_labels) <= 500:
        return False
    try:
        row = graph.read(all_queries()["walk-native"], {"graph_name": name, "nodes": layout.entity_labels}, timeout=timeout)[0]
    except QueryTimeout:
        raise
    except QueryError:
        return False
    if (row["nodes"], row["relationships"]) != expected:
        drop(graph, name)
        return False
    return True


def node_number(element_id: str) -> int:
    """The number that GDS knows a node by: the last part of its element id."""
    return int(element_id.rpartition(":")[2])
