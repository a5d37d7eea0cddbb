"""GDS on graphs that are not in the database: plain arrays in, plain arrays out. Nothing is written, no projection stays behind.

The client projects them; what comes back is Cypher: the client would make a row a node of it, and for paths the node list of each path,
where here one list a call travels.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from kgeval.ending import interrupted
from kgeval.graph.connect import Graph
from kgeval.graph.project import by_cypher, new_graph
from kgeval.graph.queries import all_queries
from kgeval.graph.sessions import part_of_work

if TYPE_CHECKING:
    import numpy as np

AT_A_TIME = 2  # projections in the server's memory at a time
LIMIT = 600.0  # seconds a query may take: thousands of times what a usual projection needs
STOPS, PATIENCE = 3, 0.5  # how often an interrupt ends what runs, and seconds that it waits for the calls each time
T = TypeVar("T")


@dataclass(frozen=True)
class Arrays:
    """Edges by node numbers (0 or more) with a value each: a cost for paths, a weight for communities. None is empty."""

    source: np.ndarray
    target: np.ndarray
    value: np.ndarray


@dataclass(frozen=True)
class Path:
    """The cheapest way from a node to the nearest end: its nodes, and the cost of what is left from each of them."""

    nodes: tuple[int, ...]
    left: tuple[float, ...]


def nearest_costs(graph: Graph, edges: Arrays, ends: np.ndarray, nodes: int) -> np.ndarray:
    """Cost from every node (0..nodes-1) along the directed edges to the nearest of `ends`; infinity where there is no path.

    One Dijkstra: from a node of its own that is joined at cost 0 to every end, along all edges turned round.
    Raises: ConnectError without GDS; QueryError (no memory), QueryTimeout, ConnectionLost.
    """
    import numpy as np

    costs = np.full(nodes, np.inf)
    if not len(ends):
        return costs
    with _reversed(graph, edges, ends, nodes) as name:
        row = graph.read_lists(all_queries()["pair-distances"], {"graph_name": name, "source": nodes}, timeout=LIMIT)
    costs[np.array(row["nodes"], dtype=np.int64)] = row["costs"]
    return costs


def nearest_paths(graph: Graph, edges: Arrays, ends: np.ndarray, nodes: int) -> dict[int, Path]:
    """The cheapest path to the nearest end for each node that has one, as `nearest_costs`. For few nodes."""
    if not len(ends):
        return {}
    paths = {}
    with _reversed(graph, edges, ends, nodes) as name:
        for row in graph.read(all_queries()["pair-paths"], {"graph_name": name, "source": nodes}, timeout=LIMIT):
            if row["node"] != nodes:
                # the first node is the one that joins all ends: it is ours, and the edges were turned round
                paths[row["node"]] = Path(tuple(reversed(row["nodes"][1:])), tuple(reversed(row["costs"][1:])))
    return paths


@contextmanager
def _reversed(graph: Graph, edges: Arrays, ends: np.ndarray, source: int) -> Iterator[str]:
    """The edges turned round, and cost-free ones from `source` to every end, in GDS for the time of the `with` block."""
    import numpy as np

    turned = Arrays(
        np.concatenate([edges.target, np.full(len(ends), source)]), np.concatenate([edges.source, ends]),
        np.concatenate([edges.value, np.zeros(len(ends))]),
    )
    with _projected(graph, turned, undirected=False) as name:
        yield name


def communities(graph: Graph, edges: Arrays, nodes: int, *, graphs: int, algorithm: Literal["leiden", "louvain"], seed: int) -> np.ndarray:
    """A community for every node (0..nodes-1) of an undirected weighted graph; every node has an edge.

    Leiden (Traag et al. 2019) on `graphs` disjoint graphs at a time, each with weights that add up to 1: with gamma = graphs the
    modularity of all is the mean of their own modularities, so each is optimised as if it were alone. Louvain (Blondel et al. 2008)
    has no gamma, and is for one graph. Both at concurrency 1: the same edges in the same order give the same partition.
    Raises: ConnectError without GDS; QueryError (no memory), QueryTimeout, ConnectionLost.
    """
    import numpy as np

    params: dict[str, object] = {}
    if algorithm == "leiden":
        params = {"gamma": float(graphs), "seed": seed}
    with _projected(graph, edges, undirected=True) as name:
        row = graph.read_lists(all_queries()[f"pair-{algorithm}"], {"graph_name": name, **params}, timeout=LIMIT)
    assigned = np.full(nodes, -1, dtype=np.int64)
    assigned[np.array(row["nodes"], dtype=np.int64)] = row["communities"]
    return assigned


@contextmanager
def _projected(graph: Graph, edges: Arrays, *, undirected: bool) -> Iterator[str]:
    """The edges in GDS under a name of ours, dropped in any case."""
    params = {
        # inside one map: lists that are parameters themselves are planned anew for every other length, 0.4 s each time
        "edges": {"sources": edges.source.tolist(), "targets": edges.target.tolist(), "values": edges.value.tolist()},
        "undirected": ["*"] if undirected else [],
    }
    with new_graph(graph) as name:
        by_cypher(graph, "pair-graph", name, params, timeout=LIMIT)
        yield name


def two_at_a_time(graph: Graph, work: Iterable[Callable[[], T]]) -> Generator[T, None, None]:
    """The results of the calls in their order. Two run at a time, on threads of their own: each keeps one core of the server busy.
    No more than that are taken from `work`, so that memory stays flat. Where a call fails, or nobody wants more results, no further call
    begins. On Ctrl-C their queries are ended on the server; the calls drop what they projected, and have a second or two for that."""
    over = threading.Event()

    def run(call: Callable[[], T]) -> T:
        with part_of_work(over):
            return call()

    before = sys.exception()
    pool, under_way = ThreadPoolExecutor(AT_A_TIME), deque[Future[T]]()
    try:
        for one in work:
            under_way.append(pool.submit(run, one))
            if len(under_way) > AT_A_TIME:
                yield under_way[0].result()
                under_way.popleft()
        while under_way:
            yield under_way[0].result()
            under_way.popleft()
    except BaseException as cause:
        over.set()
        pool.shutdown(wait=False, cancel_futures=True)
        running = [call for call in under_way if not call.cancelled()]  # `wait` takes those that were cancelled for ones that still run
        if interrupted(cause, before):
            for _ in range(STOPS):  # a query may have been on its way to the server when the first look found none
                graph.stop()
                if not wait(running, PATIENCE).not_done:
                    break
        else:
            wait(running)
        raise
    finally:
        pool.shutdown(wait=False)
