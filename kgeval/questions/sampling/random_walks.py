"""Subgraphs and chains from random walks in GDS: the walks of a batch are one call; those that came too short are
walked again, longer.

The law: the start is drawn uniformly from the entities of large enough components; each step takes every relation of
the entity alike. Between two entities that several relations join, the seed decides which of them a step used. """

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import TYPE_CHECKING

from kgeval.graph.algorithms import node_number
from kgeval.questions.draw_spec import DrawSpec
from kgeval.questions.sampling.links import DrawnStructure, GraphLink, links_joining, only_new
from kgeval.questions.sampling.turns import Seed
from kgeval.stats.sampling import random_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kgeval.questions.sampling.sampled_graph import SampledGraph

BATCHES = (16, 32, 64, 128, 256)  # small first: somebody may want few
LONGER = (1, 1, 4, 16, 64)  # times the length that was asked for, walk after walk of a seed that came too short
Pair = tuple[str, str]
NodeWalk = list[str]


@dataclass(frozen=True)
class WalkForm:
    """What is made of a walk: the part of it that is looked at (`cut`), and the relations of the structure, None if it
    is too short."""

    cut: Callable[[NodeWalk], NodeWalk]
    shape: Callable[[NodeWalk, Mapping[Pair, Sequence[GraphLink]], np.random.Generator], tuple[GraphLink, ...] | None]


def subgraphs(graph: SampledGraph, wanted: DrawSpec) -> Iterator[list[DrawnStructure]]:
    """Walks until `min_relations` distinct relations (by element id) were used; one from each start, no two of the same
    relations."""
    least = wanted.min_relations
    eligible = in_components(graph, lambda relations, _: relations >= least)

    def shape(
        walk: NodeWalk, joined: Mapping[Pair, Sequence[GraphLink]], rng: np.random.Generator,
    ) -> tuple[GraphLink, ...] | None:
        used: dict[str, GraphLink] = {}
        for step in pairwise(walk):
            if links := joined.get(as_pair(*step)):
                link = links[int(rng.integers(len(links)))]
                used[link.relation] = link
                if len(used) == least:
                    return tuple(used.values())
        return None

    yield from _walked(graph, wanted, eligible, WalkForm(lambda walk: enough(walk, least), shape))


def chains(graph: SampledGraph, wanted: DrawSpec) -> Iterator[list[DrawnStructure]]:
    """Simple paths of max(hops, min_relations) relations: walks whose loops are taken out as they arise."""
    length = chain_length(wanted)
    eligible = in_components(graph, lambda _, entities: entities > length)

    def shape(
        walk: NodeWalk, joined: Mapping[Pair, Sequence[GraphLink]], rng: np.random.Generator,
    ) -> tuple[GraphLink, ...] | None:
        steps = [joined.get(as_pair(*step), ()) for step in pairwise(walk)]
        if len(steps) < length or not all(steps):
            return None
        return tuple(links[int(rng.integers(len(links)))] for links in steps)

    yield from _walked(graph, wanted, eligible, WalkForm(lambda walk: without_loops(walk, length), shape))


def chain_length(wanted: DrawSpec) -> int:
    """How many relations a chain has."""
    return max(wanted.hops, wanted.min_relations)


def in_components(graph: SampledGraph, enough_of: Callable[[int, int], bool]) -> NDArray[np.int64]:
    """The places of entities whose component has enough (relations, entities)."""
    import numpy as np

    # a walk from any other would be drawn again and again: the code of [Z] never ends where fewer relations are in reach

    sizes, ids = component_sizes(graph), graph.entities.ids
    components = [(place, graph.components.get(node_number(ids[place]))) for place in graph.entities.joined]
    return np.array([place for place, name in components if name is not None and enough_of(*sizes[name])], dtype=np.int64)


def component_sizes(graph: SampledGraph) -> dict[int, tuple[int, int]]:
    """Component -> (relations, entities), of those that have relations."""
    ends: dict[int, list[int]] = {}
    for place in graph.entities.joined:
        component = graph.components.get(node_number(graph.entities.ids[place]))
        if component is not None:
            ends.setdefault(component, []).append(int(graph.entities.degrees[place]))
    return {name: (sum(degrees) // 2, len(degrees)) for name, degrees in ends.items()}


def _walked(
    graph: SampledGraph, wanted: DrawSpec, eligible: NDArray[np.int64], form: WalkForm,
) -> Iterator[list[DrawnStructure]]:
    rng, seen = graph.rng("walks", wanted.kind, str(wanted.min_relations)), set[frozenset[str]]()
    turns, ids = graph.turns(wanted.kind, eligible, wanted.stratify), graph.entities.ids
    for batch in count():
        seeds = turns.take(BATCHES[min(batch, len(BATCHES) - 1)])
        if not seeds:
            return
        shapes = _shapes(graph, wanted, seeds, form, rng)
        drawn = ((seed, shapes.get(seed.at, ())) for seed in seeds)
        yield only_new(turns, (
            (seed, DrawnStructure(in_order(ids[seed.at], links), links, seed.stratum)) for seed, links in drawn
        ), seen)


def _shapes(
    graph: SampledGraph, wanted: DrawSpec, seeds: Sequence[Seed], form: WalkForm, rng: np.random.Generator,
) -> dict[int, tuple[GraphLink, ...]]:
    """Seed -> the relations of its structure, as far as a walk gave one."""
    ids, out = graph.entities.ids, dict[int, tuple[GraphLink, ...]]()
    for attempt, longer in enumerate(LONGER):
        left = [seed.at for seed in seeds if seed.at not in out]
        numbers = [node_number(ids[place]) for place in left]
        seed = random_number(graph.seed, "walk", str(attempt))
        walks = graph.walk_graph.walks(numbers, steps=wanted.walk_length * longer, seed=seed)
        ways: dict[int, NodeWalk] = {}
        for place, number in zip(left, numbers, strict=True):
            prefix = ids[place].rpartition(":")[0]  # GDS tells the last part of an element id only
            ways[place] = form.cut([f"{prefix}:{node}" for node in walks.get(number, [])])
        joined = links_joining(
            graph, list(dict.fromkeys(as_pair(*step) for way in ways.values() for step in pairwise(way))),
        )
        for place, way in ways.items():
            if links := form.shape(way, joined, rng):
                out[place] = links
    return out


def as_pair(one: str, other: str) -> Pair:
    """Two entities in an order of their own, so that both directions of a step are one pair."""
    return (one, other) if one < other else (other, one)


def enough(walk: NodeWalk, least: int) -> NodeWalk:
    """The beginning of a walk that goes over so many distinct pairs of entities, and so over as many relations at
    least. Pure."""
    seen: set[Pair] = set()
    for step_number, step in enumerate(pairwise(walk)):
        seen.add(as_pair(*step))
        if len(seen) == least:
            return walk[: step_number + 2]
    return walk


def without_loops(walk: NodeWalk, length: int) -> NodeWalk:
    """The simple path that is left of a walk when each loop is taken out as it closes, as soon as it has so many steps;
    else all that is left at the end. Pure."""
    path: dict[str, None] = {}
    for node in walk:
        if node in path:
            while next(reversed(path)) != node:
                path.popitem()
            continue
        path[node] = None
        if len(path) > length:
            break
    return list(path)


def in_order(start: str, links: Sequence[GraphLink]) -> tuple[str, ...]:
    """The entities of relations, each once, as a walk from the start meets them."""
    nodes: dict[str, None] = {start: None}
    for link in links:
        ends = (link.source, link.target) if link.source in nodes else (link.target, link.source)
        nodes.update(dict.fromkeys(ends))
    return tuple(nodes)
