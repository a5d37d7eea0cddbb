"""embedding-dimension: the length that vectors must have, where a vector index tells it. The Cypher does the rest."""

from __future__ import annotations

from kgeval.auditing.check import Check, Outcome, examples_of
from kgeval.graph.queries import all_queries


def run(check: Check) -> Outcome:
    """`count`: embeddings of another length than the index's, or than most of their kind; `total`: embeddings."""
    wanted = _dimensions(check)
    row = check.graph.read(check.query, check.params(dimensions=wanted), timeout=check.timeout)[0]
    told = "; ".join(f"the vector index of {kind} embeddings holds {length} numbers" for kind, length in wanted.items())
    return Outcome(row["count"], row["total"], examples_of(row["sample"]), told or None)


def _dimensions(check: Check) -> dict[str, int]:
    """Length by kind (entity, chunk) where exactly one length is told by the indexes on the layout's embedding property."""
    layout = check.layout
    places = {
        "entity": (layout.embedding_key, {*layout.entity_labels, *layout.type_label_ignored} - {*layout.chunk_labels}),
        "chunk": (layout.chunk_embedding_key, set(layout.chunk_labels)),
    }
    rows = check.graph.read(all_queries()["entry-indexes"], timeout=check.timeout)
    found: dict[str, int] = {}
    for kind, (key, labels) in places.items():
        lengths = {row["dimensions"] for row in rows if key in row["keys"] and labels & set(row["labels"]) and row["dimensions"]}
        if len(lengths) == 1:
            found[kind] = lengths.pop()
    return found
