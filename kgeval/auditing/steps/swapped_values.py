"""swapped-values: nodes with two numbers that are swapped (a latitude and a longitude, a height and a weight), and places at 0/0."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.steps.impossible_value import LATITUDES, LONGITUDES, is_year
from kgeval.auditing.steps.unusual_number import is_quantity
from kgeval.auditing.suspects import KeptProperty, kept_properties, key_words, share_of_numbers

LEAST_PLACES, LEAST_NUMBERS = 8, 20  # nodes with both that show where they usually lie
FEW, ALWAYS = 0.05, 2  # share of them up to which they are slips; two always are
MOST_QUANTITIES = 8  # properties of a label that are compared with each other
MEASURED = 5_000  # nodes of a label of which the usual values are taken
NUMBERS = 0.9  # share of values that are numbers
Pair = dict[str, str | bool | int]


def run(check: CheckRun) -> CheckOutcome:
    """`count`: nodes with two values that are swapped or at 0/0; `total`: nodes with both of two such values, by pair."""
    by_label: dict[str, list[KeptProperty]] = {}
    for found in kept_properties(check):
        if not found.is_relation:
            by_label.setdefault(found.owner, []).append(found)
    pairs = [pair for known in by_label.values() for pair in _pairs(known)]
    if not pairs:
        return CheckOutcome(0, 0)
    rows = [row for row in check.own_rows(pairs=pairs) if row["judged"] >= _least(pairs[row["at"]])]
    told = [row for row in rows if row["hits"] - row["zeros"] <= max(ALWAYS, FEW * row["judged"])]
    return check.outcome_of(told, "hits", sum(row["judged"] for row in told), pairs=pairs)


def _least(pair: Pair) -> int:
    return LEAST_PLACES if pair["is_place"] else LEAST_NUMBERS


def _pairs(known: list[KeptProperty]) -> Iterator[Pair]:
    """Of the properties of a label those that can be swapped: coordinates of one place, and quantities."""
    for found in known:
        if found.values.types.get("POINT", 0.0) >= NUMBERS:
            yield _pair(found, found, is_place=True)
    numbers = [found for found in known if _are_numbers(found)]
    for first in numbers:
        for last in numbers:
            words, others = key_words(first.values.key), key_words(last.values.key)
            if words and others and words[-1] in LATITUDES and others[-1] in LONGITUDES and words[:-1] == others[:-1]:
                yield _pair(first, last, is_place=True)
    quantities = [found for found in numbers if _is_measure(found)][:MOST_QUANTITIES]
    yield from (_pair(first, last, is_place=False) for first, last in combinations(quantities, 2))


def _is_measure(found: KeptProperty) -> bool:
    key = found.values.key
    return key not in found.keys[:1] and (is_year(key) or is_quantity(key))


def _are_numbers(found: KeptProperty) -> bool:
    return share_of_numbers(found.values) >= NUMBERS


def _pair(first: KeptProperty, last: KeptProperty, *, is_place: bool) -> Pair:
    every = max(1, int(first.holders) // MEASURED)
    return {"label": first.owner, "first": first.values.key, "last": last.values.key, "is_place": is_place, "every": every}
