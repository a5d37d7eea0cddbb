"""Structures of several parts: chains that begin at one entity, and subgraphs that have nothing to do with each other
[X C.4]. No GDS needed.

The law of `chains`: the start is drawn uniformly from the entities with enough relations; each step as in a path. Of
`disjoint`: a pair of entities of one type, as `pair` draws it, with what lies around each. """

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice, product
from typing import TYPE_CHECKING

from kgeval.questions.draw_spec import DrawSpec
from kgeval.questions.sampling.links import DrawnStructure, links_joining, only_new
from kgeval.questions.sampling.neighbourhoods import Piece, grow
from kgeval.questions.sampling.paths import PathWalk, walked
from kgeval.questions.sampling.turns import Seed
from kgeval.questions.sampling.uniform import pairs_in_turn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kgeval.questions.sampling.sampled_graph import SampledGraph

BATCH = 32
LEAST_OF_A_SUBGRAPH = 2  # relations
MOST_FRUITLESS = 2_000  # pairs in a row whose surroundings touch: a dense graph has nothing else


def starts_of_chains(graph: SampledGraph, wanted: DrawSpec) -> NDArray[np.int64]:
    """The places of entities that have as many relations as chains are wanted, or more."""
    import numpy as np

    return np.flatnonzero(graph.entities.degrees >= wanted.parts)


def chains(graph: SampledGraph, wanted: DrawSpec) -> Iterator[list[DrawnStructure]]:
    """`parts` simple paths of `hops` relations each, which begin at one entity and have no other in common."""
    rng, seen = graph.rng("chains", str(wanted.hops), str(wanted.parts)), set[frozenset[str]]()
    turns = graph.turns(f"chains {wanted.hops} {wanted.parts}", starts_of_chains(graph, wanted), wanted.stratify, again=True)
    while seeds := turns.take(BATCH):
        drawn: list[list[PathWalk]] = [[] for _ in seeds]
        barred: list[set[str]] = [set() for _ in seeds]
        for _ in range(wanted.parts):
            for own, taken, way in zip(drawn, barred, walked(graph, seeds, wanted.hops, rng, barred), strict=True):
                own.append(way)
                taken.update(way.nodes[1:])
        yield only_new(turns, ((seed, _joined(seed, own)) for seed, own in zip(seeds, drawn, strict=True)), seen)


def _joined(seed: Seed, ways: list[PathWalk]) -> DrawnStructure | None:
    if any(way.ended for way in ways):
        return None
    nodes = (ways[0].nodes[0], *(node for way in ways for node in way.nodes[1:]))
    parts = tuple(tuple(link.relation for link in way.links) for way in ways)
    return DrawnStructure(nodes, tuple(link for way in ways for link in way.links), seed.stratum, parts)


def _open_ends(graph: SampledGraph, piece: Piece) -> list[str]:
    """The entities of a piece that have relations beyond it: no other can be joined to anything else. Of a hub with 100 neighbours
    that is often the hub alone, and each pair of the two pieces' entities would be looked up."""
    inside = Counter(end for link in piece.links.values() for end in (link.source, link.target))
    return [name for name in piece.nodes if graph.degree(name) > inside[name]]


def disjoint(graph: SampledGraph, wanted: DrawSpec) -> Iterator[list[DrawnStructure]]:
    """Two neighbourhoods of entities of one type, of two relations each at least, that share no entity and that no relation
    joins."""
    rng, seen, fruitless = graph.rng("disjoint", str(wanted.hops)), set[frozenset[str]](), 0
    pairs, ids = pairs_in_turn(graph, wanted), graph.entities.ids
    while (part := list(islice(pairs, BATCH))) and fruitless < MOST_FRUITLESS:
        pieces = [Piece(ids[place], wanted.most_relations, radius=wanted.hops) for _, pair in part for place in pair]
        grow(graph, pieces, rng)
        sides = list(zip(pieces[::2], pieces[1::2], strict=True))
        apart = [
            not one.nodes.keys() & other.nodes.keys() and min(len(one.links), len(other.links)) >= LEAST_OF_A_SUBGRAPH
            for one, other in sides
        ]
        asked = [
            list(product(_open_ends(graph, one), _open_ends(graph, other))) if fits else []
            for fits, (one, other) in zip(apart, sides, strict=True)
        ]
        joined = links_joining(graph, list(dict.fromkeys(pair for pairs_of_one in asked for pair in pairs_of_one)))
        found = []
        for (stratum, _), fits, (one, other), between in zip(part, apart, sides, asked, strict=True):
            links = (*one.links.values(), *other.links.values())
            key = frozenset(link.relation for link in links)
            if fits and key not in seen and not any(joined.get(pair) for pair in between):
                seen.add(key)
                found.append(DrawnStructure((*one.nodes, *other.nodes), links, stratum, (tuple(one.links), tuple(other.links))))
        fruitless = 0 if found else fruitless + len(part)
        yield found
