"""Communities: Louvain (Leiden on large graphs), their sizes, modularity, and how stable the partition is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kgeval.auditing.malloc import trim_heap
from kgeval.graph.algorithms import Crossing, Leiden, Louvain, Method, Partition, View
from kgeval.graph.pace import working_time
from kgeval.records import CommunityLink, CommunityMap, DrawnCommunity
from kgeval.stats.graphs import adjusted_rand_index

if TYPE_CHECKING:
    import numpy as np

    from kgeval.graph.algorithms import Integers

LOUVAIN_UP_TO = 50_000
RUNS, AGREEING = 5, 0.02  # runs of the stability at most; two whose Rand indices differ by no more are enough
MAPPED, NAMED, NAMES = 30, 5, 3  # communities on the map; those of them that are named, by so many entities


def method_for(nodes: int) -> Method:
    """Louvain, or Leiden on graphs of more than LOUVAIN_UP_TO entities."""
    return Leiden if nodes > LOUVAIN_UP_TO else Louvain


def communities(view: View, *, seed: int) -> tuple[dict[str, Any], CommunityMap, Partition]:
    """Figures of the communities of the simple graph (Blondel et al. 2008; Traag et al. 2019 above 50,000 entities), a map of them, and
    the partition. modularity in -0.5..1. Isolated entities are communities of one.
    """
    import numpy as np

    method = method_for(view.nodes)
    partition, modularity = view.communities(method, seed)
    groups, sizes = np.unique(partition.groups, return_counts=True)
    order = np.lexsort((groups, -sizes))
    mapped = [int(groups[at]) for at in order[:MAPPED] if sizes[at] > 1]
    crossing = view.crossing(partition, mapped)
    drawn = _map(view, partition, dict(zip(groups.tolist(), sizes.tolist(), strict=True)), mapped, crossing)
    return {
        "community_algorithm": f"Leiden, seed {seed}, concurrency 1" if method == Leiden else "Louvain, concurrency 1",
        "modularity": modularity, "communities": len(sizes), "community_size_max": int(sizes.max()),
        "community_size_mean": int(sizes.sum()) / len(sizes), "community_size_median": float(np.median(sizes)),
        "cross_community_share": crossing.edges / view.edges,
    }, drawn, partition


def _map(view: View, partition: Partition, sizes: dict[int, int], mapped: list[int], crossing: Crossing) -> CommunityMap:
    """The `mapped` communities, the largest ones named. Communities of one are counted by themselves, not drawn."""
    best = view.best_connected(partition, mapped[:NAMED], NAMES)
    entities = view.entities([node for nodes in best.values() for node in nodes])
    place = {group: at for at, group in enumerate(mapped)}
    links = sorted((*sorted((place[low], place[high])), edges) for (low, high), edges in crossing.pairs.items())
    others = [size for group, size in sizes.items() if size > 1 and group not in place]
    return CommunityMap(
        communities=[
            DrawnCommunity(size=sizes[group], names=[entities[node].name for node in best.get(group, []) if node in entities])
            for group in mapped
        ],
        links=[CommunityLink(start=start, end=end, pairs=edges) for start, end, edges in links],
        more=len(others), more_entities=sum(others), alone=sum(size == 1 for size in sizes.values()),
    )


def stability(view: View, base: Partition, *, seed: int, timeout: float) -> dict[str, float | int]:
    """community_stability: mean adjusted Rand index of the partition with those of further runs on shuffled order, over entities that
    have a relation; 1 = always the same communities. Over two runs that say the same, else over five, or those that fit into the time
    limit (at least one); and how many those were. On known graphs the mean error of two that agree is 0.01 above that of five
    (tests/unit/test_community_runs.py)."""
    started, method = working_time(), method_for(view.nodes)
    shared = _several(base.groups)
    scores: list[float] = []
    for run in range(1, RUNS + 1):
        if len(scores) == 2 and abs(scores[0] - scores[1]) <= AGREEING:
            break
        # what the runs so far took, and one more of their mean length
        if scores and (working_time() - started) * run / (run - 1) > timeout:
            break
        other = view.again(method, seed * RUNS + run)
        mine, theirs = _places(base, other)
        joined = shared[mine] & _several(other.groups)[theirs]
        scores.append(adjusted_rand_index(base.groups[mine][joined], other.groups[theirs][joined]))
        trim_heap()
    return {"community_stability": sum(scores) / len(scores), "community_stability_runs": len(scores)}


def _places(base: Partition, other: Partition) -> tuple[Integers | slice, Integers | slice]:
    """Where the nodes that both partitions have stand in each, in one order."""
    import numpy as np

    if np.array_equal(base.nodes, other.nodes):
        return slice(None), slice(None)
    _, mine, theirs = np.intersect1d(base.nodes, other.nodes, assume_unique=True, return_indices=True)
    return mine, theirs


def _several(groups: Integers) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which nodes share their group with another one."""
    import numpy as np

    values, sizes = np.unique(groups, return_counts=True)
    together: np.ndarray[Any, np.dtype[np.bool_]] = (sizes > 1)[np.searchsorted(values, groups)]
    return together
