"""unusual-ratio: two numbers that are far out of the proportion that they have everywhere else: a fee in cents, the price of a carton."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, pairwise
from typing import Any

from kgeval.auditing.check import CheckOutcome, CheckRun, examples_of, one_each
from kgeval.auditing.number_tables import Numbers, NumberTable, dealt, number_sample, some_of
from kgeval.auditing.steps.unusual_number import NO_QUANTITY, SIGNED, NumberRange, Usual, is_quantity, usual_numbers
from kgeval.auditing.suspects import PropertyAt, name_words
from kgeval.format import number
from kgeval.graph.connect import Row
from kgeval.text.wordlists import word_set

LEAST, DIFFERENT = 30, 10  # rows with both numbers, and different values of each
POSITIVE = 0.8  # share of the rows with both of which both are above zero
FAR, ALWAYS = 0.02, 2  # share of rows whose ratio is a slip, at most; two always may be
CLOSE = 5.0  # how many times as much the upper end of the ratios is as the lower one, at most
ENDS = (0.05, 0.95)  # parts of the rows between which they lie
WIDER, LEAST_WIDE = 2.0, 3.0  # each number spreads that power of how the ratio does, and so many times at least
DEALT = 1.5  # power of how the ratio spreads, which that of numbers dealt at random is above
GAP, GAP_CLOSE, NARROW = 4.0, 3.0, 1.6  # times as far as the next one; of ratios that spread no more than the last one says
EDGE = 2.0  # the gap is that many times the way from the middle to its edge
MARGIN = 1.0001  # what is equal but for the last digits
MOST_OF_A_TABLE, MOST = 60, 80  # pairs of numbers that are asked
MOST_ROWS, LISTED = 1_000, 1_000  # rows of a table that are looked at, and hits that the query lists
AMOUNTS = word_set("""
    amount credit debit transfer income earnings net sum total betrag montant gewinn margin equity cash charge interest profit ebit ebitda
""")  # words of numbers on either side of zero, of which those above it can be compared
SCALES = word_set("""
    rating score percent percentage pct share ratio rate age hour minute second month day week weekday quarter floor room shirt jersey
    anteil prozent satz quote alter note etage taux pourcentage age edad porcentaje tasa nota tipo
""")  # of a scale with ends


@dataclass(frozen=True)
class Proportion:
    """Two numbers whose ratio lies close together. `low`, `high`: where nearly all of the sample do; `below`, `above`: how many times as
    much the middle is as the lower end, and the upper end as the middle, squared; infinite where they do not lie close on that side."""

    table: NumberTable
    first: PropertyAt
    last: PropertyAt
    low: float
    middle: float
    high: float
    below: float
    above: float

    @property
    def spread(self) -> float:
        return min(self.below, self.above)

    def asked(self, at: int) -> dict[str, Any]:
        """As the query takes it."""
        return {
            "at": at, **self.table.asked(), "first": self.first.key, "first_of": self.first.side, "last": self.last.key,
            "last_of": self.last.side, "low": self.low / GAP_CLOSE, "middle": self.middle, "high": self.high * GAP_CLOSE,
        }


@dataclass(frozen=True)
class FarRatios:
    """Rows that are out of proportion. `low`, `high`: the ratios of the others; `ids`: the nodes and relations."""

    proportion: Proportion
    low: float
    high: float
    rows: int
    ids: Sequence[str]
    sample: Sequence[Mapping[str, Any]]


def run(check: CheckRun) -> CheckOutcome:
    """`count`: nodes and relations out of proportion; `total`: those of the pairs of numbers that keep one."""
    sample = number_sample(check)
    known = sorted((one for table in sample.tables for one in proportions(table)), key=lambda one: one.spread)[:MOST]
    if not known:
        return CheckOutcome(0, 0)
    asked = [one.asked(at) for at, one in enumerate(known)]
    rows = check.own_rows(suspects=asked, sample=LISTED)
    usual = _usual(sample.tables)
    found = [one for row in rows if (one := _far(known[row["at"]], row, usual)) is not None]
    hits = {id for one in found for id in one.ids}
    given = [{**asked[known.index(one.proportion)], "low": one.low, "high": one.high} for one in found] or asked
    examples = list(one_each(example for one in found for example in examples_of(one.sample)))
    return CheckOutcome(len(hits), sum(row["rows"] for row in rows), examples[: check.sample], parameters={"suspects": given})


def proportions(table: NumberTable) -> Iterator[Proportion]:
    """Of the numbers of a table those two that go with each other."""
    rows = some_of(table.rows, MOST_ROWS)
    columns = [at for at, column in enumerate(table.columns) if _is_asked(column.key)]
    columns = [at for at in columns if sum(row[at] is not None for row in rows) >= LEAST]
    for a, b in islice(((a, b) for a, b in combinations(columns, 2) if table.is_across({a, b})), MOST_OF_A_TABLE):
        found = _proportion(table, rows, (a, b))
        if found is not None:
            yield found


def _is_asked(key: str) -> bool:
    """Whether a number of that name says how much there is of something."""
    words = {*name_words(key)}
    return not (NO_QUANTITY | (SIGNED - AMOUNTS) | SCALES) & words


def _proportion(table: NumberTable, rows: Sequence[Numbers], columns: tuple[int, int]) -> Proportion | None:
    a, b = columns
    both = [(x, y) for row in rows if (x := row[a]) is not None and (y := row[b]) is not None]
    pairs = [(x, y) for x, y in both if x > 0 and y > 0]
    if len(pairs) < max(LEAST, POSITIVE * len(both)) or min(len({x for x, _ in pairs}), len({y for _, y in pairs})) < DIFFERENT:
        return None
    ratios = sorted(x / y for x, y in pairs)
    wide = min(_spread(sorted(x for x, _ in pairs)), _spread(sorted(y for _, y in pairs)))
    by_chance = sorted(x / y for (x, _), y in zip(pairs, dealt([y for _, y in pairs]), strict=True))
    below, above = (
        side if side <= CLOSE and wide >= max(LEAST_WIDE, side**WIDER) and chance >= max(LEAST_WIDE, side**DEALT) else math.inf
        for side, chance in zip(_sides(ratios), _sides(by_chance), strict=True)
    )
    if min(below, above) == math.inf:
        return None
    few = max(ALWAYS, int(FAR * len(ratios)) + 1)
    middle = ratios[len(ratios) // 2]
    return Proportion(table, table.columns[a], table.columns[b], ratios[few], middle, ratios[-few - 1], below, above)


def _at(values: Sequence[float], share: float) -> float:
    return values[int(share * (len(values) - 1) + 0.5)]


def _spread(values: Sequence[float]) -> float:
    """How many times as much the upper end is as the lower one."""
    return _at(values, ENDS[1]) / _at(values, ENDS[0])


def _sides(values: Sequence[float]) -> tuple[float, float]:
    """How many times as much the middle is as the lower end, and the upper end as the middle, squared."""
    middle = _at(values, 0.5)
    return (middle / _at(values, ENDS[0])) ** 2, (_at(values, ENDS[1]) / middle) ** 2


def _usual(tables: Sequence[NumberTable]) -> dict[tuple[str, str], Usual]:
    """Where the numbers of a property lie of which a few are unlike all others: these are told by unusual-number."""
    usual = {}
    for table in tables:
        for at, column in enumerate(table.columns):
            if column.side not in ("node", "relation") or not is_quantity(column.key):
                continue
            values = sorted(value for row in table.rows if (value := row[at]) is not None)
            lie = usual_numbers(column.key, [NumberRange(1, value, value) for value in values])
            if lie is not None:
                usual[column.owner, column.key] = lie
    return usual


def _far(one: Proportion, row: Row, usual: Mapping[tuple[str, str], Usual]) -> FarRatios | None:
    """The rows whose ratio is far from all others, if they are few."""
    farthest, parts = row["farthest"], row["parts"]
    above = [end for _, *ends in parts for end in ends if end >= one.middle]
    below = [1 / end for _, *ends in reversed(parts) for end in reversed(ends) if end <= one.middle]
    high = _edge(above, one.middle, one.above) * MARGIN
    low = 1 / _edge(below, 1 / one.middle, one.below) / MARGIN
    rare = sum(times for times, least, greatest in parts if greatest < low or least > high)
    far = [at for at in range(len(farthest)) if not low <= farthest[at]["ratio"] <= high]
    if not far or rare > max(ALWAYS, FAR * row["rows"]) or row["rows"] < LEAST:
        return None
    new = [at for at in far if not any(
        _is_told(usual.get((side.owner, side.key)), farthest[at][name]) for side, name in ((one.first, "first"), (one.last, "last")))]
    if not new:
        return None
    lie = f"{row['rows'] - rare:,} of {row['rows']:,} lie between {_shown(low)} and {_shown(high)}"
    sample = [{**row["sample"][at], "why": f"{row['sample'][at]['why']}: ratio {_shown(farthest[at]['ratio'])}, where {lie}"} for at in new]
    return FarRatios(one, low, high, row["rows"], [farthest[at]["id"] for at in new], sample)


def _shown(ratio: float) -> str:
    return number(float(f"{ratio:.3g}"))


def _edge(ratios: Sequence[float], middle: float, spread: float) -> float:
    """The outermost ratio that is not far from the others, of those from the middle on, the nearest first."""
    least = GAP_CLOSE if spread <= NARROW else GAP
    for before, ratio in pairwise(ratios):
        if spread < math.inf and ratio / before >= max(least, EDGE * before / middle):
            return before
    return ratios[-1] if ratios else math.inf


def _is_told(usual: Usual | None, value: float) -> bool:
    return usual is not None and not usual.low <= value <= usual.high
