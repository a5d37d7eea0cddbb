"""Subgraphs and chains from random walks in GDS: the walks of a batch are one call; those that came too short are walked again, longer.

The law: the start is drawn uniformly from the entities of large enough components; each step takes every relation of the entity alike.
Between two entities that several relations join, the seed decides which of them a step used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from kgeval.graph.algorithms import node_number
from kgeval.questions.draw_spec import DrawSpec
from kgeval.questions.sampling.around import Drawn, Link, links_joining
from kgeval.questions.sampling.turns import Seed
from kgeval.stats.sampling import random_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kgeval.questions.sampling.world import World

BATCHES = (16, 32, 64, 128, 256)  # small first: somebody may want few
LONGER = (1, 1, 4, 16, 64)  # times the length that was asked for, walk after walk of a seed that came too short
Pair = tuple[str, str]
Walk = list[str]


@dataclass(frozen=True)
class Form:
    """What is made of a walk: the part of it that is looked at (`cut`), and the relations of the structure, null if it is too short."""

    cut: Callable[[Walk], Walk]
    shape: Callable[[Walk, Mapping[Pair, Sequence[Link]], np.random.Generator], tuple[Link, ...] | None]


def subgraphs(world: World, wanted: DrawSpec) -> Iterator[list[Drawn]]:
    """Walks until `min_relations` distinct relations (by element id) were used; one from each start, no two of the same relations."""
    least = wanted.min_relations
    eligible = in_components(world, lambda relations, _: relations >= least)

    def shape(walk: Walk, joined: Mapping[Pair, Sequence[Link]], rng: np.random.Generator) -> tuple[Link, ...] | None:
        used: dict[str, Link] = {}
        for step in pairwise(walk):
            if links := joined.get(as_pair(*step)):
                link = links[int(rng.integers(len(links)))]
                used[link.relation] = link
                if len(used) == least:
                    return tuple(used.values())
        return None

    yield from _walked(world, wanted, eligible, Form(lambda walk: enough(walk, least), shape))


def chains(world: World, wanted: DrawSpec) -> Iterator[list[Drawn]]:
    """Simple paths of max(hops, min_relations) relations: walks whose loops are taken out as they arise."""
    length = chain_length(wanted)
    eligible = in_components(world, lambda _, entities: entities > length)

    def shape(walk: Walk, joined: Mapping[Pair, Sequence[Link]], rng: np.random.Generator) -> tuple[Link, ...] | None:
        steps = [joined.get(as_pair(*step), ()) for step in pairwise(walk)]
        if len(steps) < length or not all(steps):
            return None
        return tuple(links[int(rng.integers(len(links)))] for links in steps)

    yield from _walked(world, wanted, eligible, Form(lambda walk: without_loops(walk, length), shape))


def chain_length(wanted: DrawSpec) -> int:
    """How many relations a chain has."""
    return max(wanted.hops, wanted.min_relations)


def in_components(world: World, enough_of: Callable[[int, int], bool]) -> NDArray[np.int64]:
    """The places of entities whose component has enough (relations, entities)."""
    import numpy as np

    known, component = world.entities, world.components
    sizes = component_sizes(world)
    return np.array([
        at for at in known.joined if (found := component.get(node_number(known.ids[at]))) is not None and enough_of(*sizes[found])
    ], dtype=np.int64)


def component_sizes(world: World) -> dict[int, tuple[int, int]]:
    """Component -> (relations, entities), of those that have relations."""
    sizes: dict[int, list[int]] = {}
    for at in world.entities.joined:
        found = world.components.get(node_number(world.entities.ids[at]))
        if found is not None:
            both = sizes.setdefault(found, [0, 0])
            both[0] += int(world.entities.degrees[at])
            both[1] += 1
    return {name: (ends // 2, entities) for name, (ends, entities) in sizes.items()}


def _walked(world: World, wanted: DrawSpec, eligible: NDArray[np.int64], form: Form) -> Iterator[list[Drawn]]:
    rng, seen = world.rng("walks", wanted.kind, str(wanted.min_relations)), set[frozenset[str]]()
    turns, batch = world.turns(wanted.kind, eligible, wanted.stratify), 0
    while seeds := turns.take(BATCHES[min(batch, len(BATCHES) - 1)]):
        shapes = _shapes(world, wanted, seeds, form, rng)
        found, came = [], []
        for seed in seeds:
            links = shapes.get(seed.at, ())
            key = frozenset(link.relation for link in links)
            new = bool(links) and key not in seen
            came.append((seed, new))
            if new:
                seen.add(key)
                found.append(Drawn(in_order(world.entities.ids[seed.at], links), links, seed.stratum))
        turns.came_back(came)
        batch += 1
        yield found


def _shapes(
    world: World, wanted: DrawSpec, seeds: Sequence[Seed], form: Form, rng: np.random.Generator,
) -> dict[int, tuple[Link, ...]]:
    """Seed -> the relations of its structure, as far as a walk gave one."""
    ids, out = world.entities.ids, dict[int, tuple[Link, ...]]()
    for attempt, longer in enumerate(LONGER):
        left = [seed.at for seed in seeds if seed.at not in out]
        numbers = [node_number(ids[at]) for at in left]
        walks = world.walk_graph.walks(numbers, steps=wanted.walk_length * longer, seed=random_number(world.seed, "walk", str(attempt)))
        ways = {at: form.cut(_named(ids[at], walks.get(number, []))) for at, number in zip(left, numbers, strict=True)}
        pairs = dict.fromkeys(as_pair(*step) for way in ways.values() for step in pairwise(way))
        joined = links_joining(world, list(pairs))
        for at, way in ways.items():
            if links := form.shape(way, joined, rng):
                out[at] = links
    return out


def _named(start: str, walk: Sequence[int]) -> Walk:
    """A walk by element ids."""
    prefix = start.rpartition(":")[0]
    return [f"{prefix}:{number}" for number in walk]


def as_pair(one: str, other: str) -> Pair:
    """Two entities in an order of their own, so that both directions of a step are one pair."""
    return (one, other) if one < other else (other, one)


def enough(walk: Walk, least: int) -> Walk:
    """The beginning of a walk that goes over so many distinct pairs of entities, and so over as many relations at least. Pure."""
    seen: set[Pair] = set()
    for at, step in enumerate(pairwise(walk)):
        seen.add(as_pair(*step))
        if len(seen) == least:
            return walk[: at + 2]
    return walk


def without_loops(walk: Walk, length: int) -> Walk:
    """The simple path that is left of a walk when each loop is taken out as it closes, as soon as it has so many steps; else all that is
    left at the end. Pure."""
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


def in_order(start: str, links: Sequence[Link]) -> tuple[str, ...]:
    """The entities of relations, each once, as a walk from the start meets them."""
    nodes: dict[str, None] = {start: None}
    for link in links:
        ends = (link.source, link.target) if link.source in nodes else (link.target, link.source)
        nodes.update(dict.fromkeys(ends))
    return tuple(nodes)
