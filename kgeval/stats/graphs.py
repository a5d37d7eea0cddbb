"""Figures of graphs from histograms and edge lists: quantiles, sizes, exact diameter, agreement of partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

Histogram = Mapping[int, int]
MOST_AT_ONCE = 20_000_000  # steps over an edge, of all searches at once: some seconds


@dataclass(frozen=True)
class Sizes:
    """Centres of a set of sizes; all None if the set is empty. `trimmed` drops 10 % (rounded down) at each end."""

    mean: float | None
    median: float | None
    trimmed: float | None
    geometric: float | None
    harmonic: float | None
    largest: int | None


def quantile(histogram: Histogram, q: float) -> float:
    """The q-quantile (0..1, linear between ranks as numpy's default) of the values in {value: how often}.

    Raises: ValueError for an empty histogram.
    """
    values = sorted((value, n) for value, n in histogram.items() if n > 0)
    total = sum(n for _, n in values)
    if not total:
        raise ValueError("an empty histogram has no quantile")
    rank = q * (total - 1)
    low, high = _at(values, int(rank)), _at(values, min(int(rank) + 1, total - 1))
    return low + (high - low) * (rank - int(rank))


def _at(values: Sequence[tuple[int, int]], rank: int) -> int:
    """The value at a zero-based rank."""
    seen = 0
    for value, n in values:
        seen += n
        if rank < seen:
            return value
    return values[-1][0]


def share_above(histogram: Histogram, limit: int) -> float | None:
    """Share (0..1) of values greater than limit; None if there are none."""
    total = sum(histogram.values())
    return sum(n for value, n in histogram.items() if value > limit) / total if total else None


def sizes(histogram: Histogram) -> Sizes:
    """Mean, median, 10 % trimmed, geometric and harmonic mean of the sizes in {size: how often}. Sizes are >= 1."""
    import numpy as np

    flat = np.repeat(np.array(sorted(histogram), dtype=float), [histogram[k] for k in sorted(histogram)])
    if not flat.size:
        return Sizes(None, None, None, None, None, None)
    cut = flat.size // 10  # of each end; numpy alone, since scipy.stats takes longer to load than all of this
    return Sizes(
        mean=float(flat.mean()), median=float(np.median(flat)), trimmed=float(flat[cut : flat.size - cut].mean()),
        geometric=float(np.exp(np.log(flat).mean())), harmonic=float(flat.size / (1 / flat).sum()), largest=int(flat.max()),
    )


def diameter(edges: Sequence[tuple[int, int]] | np.ndarray[Any, Any]) -> int:
    """Longest shortest path, in hops, of a connected undirected graph given by its edges; exact. 0 for no edges. For some thousand nodes.

    A breadth-first search from every node at once: who has reached a node is a number of n bits, so that a step of all of them over an edge
    is one operation. Where many steps go over many edges, as of a clique with a long tail, one search after the other is quicker.
    Raises: ValueError for a graph that is not connected.
    """
    place: dict[int, int] = {}
    near: list[list[int]] = []
    for ends in edges:
        one, other = (place.setdefault(int(end), len(place)) for end in ends)
        near += [[] for _ in range(len(place) - len(near))]
        near[one].append(other)
        near[other].append(one)
    reached = [1 << node for node in range(len(near))]
    everyone, left, steps = (1 << len(near)) - 1, list(range(len(near))), 0
    while left := [node for node in left if reached[node] != everyone]:
        if steps * 2 * len(edges) > MOST_AT_ONCE:
            return _by_searches(edges)
        grown = reached.copy()
        for node in left:
            for other in near[node]:
                grown[node] |= reached[other]
        if grown == reached:
            raise ValueError("the graph is not connected")
        reached, steps = grown, steps + 1
    return steps


def _by_searches(edges: Sequence[tuple[int, int]] | np.ndarray[Any, Any]) -> int:
    """As `diameter`, by a search from every node (scipy), 256 nodes at a time."""
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    ends = np.asarray(edges, dtype=np.int64)
    _, index = np.unique(ends, return_inverse=True)
    pairs = index.reshape(ends.shape)
    n = int(pairs.max()) + 1
    matrix = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n)).tocsr()
    longest = 0.0
    # The whole table of distances would be n * n: 80 GB for 100,000 nodes.
    for start in range(0, n, 256):
        rows = shortest_path(matrix, directed=False, unweighted=True, indices=range(start, min(start + 256, n)))
        longest = max(longest, float(rows.max()))
    if longest == float("inf"):
        raise ValueError("the graph is not connected")
    return int(longest)


def adjusted_rand_index(left: Sequence[int] | np.ndarray[Any, Any], right: Sequence[int] | np.ndarray[Any, Any]) -> float:
    """Agreement of two partitions of the same items, 1 = the same, about 0 = chance (Hubert and Arabie 1985).

    `left[i]` and `right[i]` are the groups of item i. 1.0 for fewer than two items.
    """
    import numpy as np

    a, b = np.asarray(left), np.asarray(right)
    if len(a) != len(b):
        raise ValueError(f"the partitions are over {len(a)} and {len(b)} items")
    if len(a) < 2:
        return 1.0

    def pairs(counts: np.ndarray[Any, Any]) -> float:
        values = counts.astype(float)
        return float((values * (values - 1) / 2).sum())

    (rows, row_sizes), (columns, column_sizes) = (np.unique(groups, return_counts=True) for groups in (a, b))
    cells = np.searchsorted(rows, a)  # of the table of both, in place: items may be millions
    cells *= len(columns)
    cells += np.searchsorted(columns, b)
    together, in_a, in_b = pairs(np.unique(cells, return_counts=True)[1]), pairs(row_sizes), pairs(column_sizes)
    total = len(a) * (len(a) - 1) / 2
    expected, most = in_a * in_b / total, (in_a + in_b) / 2
    return 1.0 if most == expected else (together - expected) / (most - expected)
