"""Bridging relations: gold triples whose ends stand in two communities, or in two documents, of the graph [M 1]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kgeval.auditing.communities import method_for
from kgeval.auditing.completeness.gold import Gold
from kgeval.auditing.completeness.match import Match, Sources
from kgeval.auditing.graph_reader import GraphReader
from kgeval.auditing.steps.projection import simple_graph
from kgeval.graph.connect import Graph
from kgeval.records import Layout

BATCH = 5_000


def communities_of(graph: Graph, layout: Layout, ids: Iterable[str], *, timeout: float | None, seed: int = 0) -> dict[str, int]:
    """The community of each of the entities (element ids) in the simple graph: Louvain, concurrency 1; Leiden, seeded, above
    50,000 entities. Raises: ConnectError where nothing runs algorithms; QueryError, QueryTimeout."""
    with simple_graph(graph, layout, timeout=timeout) as view:
        if view is None:
            return {}
        partition, _ = view.communities(method_for(view.nodes), seed)
        return partition.of_elements(sorted(set(ids)))


def across(gold: Gold, entities: Sequence[Match], groups: Mapping[str, int]) -> list[bool | None]:
    """For each gold triple whether its ends stand in different communities; None where an end was not found.

    An end that stands at several places is in all their communities; the triple is bridging if the ends share none.
    """
    places = [{groups[i] for i in match.ids if i in groups} for match in entities]
    return [not places[a] & places[b] if places[a] and places[b] else None for a, b in gold.ends]


def across_documents(gold: Gold, entities: Sequence[Match], sources: Sources) -> list[bool | None]:
    """For each gold triple that names no document, whether its ends share no source document of the graph; None where an end was
    not found or has no known source. (Both ends of a triple that names a document are looked for in that document only.)"""
    places = [{document for i in match.ids for document in sources.get(i, ())} for match in entities]
    return [
        not places[a] & places[b] if places[a] and places[b] and triple.document is None else None
        for triple, (a, b) in zip(gold.triples, gold.ends, strict=True)
    ]


def documents_of(reader: GraphReader, ids: Iterable[str]) -> dict[str, frozenset[str]]:
    """The source documents (element ids) of each of the entities, by the layout's links."""
    rows = reader.rows_of("gold-entity-documents", ids, size=BATCH)
    return {row["element_id"]: frozenset(row["documents"]) for row in rows}
