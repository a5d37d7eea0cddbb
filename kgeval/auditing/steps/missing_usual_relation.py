"""missing-usual-relation: nodes without a relation of which nearly each node of their label has just one."""

from __future__ import annotations

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.usual_relations import LEAST, arrow, likely_usual
from kgeval.graph.connect import Row
from kgeval.profiling.record import GraphProfile
from kgeval.records import Example

ONE, NONE = 0.9, 0.02  # shares of nodes with one relation, at least, and with none, at most (or one node)


def run(check: CheckRun) -> CheckOutcome:
    """`count`: nodes without such a relation, once for each; `total`: nodes of labels of which nearly each has one, likewise."""
    profile: GraphProfile | None = check.settings["profile"]
    suspects = [asked for _, asked in likely_usual(profile)] if profile else []
    if not suspects:
        return CheckOutcome(0, 0)
    usual = [row for row in check.own_rows(suspects=suspects) if _is_usual(row)]
    return check.outcome_of(usual, "none", sum(row["nodes"] for row in usual), _example, suspects=suspects)


def _is_usual(row: Row) -> bool:
    return bool(row["nodes"] >= LEAST and row["one"] >= ONE * row["nodes"] and row["none"] <= max(1, NONE * row["nodes"]))


def _example(row: Row, example: Example) -> Example:
    have = row["nodes"] - row["none"]
    why = f"none {arrow(row['type'], outgoing=row['outgoing'])}, which {have:,} of {row['nodes']:,} {row['owner'][:100]} have"
    return example.model_copy(update={"why": why})
