"""Draws structures out of a graph: seeded, repeatable, lazy.

The same graph and seed give the same structures in the same order, on each run and after a restart of the server; after a rebuild too,
as far as names and keys are the same (docs/sampling.md says where not).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgeval.auditing.accuracy.chunks import Chunks
from kgeval.errors import UsageError
from kgeval.graph.algorithms import node_number
from kgeval.graph.connect import Graph
from kgeval.questions.draw_spec import Capacity, DrawSpec
from kgeval.questions.sampling import grown, simple
from kgeval.questions.sampling.around import Drawn, Link, links_at
from kgeval.questions.sampling.details import structures
from kgeval.questions.sampling.simple import pair_groups
from kgeval.questions.sampling.turns import Seed
from kgeval.questions.sampling.walked import chain_length, chains, component_sizes, subgraphs
from kgeval.questions.sampling.world import World
from kgeval.records import Layout, Structure, StructureKind

if TYPE_CHECKING:
    import numpy as np

    from kgeval.questions.sampling.world import World

# Simple paths: relations one after another, followed in either direction, no entity twice. No GDS needed.

BATCH = 64
TRIES = (6, 64, 1024)  # places looked at for a next relation; more only where all of these lead back
SMALL = 5_000  # relations of a graph whose paths are counted one by one
MOST_COUNTED = 20_000
MOST_STEPS = 500_000  # relations that are looked at to list the paths of a small graph: a dense one has no end of beginnings


Path = tuple[tuple[str, ...], tuple[Link, ...]]


@dataclass
class Walk:
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


def paths(world: World, wanted: DrawSpec) -> Iterator[list[Drawn]]:
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


def walked(world: World, seeds: Sequence[Seed], hops: int, rng: np.random.Generator) -> list[Walk]:
    """One way from each seed, all of them a step at a time: one query a step, a few more where ways lead back."""
    ways = [Walk(seed, [world.entities.ids[seed.at]]) for seed in seeds]
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


def _step(world: World, waiting: Sequence[Walk], most: int, rng: np.random.Generator) -> None:
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


def _rest(world: World, wanted: DrawSpec, seen: set[frozenset[str]], rng: np.random.Generator) -> list[Drawn]:
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


# What a graph can give of what is wanted, before anything is drawn: exactly where that is cheap, else at most, and
# why.

MOST_WALKED = 1_024  # entities that a path is looked for from


def capacity(world: World, wanted: DrawSpec) -> Capacity:
    """How many structures of the kind there are, at most or exactly, and what limits it."""
    if not len(world.entities):
        return Capacity(0, True, "no entity of it has a name")
    if wanted.documents > 1 and (found := len({name for name in world.passages.documents if name is not None})) < wanted.documents:
        return Capacity(0, True, f"its passages come from {counted(found, 'document')}, {wanted.documents} are asked for")
    told = OF[wanted.kind](world, wanted)
    if wanted.documents > 1 and told.available != 0:
        return Capacity(told.available, False, f"{told.why}; how many come from {wanted.documents} documents is not known before drawing")
    return told


def counted(number: int, what: str) -> str:
    """The number with its word: "1 entity", "2 entities"."""
    if number == 1:
        return f"1 {what}"
    return f"{number:,} {what[:-1]}ies" if what.endswith("y") else f"{number:,} {what}s"


def _nodes(world: World, wanted: DrawSpec) -> Capacity:
    del wanted
    return Capacity(len(world.entities), True, f"it has {counted(len(world.entities), 'entity')} with a name")


def _edges(world: World, wanted: DrawSpec) -> Capacity:
    del wanted
    return Capacity(world.entities.relations, True, _relations(world))


def _relations(world: World) -> str:
    return f"it has {counted(world.entities.relations, 'relation')} between two different named entities"


def _pairs(world: World, wanted: DrawSpec) -> Capacity:
    groups = pair_groups(world, wanted)
    total = sum(len(places) * (len(places) - 1) // 2 for places in groups.values())
    shared = "one type" if wanted.stratify in (None, "type") else f"one type and one stratum ({wanted.stratify})"
    return Capacity(total, True, f"{counted(total, 'pair')} of its entities are of {shared}")


def _neighbourhoods(world: World, wanted: DrawSpec) -> Capacity:
    del wanted
    joined = len(world.entities.joined)
    return Capacity(joined, False, f"{joined:,} of its {counted(len(world.entities), 'entity')} have a relation")


def _paths(world: World, wanted: DrawSpec) -> Capacity:
    """Exactly for one hop and for small graphs; of large ones only whether there is a path at all."""
    if wanted.hops == 1:
        return _edges(world, wanted)
    if world.entities.relations <= SMALL:
        found, complete = listed(all_links(world), wanted.hops, MOST_COUNTED + 1)
        if complete:
            return Capacity(len(found), True, f"it has {counted(len(found), 'path')} of {counted(wanted.hops, 'relation')}")
        if found:
            return Capacity(None, False, f"it has at least {counted(len(found), 'path')} of {counted(wanted.hops, 'relation')}")
    if _any_path(world, wanted.hops):
        size = counted(world.entities.relations, "relation")
        return Capacity(None, False, f"it has {size}: too many ways to count its paths of {counted(wanted.hops, 'relation')}")
    return Capacity(None, False, f"walks from its entities found no path of {counted(wanted.hops, 'relation')}")


def _any_path(world: World, hops: int) -> bool:
    rng, joined = world.rng("any path", str(hops)), world.entities.joined
    for start in range(0, min(len(joined), MOST_WALKED), BATCH):
        ways = walked(world, [Seed(int(at), None) for at in joined[start : start + BATCH]], hops, rng)
        if any(not way.ended for way in ways):
            return True
    return False


def _subgraphs(world: World, wanted: DrawSpec) -> Capacity:
    sizes = component_sizes(world).values()
    largest = max((relations for relations, _ in sizes), default=0)
    starts = sum(entities for relations, entities in sizes if relations >= wanted.min_relations)
    why = f"its largest component has {counted(largest, 'relation')}, {wanted.min_relations:,} are asked for"
    return Capacity(starts, starts == 0, why)


def _chains(world: World, wanted: DrawSpec) -> Capacity:
    length, sizes = chain_length(wanted), component_sizes(world).values()
    largest = max((entities for _, entities in sizes), default=0)
    starts = sum(entities for _, entities in sizes if entities > length)
    why = f"its largest component has {counted(largest, 'entity')}; a chain of {counted(length, 'relation')} needs {length + 1:,}"
    return Capacity(starts, starts == 0, why)


def _communities(world: World, wanted: DrawSpec) -> Capacity:
    del wanted
    members: dict[int, int] = {}
    for at in world.entities.joined:
        found = world.communities.get(node_number(world.entities.ids[at]))
        if found is not None:
            members[found] = members.get(found, 0) + 1
    several = sum(count > 1 for count in members.values())
    word = "community" if several == 1 else "communities"
    return Capacity(several, True, f"it has {several:,} {word} of at least two entities")


OF: dict[StructureKind, Callable[[World, DrawSpec], Capacity]] = {
    "node": _nodes, "edge": _edges, "neighbourhood": _neighbourhoods, "path": _paths, "chain": _chains, "subgraph": _subgraphs,
    "pair": _pairs, "community": _communities,
}


DRAWERS: dict[StructureKind, Callable[[World, DrawSpec], Iterator[list[Drawn]]]] = {
    "node": simple.nodes, "edge": simple.edges, "neighbourhood": grown.neighbourhoods, "path": paths, "chain": chains,
    "subgraph": subgraphs, "pair": simple.pairs, "community": grown.communities,
}
NEED_GDS = frozenset(("chain", "subgraph", "community"))
OF_DOCUMENTS = frozenset(("path", "pair", "chain"))
PART = 32  # structures whose details are read together
MOST_FRUITLESS = 5_000  # structures in a row that come from too few documents


class Sampler:
    """An open sampler. It may be asked for several kinds, one after another or by turns; what it has read it keeps."""

    def __init__(self, world: World) -> None:
        self._world = world

    def capacity(self, wanted: DrawSpec) -> Capacity:
        """What the graph can give.

        Raises: UsageError for what does not fit together; ConnectError where the kind needs GDS and there is none; QueryError.
        """
        _check(wanted, self._world)
        return capacity(self._world, wanted)

    def structures(self, wanted: DrawSpec) -> Iterator[Structure]:
        """Structures in the seed's order, each once; ends when the graph has no more, or when the draws give nothing new for long.
        Asked again, it begins again.

        Raises: as `capacity`.
        """
        _check(wanted, self._world)
        return self._numbered(wanted)

    def _numbered(self, wanted: DrawSpec) -> Iterator[Structure]:
        number = fruitless = 0
        for batch in DRAWERS[wanted.kind](self._world, wanted):
            for start in range(0, len(batch), PART):
                for structure in structures(self._world, wanted.kind, batch[start : start + PART]):
                    if _documents(structure) < wanted.documents:
                        fruitless += 1
                        continue
                    fruitless = 0
                    yield structure.model_copy(update={"number": number})
                    number += 1
            if fruitless > MOST_FRUITLESS:
                return


def _documents(structure: Structure) -> int:
    """How many documents it comes from: its relations, of a pair its entities."""
    told = [node.documents for node in structure.nodes] if structure.kind == "pair" else [one.documents for one in structure.relations]
    return max(1, len({name for documents in told for name in documents}))


def _check(wanted: DrawSpec, world: World) -> None:
    """Refuses what does not fit together, and what this server cannot do."""
    if wanted.documents > 1 and wanted.kind not in OF_DOCUMENTS:
        raise UsageError(f"documents: not for {wanted.kind}", fix=f"ask it of {', '.join(sorted(OF_DOCUMENTS))}, or leave it out")
    if wanted.stratify and wanted.kind == "community":
        raise UsageError("communities are not stratified: each is drawn once", fix="leave out stratify")
    if wanted.kind == "pair" and wanted.stratify == "document" and wanted.documents > 1:
        raise UsageError("a pair of one document does not come from several", fix="leave out documents, or stratify by type")
    if min(wanted.hops, wanted.min_relations, wanted.walk_length, wanted.most_relations, wanted.documents) < 1:
        raise UsageError("hops, relations, steps and documents are numbers from 1", fix="leave out what is below 1")
    if wanted.kind in NEED_GDS or wanted.stratify == "community":
        world.graph.need_gds()


@contextmanager
def open_sampler(
    graph: Graph, layout: Layout, *, seed: int, timeout: float | None = None, chunks: Chunks | None = None,
) -> Iterator[Sampler]:
    """A sampler on an open graph with a bound layout, for the time of the `with` block; reads only. What it projects into GDS is
    dropped at the end.

    `timeout`: seconds a query may take. `chunks`: passages from files, in place of those in the graph.
    """
    with ExitStack() as held:
        yield Sampler(World(graph, layout, seed, timeout=timeout, chunks=chunks, held=held))
