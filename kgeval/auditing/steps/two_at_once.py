"""two-at-once: nodes that take part in two things at one time, where that never happens otherwise."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from kgeval.auditing.check import CheckOutcome, CheckRun, examples_of
from kgeval.auditing.times_of import TwoAtOnce, all_that_take_part, share_looked_at
from kgeval.format import percent
from kgeval.graph.connect import Row
from kgeval.profiling.record import GraphProfile
from kgeval.records import Example

LEAST, LEAST_HOLDERS = 30, 3  # relations and nodes that show that two at one time are no use
BROKEN, ALWAYS = 0.01, 2  # share of relations that may be at the time of another one; two always may
NAMED = 0.02  # the same, of what by its name is in one place, and where very few are of those that would be by chance
SURE = 0.1  # share of these that are very few
LIFT, UNLIKELY = 0.25, 0.01  # share of how many would be by chance, at most; and how likely so few are then
MANY = 500.0  # of which a quarter is no chance
ABLE = 0.1  # share of relations of nodes that are able to have two, at most
SEVERAL, FEW = 10, 0.2  # nodes with several, one behind the other, and the share of them that may have two without an end


def run(check: CheckRun) -> CheckOutcome:
    """`count`: relations at the time of another one of their node; `total`: relations of nodes that take part in one thing at a time."""
    profile: GraphProfile | None = check.settings["profile"]
    known = all_that_take_part(profile, check.layout) if profile else []
    if not known:
        return CheckOutcome(0, 0)
    looked_at = share_looked_at(known)
    note = None if looked_at == 1 else f"{percent(looked_at)} of the nodes that take part were looked at"
    rows = check.own_rows(asked=[one.asked(at, looked_at) for at, one in enumerate(known)])
    kept = [(known[row["at"]], row) for row in rows if is_kept(known[row["at"]], row)]
    total = sum({(one.types, one.holder): row["relations"] for one, row in kept}.values())
    told = sorted((item for item in kept if item[1]["hits"]), key=lambda item: len(item[0].types))
    examples = list(_one_each(_said(one, example, row) for one, row in told for example in _in_order(row)))
    given = [one.asked(at, looked_at) for at, (one, _) in enumerate(told or kept)]
    return CheckOutcome(len(examples), total, examples[: check.sample], note, parameters={"asked": given})


def is_kept(one: TwoAtOnce, row: Row) -> bool:
    """Whether nearly nothing meets, though by chance much would, or the name says so."""
    of, hits = row["relations"], row["hits"]
    if of < LEAST or row["holders"] < LEAST_HOLDERS or row["able"] > ABLE * of:
        return False
    if one.is_named:
        return bool(hits <= max(ALWAYS, NAMED * of))
    if one.times.kind == "open" and (row["several"] < SEVERAL or hits > FEW * row["several"]):
        return False
    expected = of * (of - 1) / 2 / row["holders"] if one.times.kind == "open" else row["pairs"] * share_that_meets(row["times"])
    if hits > max(ALWAYS, (NAMED if hits <= SURE * expected else BROKEN) * of):
        return False
    return bool(hits <= LIFT * expected and chance_of_so_few(hits, expected) <= UNLIKELY)


def chance_of_so_few(hits: int, expected: float) -> float:
    """How likely it is that no more meet, of as many as would in the mean (Poisson)."""
    return math.exp(-expected) * sum(expected**at / math.factorial(at) for at in range(hits + 1)) if expected < MANY else 0.0


def share_that_meets(times: Iterable[Iterable[Sequence[float]]]) -> float:
    """Share of the pairs of different things that are at one time. `times`: of each node its things: begin, end and number."""
    spans = sorted({(begin, end, thing) for things in times for begin, end, thing in things})
    begins = [begin for begin, _, _ in spans]
    meet = sum(bisect_left(begins, end) - at - 1 for at, (_, end, _) in enumerate(spans))
    same = sum(one[2] == next_[2] for one, next_ in pairwise(spans))
    pairs = len(spans) * (len(spans) - 1) / 2
    return max(0, meet - same) / pairs if pairs else 0.0


def _said(one: TwoAtOnce, example: Example, row: Row) -> Example:
    types = " or ".join(name[:60] for name in one.types)
    of = row["relations"]
    why = f"{example.why}: of {of:,} {types} {of - row['hits']:,} are at the time of no other of their {one.label[:60]}"
    if one.times.kind == "open":
        why = f"{example.why}, and neither has {one.times.end[:60]}: of {of:,} {types} without it {of - row['hits']:,} are the only one"
    return example.model_copy(update={"why": why})


def _in_order(row: Row) -> list[Example]:
    return sorted(examples_of(row["sample"]), key=lambda example: (example.items[0].name, example.items[0].element_id or ""))


def _one_each(examples: Iterable[Example]) -> Iterator[Example]:
    """Each relation once, and each pair."""
    seen: set[str | frozenset[str]] = set()
    for example in examples:
        ids = [item.element_id or "" for item in example.items]
        if not seen & {ids[0], frozenset(ids)}:
            seen |= {ids[0], frozenset(ids)}
            yield example
