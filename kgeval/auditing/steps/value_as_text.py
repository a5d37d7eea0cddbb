"""value-as-text: properties whose texts are all numbers, or all dates."""

from __future__ import annotations

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.suspects import NO_NUMBER, KeptProperty, judged_properties, text_properties
from kgeval.graph.connect import Row

SAMPLED, ALL = 0.9, 0.98  # shares of texts, in the sample and of all


def run(check: CheckRun) -> CheckOutcome:
    """`count`: properties whose texts are numbers or dates; `total`: properties that hold text."""
    known = text_properties(check)
    return judged_properties(check, known, [found for found in known if _is_suspect(found)], _said)


def _is_suspect(found: KeptProperty) -> bool:
    formats = found.values.formats
    empty = formats.get("null word", 0.0)
    of = 1 - empty
    if of <= 0:
        return False
    if formats.get("date", 0.0) >= SAMPLED * of:
        return True
    is_number = formats.get("number", 0.0) >= SAMPLED * of and found.values.distinct > 0
    return is_number and NO_NUMBER.search(found.values.key) is None and found.values.key not in found.keys


def _said(_: KeptProperty, row: Row) -> str | None:
    for what, count in (("dates", row["dates"]), ("numbers", row["numbers"])):
        if row["texts"] >= 5 and count >= ALL * row["texts"] and (what == "dates" or row["padded"] <= 0.01 * row["texts"]):
            return f"{count:,} of {row['texts']:,} texts are {what}, as '{(row['example'] or '?')[:30]}'"
    return None
