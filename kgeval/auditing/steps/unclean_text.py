"""unclean-text: texts with what is left of markup, a wrong encoding, or blanks and signs that nobody sees, where all others are clean."""

from __future__ import annotations

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.suspects import TEXT, KeptProperty, every_property
from kgeval.graph.connect import Row
from kgeval.records import Example, Layout

FEW = 0.05  # share of a property's texts up to which they are slips, and one always is; above it all are written so
LEAST = 5  # texts of which one is unlike the others
LONGEST = 100  # median characters of a value: a text that people write may hold a tag, and blanks as they come


def run(check: CheckRun) -> CheckOutcome:
    """`count`: texts that are unclean; `total`: texts of properties that people keep."""
    known = [found for found in every_property(check) if _is_value(found)]
    if not known:
        return CheckOutcome(0, 0)
    asked = [_asked(check.layout, found, []) for found in known]
    rows = check.own_rows(suspects=asked, sample=0)
    total = sum({row["at"]: row["texts"] for row in rows}.values())
    kinds: dict[int, list[str]] = {}
    for row in rows:
        if row["kind"] is not None and _are_slips(row):
            kinds.setdefault(row["at"], []).append(row["kind"])
    listed = [_asked(check.layout, known[at], names) for at, names in kinds.items()]
    keys, looked_for = [known[at].values.key[:100] for at in kinds], list(kinds.values())

    def said(row: Row, example: Example) -> Example:
        return example.model_copy(update={"why": f"{keys[row['at']]}: {row['kind']}: {example.why!r}"})

    found = check.own_rows(suspects=listed) if listed else []
    told = [row for row in found if row["kind"] in looked_for[row["at"]]]
    return check.outcome_of(told, "hits", total, said, suspects=listed or asked)


def _asked(layout: Layout, found: KeptProperty, kinds: list[str]) -> dict[str, str | bool | list[str] | None]:
    """As the query takes it."""
    return {**found.asked(), "markup": not _is_name(layout, found), "kinds": kinds}


def _is_value(found: KeptProperty) -> bool:
    return found.values.types.get(TEXT, 0.0) > 0 and (found.values.length or 0) <= LONGEST


def _is_name(layout: Layout, found: KeptProperty) -> bool:
    """Whether a property is a name, or part of one, in which another check looks for markup."""
    named = [one for one in layout.label_names if one.label in (None, "", found.owner)]
    return any(found.values.key in one.keys for one in named) or (not named and found.values.key in layout.name_keys)


def _are_slips(row: Row) -> bool:
    """Whether the few unclean texts are unlike all others of their property."""
    return bool(row["texts"] >= LEAST and row["hits"] <= max(1, FEW * row["texts"]))
