"""Community overlap of many pair graphs from their partitions [D eq. 2, Algorithm 3]. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgeval.metrics.definition import Settings
from kgeval.metrics.kg.shape import Edges, PairGraph, links

if TYPE_CHECKING:
    import numpy as np

INPUT, CONTEXT, RELATION = 0, 1, 2
_GOLDEN, _ONE, _TWO = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


@dataclass(frozen=True)
class Several:
    """Graphs of several pairs beside each other, one node numbering; a pair may stand there several times, shuffled each time.

    `edges`: in the order in which they are to be projected, each graph's weights adding up to 1. `group`: of each node, which graph.
    `role`: INPUT or CONTEXT entity, or RELATION.
    """

    edges: Edges
    group: np.ndarray
    role: np.ndarray
    graphs: int


@dataclass(frozen=True)
class Overlap:
    """Scores of each graph of a Several: shares in 0..1, and the modularity of its own partition."""

    by_entity: np.ndarray
    by_community: np.ndarray
    modularity: np.ndarray


def beside(pairs: Sequence[PairGraph], runs: Sequence[int], settings: Settings) -> Several:
    """Each pair with its run's number, side by side.

    What Leiden and Louvain find depends on the order of nodes, which is the order in which edges name them. The order of a pair's
    edges, and which end comes first, are drawn from the seed, the run and the edge's place in its pair: nothing else, so that they
    do not change with the pairs beside it.
    """
    import numpy as np

    parts, roles, offset = [], [], 0
    for pair, run in zip(pairs, runs, strict=True):
        edges = links(pair, settings)
        keys = _keys(len(edges.value), settings.seed, run)
        order, flip = np.argsort(keys), (keys & np.uint64(1)).astype(bool)
        source, target = np.where(flip, edges.target, edges.source), np.where(flip, edges.source, edges.target)
        total = edges.value.sum()
        weight = edges.value / total if total > 0 else edges.value
        parts.append((source[order] + offset, target[order] + offset, weight[order]))
        roles.append(_roles(pair))
        offset += pair.nodes
    group = np.repeat(np.arange(len(pairs)), [len(role) for role in roles])
    source, target, weight = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return Several(Edges(source, target, weight), group, np.concatenate(roles), len(pairs))


def _roles(pair: PairGraph) -> np.ndarray:
    import numpy as np

    counts = [len(pair.input.names), len(pair.context.names), len(pair.input.heads) + len(pair.context.heads)]
    return np.repeat([INPUT, CONTEXT, RELATION], counts)


def _keys(count: int, seed: int, run: int) -> np.ndarray:
    """`count` pseudo-random 64-bit numbers (SplitMix64 of seed, run and place)."""
    import numpy as np

    mask = 2**64 - 1
    start = (seed * _ONE + run * _TWO + _GOLDEN) & mask
    state = np.uint64(start) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_GOLDEN)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(_ONE)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(_TWO)
    mixed: np.ndarray = state ^ (state >> np.uint64(31))
    return mixed


def overlap(several: Several, community: np.ndarray) -> Overlap:
    """The scores of each graph for one partition of all nodes (`community`: a number a node; graphs share no community)."""
    import numpy as np

    _, member, first = _dense(several.group, community)
    home = several.group[first]
    ours, theirs = (np.zeros(len(home), dtype=bool) for _ in range(2))
    ours[member[several.role == INPUT]] = True
    theirs[member[several.role == CONTEXT]] = True
    entities = np.flatnonzero(several.role == INPUT)
    sharing = np.bincount(several.group[entities], theirs[member[entities]], minlength=several.graphs)
    return Overlap(
        sharing / np.bincount(several.group[entities], minlength=several.graphs),
        np.bincount(home, ours & theirs, minlength=several.graphs) / np.bincount(home, minlength=several.graphs),
        _modularity(several, member, home),
    )


def _dense(group: np.ndarray, community: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Communities as 0..n-1, apart for each graph: the keys, the number of each node's, and a node of each."""
    import numpy as np

    keys, first, member = np.unique(group * (int(community.max()) + 1) + community, return_index=True, return_inverse=True)
    return keys, member, first


def _modularity(several: Several, member: np.ndarray, home: np.ndarray) -> np.ndarray:
    """Newman's modularity of each graph; its weights add up to 1."""
    import numpy as np

    edges, nodes = several.edges, len(several.group)
    inside = np.bincount(
        several.group[edges.source], edges.value * (member[edges.source] == member[edges.target]), minlength=several.graphs,
    )
    degree = np.bincount(edges.source, edges.value, minlength=nodes) + np.bincount(edges.target, edges.value, minlength=nodes)
    volume = np.bincount(member, degree)
    found: np.ndarray = inside - np.bincount(home, (volume / 2) ** 2, minlength=several.graphs)
    return found
