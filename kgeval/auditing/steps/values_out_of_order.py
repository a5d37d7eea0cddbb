"""values-out-of-order: nodes and relations with two values of which one comes first, the wrong way round; and relations of whose ends, or
of themselves and an end, that is so."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import permutations

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.dates_across import nearness, orders_across, without_repeats
from kgeval.auditing.suspects import is_date, is_plan, layout_keys, plain_words, without_words
from kgeval.graph.connect import Row
from kgeval.profiling.record import GraphProfile, PropertyProfile
from kgeval.records import Example
from kgeval.text.wordlists import word_lists, word_set

LEAST, LEAST_LEARNED = 10, 30  # nodes or relations with both values that show which comes first: by their names, or by their values
LEAST_SURE = 5  # the same, of dates, and where the names leave nothing else open
WRONG, WRONG_LEARNED = 0.1, 0.02  # shares of them up to which the wrong order is a mistake; above it the two mean something else
ORDERED = 0.9  # share of them of which the first is before the last, not the same
NO_MOMENT = word_set("""
    month hour hours minute minutes week weekday season angle qty quantity count amount price value number total units cost score rating
    balance mes mois monat mese maand woche semaine semana settimana week
""")  # of what goes round (a night shift ends before it begins), or may fall (what was delivered of what was ordered)
HELD_AGAINST = 1_000  # hits of a pair that are held against those of others
LIMITS, PARTS = "limits", "parts"  # of whatever, and of quantities
ONLY_AS_DATES = frozenset(("shipping", "sight", "market"))  # pairs that are quantities, or names, as well
NUMBERED = frozenset(("span", "opening", "work", "travel"))  # pairs that number places as well (from a floor to another)
ONE_IN = 0.02  # share of parts that are more than their whole, up to which it is a mistake
# what a total may be less by
LOWERED = word_set("discount rabatt remise descuento sconto korting voucher coupon credit deduction gutschein refund")


@dataclass(frozen=True)
class Ordered:
    """Two properties of which the values of one come before those of the other. `is_named`: by their names; else that is to be seen in
    their values. `is_sure`: the names leave nothing else open. `is_part`: one is a part of the other."""

    first: str
    last: str
    is_named: bool = True
    is_sure: bool = field(default=False, compare=False)
    is_part: bool = field(default=False, compare=False)

    def are_slips(self, row: Row) -> bool:
        """Whether the few values that stand the other way round are mistakes."""
        of = row["compared"]
        if self.is_named:
            most = max(1, (ONE_IN if self.is_part else WRONG) * of)
            return bool(of >= (LEAST_SURE if self.is_sure else LEAST) and row["hits"] <= most)
        return bool(of >= LEAST_LEARNED and 0 < row["hits"] <= WRONG_LEARNED * of and row["before"] >= ORDERED * of)


def run(check: CheckRun) -> CheckOutcome:
    """`count`: pairs of values in the wrong order; `total`: pairs of values that can be compared, of properties that come in an order."""
    profile: GraphProfile | None = check.settings["profile"]
    if profile is None:
        return CheckOutcome(0, 0)
    beside = list(_pairs(profile, layout_keys(check.layout)))
    across = orders_across(profile, check.layout)
    asked = [pair for pair, _ in beside] + [order.asked(len(beside) + at) for at, order in enumerate(across)]
    if not asked:
        return CheckOutcome(0, 0)
    rows = check.own_rows(ordered=asked, sample=0)
    own = [(ordered, row) for (_, ordered), row in zip(beside, rows, strict=False) if ordered.are_slips(row)]
    found = [(order, row) for order, row in zip(across, rows[len(beside) :], strict=True) if order.are_slips(row)]
    own.sort(key=lambda item: (not item[0].is_named, not item[0].is_sure, nearness(item[1])))
    told = [row for _, row in own] + [row for _, row in without_repeats(found)]
    ends = {row["place"] for order, row in found if order.is_end}
    wrong = [asked[row["place"]] for row in told if row["hits"]]
    given = wrong or [asked[row["place"]] for row in told]
    total = sum(row["compared"] for row in told)
    if not wrong:
        return CheckOutcome(0, total, parameters={"ordered": given})
    rank = {row["place"]: at for at, row in enumerate(told)}
    rows = check.own_rows(ordered=wrong, sample=max(check.sample, HELD_AGAINST if len(wrong) > 1 else 0))
    once = list(_once_each(sorted(rows, key=lambda row: rank[row["place"]]), ends))
    return check.outcome_of(sorted(once, key=lambda row: row["place"]), "hits", total, _example, ordered=given)


def _once_each(rows: Iterable[Row], ends: Collection[int]) -> Iterator[Row]:
    """The rows, the surest first, without hits of a value that another pair has told already, and without relations that it has. `ends`:
    places of what ends a node, to which several things may happen."""
    values: set[tuple[str, str]] = set()
    things: set[str] = set()
    for row in rows:
        kept = [
            hit for hit in row["sample"]
            if hit["items"][0]["element_id"] not in things and (row["place"] in ends or values.isdisjoint(map(tuple, hit["held"])))
        ]
        for hit in kept:
            things.add(hit["items"][0]["element_id"])
            values.update(map(tuple, hit["held"]))
        sample = [{"items": hit["items"], "why": hit["why"]} for hit in kept]
        yield {**row, "hits": row["hits"] - len(row["sample"]) + len(kept), "sample": sample}


def _example(row: Row, example: Example) -> Example:
    """Of two sides of a relation, how many stand in the right order."""
    if row["first_of"] is None:
        return example
    return example.model_copy(update={"why": f"{example.why}; {row['before']:,} of {row['compared']:,} stand the other way round"})


def _pairs(profile: GraphProfile, own: frozenset[str]) -> Iterator[tuple[dict[str, str | list[str] | int | None], Ordered]]:
    """As the query takes them, each pair of properties once for all labels that have it."""
    labels: dict[Ordered, list[str]] = {}
    for label in profile.labels:
        for pair in in_order(label.properties) if label.label and label.role != "technical" else ():
            labels.setdefault(pair, []).append(label.label)
    types = [(relation.type, pair) for relation in profile.types for pair in in_order(_others(relation.properties, own))]
    owners: list[tuple[list[str], str | None, Ordered]] = [
        *((having, None, pair) for pair, having in labels.items()), *(([], type_, pair) for type_, pair in types),
    ]
    for place, (having, type_, pair) in enumerate(owners):
        owner = type_ or ", ".join(having)
        asked: dict[str, str | list[str] | int | None] = {"place": place, "owner": owner, "labels": having, "type": type_}
        yield {**asked, "first": pair.first, "last": pair.last, "is_part": pair.is_part}, pair


def _others(properties: Iterable[PropertyProfile], own: frozenset[str]) -> Iterator[PropertyProfile]:
    return (found for found in properties if found.key not in own)


def in_order(properties: Iterable[PropertyProfile]) -> Iterator[Ordered]:
    """Of properties those of which the values of one come before those of the other: by their names (born, died; valid_from, valid_to;
    minPrice, maxPrice; a birth, and any date), or, of two dates that are no plans, perhaps by their values."""
    tables = word_lists("in_order").items()
    known = list(properties)
    words = {found.key: {*plain_words(found.key)} for found in known}
    lowered = any(LOWERED & own for own in words.values())
    # by key and pair of words what is left of the key without a word of the first, and of the last
    firsts = {found.key: {name: without_words(found.key, word_set(first)) for name, (first, _) in tables} for found in known}
    lasts = {found.key: {name: without_words(found.key, word_set(last)) for name, (_, last) in tables} for found in known}
    of_names: dict[tuple[str, str], Ordered] = {}
    left: list[Ordered] = []
    for first, last in permutations(known, 2):
        of_both = words[first.key] | words[last.key]
        named = {name for name, _ in tables if firsts[first.key][name] & lasts[last.key][name]}
        if (of_both & NO_MOMENT and not named & {LIMITS, PARTS}) or (named == {PARTS} and lowered):
            continue
        are_dates = is_date(first) and is_date(last)
        if (are_dates and (named or firsts[first.key]["life"])) or named - ONLY_AS_DATES:
            is_sure = are_dates or not named & NUMBERED
            of_names[first.key, last.key] = Ordered(first.key, last.key, is_sure=is_sure, is_part=named == {PARTS})
        elif are_dates and not is_plan(first.key) and not is_plan(last.key):
            left.append(Ordered(first.key, last.key, is_named=False))
    yield from (of_names[pair] for pair in sorted(of_names))
    yield from (one for one in left if (one.last, one.first) not in of_names)
