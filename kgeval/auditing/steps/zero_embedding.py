"""zero-embedding: where the graph keeps embeddings, by the profile. The Cypher does the rest."""

from __future__ import annotations

from kgeval.auditing.check import CheckOutcome, CheckRun, examples_of
from kgeval.auditing.vector_places import vector_places


def run(check: CheckRun) -> CheckOutcome:
    """`count`: embeddings that are all zero or not finite; `total`: embeddings."""
    places = vector_places(check).parameters
    row = check.own_rows(**places)[0]
    return CheckOutcome(row["count"], row["total"], examples_of(row["sample"]), parameters=places)
