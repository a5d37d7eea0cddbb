"""Graph algorithms in the database itself, by its Graph Data Science plugin."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from kgeval.errors import QueryError
from kgeval.graph.algorithms import Adjacency, Expected, Partition, Small, View
from kgeval.graph.connect import Graph, Row
from kgeval.graph.project import by_cypher, natively, new_graph, sweep_again
from kgeval.graph.queries import all_queries
from kgeval.records import Layout

if TYPE_CHECKING:
    from kgeval.graph.algorithms import Integers

T = TypeVar("T")
SIMPLE, RAW = "SIMPLE", "RAW"


class Plugin:
    """The algorithms of the plugin in this graph's database."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    @contextmanager
    def projected(self, layout: Layout, expected: Expected, *, timeout: float | None) -> Iterator[PluginView]:
        """As Algorithms.projected. Raises also: ConnectError where the server has no GDS.

        All relations are projected first, once and directed (RAW); GDS makes the simple graph of them in a second, where sorting all pairs
        in Cypher takes ten, and RAW is dropped. Before, the native projection, which fits where the layout is plain labels and types, tells
        how many relations each entity has.
        """
        graph = self.graph
        graph.need_gds()
        sweep_again(graph)
        with new_graph(graph) as name:
            projection, every = None, None
            # the native projection knows plain labels and types: it can leave out no self-loop, and cannot look at a property's text
            if expected.relations and not (expected.self_loops or layout.scope_property) and 0 < len(layout.entity_labels) <= 500:
                projection = natively(
                    graph, name, layout.entity_labels, {RAW: {"type": "*", "orientation": "NATURAL"}},
                    expected=(expected.entities, expected.relations), timeout=timeout,
                )
            if projection is not None:
                every = _degrees(graph, name, "UNDIRECTED", timeout)
            else:
                projection = by_cypher(graph, "raw-graph", name, {"layout": layout.model_dump()}, timeout=timeout)
            if projection is None:
                raise QueryError("the layout has no entities to project", fix="kgeval layout detect shows what the database holds")
            edges = _simplify(graph, projection.graph, timeout) if projection.result.relationship_count else 0
            yield PluginView(graph, layout, projection.graph, nodes=projection.result.node_count, edges=edges, timeout=timeout, every=every)


def _simplify(graph: Graph, handle: Any, timeout: float | None) -> int:
    """Makes SIMPLE of RAW; how many edges it has, each counted once."""
    result = graph.ask_gds(
        lambda gds: gds.graph.relationships.to_undirected(handle, RAW, SIMPLE, aggregation="SINGLE", log_progress=False), timeout=timeout,
    )
    # not `read`, which asks again where a connection breaks: what is dropped cannot be dropped twice
    text, given = all_queries()["drop-raw"].text, {"graph_name": handle.name()}
    graph.ask_gds(lambda gds: gds.run_cypher(text, given, mode="READ"), timeout=timeout)
    return int(result.relationships_written) // 2


def _degrees(graph: Graph, name: str, orientation: str, timeout: float | None) -> dict[int, int]:
    rows = graph.read(all_queries()["projected-degrees"], {"graph_name": name, "orientation": orientation}, timeout=timeout)
    return {row["degree"]: row["entities"] for row in rows}


class PluginView(View):
    """As View, for a graph in the database's own catalogue: what is as large as the graph comes by Cypher."""

    _names = "projected-entities"

    def __init__(self, graph: Graph, layout: Layout, handle: Any, *, every: dict[int, int] | None, **sizes: Any) -> None:
        """`every`: how many entities have each degree over all relations; None where that was not counted."""
        super().__init__(graph, layout, handle, **sizes)
        self._every, self.has_all = every, every is not None

    def degrees(self, *, every: bool = False) -> dict[int, int]:
        if every and self._every is not None:
            return dict(self._every)
        return _degrees(self._graph, self._handle.name(), "NATURAL", self.timeout)

    def farthest(self, node: int) -> int:
        return int(self._rows("farthest-node", node=node)[0]["farthest"])

    def bridges(self) -> int:
        return int(self._rows("count-bridges")[0]["bridges"]) if self.edges else 0

    def _read_adjacency(self) -> Adjacency:
        """In 4 bytes a number, written where they belong as they come: five million edges are ten million neighbours, and the client
        has 350 MB for everything."""
        import numpy as np

        ids, starts = self._joined()
        others = np.zeros(int(starts[-1]), dtype=np.intc)
        for row in _slices(self._graph, "neighbour-slices", self._handle.name(), self.timeout):
            index = np.searchsorted(ids, np.array(row["sources"], dtype=ids.dtype))  # of another type, all ids would be copied each time
            _put(others, starts, index, np.searchsorted(ids, np.fromiter(chain.from_iterable(row["targets"]), dtype=ids.dtype)))
        return Adjacency(ids, starts, others)

    def _read_edges(self) -> Iterator[Integers]:
        import numpy as np

        yield np.zeros((0, 2), dtype=np.int64)
        for row in _slices(self._graph, "neighbour-slices", self._handle.name(), self.timeout):
            sources = np.repeat(np.array(row["sources"], dtype=np.int64), [len(targets) for targets in row["targets"]])
            targets = np.fromiter(chain.from_iterable(row["targets"]), dtype=np.int64, count=len(sources))
            once = sources < targets  # each edge stands at both of its ends
            yield np.column_stack((sources[once], targets[once]))

    def _joined(self) -> tuple[Integers, Integers]:
        """The nodes that have an edge (`ids` of Adjacency), and its `starts`."""
        import numpy as np

        numbers, degrees = array("q"), array("i")
        for row in _slices(self._graph, "joined-nodes", self._handle.name(), self.timeout):
            numbers.extend(row["ids"])
            degrees.extend(row["degrees"])
        ids = np.frombuffer(numbers, dtype=np.int64)
        order = np.argsort(ids, kind="stable")
        ends = np.cumsum(np.frombuffer(degrees, dtype=np.intc)[order], dtype=np.int64)
        return _narrow(ids[order]), _narrow(np.concatenate((np.zeros(1, dtype=np.int64), ends)))

    def small_components(self, *, max_size: int, giant_share: float, sample: int) -> Small:
        # on the server, by the query that the finding prints: a graph may have as many small components as entities, and they are
        # sorted by names
        (row,) = self._rows("small-component", layout=self._layout.model_dump(), max_size=max_size, giant_share=giant_share, sample=sample)
        return Small(row["count"], row["total"], row["sample"])

    def _groups(self, handle: Any, name: str) -> Partition:
        return groups(self._graph, handle.name(), name, timeout=self.timeout)

    @contextmanager
    def _shuffled(self, seed: int) -> Iterator[Any]:
        # as aura.view.shuffled
        order = {"source": self._handle.name(), "a": 7919 * seed + 12345, "b": 104729 * seed + 54321}
        with new_graph(self._graph) as name:
            projection = by_cypher(self._graph, "shuffled-graph", name, order, timeout=self.timeout)
            if projection is None:
                raise QueryError("the graph has no relations to shuffle", fix="see the server's log")
            yield projection.graph

    def _ask(self, work: Callable[[Any], T]) -> T:
        return self._graph.ask_gds(work, timeout=self.timeout)

    def _rows(self, name: str, **params: Any) -> list[Row]:
        return self._graph.read(all_queries()[name], {"graph_name": self._handle.name(), **params}, timeout=self.timeout)


def groups(graph: Graph, name: str, held_by: str, *, timeout: float | None) -> Partition:
    """The groups that a property of the nodes of a projected graph holds."""
    import numpy as np

    nodes, values = array("q"), array("q")
    for row in _slices(graph, "group-slices", name, timeout, property=held_by):  # a million numbers of Python at once take 40 MB
        nodes.extend(row["nodes"])
        values.extend(row["groups"])
    ids = np.frombuffer(nodes, dtype=np.int64)
    order = ids.argsort()
    return Partition(_narrow(ids[order]), _narrow(np.frombuffer(values, dtype=np.int64)[order]))


def _slices(graph: Graph, query: str, name: str, timeout: float | None, **params: Any) -> Iterator[Row]:
    with closing(graph.stream(all_queries()[query], {"graph_name": name, **params}, timeout=timeout)) as rows:
        yield from rows


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
