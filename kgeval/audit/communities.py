"""Communities: Louvain (Leiden on large graphs), their sizes, modularity, and how stable the partition is."""

from __future__ import annotations

import time
from collections import Counter
from statistics import median
from typing import Any

from kgeval.graph.project import SIMPLE, Projection, drop
from kgeval.graph.queries import all_queries
from kgeval.stats.graphs import adjusted_rand_index

LOUVAIN_UP_TO = 200_000
RUNS = 5


def communities(view: Projection, *, seed: int, timeout: float) -> dict[str, Any]:
    """Figures of the communities of the simple graph (Blondel et al. 2008; Traag et al. 2019 above 200,000 entities).

    modularity in -0.5..1; community_stability: mean adjusted Rand index of the partition with those of 5 runs on
    shuffled order (Leiden: other seeds), over entities that have a relation; 1 = always the same communities.
    Isolated entities are communities of one.
    """
    large = view.nodes > LOUVAIN_UP_TO
    gds = view.graph.gds
    handle = gds.graph.get(view.name)
    if large:
        result = gds.leiden.mutate(handle, "community", relationship_types=[SIMPLE], random_seed=seed, concurrency=1, log_progress=False)
    else:
        result = gds.louvain.mutate(handle, "community", relationship_types=[SIMPLE], concurrency=1, log_progress=False)
    found = gds.graph.node_properties.stream(handle, ["community"], log_progress=False)
    partition = dict(zip(found["nodeId"].tolist(), found["community"].tolist(), strict=True))
    sizes = sorted(Counter(partition.values()).values())
    crossing = view.graph.read(all_queries()["cross-community-relations"], {"graph_name": view.name}, timeout=timeout)[0]
    return {
        "community_algorithm": f"Leiden, seed {seed}, concurrency 1" if large else "Louvain, concurrency 1",
        "modularity": result.modularity, "communities": len(sizes), "community_size_max": sizes[-1],
        "community_size_mean": sum(sizes) / len(sizes), "community_size_median": float(median(sizes)),
        "cross_community_share": crossing["crossing"] / crossing["edges"],
        **_stability(view, _joined(partition), large=large, seed=seed, timeout=timeout),
    }


def _stability(
    view: Projection, base: dict[int, int], *, large: bool, seed: int, timeout: float,
) -> dict[str, float | int]:
    """The mean over the runs that fit into the time limit (at least one), and how many those were."""
    started = time.perf_counter()
    scores: list[float] = []
    for run in range(1, RUNS + 1):
        if scores and (time.perf_counter() - started) * run / (run - 1) > timeout:
            break
        other = _partition(view, view.name, large=True, seed=seed + run) if large else _shuffled(view, seed * RUNS + run, timeout)
        shared = [node for node in base if node in other]
        scores.append(adjusted_rand_index([base[n] for n in shared], [other[n] for n in shared]))
    return {"community_stability": sum(scores) / len(scores), "community_stability_runs": len(scores)}


def _shuffled(view: Projection, run: int, timeout: float) -> dict[int, int]:
    """A Louvain partition of a copy whose nodes come in another order."""
    copy = f"{view.name}_{run}"
    params = {"graph_name": view.name, "copy": copy, "a": 7919 * run + 12345, "b": 104729 * run + 54321}
    try:
        view.graph.read(all_queries()["shuffled-graph"], params, timeout=timeout)
        return _partition(view, copy, large=False, seed=0)
    finally:
        drop(view.graph, copy)


def _partition(view: Projection, name: str, *, large: bool, seed: int) -> dict[int, int]:
    """Community of every node of a projected graph, by internal id; communities of one left out."""
    gds = view.graph.gds
    handle = gds.graph.get(name)
    if large:
        frame = gds.leiden.stream(handle, relationship_types=[SIMPLE], random_seed=seed, concurrency=1, log_progress=False)
    else:
        frame = gds.louvain.stream(handle, relationship_types=[SIMPLE], concurrency=1, log_progress=False)
    return _joined(dict(zip(frame["nodeId"].tolist(), frame["communityId"].tolist(), strict=True)))


def _joined(partition: dict[int, int]) -> dict[int, int]:
    """The partition without its communities of one."""
    size = Counter(partition.values())
    return {node: group for node, group in partition.items() if size[group] > 1}
