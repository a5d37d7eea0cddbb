"""Bridging relations: gold triples whose ends stand in two communities, or in two documents, of the graph [M 1]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kgeval.auditing.communities import method_for
from kgeval.auditing.completeness.gold import Gold
from kgeval.auditing.completeness.match import Match, Sources
from kgeval.auditing.completeness.parts import parts
from kgeval.auditing.steps.projection import simple_graph
from kgeval.graph.connect import Graph
from kgeval.graph.queries import all_queries
from kgeval.records import Layout

BATCH = 5_000


def communities_of(graph: Graph, layout: Layout, ids: Iterable[str], *, timeout: float, seed: int = 0) -> dict[str, int]:
    """The community of each of the entities (element ids) in the simple graph: Louvain, concurrency 1; Leiden, seeded, above
    200,000 entities. Raises: ConnectError where nothing runs algorithms; QueryError, QueryTimeout."""
    with simple_graph(graph, layout, timeout=timeout) as view:
        if view is None:
            return {}
        found, _ = view.communities(method_for(view.nodes), seed)
        return found.of_elements(sorted(set(ids)))


def across(gold: Gold, entities: Sequence[Match], groups: Mapping[str, int]) -> list[bool | None]:
    """For each gold triple whether its ends stand in different communities; null where an end was not found.

    An end that stands at several places is in all their communities; the triple is bridging if the ends share none.
    """
    out: list[bool | None] = []
    for subject, obj in gold.ends:
        a = {groups[i] for i in entities[subject].ids if i in groups}
        b = {groups[i] for i in entities[obj].ids if i in groups}
        out.append(not a & b if a and b else None)
    return out


def across_documents(gold: Gold, entities: Sequence[Match], sources: Sources) -> list[bool | None]:
    """For each gold triple that names no document, whether its ends share no source document of the graph; null where an end was
    not found or has no known source. (Both ends of a triple that names a document are looked for in that document only.)"""
    out: list[bool | None] = []
    for triple, (subject, obj) in zip(gold.triples, gold.ends, strict=True):
        a = {d for i in entities[subject].ids for d in sources.get(i, ())}
        b = {d for i in entities[obj].ids for d in sources.get(i, ())}
        out.append(not a & b if a and b and triple.document is None else None)
    return out


def documents_of(graph: Graph, layout: Layout, ids: Iterable[str], *, timeout: float) -> dict[str, frozenset[str]]:
    """The source documents (element ids) of each of the entities, by the layout's links."""
    found: dict[str, frozenset[str]] = {}
    for part in parts(sorted(set(ids)), BATCH):
        params = {"layout": layout.model_dump(), "ids": part}
        rows = graph.read(all_queries()["gold-entity-documents"], params, timeout=timeout)
        found.update((row["element_id"], frozenset(row["documents"])) for row in rows)
    return found
