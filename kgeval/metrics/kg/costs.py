"""What it costs to come from the entities of one side of a pair to those of the other: one Dijkstra for many pairs [D Algorithm 2]."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from kgeval.errors import ConnectError, QueryError, first_line
from kgeval.graph import pairs as gds
from kgeval.graph.connect import Graph
from kgeval.graph.failures import ConnectionLost
from kgeval.graph.retries import once_more
from kgeval.llm.calls import Failure
from kgeval.metrics.definition import MetricSettings
from kgeval.metrics.kg.shape import Edges, PairGraph, ways

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T")
MOST_EDGES = 60_000  # of one projection: bounds the server's memory (about 40 MB each); a larger pair is projected alone


def costs_of(pairs: Sequence[PairGraph], settings: MetricSettings, graph: Graph) -> Iterator[np.ndarray | Failure]:
    """For each pair the cost from each input entity to its nearest context entity (infinity: none is reached). Raises: ConnectionLost."""
    spans = list(spans_of([len(pair.cosine) + 4 * len(pair.input.heads) for pair in pairs], MOST_EDGES))
    calls = (partial(result_or_failure, partial(_costs, pairs[first:last], settings, graph)) for first, last in spans)
    for (first, last), costs in zip(spans, gds.two_at_a_time(graph, calls), strict=True):
        yield from [costs] * (last - first) if isinstance(costs, Failure) else costs


def _costs(pairs: Sequence[PairGraph], settings: MetricSettings, graph: Graph) -> list[np.ndarray]:
    import numpy as np

    starts = np.cumsum([0, *(pair.nodes for pair in pairs)])
    edges, ends = several_ways(pairs, starts, settings)
    costs = gds.nearest_costs(graph, gds.Arrays(edges.source, edges.target, edges.value), ends, int(starts[-1]))
    return [costs[start : start + len(pair.input.names)] for pair, start in zip(pairs, starts, strict=False)]


def result_or_failure(work: Callable[[], T]) -> T | Failure:
    """The result, or why the server did not give it (time, memory, rights). What was projected for a connection that broke is projected
    again, under another name. Raises: ConnectionLost."""
    try:
        return once_more(work)
    except ConnectionLost:
        raise
    except (ConnectError, QueryError) as cause:
        return Failure("graph_error", first_line(cause))


def several_ways(pairs: Sequence[PairGraph], starts: np.ndarray, settings: MetricSettings) -> tuple[Edges, np.ndarray]:
    """The edges of `ways` for all pairs, and the context entities that SIMILAR leads to."""
    import numpy as np

    each = [ways(pair, settings) for pair in pairs]
    edges = Edges(
        np.concatenate([edges_of_pair.source + start for edges_of_pair, start in zip(each, starts, strict=False)]),
        np.concatenate([edges_of_pair.target + start for edges_of_pair, start in zip(each, starts, strict=False)]),
        np.concatenate([edges_of_pair.value for edges_of_pair in each]),
    )
    ends = [np.unique(pair.similar_context) + len(pair.input.names) + start for pair, start in zip(pairs, starts, strict=False)]
    return edges, np.concatenate(ends)


def spans_of(sizes: Sequence[int], most: int) -> Iterator[tuple[int, int]]:
    """Places from-to of consecutive parts whose sizes add up to `most` at most; what is larger stands alone."""
    first, total = 0, 0
    for place, size in enumerate(sizes):
        if place > first and total + size > most:
            yield first, place
            first, total = place, 0
        total += size
    if first < len(sizes):
        yield first, len(sizes)
