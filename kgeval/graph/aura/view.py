"""A graph in a session: what Cypher reads where the plugin is, the session's client sends as frames, and flat arrays do the rest.

Only what a session offers is used: the Cypher projection, algorithms that change nothing but the projected graph, frames back.
Names and types come from the database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from kgeval.errors import QueryError
from kgeval.graph.algorithms import Adjacency, Partition, Small, View, adjacency_of, histogram
from kgeval.graph.aura.calls import limited
from kgeval.graph.connect import Graph
from kgeval.graph.failures import QueryTimeout
from kgeval.graph.queries import all_queries
from kgeval.graph.sessions import signed
from kgeval.records import GraphRef, Layout

if TYPE_CHECKING:
    import pandas as pd

    from kgeval.graph.algorithms import Integers

T = TypeVar("T")
EDGE = "SIMPLE"
Lookup = Callable[[Sequence[int]], dict[int, GraphRef]]


def small_components(found: Partition, lookup: Lookup, *, max_size: int, giant_share: float, sample: int) -> Small:
    """As View.small_components: what cypher/audit/small-component.cypher does where the plugin is. `lookup`: names and types by internal
    id; asked for the members of small components only."""
    import numpy as np

    ids, sizes = np.unique(found.groups, return_counts=True)
    total, giant = int((sizes > 1).sum()), int(sizes.max())
    hits = ids[(sizes > 1) & (sizes <= max_size)]
    if giant <= max_size or giant < giant_share * len(found.nodes) or not len(hits):
        return Small(0, total, [])
    return Small(len(hits), total, _examples(_members(found, hits), lookup)[:sample])


def _members(found: Partition, hits: Integers) -> list[list[int]]:
    """The nodes of each of these groups."""
    import numpy as np

    inside = np.isin(found.groups, hits)
    groups, nodes = found.groups[inside], found.nodes[inside]
    order = groups.argsort(kind="stable")
    cuts = np.flatnonzero(np.diff(groups[order])) + 1
    return [part.tolist() for part in np.split(nodes[order], cuts)]


def _examples(groups: list[list[int]], lookup: Lookup) -> list[dict[str, Any]]:
    """Largest first, then by the first name; members by name."""
    items = lookup([node for group in groups for node in group])
    shown = [sorted((items[n] for n in group if n in items), key=lambda item: (item.name, item.element_id)) for group in groups]
    shown = sorted((group for group in shown if group), key=lambda group: (-len(group), group[0].name, group[0].element_id))
    return [{"items": [item.model_dump() for item in group], "why": f"{len(group)} entities, cut off from the rest"} for group in shown]


def remote_parameters(layout: Layout) -> dict[str, Any]:
    """The parameters of remote-graph. Flat lists: the client rewrites the keys of maps and drops what is None."""
    return {
        "entities": layout.entity_labels, "excluded": layout.entity_excluded_labels,
        "scopes": [layout.scope_label] if layout.scope_label else [],
        "owner": [layout.scope_property] if layout.scope_property else [],
        "value": [layout.scope_value] if layout.scope_property else [],
        "types": layout.relation_types, "inner": layout.relations_join_entities_only,
    }


@dataclass(frozen=True)
class ProjectionSpec:
    """What is to be projected, under which name, and how many entities the database had when they were counted."""

    layout: Layout
    name: str
    entities: int


def open_view(client: Any, graph: Graph, wanted: ProjectionSpec, timeout: float | None) -> SessionView:
    """Projects the layout's simple graph into the session. Its query is ended where it is given up.

    Raises: QueryError, also where other entities arrived than the database has; QueryTimeout.
    """
    query, parameters = signed(all_queries()["remote-graph"].text, wanted.name), remote_parameters(wanted.layout)
    try:
        result = limited(
            lambda: client.graph.project.cypher(
                wanted.name, query, query_parameters=parameters, undirected_relationship_types=["*"], logging=False, overwrite=True,
            ),
            timeout,
        )
    except (QueryTimeout, KeyboardInterrupt):
        graph.stop_signed(wanted.name)
        raise
    handle = result.graph
    nodes, relations = limited(lambda: (int(handle.node_count()), int(handle.relationship_count())), timeout)
    _check_entities(graph, wanted, nodes, timeout)
    return SessionView(client, graph, wanted.layout, handle, nodes=nodes, edges=relations // 2, timeout=timeout)


def _check_entities(graph: Graph, wanted: ProjectionSpec, arrived: int, timeout: float | None) -> None:
    """Raises: QueryError if the session has more or fewer entities than the database; one that is written to meanwhile is counted again."""
    if arrived == wanted.entities:
        return
    rows = graph.read(all_queries()["entities-by-type"], {"layout": wanted.layout.model_dump()}, timeout=timeout)
    now = sum(row["count"] for row in rows)
    if not min(wanted.entities, now) <= arrived <= max(wanted.entities, now):
        raise QueryError(f"{arrived:,} entities arrived in the session where the database has {now:,}", fix="run the audit again")


class SessionView(View):
    """As View, for a graph in a session. Its edges are fetched once."""

    _names = "entities-by-number"

    def __init__(self, client: Any, graph: Graph, layout: Layout, handle: Any, **sizes: Any) -> None:
        super().__init__(graph, layout, handle, **sizes)
        self._client = client

    def degrees(self, *, every: bool = False) -> dict[int, int]:
        return histogram(_column(self._ask(lambda gds: gds.degree.stream(self._handle, log_progress=False)), "score"))

    def farthest(self, node: int) -> int:
        # breadth first: the node that is reached last is one of the farthest
        frame = self._ask(lambda gds: gds.bfs.stream(self._handle, node, concurrency=1, log_progress=False))
        reached = list(frame["nodeIds"].iloc[0])
        return int(reached[-1]) if reached else node

    def bridges(self) -> int:
        return len(self._ask(lambda gds: gds.bridges.stream(self._handle, log_progress=False))) if self.edges else 0

    def _read_adjacency(self) -> Adjacency:
        return adjacency_of(self._edges)

    def small_components(self, *, max_size: int, giant_share: float, sample: int) -> Small:
        return small_components(self._components, self.entities, max_size=max_size, giant_share=giant_share, sample=sample)

    def _read_edges(self) -> Iterator[Integers]:
        yield self._edges

    @cached_property
    def _edges(self) -> Integers:
        """Each once, the lesser id first, shape (n, 2). The frame has an undirected edge twice."""
        import numpy as np

        if not self.edges:
            return np.zeros((0, 2), dtype=np.int64)
        frame = self._ask(lambda gds: gds.graph.relationships.stream(self._handle, log_progress=False))
        source, target = _column(frame, "sourceNodeId"), _column(frame, "targetNodeId")
        once = source < target
        return np.column_stack((source[once], target[once]))

    def _groups(self, handle: Any, name: str) -> Partition:
        frame = self._ask(lambda gds: gds.graph.node_properties.stream(handle, [name], log_progress=False))
        nodes, groups = _column(frame, "nodeId"), _column(frame, name)
        order = nodes.argsort()
        return Partition(nodes[order], groups[order])

    @contextmanager
    def _shuffled(self, seed: int) -> Iterator[Any]:
        import pandas as pd

        nodes, edges = shuffled(self._edges, seed), self._edges
        copy = self._ask(lambda gds: gds.graph.construct(
            f"{self._handle.name()}_{seed}", pd.DataFrame({"nodeId": nodes}),
            pd.DataFrame({"sourceNodeId": edges[:, 0], "targetNodeId": edges[:, 1], "relationshipType": EDGE}),
            undirected_relationship_types=[EDGE], overwrite=True,
        ))
        try:
            yield copy
        finally:
            self._ask(lambda _: copy.drop())

    def _ask(self, work: Callable[[Any], T]) -> T:
        return limited(lambda: work(self._client), self.timeout)


def shuffled(edges: Integers, seed: int) -> Integers:
    """The nodes of these edges in another order, as cypher/project/shuffled-graph has it: the plugin and a session shuffle alike."""
    import numpy as np

    nodes, degrees = np.unique(edges, return_counts=True)
    # a square modulo the prime 2^31 - 1, and numbers that plugin.py has too
    x = (nodes * (7919 * seed + 12345) + 104729 * seed + 54321) % 2147483647
    u = (x * x % 2147483647 + 1) / 2147483648
    shuffled_nodes: Integers = nodes[np.lexsort((nodes, -np.log(u) / degrees))]
    return shuffled_nodes


def _column(frame: pd.DataFrame, column: str) -> Integers:
    """A column of whole numbers (a degree may come as 3.0).

    Raises: QueryError if the client no longer calls it so: its version is another than the one that was read.
    """
    if column not in frame.columns:
        raise QueryError(
            f"the session's client gave {', '.join(map(str, frame.columns))} and no {column}",
            fix="use the version of graphdatascience that kgeval names in its requirements",
        )
    numbers: Integers = frame[column].to_numpy(dtype="int64")
    return numbers
