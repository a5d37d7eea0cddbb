"""missing-usual-relation: nodes without a relation of which nearly each node of their label has just one."""

from __future__ import annotations

from collections.abc import Iterator

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.suspects import sizes_of_things
from kgeval.graph.connect import Row
from kgeval.profiling.record import GraphProfile
from kgeval.records import Example

LEAST = 30  # nodes of which nearly all say something
ONE, NONE = 0.9, 0.02  # shares of them with one relation, at least, and with none, at most (or one node)
LIKELY = (0.9, 1.5)  # relations a node, by the sample, between which nearly each node may have one


def run(check: CheckRun) -> CheckOutcome:
    """`count`: nodes without such a relation, once for each; `total`: nodes of labels of which nearly each has one, likewise."""
    profile: GraphProfile | None = check.settings["profile"]
    suspects = list(_suspects(profile)) if profile else []
    if not suspects:
        return CheckOutcome(0, 0)
    usual = [row for row in check.own_rows(suspects=suspects) if _is_usual(row)]
    return check.outcome_of(usual, "none", sum(row["nodes"] for row in usual), _example, suspects=suspects)


def _suspects(profile: GraphProfile) -> Iterator[dict[str, str | bool]]:
    """Labels and types between two labels, of which there may be one relation a node."""
    nodes = sizes_of_things(profile, LEAST)
    for relation in profile.types:
        for outgoing in (True, False):
            at: dict[str, float] = {}
            for ends in relation.ends:
                if ends.start != ends.end:
                    label = ends.start if outgoing else ends.end
                    at[label] = at.get(label, 0.0) + ends.share * relation.count
            for label, relations in sorted(at.items()):
                if label in nodes and LIKELY[0] <= relations / nodes[label] <= LIKELY[1]:
                    yield {"label": label, "type": relation.type, "outgoing": outgoing}


def _is_usual(row: Row) -> bool:
    return bool(row["nodes"] >= LEAST and row["one"] >= ONE * row["nodes"] and row["none"] <= max(1, NONE * row["nodes"]))


def _example(row: Row, example: Example) -> Example:
    way = f"-[{row['type'][:100]}]->" if row["outgoing"] else f"<-[{row['type'][:100]}]-"
    have = row["nodes"] - row["none"]
    return example.model_copy(update={"why": f"none {way}, which {have:,} of {row['nodes']:,} {row['owner'][:100]} have"})
