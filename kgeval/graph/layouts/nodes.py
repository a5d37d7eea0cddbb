"""Binds the node side of a layout: labels, keys and scope, replaced by what the database holds."""

from __future__ import annotations

from collections.abc import Container, Iterable
from fnmatch import fnmatchcase

from kgeval.errors import LayoutError
from kgeval.graph.connect import Graph
from kgeval.graph.layouts.catalogue import Catalogue
from kgeval.graph.layouts.proof import proved
from kgeval.graph.layouts.scope import bound_scope
from kgeval.graph.pipelining import ReadRequest
from kgeval.graph.queries import all_queries
from kgeval.records import Layout

TIMES = ("valid_from_key", "valid_to_key", "expired_key")
ROLE_KEYS = {
    "entity": ("key_property", "description_key", "type_key", "entity_source_key", "embedding_key"),
    "chunk": ("chunk_index_key", "chunk_embedding_key"),
    "document": ("document_key", "document_status_key", "document_total_key", "document_processed_key"),
    "community": ("community_key", "community_level_key", "community_members_key", "community_parent_key"),
    "relation": (
        "relation_label_key", "relation_description_key", "weight_key", "confidence_key", *TIMES, "relation_source_key",
    ),
}
OPTIONAL_KEYS = tuple(key for keys in ROLE_KEYS.values() for key in keys)
LISTS_OF_KEYS = ("alias_keys", "chunk_text_keys", "chunk_id_keys", "community_report_keys")
LISTS_OF_LABELS = ("chunk_labels", "document_labels", "community_labels", "memory_labels")
LISTS_OF_TYPES = ("mention_types", "chunk_document_types", "next_chunk_types", "community_member_types", "community_parent_types")


def bind_nodes(graph: Graph, layout: Layout, graph_name: str | None, seen: Catalogue) -> tuple[Layout, list[str]]:
    """The layout with labels, keys and scope bound, but not yet types and relations; and all labels that part graphs."""
    roles = bound_roles(proved(graph, layout, seen), seen)
    # where both are "*" (LightRAG's workspace) the scope's label becomes the entity label, in bound_scope
    if layout.scope_label != "*" or layout.entity_labels != ["*"]:
        roles = roles.model_copy(update={"entity_labels": entity_labels(graph, roles, seen)})
    return bound_scope(graph, roles, seen, graph_name)


def counted_roles(graph: Graph, layout: Layout) -> dict[str, int]:
    """How many nodes a bound layout sees as entities, chunks, documents and structure, and how many not at all (unseen)."""
    row: dict[str, int] = graph.read(all_queries()["layout-roles"], {"layout": layout.model_dump()})[0]
    return row


def empty_database(graph: Graph) -> LayoutError:
    """The error for a database without a node."""
    return LayoutError(
        f"the database '{graph.info.database}' at {graph.info.uri} is empty",
        fix="load a graph first (kgeval import PATH --graph NAME), or name another --database or --uri",
    )


def bound_roles(layout: Layout, seen: Catalogue) -> Layout:
    """Labels, types and property keys that the database lacks are taken out; patterns such as `_Bloom_*` are filled in."""
    data = layout.model_dump(exclude={"detect"})
    entities = layout.entity_labels if "*" in layout.entity_labels else _present(layout.entity_labels, seen.labels)
    data |= {"entity_labels": entities, "entity_excluded_labels": excluded_labels(layout, seen)}
    data |= {key: _present(data[key], seen.labels) for key in LISTS_OF_LABELS}
    data |= {key: _present(data[key], seen.types) for key in LISTS_OF_TYPES}
    data |= {key: data[key] if data[key] in seen.keys else None for key in OPTIONAL_KEYS}
    data |= {key: _present(data[key], seen.keys) for key in LISTS_OF_KEYS}
    return Layout.model_validate(data)


def excluded_labels(layout: Layout, seen: Catalogue) -> list[str]:
    """The labels of the database that the layout excludes, by name or by pattern."""
    # only a last * is a pattern in a layout: fnmatch would read [...] as a set of letters
    patterns = [p.replace("[", "[[]") for p in layout.entity_excluded_labels if p.endswith("*") and p != "*"]
    return sorted(label for label in seen.labels if label in layout.entity_excluded_labels or any(fnmatchcase(label, p) for p in patterns))


def held_keys(graph: Graph, layout: Layout) -> Layout:
    """A bound layout without the properties that no node or relation of their role has. The database knows their names for ever, once
    somebody used them: what is said of a graph must not depend on what stood beside it, or before it."""
    data = layout.model_dump()
    roles = {  # nodes may expire, and relations have keys of their own; what stands for a document may have any label
        "entity": [*ROLE_KEYS["entity"], *TIMES], "chunk": ROLE_KEYS["chunk"], "relation": [*ROLE_KEYS["relation"], "key_property"],
    }
    keys_by_role = {role: sorted({data[key] for key in keys if data[key]}) for role, keys in roles.items()}
    rows = graph.read(all_queries()["layout-held-keys"], {"layout": data, "keys": keys_by_role})
    present = {(row["role"], row["key"]) for row in rows}
    held = {key for role, keys in roles.items() for key in keys if (role, data[key]) in present}
    absent = {key: None for keys in roles.values() for key in keys if key not in held}
    return layout.model_copy(update=absent)


def entity_labels(graph: Graph, layout: Layout, seen: Catalogue) -> list[str]:
    """The layout's entity labels; `*` becomes every label but those of chunks, documents and structure, and but base labels
    that these carry too (cognee's `__Node__`)."""
    if "*" not in layout.entity_labels:
        return layout.entity_labels
    others = {*layout.chunk_labels, *layout.document_labels, *layout.entity_excluded_labels}
    shared: set[str] = set()
    for role in (layout.chunk_labels, layout.document_labels, layout.entity_excluded_labels):
        counts, total = other_labels(graph, role, None) if role else ({}, 0)
        shared |= {label for label, count in counts.items() if count == total or label in layout.type_label_ignored}
    return [label for label in seen.labels if label not in others | shared]


def other_labels(graph: Graph, labels: Iterable[str], scope_label: str | None) -> tuple[dict[str, int], int]:
    """How many nodes that carry one of `labels` carry each label, and how many such nodes there are."""
    asked = labels_beside(labels, scope_label)
    rows = graph.read(asked.text, asked.params)
    counts = {row["label"]: row["count"] for row in rows if row["label"] is not None}
    return counts, sum(row["count"] for row in rows if row["label"] is None)


def labels_beside(labels: Iterable[str], scope_label: str | None) -> ReadRequest:
    """What `other_labels` asks."""
    return ReadRequest(all_queries()["layout-other-labels"].text, {"labels": list(labels), "scope_label": scope_label})


def _present(names: Iterable[str], known: Container[str]) -> list[str]:
    return [name for name in names if name in known]
