"""Graph algorithms on a projected graph: by the plugin in the database, or in a session of Aura beside it.

Nodes are named by the database's internal ids, as GDS does. What is large comes as flat numpy arrays: a dict of a million entities would
not fit the client's memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeVar

from kgeval.graph.queries import all_queries
from kgeval.records import GraphRef, Layout
from kgeval.stats.louvain import louvain

if TYPE_CHECKING:
    import numpy as np

    from kgeval.graph.connect import Graph

    Integers = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]

T = TypeVar("T")
Louvain: Final = "louvain"
Leiden: Final = "leiden"
Method = Literal["louvain", "leiden"]
BATCH = 5_000  # entities whose names are asked for at a time
# Edges up to which Louvain is run once more here, before the server has copied and shuffled the graph: in a fifth of the time at 1,000.
FEW_EDGES = 5_000


@dataclass(frozen=True)
class Expected:
    """What the database says before projecting. A projection must agree: the native one of the plugin gives way to the slower, exact one;
    a session's is refused."""

    entities: int
    relations: int
    self_loops: int


@dataclass(frozen=True)
class Partition:
    """Every node of the projected graph with the group it is in: node `nodes[i]` (internal id; they ascend) is in group `groups[i]`."""

    nodes: Integers
    groups: Integers

    def of(self, nodes: Integers) -> Integers:
        """The group of each of these nodes, all of which must be there."""
        import numpy as np

        # of another type, all nodes would be copied each time
        groups: Integers = self.groups[np.searchsorted(self.nodes, nodes.astype(self.nodes.dtype, copy=False))]
        return groups

    def of_elements(self, element_ids: Sequence[str]) -> dict[str, int]:
        """The group of entities by element id; those that are not projected are left out."""
        import numpy as np

        numbers = np.array([node_number(element_id) for element_id in element_ids], dtype=np.int64)
        inside = np.isin(numbers, self.nodes)
        names = [name for name, there in zip(element_ids, inside.tolist(), strict=True) if there]
        return dict(zip(names, self.of(numbers[inside]).tolist(), strict=True))


@dataclass(frozen=True)
class Crossing:
    """How many edges join two groups, and how many each two of some groups, the lesser one first; pairs without an edge are left out."""

    edges: int
    pairs: Mapping[tuple[int, int], int]


@dataclass(frozen=True)
class Giant:
    """The largest component: its id, its size, and the smallest id of its nodes. Of several as large, the one with the least id."""

    component: int
    size: int
    node: int


@dataclass(frozen=True)
class Adjacency:
    """The simple graph as flat lists. Node `i` has the internal id `ids[i]` and the neighbours `others[starts[i]:starts[i + 1]]`
    (positions in `ids`, ascending). `ids` ascends; nodes without an edge are left out."""

    ids: Integers
    starts: Integers
    others: Integers


@dataclass(frozen=True)
class Small:
    """Components of 2 to `max_size` nodes beside a giant one: how many, of how many of 2 or more, and examples (largest first).

    An example is {items: list of maps as GraphRef, why: text}.
    """

    count: int
    total: int
    sample: Sequence[Mapping[str, Any]]


class View(ABC):
    """A projected graph: the layout's simple graph, undirected, one edge a pair, no self-loops, isolated entities kept.

    What a few numbers answer is asked of the `graphdatascience` client, by the same calls of the plugin and of a session. What is as large
    as the graph is the two adapters' own (plugin.PluginView, aura.view.SessionView): a session sends it by Arrow; over Bolt the client
    would make Python objects of it, several hundred MB for a million nodes, so there Cypher reads it in slices or adds it up.

    Every call raises QueryError (QueryTimeout at the time limit, ConnectionLost) if it cannot answer.
    """

    _names: str  # the query for names and types by internal id: a server with the plugin needs no id(), which is deprecated
    has_all = False  # whether it is known too how many relations each entity has, so that `degrees(every=True)` can be asked

    def __init__(self, graph: Graph, layout: Layout, handle: Any, *, nodes: int, edges: int, timeout: float | None) -> None:
        """`handle`: the client's Graph. `nodes`: projected entities. `edges`: of the simple graph, each counted once. `timeout`: seconds
        for each call that follows (None = no limit); may be changed between calls."""
        self._graph, self._layout, self._handle = graph, layout, handle
        self.nodes, self.edges, self.timeout = nodes, edges, timeout
        self._properties = 0

    @abstractmethod
    def degrees(self, *, every: bool = False) -> dict[int, int]:
        """How many entities have each degree in the simple graph; `every`: over all relations (only if `has_all`)."""

    @abstractmethod
    def farthest(self, node: int) -> int:
        """A node farthest from this one, in hops."""

    @abstractmethod
    def bridges(self) -> int:
        """How many edges cut a component in two when they are taken out."""

    @abstractmethod
    def _read_adjacency(self) -> Adjacency:
        """As `adjacency`, where the edges are not read yet."""

    @abstractmethod
    def _read_edges(self) -> Iterator[Integers]:
        """All edges, each once, the lesser internal id first: some at a time (at least one array), shape (n, 2) each."""

    @abstractmethod
    def small_components(self, *, max_size: int, giant_share: float, sample: int) -> Small:
        """Components of 2 to `max_size` nodes where the largest one is larger and holds at least `giant_share` of all entities."""

    @abstractmethod
    def _groups(self, handle: Any, name: str) -> Partition:
        """A property of the nodes that holds groups."""

    @abstractmethod
    def _shuffled(self, seed: int) -> AbstractContextManager[Any]:
        """For the block, a copy of the graph whose nodes come in an order shuffled by the seed."""

    @abstractmethod
    def _ask(self, work: Callable[[Any], T]) -> T:
        """What the work does with the client, within the time limit, its errors ours."""

    def clustering(self) -> float:
        """The mean local clustering coefficient over all entities, 0..1 (degree below 2 counts as 0). 0 without edges."""
        if not self.edges:
            return 0.0
        stats = self._ask(lambda gds: gds.local_clustering_coefficient.stats(self._handle, log_progress=False))
        return float(stats.average_clustering_coefficient)

    def articulation_points(self) -> int:
        """How many nodes cut a component in two when they are taken out."""
        if not self.edges:
            return 0
        stats = self._ask(lambda gds: gds.articulation_points.stats(self._handle, log_progress=False))
        return int(stats.articulation_point_count)

    def hops(self, start: int, end: int) -> int:
        """Length of a shortest path between two nodes of one component."""
        if start == end:
            return 0
        # without a weight every edge costs 1: the cost is the number of hops
        path = self._ask(lambda gds: gds.shortest_path.dijkstra.stream(self._handle, start, [end], log_progress=False))
        # there is a row because both are in one component: for a node that cannot be reached GDS gives none
        return int(path["totalCost"].iloc[0])

    def component_sizes(self) -> dict[int, int]:
        """How many components there are of each size."""
        import numpy as np

        return histogram(np.unique(self._components.groups, return_counts=True)[1])

    def giant(self) -> Giant:
        """The largest component."""
        import numpy as np

        ids, sizes = np.unique(self._components.groups, return_counts=True)
        # argmax gives the first of equals, and both arrays ascend: the least component id, and in it the least node
        component = ids[sizes.argmax()]
        node = self._components.nodes[np.argmax(self._components.groups == component)]
        return Giant(int(component), int(sizes.max()), int(node))

    def giant_edges(self, giant: Giant) -> Integers:
        """The edges of that component, shape (n, 2), each once, the lesser internal id first. For components of some thousand nodes."""
        import numpy as np

        return np.concatenate([edges[self._components.of(edges[:, 0]) == giant.component] for edges in self._edge_parts()])

    def communities(self, method: Method, seed: int) -> tuple[Partition, float]:
        """The communities of the simple graph and their modularity (-0.5..1). Louvain knows no seed. The same graph gives the same
        communities (one thread)."""
        name, modularity = self._mutated(method, self._handle, seed)
        return self._groups(self._handle, name), modularity

    def again(self, method: Method, seed: int) -> Partition:
        """Another run, on nodes that come in an order shuffled by the seed. A node without an edge may be left out.

        For Leiden too: what it finds depends on its own seed far less than on the order in which nodes are read. Louvain on few edges is
        run here, until nothing is gained; GDS ends a level after ten iterations, or gains of less than 0.0001.
        """
        if method == Louvain and self.edges <= FEW_EDGES:
            return self._louvain_here(seed)
        with self._shuffled(seed) as copy:
            return self._groups(copy, self._mutated(method, copy, seed)[0])

    def _louvain_here(self, seed: int) -> Partition:
        import numpy as np

        nodes = np.unique(self._few_edges)
        one, other = (np.searchsorted(nodes, ends).tolist() for ends in self._few_edges.T)
        return Partition(nodes, np.array(louvain(len(nodes), zip(one, other, strict=True), seed=seed), dtype=np.int64))

    def _edge_parts(self) -> Iterator[Integers]:
        """As `_read_edges`; few edges are read once."""
        if self.edges <= FEW_EDGES:
            yield self._few_edges
        else:
            yield from self._read_edges()

    @cached_property
    def _few_edges(self) -> Integers:
        """All edges in one order, for Louvain: where two moves gain as much, it decides."""
        import numpy as np

        edges = np.concatenate(list(self._read_edges()))
        return edges[np.lexsort((edges[:, 1], edges[:, 0]))]

    def adjacency(self) -> Adjacency:
        """All neighbours of all nodes."""
        return adjacency_of(self._few_edges) if self.edges <= FEW_EDGES else self._read_adjacency()

    def crossing(self, groups: Partition, among: Sequence[int] = ()) -> Crossing:
        """How many edges join two of these groups, and each two of those in `among` (some tens).

        Counted here: the neighbours come in half the time that the server takes to look up both groups of each edge.
        """
        import numpy as np

        listed = np.sort(np.array(among, dtype=groups.groups.dtype))
        pairs, count = np.zeros((len(listed), len(listed)), dtype=np.int64), 0
        for edges in self._edge_parts():
            ends = groups.of(edges)
            across = np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1)
            count += len(across)
            drawn = across[np.isin(across, listed).all(axis=1)]
            np.add.at(pairs, tuple(np.searchsorted(listed, drawn).T), 1)
        return Crossing(count, {
            (int(listed[low]), int(listed[high])): int(pairs[low, high]) for low, high in np.argwhere(pairs).tolist()
        })

    def best_connected(self, groups: Partition, of: Sequence[int], most: int) -> dict[int, list[int]]:
        """The nodes of each of these groups that have the most neighbours, most first; of several as many, the lesser internal id first."""
        import numpy as np

        degrees = self._node_degrees(groups.nodes)
        found = {}
        for group in of:
            inside = groups.groups == group
            nodes = groups.nodes[inside]
            found[group] = nodes[np.lexsort((nodes, -degrees[inside]))[:most]].tolist()
        return found

    def _node_degrees(self, nodes: Integers) -> Integers:
        """How many neighbours each of these nodes has, which ascend."""
        import numpy as np

        if self.edges <= FEW_EDGES:
            degrees: Integers = np.zeros(len(nodes), dtype=np.int64)
            joined, counts = np.unique(self._few_edges, return_counts=True)
            degrees[np.searchsorted(nodes, joined)] = counts
            return degrees
        name = self._new_property()
        self._ask(lambda gds: gds.degree.mutate(self._handle, name, log_progress=False))
        return self._groups(self._handle, name).of(nodes)

    def entities(self, ids: Sequence[int]) -> dict[int, GraphRef]:
        """Names and types of entities by internal id; ids that are gone from the database are left out."""
        query, layout = all_queries()[self._names], self._layout.model_dump()
        refs: dict[int, GraphRef] = {}
        for first in range(0, len(ids), BATCH):
            rows = self._graph.read(query, {"layout": layout, "ids": list(ids[first : first + BATCH])}, timeout=self.timeout)
            refs.update((row["id"], GraphRef.model_validate(row["item"])) for row in rows)
        return refs

    @cached_property
    def _components(self) -> Partition:
        name = self._new_property()
        self._ask(lambda gds: gds.wcc.mutate(self._handle, name, log_progress=False))
        return self._groups(self._handle, name)

    def _mutated(self, method: Method, handle: Any, seed: int) -> tuple[str, float]:
        """The property in which the communities are kept, and their modularity. One thread: more give other communities each time."""
        name, seeded = self._new_property(), {"random_seed": seed} if method == Leiden else {}
        result = self._ask(lambda gds: getattr(gds, method).mutate(handle, name, concurrency=1, log_progress=False, **seeded))
        return name, float(result.modularity)

    def _new_property(self) -> str:
        """A name of its own: GDS refuses one that is taken, as by a call that was stopped at its time limit just after it had ended."""
        self._properties += 1
        return f"groups{self._properties}"


class Algorithms(Protocol):
    """Where the algorithms run."""

    def projected(self, layout: Layout, expected: Expected, *, timeout: float | None) -> AbstractContextManager[View]:
        """The layout's graph, projected for the time of the `with` block. `timeout`: seconds for each call."""


def missing(graph: Graph) -> str | None:
    """Why no graph algorithm can run on this graph; None if they can."""
    if graph.info.gds is not None or graph.algorithms is not None:
        return None
    where = "switch on Graph Analytics, or run the algorithms in a session" if graph.info.aura else "a session can run them"
    return f"this server has no Graph Data Science plugin ({where}: --gds-session)"


def node_number(element_id: str) -> int:
    """The number that GDS knows a node by: the last part of its element id."""
    # "4:DATABASE:12" in Neo4j 5 and 2026; GDS still names nodes by the last part, and id(n), which gives it too, is deprecated
    return int(element_id.rpartition(":")[2])


def adjacency_of(edges: Integers) -> Adjacency:
    """The neighbours at both ends of each edge; `edges`: each once, shape (n, 2)."""
    import numpy as np

    both = np.concatenate((edges, edges[:, ::-1]))
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    ids, sizes = np.unique(both[:, 0], return_counts=True)
    return Adjacency(ids, np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes))), np.searchsorted(ids, both[:, 1]))


def histogram(values: Integers) -> dict[int, int]:
    """How often each value comes."""
    import numpy as np

    distinct, often = np.unique(values, return_counts=True)
    return dict(zip(distinct.tolist(), often.tolist(), strict=True))
