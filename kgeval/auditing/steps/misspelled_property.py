"""misspelled-property: a property that a few nodes of a label have in place of one that is spelled nearly the same."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.suspects import property_reference
from kgeval.graph.connect import Row
from kgeval.profiling.record import GraphProfile, LabelProfile
from kgeval.records import Example
from kgeval.text.slips import is_slip

OFTEN = 0.2  # share of a label's nodes from which a property is one that others may be meant for
RARER = 5  # times that a slip is rarer than what it is meant for
ROLES = ("entity", "record", "value")


def run(check: CheckRun) -> CheckOutcome:
    """`count`: properties of labels that are slips; `total`: properties of labels that were looked at."""
    profile: GraphProfile | None = check.settings["profile"]
    labels = [label for label in profile.labels if label.label and label.role in ROLES] if profile else []
    suspects, looked_at = [], 0
    every = check.rows("layout-tokens")[0]["keys"] if any(label.nodes > label.sampled for label in labels) else []
    for label in labels:
        keys = {found.key for found in label.properties} | ({*every} if label.nodes > label.sampled else set())
        looked_at += len(label.properties)
        suspects += [{"label": label.label, "key": key, "meant": meant} for key, meant in slips(label, keys)]
    rows = [row for row in check.own_rows(suspects=suspects) if _is_slip(row)] if suspects else []
    return CheckOutcome(len(rows), looked_at, [_example(row) for row in rows[: check.sample]], parameters={"suspects": suspects})


def slips(label: LabelProfile, keys: Collection[str]) -> Iterator[tuple[str, str]]:
    """Of keys those that may be slips for a property that many nodes of the label have, and that property: the surest for each."""
    filled = {found.key: found.filled for found in label.properties}
    for key in sorted(keys):
        share = filled.get(key, 0.0)
        meant = [other for other, often in filled.items() if often >= OFTEN and often >= RARER * share and is_slip(key, other)]
        if meant:
            yield key, max(meant, key=lambda other: (filled[other], other))


def _is_slip(row: Row) -> bool:
    """Whether nodes have either of the two, never both, and the slip is rare."""
    return bool(row["alone"] > 0 and row["both"] == 0 and row["others"] >= RARER * row["alone"])


def _example(row: Row) -> Example:
    why = f"{row['alone']:,} nodes have it and none has {row['meant'][:100]} too, which {row['others']:,} others have"
    return Example(items=[property_reference(row["owner"], row["key"])], why=why)
