"""Binds a layout to a database: the complete `$layout` map that every Cypher file gets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from kgeval.errors import LayoutError
from kgeval.graph.connect import Graph
from kgeval.graph.layouts.catalogue import Catalogue, catalogue
from kgeval.graph.layouts.detect import detect
from kgeval.graph.layouts.entity_names import bound_names
from kgeval.graph.layouts.nodes import bind_nodes, empty_database, held_keys, other_labels
from kgeval.graph.layouts.relations import bound_relations
from kgeval.graph.queries import all_queries
from kgeval.records import Layout


def bind(graph: Graph, layout: Layout, graph_name: str | None = None, *, seen: Catalogue | None = None) -> Layout:
    """The layout with every name replaced by what the database holds, ready to be sent as `$layout`.

    `entity_labels` and `relation_types` become real, complete lists; roles that the database lacks become empty; the scope
    is the graph called `graph_name`, or the only one; `type_label_ignored` holds every label that is no type, `type_label_rank` says
    which label is the type of an entity that carries several, the same in every store;
    `label_names` says how the entities of each label are named, where `name_keys` alone does not.
    Raises: LayoutError: the database is empty, the layout matches nothing, several graphs and no name, an unknown name, or
    a name for a layout that does not part graphs.
    """
    seen = seen or catalogue(graph)
    if seen.nodes == 0:
        raise empty_database(graph)
    roles, scopes = bind_nodes(graph, layout, graph_name, seen)
    sets = _label_sets(graph, roles)
    total = sum(sets.values())
    if total == 0:
        raise _nothing_matches(graph, layout, seen)
    counts: Counter[str] = Counter()
    for labels, count in sets.items():
        counts.update(dict.fromkeys(labels, count))
    ignored = _no_types(graph, roles, counts, total) | set(scopes)
    ranks = _ranks([labels - ignored for labels in sets], counts)
    typed = roles.model_copy(update={"type_label_ignored": sorted(ignored & set(seen.labels)), "type_label_rank": ranks})
    return held_keys(graph, bound_relations(graph, bound_names(graph, typed, seen), seen))


def _label_sets(graph: Graph, layout: Layout) -> dict[frozenset[str], int]:
    """How many entities carry exactly these labels."""
    rows = graph.read(all_queries()["layout-entity-labels"], {"layout": layout.model_dump()})
    return {frozenset(row["labels"]): row["count"] for row in rows}


def _ranks(sets: Iterable[frozenset[str]], counts: Mapping[str, int]) -> dict[str, int]:
    """Which of several type labels tells most of an entity: the one that fewer entities carry, then the first by name. Of labels that
    stand beside no other, nothing has to be said."""
    together = {label for labels in sets if len(labels) > 1 for label in labels}
    return {label: rank for rank, label in enumerate(sorted(together, key=lambda label: (counts[label], label)))}


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
