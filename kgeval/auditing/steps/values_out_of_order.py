"""values-out-of-order: nodes and relations with two values of which one comes first, the wrong way round."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations

from kgeval.auditing.check import CheckOutcome, CheckRun, examples_of
from kgeval.auditing.suspects import key_words, layout_keys, without_words
from kgeval.profiling.record import GraphProfile, PropertyProfile
from kgeval.text.wordlists import word_lists, word_set

LEAST = 10  # nodes or relations with both values that show which comes first
WRONG = 0.1  # share of them up to which the wrong order is a mistake; above it the two names mean something else
TEMPORAL = frozenset(("DATE", "LOCAL DATETIME", "ZONED DATETIME"))
DATED = 0.9  # share of values that are dates
NO_MOMENT = word_set("""
    month hour hours minute minutes week weekday season angle qty quantity count amount price value number total units cost score rating
    balance
""")  # of what goes round (a night shift ends before it begins), or may fall (what was delivered of what was ordered)
ONLY_AS_DATES = frozenset(("shipping",))  # pairs that are quantities as well


def run(check: CheckRun) -> CheckOutcome:
    """`count`: pairs of values in the wrong order; `total`: pairs of values that can be compared, of properties that come in an order."""
    profile: GraphProfile | None = check.settings["profile"]
    pairs = list(_pairs(profile, layout_keys(check.layout))) if profile else []
    if not pairs:
        return CheckOutcome(0, 0)
    rows = [row for row in check.own_rows(pairs=pairs) if row["compared"] >= LEAST and row["hits"] <= WRONG * row["compared"]]
    examples = examples_of(example for row in rows for example in row["sample"])
    return CheckOutcome(
        sum(row["hits"] for row in rows), sum(row["compared"] for row in rows), examples[: check.sample], parameters={"pairs": pairs},
    )


def _pairs(profile: GraphProfile, own: frozenset[str]) -> Iterator[dict[str, str | list[str] | None]]:
    """As the query takes them, each pair of properties once for all labels that have it."""
    labels: dict[tuple[str, str], list[str]] = {}
    for label in profile.labels:
        for pair in in_order(label.properties) if label.label and label.role != "technical" else ():
            labels.setdefault(pair, []).append(label.label)
    for (first, last), having in sorted(labels.items()):
        yield {"owner": ", ".join(having), "labels": having, "type": None, "first": first, "last": last}
    for relation in profile.types:
        for first, last in in_order(found for found in relation.properties if found.key not in own):
            yield {"owner": relation.type, "labels": [], "type": relation.type, "first": first, "last": last}


def in_order(properties: Iterable[PropertyProfile]) -> Iterator[tuple[str, str]]:
    """Of properties those of which the values of one come before those of the other, by their names: born, died; valid_from, valid_to;
    minPrice, maxPrice; a birth, and any date."""
    tables = {name: (word_set(first), word_set(last)) for name, (first, last) in word_lists("in_order").items()}
    known = [found for found in properties if not NO_MOMENT & {*key_words(found.key)}]
    for first, last in permutations(known, 2):
        named = {name for name, (before, after) in tables.items() if without_words(first.key, before) & without_words(last.key, after)}
        are_dates = _is_date(first) and _is_date(last)
        if (are_dates and (named or without_words(first.key, tables["life"][0]))) or named - ONLY_AS_DATES:
            yield first.key, last.key


def _is_date(found: PropertyProfile) -> bool:
    return sum(found.types.get(name, 0.0) for name in TEMPORAL) >= DATED or found.formats.get("date", 0.0) >= DATED
