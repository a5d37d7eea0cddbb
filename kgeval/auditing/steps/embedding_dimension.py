"""embedding-dimension: where the graph keeps embeddings, and the length that they must have, where a vector index tells it. The Cypher does
the rest."""

from __future__ import annotations

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.vector_places import vector_lengths, vector_places


def run(check: CheckRun) -> CheckOutcome:
    """`count`: embeddings of another length than the index's, or than most of their kind; `total`: embeddings."""
    places = vector_places(check)
    wanted = vector_lengths(check, places)
    note = "; ".join(f"the vector index of {kind} embeddings holds {length} numbers" for kind, length in wanted.items())
    return check.outcome(note=note or None, **places.parameters, dimensions=wanted)
