"""Simple paths: relations one after another, followed in either direction, no entity twice. No GDS needed.

The law: the start is drawn uniformly from the entities with relations; each step takes every relation that leads on
alike. What a path cannot go on from is given up, and its seed's turn is given back. """

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgeval.questions.draw_spec import DrawSpec
from kgeval.questions.sampling.links import SMALL, DrawnStructure, GraphLink, links_at, only_new
from kgeval.questions.sampling.turns import Seed

if TYPE_CHECKING:
    import numpy as np

    from kgeval.questions.sampling.sampled_graph import SampledGraph

BATCH = 64  # walks that take a step together, with one query
TRIES = (6, 64, 1024)  # places looked at for a next relation; more only where all of these lead back
MOST_COUNTED = 20_000
MOST_STEPS = 500_000  # relations that are looked at to list the paths of a small graph: a dense one has no end of beginnings
MOST_WALKED = 1_024  # entities that a path is looked for from

Path = tuple[tuple[str, ...], tuple[GraphLink, ...]]


@dataclass
class PathWalk:
    """A path that is being walked. Ended: it could not go on. `barred`: entities that it must not come to."""

    seed: Seed
    nodes: list[str]
    links: list[GraphLink] = field(default_factory=list)
    ended: bool = False
    barred: Container[str] = ()

    def go_on(self, links: Sequence[GraphLink]) -> bool:
        """Takes the first of these relations that leads to an entity not on the path, nor barred; false if none does."""
        for link in links:
            if (other := link.other(self.nodes[-1])) not in self.nodes and other not in self.barred:
                self.links.append(link)
                self.nodes.append(other)
                return True
        return False


def paths(graph: SampledGraph, wanted: DrawSpec) -> Iterator[list[DrawnStructure]]:
    """Paths of exactly `hops` relations, by the law above, each once; of a small graph all of them in the end."""
    rng, seen = graph.rng("paths", str(wanted.hops)), set[frozenset[str]]()
    turns = graph.turns(f"paths {wanted.hops}", graph.entities.joined, wanted.stratify, again=True)
    while seeds := turns.take(BATCH):
        ways = walked(graph, seeds, wanted.hops, rng)
        yield only_new(turns, (
            (way.seed, None if way.ended else DrawnStructure(tuple(way.nodes), tuple(way.links), way.seed.stratum)) for way in ways
        ), seen)
    if graph.entities.relations > SMALL:
        return
    strata = graph.strata(wanted.stratify) if wanted.stratify else None
    left = []  # the paths that no draw has met
    for nodes, links in listed(all_links(graph), wanted.hops, MOST_COUNTED)[0]:
        path = DrawnStructure(nodes, links, strata[graph.entities.place[nodes[0]]] if strata else None)
        if path.key not in seen:
            seen.add(path.key)
            left.append(path)
    yield [left[index] for index in rng.permutation(len(left))]


def walked(
    graph: SampledGraph, seeds: Sequence[Seed], hops: int, rng: np.random.Generator, barred: Sequence[Container[str]] = (),
) -> list[PathWalk]:
    """One way from each seed, all of them a step at a time: one query a step, a few more where ways lead back. `barred`: for
    each seed entities that its way must not come to."""
    ways = [
        PathWalk(seed, [graph.entities.ids[seed.at]], barred=bars) for seed, bars in zip(seeds, barred or [()] * len(seeds), strict=True)
    ]
    for step in range(hops):
        for tried, most in zip((0, *TRIES), TRIES, strict=False):
            waiting = [
                way for way in ways if not way.ended and len(way.links) == step and graph.degree(way.nodes[-1]) > tried
            ]
            # the first of some relations in a random order that leads on is a uniform choice from all that lead on;
            # ways that stand at one entity are asked for together
            chosen = [graph.some_places(way.nodes[-1], most, rng) for way in waiting]
            places_of: dict[str, set[int]] = {}
            for way, places in zip(waiting, chosen, strict=True):
                places_of.setdefault(way.nodes[-1], set()).update(places)
            links_of = links_at(graph, {name: sorted(places) for name, places in places_of.items()})
            for way, places in zip(waiting, chosen, strict=True):
                links = links_of.get(way.nodes[-1], {})
                way.go_on([links[place] for place in places if place in links])
        for way in ways:
            way.ended = len(way.links) <= step
    return ways


def any_path(graph: SampledGraph, hops: int) -> bool:
    """Whether walks from MOST_WALKED entities at most find a path of so many relations."""
    rng, joined = graph.rng("any path", str(hops)), graph.entities.joined
    for start in range(0, min(len(joined), MOST_WALKED), BATCH):
        seeds = [Seed(int(place), None) for place in joined[start : start + BATCH]]
        if any(not way.ended for way in walked(graph, seeds, hops, rng)):
            return True
    return False


def all_links(graph: SampledGraph) -> dict[str, list[GraphLink]]:
    """Every entity with its relations. For small graphs."""
    ids = graph.entities.ids
    return {name: list(links.values()) for name, links in links_at(graph, {ids[place]: None for place in graph.entities.joined}).items()}


def listed(
    around: Mapping[str, Sequence[GraphLink]], hops: int, most: int, steps: int = MOST_STEPS,
) -> tuple[list[Path], bool]:
    """The simple paths of so many relations, each once (from one of its ends), and whether these are all: at most
    `most` are listed, and at most so many steps taken. Pure."""
    paths_by_relations: dict[frozenset[str], Path] = {}
    if hops >= len(around):  # it would need more entities than there are
        return [], True
    for start in around:
        for path in _from(around, start, hops):
            if path is not None:
                paths_by_relations.setdefault(frozenset(link.relation for link in path[1]), path)
            steps -= 1
            if steps < 0 or len(paths_by_relations) >= most:
                return list(paths_by_relations.values()), False
    return list(paths_by_relations.values()), True


def _from(around: Mapping[str, Sequence[GraphLink]], start: str, hops: int) -> Iterator[Path | None]:
    """Every step from an entity on: the path that it completes, or None. Not recursive: paths may be longer than
    Python's stack."""
    nodes, links = [start], list[GraphLink]()
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
