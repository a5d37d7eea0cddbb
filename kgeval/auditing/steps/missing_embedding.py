"""missing-embedding: where the graph keeps embeddings, by the profile. The Cypher does the rest."""

from __future__ import annotations

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.vector_places import vector_places


def run(check: CheckRun) -> CheckOutcome:
    """`count`: entities, chunks and nodes of other labels without an embedding; `total`: those that could have one."""
    return check.outcome(**vector_places(check).parameters)
