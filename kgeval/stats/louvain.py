"""Louvain's communities of small graphs, found here: sooner than a server has copied the graph."""

from __future__ import annotations

import random
from collections.abc import Iterable

Neighbours = list[dict[int, int]]  # of each node the weights of its edges by the other end; to itself: twice the weight within


def louvain(nodes: int, edges: Iterable[tuple[int, int]], *, seed: int) -> list[int]:
    """The community (from 0) of each of the nodes 0 to `nodes` - 1 of a simple undirected graph without loops (Blondel et al. 2008): nodes
    are visited in an order shuffled by the seed, until none gains modularity by a move; then communities are the nodes of the next round.

    Gains are whole numbers. With rounded ones, as in networkx to 3.6, two nodes may change places for ever.
    """
    order = random.Random(seed)  # noqa: S311 - nothing is kept secret
    near: Neighbours = [{} for _ in range(nodes)]
    for one, other in edges:
        near[one][other] = near[other][one] = 1
    found = list(range(nodes))
    while True:
        community = _moved(near, order)
        joined = _joined(near, community)
        if len(joined) == len(near):
            return found
        found, near = [community[node] for node in found], joined


def _moved(near: Neighbours, order: random.Random) -> list[int]:
    """Of each node its community, numbered from 0, when no node gains by a move to that of a neighbour."""
    degrees = [sum(weights.values()) for weights in near]
    total = sum(degrees)
    community, held = list(range(len(near))), degrees.copy()  # held: the degrees in each community
    nodes, moves = list(range(len(near))), True
    order.shuffle(nodes)
    while moves:
        moves = False
        for node in nodes:
            mine, degree = community[node], degrees[node]
            weights = {mine: 0}
            for other, weight in near[node].items():
                if other != node:
                    weights[community[other]] = weights.get(community[other], 0) + weight
            held[mine] -= degree
            # the gain of modularity by joining a community, times 2 m^2: 2 m w - k K
            best, most = mine, total * weights[mine] - degree * held[mine]
            for joined, weight in weights.items():
                if (gain := total * weight - degree * held[joined]) > most:
                    best, most = joined, gain
            held[best] += degree
            if best != mine:
                community[node], moves = best, True
    numbers: dict[int, int] = {}
    return [numbers.setdefault(name, len(numbers)) for name in community]


def _joined(near: Neighbours, community: list[int]) -> Neighbours:
    """The graph whose nodes are the communities."""
    joined: Neighbours = [{} for _ in range(max(community, default=-1) + 1)]
    for node, weights in enumerate(near):
        own = joined[community[node]]
        for other, weight in weights.items():
            own[community[other]] = own.get(community[other], 0) + weight
    return joined
