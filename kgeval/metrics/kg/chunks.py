"""Triples of chunks of the stored graph, by the chunks' ids. Which ids there are, and which relations name each as their source, is read
once a run (16 bytes and an element id for each); a row then costs two queries that start at what they look for.
"""

from __future__ import annotations

from collections.abc import Sequence

from kgeval.graph.connect import Graph
from kgeval.graph.queries import all_queries
from kgeval.metrics.stored.names import Names, Shelf
from kgeval.records import Layout, Triple

_SHELF = Shelf()  # lives as long as its runs do; see there


def stored_triples(graph: Graph, layout: Layout, ids: Sequence[str], *, owner: object, timeout: float) -> dict[str, list[Triple]]:
    """Chunk id (as given: a chunk's own id or its element id) -> the relations that the stored graph has from it, by element id.

    These are the relations that name the chunk as their source, and those without sources of their own that join two entities of the
    chunk. Absent are chunks that the graph does not know, ids that several chunks have, and all of them where the layout has neither
    mentions nor sources. `owner`: stands for the run, see Shelf. `timeout`: seconds a query. Raises: QueryError, ConnectionLost.
    """
    if not ids or not (layout.mention_types or layout.relation_source_key):
        return {}
    names = _SHELF.names(owner, graph, layout)
    every = names.chunks(ids)
    chunks = {given: found[0] for given, found in every.items() if len(found) == 1}
    spelled, relations = _chunks(graph, layout, sorted(set(chunks.values())), timeout)
    sourced = _sourced(names, layout, [*ids, *(name for own in spelled.values() for name in own)])
    found: dict[str, set[str]] = {}
    for given in ids:
        if given in chunks:
            own = (given, *spelled.get(chunks[given], ()))
            found[given] = {relation for name in own for relation in sourced.get(name, ())} | relations.get(chunks[given], set())
        elif given in sourced and given not in every:
            found[given] = set(sourced[given])  # the graph has no chunk of this id, but relations that name it
    triples = _triples(graph, layout, sorted(set().union(*found.values())), timeout)
    return {given: [triples[one] for one in sorted(own) if one in triples] for given, own in found.items()}


def _chunks(graph: Graph, layout: Layout, ids: list[str], timeout: float) -> tuple[dict[str, list[str]], dict[str, set[str]]]:
    """By element id of a chunk: all that relations may name it by, and its relations without sources of their own."""
    if not ids:
        return {}, {}
    rows = graph.read(all_queries()["chunk-triples"], {"layout": layout.model_dump(), "ids": ids}, timeout=timeout)
    return (
        {row["element_id"]: [name for name in row["names"] if name] for row in rows},
        {row["element_id"]: set(row["relations"]) for row in rows},
    )


def _sourced(names: Names, layout: Layout, keys: Sequence[str]) -> dict[str, tuple[str, ...]]:
    return names.relations_by_source(list(dict.fromkeys(keys))) if layout.relation_source_key else {}


def _triples(graph: Graph, layout: Layout, ids: list[str], timeout: float) -> dict[str, Triple]:
    """By element id of a relation; one whose ends have no name is absent."""
    if not ids:
        return {}
    rows = graph.read(all_queries()["relations-by-id"], {"layout": layout.model_dump(), "ids": ids}, timeout=timeout)
    return {
        row["element_id"]: Triple(element_id=row["element_id"], subject=row["subject"], predicate=row["predicate"], object=row["object"])
        for row in rows if row["subject"] and row["object"]
    }
