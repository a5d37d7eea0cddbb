"""Binds a layout to a database: the complete `$layout` map that every Cypher file gets."""

from __future__ import annotations

from kgeval.errors import LayoutError
from kgeval.graph.connect import Graph
from kgeval.graph.layouts.catalogue import Catalogue, catalogue
from kgeval.graph.layouts.detect import detect
from kgeval.graph.layouts.nodes import bind_nodes, empty_database, other_labels
from kgeval.graph.layouts.relations import bound_relations
from kgeval.graph.queries import all_queries
from kgeval.records import Layout


def bind(graph: Graph, layout: Layout, graph_name: str | None = None, *, seen: Catalogue | None = None) -> Layout:
    """The layout with every name replaced by what the database holds, ready to be sent as `$layout`.

    `entity_labels` and `relation_types` become real, complete lists; roles that the database lacks become empty; the scope
    is the graph called `graph_name`, or the only one; `type_label_ignored` holds every label that is no type.
    Raises: LayoutError: the database is empty, the layout matches nothing, several graphs and no name, an unknown name, or
    a name for a layout that does not part graphs.
    """
    seen = seen or catalogue(graph)
    if seen.nodes == 0:
        raise empty_database(graph)
    roles, scopes = bind_nodes(graph, layout, graph_name, seen)
    counts, total = label_counts(graph, roles)
    if total == 0:
        raise _nothing_matches(graph, layout, seen)
    ignored = _no_types(graph, roles, counts, total) | set(scopes)
    typed = roles.model_copy(update={"type_label_ignored": sorted(ignored & set(seen.labels))})
    return bound_relations(graph, typed, seen)


def label_counts(graph: Graph, layout: Layout) -> tuple[dict[str, int], int]:
    """How many entities carry each label, and how many entities there are."""
    rows = graph.read(all_queries()["layout-entity-labels"], {"layout": layout.model_dump()})
    counts = {row["label"]: row["count"] for row in rows if row["label"] is not None}
    return counts, sum(row["count"] for row in rows if row["label"] is None)


def _no_types(graph: Graph, layout: Layout, counts: dict[str, int], total: int) -> set[str]:
    """The labels of entities that are no types: base labels, labels of all entities, labels of all chunks or documents.

    If nothing else would be left and all entities share one label, that label is their type.
    """
    ignored = {*layout.type_label_ignored, *_some(layout.scope_label), *layout.entity_excluded_labels}
    for role in (layout.chunk_labels, layout.document_labels):
        others, size = other_labels(graph, role, layout.scope_label) if role else ({}, 0)
        ignored |= {label for label, count in others.items() if count == size}
    left = {label: count for label, count in counts.items() if label not in ignored}
    everywhere = {label for label, count in left.items() if count == total}
    only = len(everywhere) == 1 and everywhere == set(left)
    return ignored | (set() if only else everywhere)


def _some(name: str | None) -> list[str]:
    return [] if name is None else [name]


def _nothing_matches(graph: Graph, layout: Layout, seen: Catalogue) -> LayoutError:
    """The error of a layout that finds no entity: what the database holds, and which layout would fit."""
    found = detect(graph, seen=seen)
    fitting = [found.choice] if found.choice else [c.name for c in found.tied]
    wanted = ", ".join(layout.entity_labels)
    return LayoutError(
        f"layout '{layout.name}' finds no entity here (it looks for nodes labelled {wanted}). The database holds {seen.describe()}",
        fix=f"use --layout {' or '.join(fitting)}: {found.reason}" if fitting else "kgeval layout init writes a layout for this database",
    )
