"""Graph algorithms in the database itself, by its Graph Data Science plugin.

Every call is a Cypher file, and none goes through the Python client of GDS: it makes data frames of what fits two lists, and is 30 MB of
the 300 that an audit of five million relations may take. Sessions of Aura go through it (kgeval.graph.aura), and who writes Python
against a `Graph` has it as `Graph.gds`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any

from kgeval.graph.algorithms import Adjacency, Expected, Giant, Leiden, Method, Partition, Small
from kgeval.graph.connect import Graph, Row
from kgeval.graph.project import SIMPLE, Projection, drop, projected
from kgeval.graph.queries import all_queries
from kgeval.records import GraphRef, Layout

if TYPE_CHECKING:
    from kgeval.graph.algorithms import Integers


class Plugin:
    """The algorithms of the plugin in this graph's database."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    @contextmanager
    def projected(self, layout: Layout, expected: Expected, *, timeout: float | None) -> Iterator[PluginView]:
        """As Algorithms.projected. Raises also: ConnectError where the server has no GDS."""
        with projected(self.graph, layout, expected, timeout=timeout) as found:
            yield PluginView(found, layout, timeout)


class PluginView:
    """As algorithms.View, for a graph in the database's own catalogue."""

    def __init__(self, found: Projection, layout: Layout, timeout: float | None) -> None:
        self.name = found.name
        self.nodes, self.edges, self.has_all = found.nodes, found.edges, found.every is not None
        self._every = found.every
        self._giant: Giant | None = None
        self._graph, self._layout, self.timeout = found.graph, layout, timeout

    def degrees(self, *, every: bool = False) -> dict[int, int]:
        if every and self._every is not None:
            return dict(self._every)
        rows = self._rows("projected-degrees", types=self._types())
        return {row["degree"]: row["entities"] for row in rows}

    def clustering(self) -> float:
        if not self.edges:
            return 0.0
        return float(self._rows("average-clustering")[0]["average"])

    def component_sizes(self) -> dict[int, int]:
        return {row["size"]: row["components"] for row in self._sizes()}

    def giant(self) -> Giant:
        if self._giant is None:
            rows = self._sizes()
            return Giant(rows[-1]["component"], rows[-1]["size"], rows[-1]["node"])
        return self._giant

    def _sizes(self) -> list[Row]:
        rows = self._rows("component-sizes", types=self._types())
        self._giant = Giant(rows[-1]["component"], rows[-1]["size"], rows[-1]["node"])
        return rows

    def giant_edges(self, giant: Giant) -> Integers:
        import numpy as np

        self._rows("mark-components", types=self._types())
        rows = self._rows("giant-edges", node=giant.node)
        return np.array([(row["source"], row["target"]) for row in rows], dtype=np.int64).reshape(-1, 2)

    def farthest(self, node: int) -> int:
        return int(self._rows("farthest-node", node=node)[0]["farthest"])

    def hops(self, start: int, end: int) -> int:
        return int(self._rows("hops-between", node=start, end=end)[0]["hops"])

    def articulation_points(self) -> int:
        if not self.edges:
            return 0
        return int(self._rows("count-articulation-points")[0]["points"])

    def bridges(self) -> int:
        return int(self._rows("count-bridges")[0]["bridges"]) if self.edges else 0

    def communities(self, method: Method, seed: int) -> tuple[Partition, float]:
        (row,) = self._rows("store-leiden", seed=seed) if method == Leiden else self._rows("store-louvain")
        return self._partition("stored-communities"), float(row["modularity"])

    def crossing(self) -> int:
        return int(self._rows("cross-community-relations")[0]["crossing"])

    def community_of(self, element_ids: Sequence[str]) -> dict[str, int]:
        rows = self._rows("gold-communities", ids=list(element_ids))
        return {row["element_id"]: row["community"] for row in rows if row["community"] is not None}

    def again(self, method: Method, seed: int) -> Partition:
        if method == Leiden:
            return self._partition("leiden-communities", seed=seed)
        copy = f"{self.name}_{seed}"
        try:
            self._rows("shuffled-graph", copy=copy, a=7919 * seed + 12345, b=104729 * seed + 54321)
            return self._partition("louvain-communities", graph_name=copy)
        finally:
            drop(self._graph, copy)

    def adjacency(self) -> Adjacency:
        """In 4 bytes a number, written where they belong as they come: five million edges are ten million neighbours, and the client
        has 300 MB for everything."""
        import numpy as np

        ids, starts = self._joined()
        others = np.zeros(int(starts[-1]), dtype=np.intc)
        for row in self._sliced("neighbour-slices"):
            at = np.searchsorted(ids, np.array(row["sources"], dtype=ids.dtype))  # of another type, all ids would be copied each time
            _put(others, starts, at, np.searchsorted(ids, np.fromiter(chain.from_iterable(row["targets"]), dtype=ids.dtype)))
        return Adjacency(ids, starts, others)

    def _joined(self) -> tuple[Integers, Integers]:
        """The nodes that have an edge (`ids` of Adjacency), and its `starts`."""
        import numpy as np

        found, degrees = array("q"), array("i")
        for row in self._sliced("joined-nodes"):
            found.extend(row["ids"])
            degrees.extend(row["degrees"])
        ids = np.frombuffer(found, dtype=np.int64)
        order = np.argsort(ids, kind="stable")
        ends = np.cumsum(np.frombuffer(degrees, dtype=np.intc)[order], dtype=np.int64)
        return _narrow(ids[order]), _narrow(np.concatenate((np.zeros(1, dtype=np.int64), ends)))

    def small_components(self, *, max_size: int, giant_share: float, sample: int) -> Small:
        (row,) = self._rows("small-component", max_size=max_size, giant_share=giant_share, sample=sample)
        return Small(row["count"], row["total"], row["sample"])

    def entities(self, ids: Sequence[int]) -> dict[int, GraphRef]:
        return {row["id"]: GraphRef.model_validate(row["item"]) for row in self._rows("projected-entities", ids=list(ids))}

    def _types(self) -> list[str]:
        """The simple graph's relation type; a graph without edges has no types to name."""
        return [SIMPLE] if self.edges else ["*"]

    def _rows(self, name: str, **params: Any) -> list[Row]:
        query, given = self._asked(name, params)
        return self._graph.read(query, given, timeout=self.timeout)

    def _sliced(self, name: str) -> Iterator[Row]:
        query, given = self._asked(name, {})
        with closing(self._graph.stream(query, given, timeout=self.timeout)) as rows:
            yield from rows

    def _partition(self, name: str, **params: Any) -> Partition:
        """All nodes with their groups, in the order in which the slices come."""
        import numpy as np

        query, given = self._asked(name, params)
        nodes, groups = array("q"), array("q")
        with closing(self._graph.stream(query, given, timeout=self.timeout)) as rows:
            for row in rows:  # in slices: a million numbers of Python take 40 MB
                nodes.extend(row["nodes"])
                groups.extend(row["groups"])
        return Partition(_narrow(np.frombuffer(nodes, dtype=np.int64)), _narrow(np.frombuffer(groups, dtype=np.int64)))

    def _asked(self, name: str, params: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        """A query and the parameters that it declares."""
        query = all_queries()[name]
        pool = {"layout": self._layout.model_dump(), "graph_name": self.name, **params}
        return query, {p.name: pool[p.name] for p in query.params}


def _narrow(numbers: Integers) -> Integers:
    """In 4 bytes each where they fit: a copy."""
    import numpy as np

    fit = not numbers.size or (numbers.max() < 1 << 31 and numbers.min() >= -(1 << 31))
    return numbers.astype(np.int32 if fit else np.int64)


def _put(others: Integers, starts: Integers, at: Integers, neighbours: Integers) -> None:
    """Writes the neighbours of some nodes (positions `at`; all of the first, then all of the second ...) where they belong, ascending."""
    import numpy as np

    sizes = starts[at + 1] - starts[at]
    owner = np.repeat(np.arange(len(at)), sizes)
    before = np.repeat(np.cumsum(sizes) - sizes, sizes)
    others[starts[at][owner] + np.arange(len(owner)) - before] = neighbours[np.lexsort((neighbours, owner))]
