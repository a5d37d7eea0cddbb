"""swapped-texts: nodes with two texts that are swapped: a town and its province, a first and a last name, a sex and an age."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.suspects import TEXT, KeptProperty, every_property
from kgeval.graph.connect import Row

LEAST = 20  # nodes with both texts
FILLED, TEXTS = 0.5, 0.9  # shares of the nodes that have the property, and of its values that are texts
LONGEST, MOST_HOLDERS = 40.0, 200_000  # characters of a text, in the median; nodes of a label, whose texts are counted in memory
MOST_OF_LABEL = 12  # properties of a label that are held against each other
SHARED, ALWAYS = 0.1, 2  # share of the nodes whose texts may stand in both properties, and that may be swapped; two always may
Pair = dict[str, str | list[str]]


def run(check: CheckRun) -> CheckOutcome:
    """`count`: nodes with two texts that are swapped; `total`: nodes with both, by pair of properties."""
    by_label: dict[str, list[KeptProperty]] = {}
    for found in every_property(check):
        if _is_asked(found):
            by_label.setdefault(found.owner, []).append(found)
    pairs = [pair for known in by_label.values() for pair in _pairs(known[:MOST_OF_LABEL])]
    if not pairs:
        return CheckOutcome(0, 0)
    rows = [row for row in check.rows("texts-of-both", pairs=pairs, most=500) if row["rows"] >= LEAST]
    total = sum(row["rows"] for row in rows)
    told = [asked for row in rows if (asked := _swapped(pairs[row["at"]], row)) is not None]
    if not told:
        return CheckOutcome(0, total, parameters={"pairs": [{**pair, "firsts": [], "lasts": []} for pair in pairs]})
    sizes = {(pairs[row["at"]]["label"], pairs[row["at"]]["first"], pairs[row["at"]]["last"]): row["rows"] for row in rows}
    of = [sizes[pair["label"], pair["first"], pair["last"]] for pair in told]
    hits = [row for row in check.own_rows(pairs=told) if row["hits"] <= max(ALWAYS, SHARED * of[row["at"]])]
    return check.outcome_of(hits, "hits", total, pairs=told)


def _is_asked(found: KeptProperty) -> bool:
    values = found.values
    if found.is_relation or values.key in found.keys[:1] or found.holders > MOST_HOLDERS:
        return False
    are_words = values.types.get(TEXT, 0.0) >= TEXTS and max(values.formats.values(), default=0.0) <= 1 - TEXTS
    return are_words and values.filled >= FILLED and (values.length or 0) <= LONGEST


def _pairs(known: Sequence[KeptProperty]) -> Iterator[Pair]:
    for first, last in combinations(known, 2):
        yield {"label": first.owner, "first": first.values.key, "last": last.values.key}


def _swapped(pair: Pair, row: Row) -> Pair | None:
    """The texts that belong into one of the two and stand in the other as well; None where both hold the same ones (from and to)."""
    both = [(text, firsts, lasts) for text, firsts, lasts in row["both"] if text]
    if not both or sum(min(firsts, lasts) for _, firsts, lasts in both) > max(ALWAYS, 2 * SHARED * row["rows"]):
        return None
    into_first = [text for text, firsts, lasts in both if firsts >= lasts]
    into_last = [text for text, firsts, lasts in both if lasts >= firsts]
    surely = {text for text, firsts, lasts in both if firsts != lasts}
    if not surely & {*into_first} and not surely & {*into_last}:
        return None
    return {**pair, "firsts": into_first, "lasts": into_last}
