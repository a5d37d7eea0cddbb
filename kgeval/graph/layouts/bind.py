"""Binds a layout to a database: the names of the database that every Cypher file gets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from kgeval.graph.binding import bind_query
from kgeval.graph.connect import Graph
from kgeval.graph.layouts.catalogue import Catalogue, catalogue
from kgeval.graph.layouts.detect import unfit
from kgeval.graph.layouts.entity_names import bound_names
from kgeval.graph.layouts.nodes import bind_nodes, empty_database, held_keys, labels_beside, other_labels
from kgeval.graph.load.naming import MARK
from kgeval.graph.pipelining import ReadRequest
from kgeval.graph.queries import all_queries
from kgeval.records import Layout

# Which relation types join entities, and whether they join nothing else.

UNDIRECTED = ("lightrag", "msgraphrag")  # formats of imports before the mark said it
BARE = 0.05  # share of entities that may have no type: an extractor leaves some without


def bound_relations(graph: Graph, layout: Layout, seen: Catalogue) -> Layout:
    """The layout with `relation_types` complete and `relations_join_entities_only` computed.

    Without a list in the layout, a relation type is one that joins two entities at least once: links to chunks, documents
    and structure fall out by themselves. Answered from the count store where that settles it, else by reading the rest.
    """
    listed = layout.relation_types or list(seen.types)
    candidates = [t for t in listed if t in seen.types and t not in layout.relation_excluded_types]
    settled = {t: _from_counts(t, layout, seen) for t in candidates}
    inner = {t: n for t, n in settled.items() if n is not None}  # how many relations of each type join two entities
    if open_types := [t for t in candidates if t not in inner]:
        rows = graph.read(all_queries()["layout-inner-types"], {"layout": layout.model_dump(), "types": open_types})
        inner |= {row["type"]: row["inner"] for row in rows}
    kept = [t for t in candidates if inner.get(t, 0) > 0]
    only = bool(kept) and all(inner[t] == seen.types[t] for t in kept)
    excluded = [t for t in layout.relation_excluded_types if t in seen.types]
    return layout.model_copy(update={
        "relation_types": kept, "relation_excluded_types": excluded, "relations_join_entities_only": only,
        "relations_undirected": _undirected(graph, layout, seen),
    })


def _undirected(graph: Graph, layout: Layout, seen: Catalogue) -> bool:
    """Whether the relations have no direction: as the layout says, else as the import that wrote them saw it."""
    if not _written_by_us(layout, seen):
        return bool(layout.relations_undirected)
    rows = graph.read(all_queries()["built-graph"], {"graph": layout.scope_label})
    return any(row["mark"].get("undirected", row["mark"].get("format") in UNDIRECTED) for row in rows)


def _written_by_us(layout: Layout, seen: Catalogue) -> bool:
    """Whether the import that wrote the graph has to be asked for what the layout leaves open."""
    return layout.relations_undirected is None and layout.scope_label is not None and MARK in seen.labels


def _from_counts(name: str, layout: Layout, seen: Catalogue) -> int | None:
    """How many relations of a type join two entities, or None where counts alone cannot tell."""
    # a scan counts the ends of KNOWN_LABELS only, and a scope that is a property is in no count
    if seen.source != "count store" or layout.scope_property is not None:
        return None
    labels = [layout.scope_label] if layout.scope_label is not None and layout.scope_label in layout.entity_labels else layout.entity_labels
    if any(all((name, label) not in side for label in labels) for side in (seen.starts, seen.ends)):
        return 0
    total = seen.types[name]
    scope = layout.scope_label
    if scope is not None and any(side.get((name, scope), 0) != total for side in (seen.starts, seen.ends)):
        return None  # some ends are outside the scope; where none is, the other labels alone decide
    if any((name, label) in side for label in layout.entity_excluded_labels for side in (seen.starts, seen.ends)):
        return None
    everywhere = [any(side.get((name, label), 0) == total for label in labels) for side in (seen.starts, seen.ends)]
    return total if all(everywhere) else None


def bind(graph: Graph, layout: Layout, graph_name: str | None = None, *, seen: Catalogue | None = None) -> Layout:
    """The layout with every name replaced by what the database holds, ready to be written into queries.

    `entity_labels` and `relation_types` become real, complete lists; roles that the database lacks become empty; the scope
    is the graph called `graph_name`, or the only one; `type_label_ignored` holds every label that is no type, `type_label_rank` says
    which label is the type of an entity that carries several, the same in every store;
    `label_names` says how the entities of each label are named, where `name_keys` alone does not, and `label_details` what
    describes those that have neither name nor id.
    Raises: LayoutError: the database is empty, the layout matches nothing, several graphs and no name, an unknown name, or
    a name for a layout that does not part graphs.
    """
    with graph.remembering():
        return _bound(graph, layout, graph_name, seen or catalogue(graph))


def _bound(graph: Graph, layout: Layout, graph_name: str | None, seen: Catalogue) -> Layout:
    if seen.nodes == 0:
        raise empty_database(graph)
    roles, scopes = bind_nodes(graph, layout, graph_name, seen)
    graph.read_ahead([
        ReadRequest(*bind_query(all_queries()["layout-entity-labels"], {"layout": roles.model_dump()})),
        *(labels_beside(role, roles.scope_label) for role in (roles.chunk_labels, roles.document_labels) if role),
        *([ReadRequest(all_queries()["built-graph"].text, {"graph": roles.scope_label})] if _written_by_us(roles, seen) else []),
    ])
    rows = graph.read(all_queries()["layout-entity-labels"], {"layout": roles.model_dump()})
    sets = {frozenset(row["labels"]): row["count"] for row in rows}  # how many entities carry exactly these labels
    total = sum(sets.values())
    if total == 0:
        wanted = ", ".join(layout.entity_labels)
        raise unfit(graph, seen, f"layout '{layout.name}' finds no entity here (it looks for nodes labelled {wanted}). The database holds")
    counts: Counter[str] = Counter()
    for labels, count in sets.items():
        counts.update(dict.fromkeys(labels, count))
    ignored = _no_types(graph, roles, sets, counts) | set(scopes)
    ranks = _ranks([labels - ignored for labels in sets], counts)
    typed = roles.model_copy(update={"type_label_ignored": sorted(ignored & set(seen.labels)), "type_label_rank": ranks})
    return held_keys(graph, bound_relations(graph, bound_names(graph, typed, seen), seen))


def _ranks(sets: Iterable[frozenset[str]], counts: Mapping[str, int]) -> dict[str, int]:
    """Which of several type labels is the type of an entity: one that all entities of the others carry too (an employee is a person, and
    one of a high value is a customer still); else the one that fewer entities carry, then the first by name. Of labels that stand beside
    no other, nothing has to be said."""
    together = {label for labels in sets if len(labels) > 1 for label in labels}
    holding = {label: [labels for labels in sets if label in labels] for label in together}
    inside = {
        label: sum(counts[other] > counts[label] and all(other in labels for labels in holding[label]) for other in together)
        for label in together
    }
    return {label: rank for rank, label in enumerate(sorted(together, key=lambda label: (inside[label], counts[label], label)))}


def _no_types(graph: Graph, layout: Layout, sets: Mapping[frozenset[str], int], counts: Mapping[str, int]) -> set[str]:
    """The labels of entities that are no types: base labels, labels of all entities, labels of all chunks or documents.

    One label of all entities is their type where more than BARE of them would be left without: its other labels are subtypes or marks.
    """
    total = sum(sets.values())
    ignored = {*layout.type_label_ignored, *layout.entity_excluded_labels, *filter(None, [layout.scope_label])}
    for role in (layout.chunk_labels, layout.document_labels):
        others, size = other_labels(graph, role, layout.scope_label) if role else ({}, 0)
        ignored |= {label for label, count in others.items() if count == size}
    left = {label: count for label, count in counts.items() if label not in ignored}
    everywhere = {label for label, count in left.items() if count == total}
    bare = sum(count for labels, count in sets.items() if not labels - ignored - everywhere)
    return ignored | (set() if len(everywhere) == 1 and bare > BARE * total else everywhere)


