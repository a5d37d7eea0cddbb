"""Random walks, components and communities of a graph of entities in GDS: many walks in one call, seeded, one thread.

The projected graph holds the named entities that have relations, and every relation between two of them, undirected, self-loops left
out: a walk's step takes each relation of an entity alike.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kgeval.errors import QueryError
from kgeval.graph.connect import Graph
from kgeval.graph.plugin import groups
from kgeval.graph.project import by_cypher, natively, new_graph, sweep_again
from kgeval.graph.queries import all_queries
from kgeval.records import Layout

ORDERED_MOST = 200_000  # relations that are sorted by name before they are projected; sorting many takes longer than walking
LARGEST_SEED = 2**62
_COUNTER = itertools.count(1)


@dataclass(frozen=True)
class WalkGraph:
    """A graph in GDS to walk on. `ordered`: projected in the order of names, so that a rebuilt graph is walked alike."""

    graph: Graph
    handle: Any  # the client's
    ordered: bool
    timeout: float | None

    def walks(self, sources: Sequence[int], *, steps: int, seed: int) -> dict[int, list[int]]:
        """One walk of at most so many steps from each of these nodes (numbers of `node_number`), in one call: start -> nodes.

        Raises: QueryError, QueryTimeout.
        """
        if not sources:
            return {}
        params = {"graph_name": self.handle.name(), "sources": list(sources), "nodes": steps + 1, "seed": seed % LARGEST_SEED}
        row = self.graph.read_lists(all_queries()["random-walks"], params, timeout=self.timeout)
        return {walk[0]: walk for walk in row["walks"]}

    def components(self) -> dict[int, int]:
        """Node -> its weakly connected component."""
        return self._groups("wcc")

    def communities(self, seed: int) -> dict[int, int]:
        """Node -> its Leiden community."""
        return self._groups("leiden", random_seed=seed % LARGEST_SEED)

    def _groups(self, algorithm: str, **settings: Any) -> dict[int, int]:
        name = f"groups{next(_COUNTER)}"
        self.graph.ask_gds(
            lambda gds: getattr(gds, algorithm).mutate(self.handle, name, concurrency=1, log_progress=False, **settings),
            timeout=self.timeout,
        )
        partition = groups(self.graph, self.handle.name(), name, timeout=self.timeout)
        return dict(zip(partition.nodes.tolist(), partition.groups.tolist(), strict=True))


@contextmanager
def walkable(
    graph: Graph, layout: Layout, *, entities: int, relations: int, timeout: float | None = None,
) -> Iterator[WalkGraph]:
    """The graph to walk on, for the time of the `with` block. `entities`, `relations`: how many named entities there are, and how many
    relations between two of them (at least one).

    Raises: ConnectError without GDS; QueryError, QueryTimeout.
    """
    graph.need_gds()
    sweep_again(graph)
    ordered, projection = relations <= ORDERED_MOST, None
    plain = not (layout.entity_excluded_labels or layout.scope_property) and 0 < len(layout.entity_labels) <= 500
    with new_graph(graph) as name:
        if plain and not ordered:
            projection = natively(
                graph, name, layout.entity_labels, {"ALL": {"type": "*", "orientation": "UNDIRECTED"}},
                # an undirected projection counts each relation twice
                expected=(entities, 2 * relations), timeout=timeout,
            )
        if projection is None:
            projection = by_cypher(graph, "walk-graph", name, {"layout": layout.model_dump(), "ordered": ordered}, timeout=timeout)
        if projection is None or not projection.result.relationship_count:
            raise QueryError("no relation joins two entities: there is nothing to walk on", fix="kgeval layout check tells why")
        yield WalkGraph(graph, projection.graph, ordered, timeout)
