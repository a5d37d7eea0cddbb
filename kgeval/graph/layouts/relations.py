"""Which relation types join entities, and whether they join nothing else."""

from __future__ import annotations

from collections.abc import Iterable

from kgeval.graph.connect import Graph
from kgeval.graph.layouts.catalogue import Catalogue
from kgeval.graph.load.naming import MARK
from kgeval.graph.queries import all_queries
from kgeval.records import Layout

UNDIRECTED = ("lightrag", "msgraphrag")  # formats of imports before the mark said it


def bound_relations(graph: Graph, layout: Layout, seen: Catalogue) -> Layout:
    """The layout with `relation_types` complete and `relations_join_entities_only` computed.

    Without a list in the layout, a relation type is one that joins two entities at least once: links to chunks, documents
    and structure fall out by themselves. Answered from the count store where that settles it, else by reading the rest.
    """
    listed = layout.relation_types or list(seen.types)
    candidates = [t for t in listed if t in seen.types and t not in layout.relation_excluded_types]
    settled = {t: _from_counts(t, layout, seen) for t in candidates}
    open_types = [t for t, inner in settled.items() if inner is None]
    inner = {t: n for t, n in settled.items() if n is not None} | _inner(graph, layout, open_types)
    kept = [t for t in candidates if inner.get(t, 0) > 0]
    only = bool(kept) and all(inner[t] == seen.types[t] for t in kept)
    excluded = [t for t in layout.relation_excluded_types if t in seen.types]
    return layout.model_copy(update={
        "relation_types": kept, "relation_excluded_types": excluded, "relations_join_entities_only": only,
        "relations_undirected": _undirected(graph, layout, seen),
    })


def _undirected(graph: Graph, layout: Layout, seen: Catalogue) -> bool:
    """Whether the relations have no direction: as the layout says, else as the import that wrote them saw it."""
    if layout.relations_undirected is not None or layout.scope_label is None or MARK not in seen.labels:
        return bool(layout.relations_undirected)
    rows = graph.read(all_queries()["built-graph"], {"graph": layout.scope_label})
    return any(row["mark"].get("undirected", row["mark"].get("format") in UNDIRECTED) for row in rows)


def _from_counts(name: str, layout: Layout, seen: Catalogue) -> int | None:
    """How many relations of a type join two entities, or null where counts alone cannot tell."""
    if seen.source != "count store" or layout.scope_property is not None:
        return None
    labels = [layout.scope_label] if layout.scope_label in layout.entity_labels else layout.entity_labels
    if any(_none(name, labels, side) for side in (seen.starts, seen.ends)):
        return 0
    total = seen.types[name]
    scope = layout.scope_label
    if scope is not None and any(side.get((name, scope), 0) != total for side in (seen.starts, seen.ends)):
        return None  # some ends are outside the scope; where none is, the other labels alone decide
    if any((name, label) in side for label in layout.entity_excluded_labels for side in (seen.starts, seen.ends)):
        return None
    everywhere = [any(side.get((name, label), 0) == total for label in labels) for side in (seen.starts, seen.ends)]
    return total if all(everywhere) else None


def _none(name: str, labels: Iterable[str | None], side: dict[tuple[str, str], int]) -> bool:
    return not any((name, label) in side for label in labels if label is not None)


def _inner(graph: Graph, layout: Layout, types: list[str]) -> dict[str, int]:
    """How many relations of each type join two entities, by reading them."""
    if not types:
        return {}
    rows = graph.read(all_queries()["layout-inner-types"], {"layout": layout.model_dump(), "types": types})
    return {row["type"]: row["inner"] for row in rows}
