"""embedding-dimension: the length that vectors must have, where a vector index tells it. The Cypher does the rest."""

from __future__ import annotations

from kgeval.auditing.check import CheckOutcome, CheckRun, examples_of


def run(check: CheckRun) -> CheckOutcome:
    """`count`: embeddings of another length than the index's, or than most of their kind; `total`: embeddings."""
    layout = check.layout
    places = {
        "entity": (layout.embedding_key, {*layout.entity_labels, *layout.type_label_ignored} - {*layout.chunk_labels}),
        "chunk": (layout.chunk_embedding_key, set(layout.chunk_labels)),
    }
    rows = check.rows("entry-indexes")
    wanted: dict[str, int] = {}  # where the indexes on the layout's embedding property tell exactly one length
    for kind, (key, labels) in places.items():
        lengths = {row["dimensions"] for row in rows if key in row["keys"] and labels & set(row["labels"]) and row["dimensions"]}
        if len(lengths) == 1:
            wanted[kind] = lengths.pop()
    row = check.own_rows(dimensions=wanted)[0]
    note = "; ".join(f"the vector index of {kind} embeddings holds {length} numbers" for kind, length in wanted.items())
    return CheckOutcome(row["count"], row["total"], examples_of(row["sample"]), note or None)
