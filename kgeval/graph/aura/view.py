"""A graph in a session: what Cypher files do where the plugin is, the session's client does here, and flat arrays do the rest.

Only what a session offers is used: the Cypher projection, algorithms that change nothing but the projected graph, frames back.
Names and types come from the database.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from kgeval.errors import QueryError
from kgeval.graph.algorithms import Adjacency, Giant, Leiden, Method, Partition, Small
from kgeval.graph.aura import frames
from kgeval.graph.aura.calls import limited
from kgeval.graph.connect import Graph
from kgeval.graph.failures import QueryTimeout
from kgeval.graph.queries import all_queries
from kgeval.graph.sessions import signed
from kgeval.records import GraphRef, Layout

if TYPE_CHECKING:
    from kgeval.graph.algorithms import Integers

# Small components out of a partition: what cypher/audit/small-component.cypher does where the plugin is.

Lookup = Callable[[Sequence[int]], dict[int, GraphRef]]


def small_components(found: Partition, lookup: Lookup, *, max_size: int, giant_share: float, sample: int) -> Small:
    """As View.small_components. `lookup`: names and types by internal id; asked for the members of small components only."""
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


T = TypeVar("T")
EDGE = "SIMPLE"
BATCH = 5_000


def remote_parameters(layout: Layout) -> dict[str, Any]:
    """The parameters of remote-graph. Flat lists: the client rewrites the keys of maps and drops what is null."""
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
        made = limited(
            lambda: client.graph.project.cypher(
                wanted.name, query, query_parameters=parameters, undirected_relationship_types=["*"], logging=False, overwrite=True,
            ),
            timeout,
        )
    except (QueryTimeout, KeyboardInterrupt):
        graph.stop_signed(wanted.name)
        raise
    view = SessionView(client, graph, wanted.layout, made.graph, timeout)
    _check_entities(graph, wanted, view.nodes, timeout)
    return view


def _check_entities(graph: Graph, wanted: ProjectionSpec, arrived: int, timeout: float | None) -> None:
    """Raises: QueryError if the session has more or fewer entities than the database; one that is written to meanwhile is counted again."""
    if arrived == wanted.entities:
        return
    rows = graph.read(all_queries()["entities-by-type"], {"layout": wanted.layout.model_dump()}, timeout=timeout)
    now = sum(row["count"] for row in rows)
    if not min(wanted.entities, now) <= arrived <= max(wanted.entities, now):
        raise QueryError(f"{arrived:,} entities arrived in the session where the database has {now:,}", fix="run the audit again")


class SessionView:
    """As algorithms.View, for a graph in a session. Edges and components are fetched once, where the client must look at them."""

    has_all = False

    def __init__(self, client: Any, graph: Graph, layout: Layout, handle: Any, timeout: float | None) -> None:
        self.timeout = timeout
        self._client, self._graph, self._layout, self._handle = client, graph, layout, handle
        self.nodes, self.edges = int(self._ask(handle.node_count)), int(self._ask(handle.relationship_count)) // 2
        self._found: Partition | None = None
        self._marks = 0

    def degrees(self, *, every: bool = False) -> dict[int, int]:
        frame = self._ask(lambda: self._client.degree.stream(self._handle, log_progress=False))
        return frames.histogram(frames.whole(frame, "score"))

    def clustering(self) -> float:
        if not self.edges:
            return 0.0
        found = self._ask(lambda: self._client.local_clustering_coefficient.stats(self._handle, log_progress=False))
        return float(found.average_clustering_coefficient)

    def component_sizes(self) -> dict[int, int]:
        import numpy as np

        return frames.histogram(np.unique(self._components.groups, return_counts=True)[1])

    def giant(self) -> Giant:
        import numpy as np

        parts = self._components
        ids, sizes = np.unique(parts.groups, return_counts=True)
        component = int(ids[sizes.argmax()])
        return Giant(component, int(sizes.max()), int(parts.nodes[parts.groups == component].min()))

    def giant_edges(self, giant: Giant) -> Integers:
        inside: Integers = self._edges[frames.groups_of(self._components, self._edges[:, 0]) == giant.component]
        return inside

    def farthest(self, node: int) -> int:
        frame = self._ask(lambda: self._client.bfs.stream(self._handle, node, concurrency=1, log_progress=False))
        reached = list(frame["nodeIds"].iloc[0])
        return int(reached[-1]) if reached else node

    def hops(self, start: int, end: int) -> int:
        if start == end:
            return 0
        frame = self._ask(lambda: self._client.shortest_path.dijkstra.stream(self._handle, start, [end], log_progress=False))
        return int(frames.whole(frame, "totalCost")[0])

    def articulation_points(self) -> int:
        if not self.edges:
            return 0
        found = self._ask(lambda: self._client.articulation_points.stats(self._handle, log_progress=False))
        return int(found.articulation_point_count)

    def bridges(self) -> int:
        return len(self._ask(lambda: self._client.bridges.stream(self._handle, log_progress=False))) if self.edges else 0

    def communities(self, method: Method, seed: int) -> tuple[Partition, float]:
        self._marks += 1
        mark = f"community{self._marks}"
        found = self._ask(lambda: self._method(method).mutate(self._handle, mark, **_one_thread(method, seed)))
        frame = self._ask(lambda: self._client.graph.node_properties.stream(self._handle, [mark], log_progress=False))
        self._found = frames.partition(frame, mark)
        return self._found, float(found.modularity)

    def crossing(self) -> int:
        ends = [frames.groups_of(self._last, self._edges[:, side]) for side in (0, 1)]
        return int((ends[0] != ends[1]).sum())

    def community_of(self, element_ids: Sequence[str]) -> dict[str, int]:
        import numpy as np

        rows = self._graph.read(all_queries()["entity-numbers"], {"ids": list(element_ids)}, timeout=self.timeout)
        numbers = np.array([row["id"] for row in rows], dtype=np.int64)
        inside = frames.known(self._last, numbers)
        names = [row["element_id"] for row, there in zip(rows, inside.tolist(), strict=True) if there]
        return dict(zip(names, frames.groups_of(self._last, numbers[inside]).tolist(), strict=True))

    def again(self, method: Method, seed: int) -> Partition:
        if method == Leiden:
            return self._partition(self._handle, method, seed)
        copy = self._ask(lambda: self._copy(seed))
        try:
            return self._partition(copy, method, seed)
        finally:
            self._ask(copy.drop)

    def adjacency(self) -> Adjacency:
        return frames.adjacency(self._edges)

    def small_components(self, *, max_size: int, giant_share: float, sample: int) -> Small:
        return small_components(self._components, self.entities, max_size=max_size, giant_share=giant_share, sample=sample)

    def entities(self, ids: Sequence[int]) -> dict[int, GraphRef]:
        found: dict[int, GraphRef] = {}
        query, layout = all_queries()["entities-by-number"], self._layout.model_dump()
        for first in range(0, len(ids), BATCH):
            rows = self._graph.read(query, {"layout": layout, "ids": list(ids[first : first + BATCH])}, timeout=self.timeout)
            found.update((row["id"], GraphRef.model_validate(row["item"])) for row in rows)
        return found

    @cached_property
    def _components(self) -> Partition:
        return frames.partition(self._ask(lambda: self._client.wcc.stream(self._handle, log_progress=False)), "componentId")

    @cached_property
    def _edges(self) -> Integers:
        import numpy as np

        if not self.edges:
            return np.zeros((0, 2), dtype=np.int64)
        return frames.edges(self._ask(lambda: self._client.graph.relationships.stream(self._handle, log_progress=False)))

    @property
    def _last(self) -> Partition:
        if self._found is None:
            raise QueryError("no communities were found before", fix="ask for communities first")
        return self._found

    def _method(self, method: Method) -> Any:
        return self._client.leiden if method == Leiden else self._client.louvain

    def _partition(self, handle: Any, method: Method, seed: int) -> Partition:
        frame = self._ask(lambda: self._method(method).stream(handle, **_one_thread(method, seed)))
        return frames.partition(frame, "communityId")

    def _copy(self, seed: int) -> Any:
        """The graph once more, its edges and nodes in another order."""
        import pandas as pd

        edges, nodes = frames.shuffled(self._edges, seed)
        return self._client.graph.construct(
            f"{self._handle.name()}_{seed}", pd.DataFrame({"nodeId": nodes}),
            pd.DataFrame({"sourceNodeId": edges[:, 0], "targetNodeId": edges[:, 1], "relationshipType": EDGE}),
            undirected_relationship_types=[EDGE], overwrite=True,
        )

    def _ask(self, work: Callable[[], T]) -> T:
        return limited(work, self.timeout)


def _one_thread(method: Method, seed: int) -> dict[str, Any]:
    """What makes a partition repeatable: one thread, and a seed where the method takes one."""
    return {"concurrency": 1, "log_progress": False, **({"random_seed": seed} if method == Leiden else {})}
