"""How hard a question is by what it is made from: knowledge breadth and reasoning depth [X A.3, table 8]."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import chain

from kgeval.records import Structure

Ends = tuple[str, str]


def complexity(structure: Structure, used: Collection[str]) -> tuple[int, int]:
    """(breadth, depth) of a question that needs these relations (element ids) of a structure.

    Breadth: the distinct relations that the answer needs. Depth: the most hops between any two ends of them, along the
    shortest way over all relations of the structure in either direction: 1 for a single relation; more than the breadth
    where the relations are not adjacent. Parts that the structure does not connect count one after the other (their
    depths are added). """
    needed = [(r.source, r.target) for r in structure.relations if r.element_id in used]
    return len(needed), depth(needed, ((r.source, r.target) for r in structure.relations))


def depth(needed: Iterable[Ends], known: Iterable[Ends]) -> int:
    """The depth of relations given by their ends, in a graph of relations given the same way; 0 for none."""
    ends = [pair for pair in needed if pair[0] != pair[1]]
    near: dict[str, set[str]] = {}
    for one, other in (*ends, *known):
        near.setdefault(one, set()).add(other)
        near.setdefault(other, set()).add(one)
    left, total = set(chain.from_iterable(ends)), 0
    while left:
        # sorted: the same part comes first in every run, whatever the order of the set
        reached = _hops(near, next(iter(sorted(left))))
        part = left & reached.keys()
        total += max(max(hops for node, hops in _hops(near, start).items() if node in part) for start in part)
        left -= part
    return total


def _hops(near: Mapping[str, set[str]], start: str) -> dict[str, int]:
    """Hops from a node to every node that can be reached."""
    hops, edge = {start: 0}, [start]
    for node in edge:
        for other in near[node]:
            if other not in hops:
                hops[other] = hops[node] + 1
                edge.append(other)
    return hops
