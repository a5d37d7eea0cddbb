"""null-text: properties in which a word stands for no value ("NULL", "n/a")."""

from __future__ import annotations

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.suspects import KeptProperty, judged_properties, text_properties
from kgeval.graph.connect import Row


def run(check: CheckRun) -> CheckOutcome:
    """`count`: properties with such a word; `total`: properties that hold text."""
    known = text_properties(check)
    suspects = [found for found in known if found.values.formats.get("null word", 0.0) > 0]
    return judged_properties(check, known, suspects, _said)


def _said(_: KeptProperty, row: Row) -> str | None:
    if not row["hits"]:
        return None
    return f"{row['hits']:,} of {row['texts']:,} texts are no value but a word for none, as '{row['word'][:20]}'"
