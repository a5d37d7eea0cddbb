"""unclean-text: texts with what is left of markup, a wrong encoding, or blanks and signs that nobody sees, where all others are clean."""

from __future__ import annotations

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.suspects import TEXT, KeptProperty, every_property
from kgeval.graph.connect import Row
from kgeval.records import Example

FEW = 0.05  # share of a property's texts up to which they are slips, and one always is; above it all are written so
LEAST = 5  # texts of which one is unlike the others
LONGEST = 200  # median characters of a text that is no essay: an essay may hold two blanks in a row
BLANKS = "two blanks in a row"


def run(check: CheckRun) -> CheckOutcome:
    """`count`: texts that are unclean; `total`: texts of properties that people keep."""
    names = {*check.layout.name_keys, *(key for named in check.layout.label_names for key in named.keys)}
    known = [found for found in every_property(check) if found.values.types.get(TEXT, 0.0) > 0]
    if not known:
        return CheckOutcome(0, 0)
    asked = [{**found.asked(), "markup": found.values.key not in names} for found in known]
    rows = check.own_rows(suspects=asked)
    total = sum({row["at"]: row["texts"] for row in rows}.values())
    told = [row for row in rows if row["kind"] is not None and _are_slips(row, known[row["at"]])]

    def said(row: Row, example: Example) -> Example:
        return example.model_copy(update={"why": f"{known[row['at']].values.key[:100]}: {row['kind']}: {example.why!r}"})

    return check.outcome_of(told, "hits", total, said, suspects=asked)


def _are_slips(row: Row, found: KeptProperty) -> bool:
    """Whether the few unclean texts are unlike all others of their property."""
    if row["kind"] == BLANKS and (found.values.length or 0) > LONGEST:
        return False
    return bool(row["texts"] >= LEAST and row["hits"] <= max(1, FEW * row["texts"]))
