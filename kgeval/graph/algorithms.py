"""The one seam through which an audit calls graph algorithms: on the plugin in the database, or in a session beside it.

An implementation projects the layout's simple graph (undirected, one edge a pair, no self-loops, isolated entities kept)
and answers the questions of `View` about it. Nodes are named by the database's internal ids, as GDS does.
What is large comes as flat numpy arrays: a dict of a million entities would not fit the client's memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from kgeval.records import GraphRef, Layout

if TYPE_CHECKING:
    import numpy as np

    from kgeval.graph.connect import Graph

    Integers = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]

Louvain: Final = "louvain"
Leiden: Final = "leiden"
Method = Literal["louvain", "leiden"]


@dataclass(frozen=True)
class Expected:
    """What the database says before projecting. A projection must agree: the native one of the plugin gives way to the slower, exact one;
    a session's is refused."""

    entities: int
    relations: int
    self_loops: int


@dataclass(frozen=True)
class Partition:
    """Every node of the projected graph with the group it is in: node `nodes[i]` (internal id) is in group `groups[i]`."""

    nodes: Integers
    groups: Integers


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


class View(Protocol):
    """A projected graph. Every call raises QueryError (QueryTimeout at the time limit, ConnectionLost) if it cannot answer.

    `timeout`: seconds for each call that follows (null = no limit)."""

    timeout: float | None

    @property
    def nodes(self) -> int:
        """How many entities are projected."""

    @property
    def edges(self) -> int:
        """Edges of the simple graph, each counted once."""

    @property
    def has_all(self) -> bool:
        """Whether every relation was projected too (parallel ones each), so that `degrees(every=True)` can be asked."""

    def degrees(self, *, every: bool = False) -> dict[int, int]:
        """How many entities have each degree in the simple graph; `every`: over all relations (only if `has_all`)."""

    def clustering(self) -> float:
        """The mean local clustering coefficient over all entities, 0..1 (degree below 2 counts as 0). 0 without edges."""

    def component_sizes(self) -> dict[int, int]:
        """How many components there are of each size."""

    def giant(self) -> Giant:
        """The largest component."""

    def giant_edges(self, giant: Giant) -> Integers:
        """The edges of that component, shape (n, 2), each once, as internal ids."""

    def farthest(self, node: int) -> int:
        """A node farthest from this one, in hops."""

    def hops(self, start: int, end: int) -> int:
        """Length of a shortest path between two nodes of one component."""

    def articulation_points(self) -> int:
        """How many nodes cut a component in two when they are taken out."""

    def bridges(self) -> int:
        """How many edges do."""

    def communities(self, method: Method, seed: int) -> tuple[Partition, float]:
        """The communities of the simple graph and their modularity (-0.5..1). Louvain knows no seed. Kept for `crossing` and
        `community_of`. The same graph gives the same communities (one thread)."""

    def crossing(self) -> int:
        """How many edges join two of the communities found last."""

    def community_of(self, element_ids: Sequence[str]) -> dict[str, int]:
        """The community, found last, of entities of the layout, by element id. Ask for some thousand at once."""

    def again(self, method: Method, seed: int) -> Partition:
        """Another run: Leiden with this seed, Louvain on a copy whose edges come in an order shuffled by it. A node without an
        edge may be left out."""

    def adjacency(self) -> Adjacency:
        """All neighbours of all nodes."""

    def small_components(self, *, max_size: int, giant_share: float, sample: int) -> Small:
        """Components of 2 to `max_size` nodes where the largest one is larger and holds at least `giant_share` of all entities."""

    def entities(self, ids: Sequence[int]) -> dict[int, GraphRef]:
        """Names and types of entities by internal id; ids that are gone from the database are left out."""


class Algorithms(Protocol):
    """Where the algorithms run."""

    def projected(self, layout: Layout, expected: Expected, *, timeout: float | None) -> AbstractContextManager[View]:
        """The layout's graph, projected for the time of the `with` block. `timeout`: seconds for each call."""


def missing(graph: Graph) -> str | None:
    """Why no graph algorithm can run on this graph; null if they can."""
    if graph.info.gds is not None or graph.algorithms is not None:
        return None
    where = "switch on Graph Analytics, or run the algorithms in a session" if graph.info.aura else "a session can run them"
    return f"this server has no Graph Data Science plugin ({where}: --gds-session)"
