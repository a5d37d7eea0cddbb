"""Labels that a layout only guesses (`Chunk?`): structure where texts or links prove it, else entities like all others."""

from __future__ import annotations

from collections.abc import Iterable

from kgeval.graph.connect import Graph, Row
from kgeval.graph.layouts.catalogue import Catalogue
from kgeval.graph.queries import all_queries
from kgeval.records import Layout

GUESSED = "?"
SAMPLE = 200
ROLES = ("chunk_labels", "document_labels", "entity_excluded_labels")


def proved(graph: Graph, layout: Layout, seen: Catalogue) -> Layout:
    """The layout without question marks: a guessed label keeps its role only where the graph proves it.

    Chunks hold texts, or mentions join them to something. Documents are joined to chunks; or they hold texts and only mentions join
    them to anything. A chat's sessions and messages hold texts between them, and nothing joins them to anything else.
    """
    listed: dict[str, list[str]] = {role: getattr(layout, role) for role in ROLES}
    named = {role: [label.removesuffix(GUESSED) for label in labels] for role, labels in listed.items()}
    guessed = {  # those that nodes carry; a label that ends in the mark itself is one that was named
        role: [bare for label, bare in zip(listed[role], named[role], strict=True) if label not in seen.labels and bare in seen.labels]
        for role in ROLES
    }
    if not any(guessed.values()):
        return layout.model_copy(update={role: _kept(labels, set(), seen) for role, labels in listed.items()})
    chunks, documents, others = (named[role] for role in ROLES)
    kin = dict(zip(ROLES, ([*chunks, *documents], chunks, others), strict=True))
    rows = [{"label": label, "kin": kin[role]} for role in ROLES for label in guessed[role]]
    params = {
        "rows": rows, "text_keys": layout.chunk_text_keys, "mention_types": layout.mention_types, "sample": SAMPLE,
        "chunk_labels": [label for label in chunks if label in seen.labels], "place_types": layout.chunk_document_types,
    }
    by_label = {row["label"]: row for row in graph.read(all_queries()["layout-proof"], params)}
    holds = {label for label in guessed["chunk_labels"] if _holds_texts(by_label[label]) or by_label[label]["mentioning"]}
    sure = holds | {label for label in layout.chunk_labels if not label.endswith(GUESSED)}
    has_chunks = bool(sure & set(seen.labels))
    holds |= {
        label for label in guessed["document_labels"]
        if (has_chunks and by_label[label]["placed"]) or (_holds_texts(by_label[label]) and not by_label[label]["tied"])
    }
    chat = [by_label[label] for label in guessed["entity_excluded_labels"]]
    if any(map(_holds_texts, chat)) and not any(row["tied"] for row in chat):
        holds |= set(guessed["entity_excluded_labels"])
    return layout.model_copy(update={role: _kept(labels, holds, seen) for role, labels in listed.items()})


def _kept(labels: Iterable[str], holds: set[str], seen: Catalogue) -> list[str]:
    """The labels without marks, and without those that are only guessed."""
    bare = {label: label if label in seen.labels else label.removesuffix(GUESSED) for label in labels}
    return [name for label, name in bare.items() if name == label or name in holds]


def _holds_texts(row: Row) -> bool:
    return bool(row["looked_at"] and 2 * row["texts"] >= row["looked_at"])
