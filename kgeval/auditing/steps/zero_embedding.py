"""zero-embedding: where the graph keeps embeddings, by the profile. The Cypher does the rest."""

from __future__ import annotations

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.vector_places import vector_places


def run(check: CheckRun) -> CheckOutcome:
    """`count`: embeddings that are all zero or not finite; `total`: embeddings."""
    return check.outcome(**vector_places(check).parameters)
