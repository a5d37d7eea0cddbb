"""What a graph can give of what is wanted, before anything is drawn: exactly where that is cheap, else at most, and
why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgeval.format import first_of
from kgeval.questions.draw_spec import Capacity, DrawSpec
from kgeval.questions.sampling.links import SMALL
from kgeval.questions.sampling.ordered import starts_of_ways
from kgeval.questions.sampling.paths import MOST_COUNTED, all_links, any_path, listed
from kgeval.questions.sampling.random_walks import chain_length, component_sizes
from kgeval.questions.sampling.several import starts_of_chains
from kgeval.questions.sampling.uniform import pair_groups

if TYPE_CHECKING:
    from kgeval.questions.sampling.sampled_graph import SampledGraph

MOST_NAMED = 6  # predicates


def capacity(graph: SampledGraph, wanted: DrawSpec) -> Capacity:
    """How many structures of the kind there are, at most or exactly, and what limits it."""
    if not len(graph.entities):
        return Capacity(0, True, "no entity of it has a name")
    if wanted.documents == 1:
        return _of_any_documents(graph, wanted)
    documents = len({name for name in graph.passages.documents if name is not None})
    if documents < wanted.documents:
        return Capacity(
            0, True, f"its passages come from {counted(documents, 'document')}, {wanted.documents} are asked for",
        )
    there = _of_any_documents(graph, wanted)
    if there.available == 0:
        return there
    why = f"{there.why}; how many come from {wanted.documents} documents is not known before drawing"
    return Capacity(there.available, False, why)


def counted(number: int, what: str) -> str:
    """The number with its word: "1 entity", "2 entities"."""
    if number == 1:
        return f"1 {what}"
    return f"{number:,} {what[:-1]}ies" if what.endswith("y") else f"{number:,} {what}s"


def _of_any_documents(graph: SampledGraph, wanted: DrawSpec) -> Capacity:
    entities, kind = graph.entities, wanted.kind
    n, joined = len(entities), len(entities.joined)
    if kind == "node":
        return Capacity(n, True, f"it has {counted(n, 'entity')} with a name")
    if kind == "edge" or (kind == "path" and wanted.hops == 1):
        why = f"it has {counted(entities.relations, 'relation')} between two different named entities"
        return Capacity(entities.relations, True, why)
    if kind == "path":
        return _paths(graph, wanted.hops)
    if kind == "pair":
        total = sum(len(places) * (len(places) - 1) // 2 for places in pair_groups(graph, wanted).values())
        shared = "one type" if wanted.stratify in (None, "type") else f"one type and one stratum ({wanted.stratify})"
        return Capacity(total, True, f"{counted(total, 'pair')} of its entities are of {shared}")
    if kind == "neighbourhood":
        return Capacity(joined, False, f"{joined:,} of its {counted(n, 'entity')} have a relation")
    if kind == "disjoint":
        total = sum(len(places) * (len(places) - 1) // 2 for places in pair_groups(graph, wanted).values())
        return Capacity(total, total == 0, f"{counted(total, 'pair')} of its entities with relations are of one type")
    if kind == "chains":
        starts = len(starts_of_chains(graph, wanted))
        why = f"{starts:,} of its {counted(n, 'entity')} have {counted(wanted.parts, 'relation')} or more"
        return Capacity(None if starts else 0, starts == 0, why)
    if kind in ("hierarchy", "dependency"):
        return _ways(graph, wanted)
    if kind == "community":
        several = len(graph.community_members())
        return Capacity(several, True, f"it has {counted(several, 'community')} of at least two entities")
    components = component_sizes(graph).values()
    if kind == "subgraph":
        largest = max((relations for relations, _ in components), default=0)
        starts = sum(size for relations, size in components if relations >= wanted.min_relations)
        why = f"its largest component has {counted(largest, 'relation')}, {wanted.min_relations:,} are asked for"
    else:
        length = chain_length(wanted)
        largest = max((size for _, size in components), default=0)
        starts = sum(size for _, size in components if size > length)
        chain = f"a chain of {counted(length, 'relation')} needs {length + 1:,}"
        why = f"its largest component has {counted(largest, 'entity')}; {chain}"
    return Capacity(starts, starts == 0, why)


def _ways(graph: SampledGraph, wanted: DrawSpec) -> Capacity:
    """Of hierarchies and dependencies only whether there are ways of so many steps."""
    key = f"{wanted.kind}_relations"
    if graph.layout.relations_undirected:
        return Capacity(0, True, f"its relations have no direction (layout {graph.layout.name}), so none can be of a {wanted.kind}")
    starts, relations = len(starts_of_ways(graph, wanted)), graph.ordered[wanted.kind]
    if not relations.counts:
        return Capacity(0, True, f"none of its predicates is one of a {wanted.kind}: name them with --set {key}=A,B, or in the layout")
    named = first_of([f"{name} {count:,}" for name, count in relations.counts.items()], MOST_NAMED)
    why = f"from {counted(starts, 'entity')} a way of {counted(wanted.hops, 'step')} begins; relations of a {wanted.kind}: {named}"
    if not relations.whole:
        why += "; of these only a part was read"
    return Capacity(None if starts else 0, starts == 0, why)


def _paths(graph: SampledGraph, hops: int) -> Capacity:
    """Exactly for small graphs; of large ones only whether there is a path at all."""
    of = counted(hops, "relation")
    if graph.entities.relations <= SMALL:
        paths_listed, complete = listed(all_links(graph), hops, MOST_COUNTED + 1)
        if complete:
            return Capacity(len(paths_listed), True, f"it has {counted(len(paths_listed), 'path')} of {of}")
        if paths_listed:
            return Capacity(None, False, f"it has at least {counted(len(paths_listed), 'path')} of {of}")
    if any_path(graph, hops):
        size = counted(graph.entities.relations, "relation")
        return Capacity(None, False, f"it has {size}: too many ways to count its paths of {of}")
    return Capacity(None, False, f"walks from its entities found no path of {of}")
