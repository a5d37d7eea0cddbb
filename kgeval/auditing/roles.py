"""What a graph has that checks need. A role that is missing skips the check with the reason: never a silent pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kgeval.auditing.graph_reader import GraphReader
from kgeval.auditing.structure import NO_TYPE
from kgeval.graph.algorithms import missing
from kgeval.graph.connect import Graph
from kgeval.graph.memory import PROJECTION, estimate
from kgeval.records import Layout, Reading

Missing = dict[str, str]
HIDDEN = "user rights hide a part of the database, which may hold what is missing here"


def missing_roles(
    graph: Graph, layout: Layout, structure: Mapping[str, Any] | None = None, *, has_schema: bool = False,
    has_embedder: bool = False, has_vectors: bool = False, timeout: float = 120.0,
) -> Missing:
    """Reason by role for every role that this graph, layout or server lacks. A role that is not in the map is there.

    `structure`: figures already measured (relations, chunks ...), to save the queries. `has_vectors`: some label keeps embeddings, maybe
    under a name that the layout does not know.
    """
    reader, known = GraphReader(graph, layout, timeout), dict(structure or {})
    seen = reader.rows("roles")[0]
    if not {"chunks", "chunks_with_text", "documents"} <= known.keys():
        known |= reader.rows("chunks-and-documents")[0]
    if known.get("relations") is None:
        known["relations"] = sum(row["count"] for row in reader.rows("relations-by-type"))
    by_type = known.get("entities_by_type")
    if by_type is None:
        by_type = {row["type"] or NO_TYPE: row["count"] for row in reader.rows("entities-by-type")}
    no_gds = missing(graph)
    if no_gds is None and graph.memory_limit is not None:  # --memory-limit may not grant what projecting the graph takes
        entities = sum(by_type.values()) if known.get("entities") is None else known["entities"]
        refusal = estimate(graph, entities, known["relations"], timeout=timeout).refusal(PROJECTION)
        no_gds = f"projecting the graph {refusal}" if refusal else None
    none_at_all = not seen["entities"]  # of no entities, all have what is asked for: checks then say that there are none
    labelled = seen["relation_labels"] or len(layout.relation_types) > 1 or not known["relations"]
    reasons = {
        "relations": None if known["relations"] else "the graph has no relations between entities",
        "names": None if seen["names"] or none_at_all else _nameless(layout),
        "types": None if none_at_all or any(name != NO_TYPE for name in by_type) else "the entities have no types",
        "relation_labels": None if labelled else _constant(layout),
        "chunks": None if known["chunks"] else f"the graph holds no chunks that layout '{layout.name}' knows",
        "chunk_text": None if known["chunks_with_text"] else "no chunk in the graph carries text",
        "documents": None if known["documents"] else "the graph has no documents",
        "mentions": None if seen["mentions"] or seen["entity_sources"] else "nothing links entities to chunks",
        "relation_sources": None if seen["relation_sources"] else f"relations carry no source chunks in layout '{layout.name}'",
        "descriptions": None if seen["descriptions"] else "entities carry no descriptions",
        "aliases": None if seen["aliases"] else "entities carry no aliases",
        "validity": None if seen["validity"] else f"relations carry no validity times that layout '{layout.name}' reads",
        "source_limit": None if layout.source_limit else f"the writer of layout '{layout.name}' has no known cap on sources",
        "gds": no_gds,
        **_stored(layout),
        **_vectors(graph, layout, seen, has_embedder=has_embedder, has_vectors=has_vectors),
        "schema": None if has_schema else "no schema given (--schema FILE, or --schema database)",
    }
    return {role: reason for role, reason in reasons.items() if reason}


def read_share(graph: Graph, layout: Layout, *, timeout: float = 120.0) -> Reading:
    """How much of the graph the layout reads, and what it leaves out."""
    counts: dict[str, dict[str, int]] = {}
    for row in GraphReader(graph, layout, timeout).rows("without-role"):
        counts.setdefault(row["kind"], {})[row["name"] or ""] = row["count"]
    nodes, relations = (dict(sorted(counts.get(kind, {}).items(), key=lambda one: (-one[1], one[0]))) for kind in ("node", "relation"))
    return Reading(
        nodes=sum(counts.get("nodes", {}).values()), relations=sum(counts.get("relations", {}).values()),
        nodes_without_role=nodes, relations_without_role=relations,
    )


def _stored(layout: Layout) -> dict[str, str | None]:
    """What writers store beside entities, relations and texts. A bound layout names nothing that the database lacks."""
    states = (layout.document_status_key and layout.document_done_values) or (layout.document_total_key and layout.document_processed_key)
    ordered, parents = layout.next_chunk_types or layout.chunk_index_key, layout.community_parent_types or layout.community_parent_key
    without = not layout.community_labels  # one reason is enough
    return {
        "document_states": None if states else f"no property of documents says in layout '{layout.name}' how far they are",
        "chunk_order": None if ordered else f"nothing orders chunks in layout '{layout.name}'",
        "communities": "the graph has no communities that are stored as nodes" if without else None,
        "community_reports": None if without or layout.community_report_keys else "communities carry no reports",
        "community_parents": None if without or parents else "communities have no parents",
        "memories": None if layout.memory_labels else f"layout '{layout.name}' knows no facts, preferences or steps",
    }


def _vectors(
    graph: Graph, layout: Layout, seen: Mapping[str, Any], *, has_embedder: bool, has_vectors: bool,
) -> dict[str, str | None]:
    """Embeddings: that some are stored (`embeddings`), and that entities can be held against each other by them (`nearness`)."""
    keys = " or ".join(dict.fromkeys(key for key in (layout.embedding_key, layout.chunk_embedding_key) if key))
    place = f"property {keys}" if keys else f"none has a property that layout '{layout.name}' takes for one"
    none = f"no entity or chunk has an embedding ({place})"
    nearness = None if seen["entity_embeddings"] else "no entity has an embedding (--embed makes them beside the graph)"
    if nearness is None and graph.info.gds is None:
        nearness = "gds.knn is not there: this server has no Graph Data Science plugin (--embed goes without)"
    return {
        "embeddings": None if has_vectors or seen["entity_embeddings"] or seen["chunk_embeddings"] else none,
        "nearness": None if has_embedder else nearness,
    }


def _nameless(layout: Layout) -> str:
    looked = "no property of the entities looks like a name"
    if layout.name_keys:
        looked = f"no entity has one of the name properties {', '.join(layout.name_keys)}"
    return f"{looked}: set one with --set name_keys=PROPERTY (also FIRST+LAST, LABEL.PROPERTY)"


def _constant(layout: Layout) -> str:
    only = layout.relation_types[0] if layout.relation_types else "none"
    if layout.relation_label_key:
        return f"all relations have one type ({only}) and none has the property {layout.relation_label_key} that holds the predicate"
    return f"all relations have one type ({only}) and the layout '{layout.name}' names no property that holds the predicate"
