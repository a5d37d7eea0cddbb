"""small-component: a Cypher query on the projected graph; Python only projects."""

from __future__ import annotations

from kgeval.audit.check import Check, Outcome, examples
from kgeval.audit.steps.projection import simple_graph


def run(check: Check) -> Outcome:
    """Small components beside the giant one, of all components of two or more entities."""
    with simple_graph(check) as view:
        if view is None:
            return Outcome(0, 0)
        row = check.graph.read(check.query, check.params(graph_name=view.name), timeout=check.timeout)[0]
    return Outcome(row["count"], row["total"], examples(row["sample"]))
