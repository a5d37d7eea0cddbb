"""value-outside-format: texts that hold nothing of what nearly all others of their property are."""

from __future__ import annotations

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.suspects import NO_NUMBER, KeptProperty, judged_properties, text_properties
from kgeval.graph.connect import Row

SAMPLED, FEW = 0.9, 0.1  # shares of texts: of the format in the sample, and of all those that may be none
LEAST = 20  # texts of which a share says something
SAID = {
    "dressed": "are a number and something else", "turned": "are dates written otherwise", "impossible": "are days that no calendar has",
}
FORMATS = ("number", "date", "web address", "mail address")


def run(check: CheckRun) -> CheckOutcome:
    """`count`: properties with such texts; `total`: properties whose texts are nearly all of one format."""
    known = text_properties(check)
    formatted = {found.name: kind for found in known if (kind := _format(found)) is not None}
    suspects = [found for found in known if found.name in formatted]

    def said(found: KeptProperty, row: Row) -> str | None:
        of = row["texts"]
        words = {**SAID, "outside": f"are no {formatted[found.name]}"}
        few = [one for one in row["kinds"] if one["times"] <= FEW * of]
        parts = [f"{one['times']:,} of {of:,} texts {words[one['kind']]}, as '{one['example'][:30]}'" for one in sorted(few, key=_order)]
        return "; ".join(parts) if of >= LEAST and parts else None

    return judged_properties(check, suspects, suspects, said, more={name: {"format": kind} for name, kind in formatted.items()})


def _order(one: Row) -> list[str]:
    return [str(one["kind"] != "outside"), one["kind"]]


def _format(found: KeptProperty) -> str | None:
    """What nearly all sampled texts are that are no words for a missing value."""
    formats = found.values.formats
    of = 1 - formats.get("null word", 0.0)
    kind = next((kind for kind in FORMATS if of > 0 and formats.get(kind, 0.0) >= SAMPLED * of), None)
    return None if kind == "number" and NO_NUMBER.search(found.values.key) else kind
