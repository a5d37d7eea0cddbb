"""What a graph can give of what is wanted, before anything is drawn: exactly where that is cheap, else at most, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kgeval.graph.walks import node_number
from kgeval.questions.sampling.paths import BATCH, MOST_COUNTED, SMALL, all_links, listed, walked
from kgeval.questions.sampling.simple import pair_groups
from kgeval.questions.sampling.turns import Seed
from kgeval.questions.sampling.walked import chain_length, component_sizes
from kgeval.questions.wanted import Capacity, Wanted
from kgeval.records import StructureKind

if TYPE_CHECKING:
    from kgeval.questions.sampling.world import World


MOST_WALKED = 1_024  # entities that a path is looked for from


def capacity(world: World, wanted: Wanted) -> Capacity:
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


def _nodes(world: World, wanted: Wanted) -> Capacity:
    del wanted
    return Capacity(len(world.entities), True, f"it has {counted(len(world.entities), 'entity')} with a name")


def _edges(world: World, wanted: Wanted) -> Capacity:
    del wanted
    return Capacity(world.entities.relations, True, _relations(world))


def _relations(world: World) -> str:
    return f"it has {counted(world.entities.relations, 'relation')} between two different named entities"


def _pairs(world: World, wanted: Wanted) -> Capacity:
    groups = pair_groups(world, wanted)
    total = sum(len(places) * (len(places) - 1) // 2 for places in groups.values())
    shared = "one type" if wanted.stratify in (None, "type") else f"one type and one stratum ({wanted.stratify})"
    return Capacity(total, True, f"{counted(total, 'pair')} of its entities are of {shared}")


def _neighbourhoods(world: World, wanted: Wanted) -> Capacity:
    del wanted
    joined = len(world.entities.joined)
    return Capacity(joined, False, f"{joined:,} of its {counted(len(world.entities), 'entity')} have a relation")


def _paths(world: World, wanted: Wanted) -> Capacity:
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


def _subgraphs(world: World, wanted: Wanted) -> Capacity:
    sizes = component_sizes(world).values()
    largest = max((relations for relations, _ in sizes), default=0)
    starts = sum(entities for relations, entities in sizes if relations >= wanted.min_relations)
    why = f"its largest component has {counted(largest, 'relation')}, {wanted.min_relations:,} are asked for"
    return Capacity(starts, starts == 0, why)


def _chains(world: World, wanted: Wanted) -> Capacity:
    length, sizes = chain_length(wanted), component_sizes(world).values()
    largest = max((entities for _, entities in sizes), default=0)
    starts = sum(entities for _, entities in sizes if entities > length)
    why = f"its largest component has {counted(largest, 'entity')}; a chain of {counted(length, 'relation')} needs {length + 1:,}"
    return Capacity(starts, starts == 0, why)


def _communities(world: World, wanted: Wanted) -> Capacity:
    del wanted
    members: dict[int, int] = {}
    for at in world.entities.joined:
        found = world.communities.get(node_number(world.entities.ids[at]))
        if found is not None:
            members[found] = members.get(found, 0) + 1
    several = sum(count > 1 for count in members.values())
    word = "community" if several == 1 else "communities"
    return Capacity(several, True, f"it has {several:,} {word} of at least two entities")


OF: dict[StructureKind, Callable[[World, Wanted], Capacity]] = {
    "node": _nodes, "edge": _edges, "neighbourhood": _neighbourhoods, "path": _paths, "chain": _chains, "subgraph": _subgraphs,
    "pair": _pairs, "community": _communities,
}
