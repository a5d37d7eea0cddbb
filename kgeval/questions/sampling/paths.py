"""Simple paths: relations one after another, followed in either direction, no entity twice. No GDS needed.

The law: the first entity is drawn uniformly from those with relations (of a stratum: of those in it); each next relation uniformly
from those at the last entity that lead to an entity not on the path yet; a path that cannot go on is dropped. A path drawn again,
from either end, is dropped too. So a super-node is no more often a start than others, and its many paths do not crowd out the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgeval.questions.sampling.around import Drawn, Link, links_at
from kgeval.questions.sampling.turns import Seed
from kgeval.questions.wanted import Wanted

if TYPE_CHECKING:
    import numpy as np

    from kgeval.questions.sampling.world import World

BATCH = 64
TRIES = (6, 64, 1024)  # places looked at for a next relation; more only where all of these lead back
SMALL = 5_000  # relations of a graph whose paths are counted one by one
MOST_COUNTED = 20_000
MOST_STEPS = 500_000  # relations that are looked at to list the paths of a small graph: a dense one has no end of beginnings


Path = tuple[tuple[str, ...], tuple[Link, ...]]


@dataclass
class Way:
    """A path that is being walked. Ended: it could not go on."""

    seed: Seed
    nodes: list[str]
    links: list[Link] = field(default_factory=list)
    ended: bool = False

    def go_on(self, links: Sequence[Link]) -> bool:
        """Takes the first of these relations that leads to an entity not on the path; false if none does."""
        for link in links:
            if (other := link.other(self.nodes[-1])) not in self.nodes:
                self.links.append(link)
                self.nodes.append(other)
                return True
        return False


def paths(world: World, wanted: Wanted) -> Iterator[list[Drawn]]:
    """Paths of exactly `hops` relations, by the law above, each once; of a small graph all of them in the end."""
    rng, seen = world.rng("paths", str(wanted.hops)), set[frozenset[str]]()
    turns = world.turns(f"paths {wanted.hops}", world.entities.joined, wanted.stratify, again=True)
    while seeds := turns.take(BATCH):
        found, came = [], []
        for way in walked(world, seeds, wanted.hops, rng):
            key = frozenset(link.relation for link in way.links)
            new = not way.ended and key not in seen
            came.append((way.seed, new))
            if new:
                seen.add(key)
                found.append(Drawn(tuple(way.nodes), tuple(way.links), way.seed.stratum))
        turns.came_back(came)
        yield found
    yield _rest(world, wanted, seen, rng)


def walked(world: World, seeds: Sequence[Seed], hops: int, rng: np.random.Generator) -> list[Way]:
    """One way from each seed, all of them a step at a time: one query a step, a few more where ways lead back."""
    ways = [Way(seed, [world.entities.ids[seed.at]]) for seed in seeds]
    for step in range(hops):
        for tried, most in zip((0, *TRIES), TRIES, strict=False):
            degrees = world.entities.degrees
            _step(world, [
                way for way in ways
                if not way.ended and len(way.links) == step and degrees[world.entities.place[way.nodes[-1]]] > tried
            ], most, rng)
        for way in ways:
            way.ended = len(way.links) <= step
    return ways


def _step(world: World, waiting: Sequence[Way], most: int, rng: np.random.Generator) -> None:
    """Ways that stand at an entity look at some of its relations in a random order: the first that leads on is a uniform choice from
    all that lead on. Ways that stand at one entity are asked for together."""
    chosen: list[list[int]] = []
    asked: dict[str, list[int]] = {}
    for way in waiting:
        degree = int(world.entities.degrees[world.entities.place[way.nodes[-1]]])
        chosen.append([int(place) for place in rng.choice(degree, size=min(degree, most), replace=False)])
        asked.setdefault(way.nodes[-1], []).extend(chosen[-1])
    found = links_at(world, {name: sorted(set(places)) for name, places in asked.items()})
    for way, places in zip(waiting, chosen, strict=True):
        links = found.get(way.nodes[-1], {})
        way.go_on([links[place] for place in places if place in links])


def _rest(world: World, wanted: Wanted, seen: set[frozenset[str]], rng: np.random.Generator) -> list[Drawn]:
    """The paths of a small graph that no draw has met, in a random order."""
    if world.entities.relations > SMALL:
        return []
    left = []
    for nodes, links in listed(all_links(world), wanted.hops, MOST_COUNTED)[0]:
        key = frozenset(link.relation for link in links)
        if key not in seen:
            seen.add(key)
            left.append((nodes, links))
    by = world.strata(wanted.stratify) if wanted.stratify else None
    return [
        Drawn(left[at][0], left[at][1], by[world.entities.place[left[at][0][0]]] if by else None) for at in rng.permutation(len(left))
    ]


def all_links(world: World) -> dict[str, list[Link]]:
    """Every entity with its relations. For small graphs."""
    ids = world.entities.ids
    return {name: list(links.values()) for name, links in links_at(world, {ids[at]: None for at in world.entities.joined}).items()}


def listed(around: Mapping[str, Sequence[Link]], hops: int, most: int, steps: int = MOST_STEPS) -> tuple[list[Path], bool]:
    """The simple paths of so many relations, each once (from one of its ends), and whether these are all: at most `most` are listed, and
    at most so many steps taken. Pure."""
    found: dict[frozenset[str], Path] = {}
    if hops >= len(around):  # it would need more entities than there are
        return [], True
    for start in around:
        for path in _from(around, start, hops):
            if path is not None:
                found.setdefault(frozenset(link.relation for link in path[1]), path)
            steps -= 1
            if steps < 0 or len(found) >= most:
                return list(found.values()), False
    return list(found.values()), True


def _from(around: Mapping[str, Sequence[Link]], start: str, hops: int) -> Iterator[Path | None]:
    """Every step from an entity on: the path that it completes, or null."""
    nodes, links = [start], list[Link]()
    waiting = [iter(around.get(start, ()))]
    while waiting:
        link = next(waiting[-1], None)
        if link is None:
            waiting.pop()
            nodes.pop()
            del links[-1:]
            continue
        other = link.other(nodes[-1])
        if other in nodes:
            yield None
        elif len(links) + 1 == hops:
            yield (*nodes, other), (*links, link)
        else:
            nodes.append(other)
            links.append(link)
            waiting.append(iter(around.get(other, ())))
            yield None
