"""What a judge's calls say of the judge: first positions, flips, ties, repeats, lengths; counted by question. Pure.

A call is won by the answer with the higher sum of points (or by the judge's own overall choice). Everything is kept by question, so that
figures over several pairs can be clustered by question too.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgeval.comparison.table import PairTable
from kgeval.records import LengthBin, TrialKind

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

EDGES = (1, 10, 25, 50, 100, 200)  # words: bins 1-10, 11-25, ..., 101-200, 201 and more; equal lengths have no longer answer


@dataclass
class Shares:
    """By question: the sum of some shares and how many there are. `mean` weighs each question the same."""

    sums: dict[str, float] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    def add(self, question: str, total: float, number: int) -> None:
        """`number` shares of a question that add up to `total`."""
        if number:
            self.sums[question] = self.sums.get(question, 0.0) + total
            self.numbers[question] = self.numbers.get(question, 0) + number

    def join(self, other: Shares) -> None:
        """Takes in the shares of another pair of systems."""
        for question, total in other.sums.items():
            self.add(question, total, other.numbers[question])

    @property
    def values(self) -> list[float]:
        """One mean a question."""
        return [total / self.numbers[question] for question, total in self.sums.items()]

    @property
    def mean(self) -> float | None:
        """Over questions; None without any."""
        values = self.values
        return sum(values) / len(values) if values else None


@dataclass
class JudgeTally:
    """Counts of one pair, or of several together (`join`).

    `calls`: answered ones. `first`: calls won by the answer that stood first (ties half), over both orders of a question, trial and
    repeat. `a_first`, `a_second`: calls won by A (ties half) where it stood first, second. `flips`: question-trials won by A in one order
    and by B in the other, of all with both orders; `turned`, `agreed`: how many of those that have a winner in both orders; `ahead`: of
    these, won by A where it stood first, second; `decided`: their questions. `ties`: question-trials that are equal in the end.
    `agreeing`: pairs of repeats of one order with the same winner. `bins`: number of the bin -> longer won, shorter won, tie. `widest`:
    the largest difference in words. `points`: how often which were given. `orders`: in how many orders the answers were shown.
    """

    calls: int = 0
    first: Shares = field(default_factory=Shares)
    a_first: Shares = field(default_factory=Shares)
    a_second: Shares = field(default_factory=Shares)
    flips: Shares = field(default_factory=Shares)
    ties: Shares = field(default_factory=Shares)
    agreeing: Shares = field(default_factory=Shares)
    bins: dict[int, list[int]] = field(default_factory=dict)
    widest: int = 0
    points: Counter[float] = field(default_factory=Counter)
    orders: int = 0
    turned: int = 0
    agreed: int = 0
    ahead: tuple[int, int] = (0, 0)
    decided: int = 0

    def join(self, other: JudgeTally) -> None:
        """Takes in another pair of systems. What A won means nothing over pairs: it is left out."""
        self.calls += other.calls
        for name in ("first", "flips", "ties", "agreeing"):
            getattr(self, name).join(getattr(other, name))
        for number, counts in other.bins.items():
            self.bins[number] = [mine + theirs for mine, theirs in zip(self.bins.get(number, [0, 0, 0]), counts, strict=True)]
        self.widest, self.orders = max(self.widest, other.widest), max(self.orders, other.orders)
        self.points += other.points
        self.turned, self.agreed, self.decided = self.turned + other.turned, self.agreed + other.agreed, self.decided + other.decided

    @property
    def constant(self) -> float | None:
        """The one score that the judge gave everywhere; None if there are two or none."""
        return next(iter(self.points)) if len(self.points) == 1 else None


def tally(table: PairTable, *, trial_kind: TrialKind = "regenerate") -> JudgeTally:
    """The counts of one pair. `trial_kind` rejudge: the answers are the same in all trials, so trials count as repeats too."""
    import numpy as np

    calls = _calls(table)
    answered = ~np.isnan(calls)
    counts = JudgeTally(calls=int(answered.sum()), orders=calls.shape[2] if calls.size else 0)
    counts.points = points_given(table.points)
    if counts.orders == 2:
        _positions(counts, table, calls)
    elif counts.orders == 1 and table.procedure == "biased":  # one order only: A stands first in every call
        _shares(counts.a_first, table, (calls[:, :, 0] + 1) / 2)
    wins = table.judged_wins()
    _shares(counts.ties, table, np.where(np.isnan(wins), np.nan, wins == 0))
    _repeats(counts, table, calls, together=trial_kind == "rejudge")
    _lengths(counts, table, wins)
    return counts


def points_given(points: Floats) -> Counter[float]:
    """How often which points were given, NaN left out."""
    import numpy as np

    values, times = np.unique(points[~np.isnan(points)], return_counts=True)
    return Counter(dict(zip(values.tolist(), times.tolist(), strict=True)))


def _calls(table: PairTable) -> Floats:
    """Who won each call: 1 A, 0 nobody, -1 B, NaN unknown; (questions, trials, positions, repeats)."""
    import numpy as np

    if table.aspects:
        return table.winners(table.call_gaps())
    return np.full(table.points.shape[:-2], np.nan)


def _positions(counts: JudgeTally, table: PairTable, calls: Floats) -> None:
    """Only where both orders of a repeat were answered: half an exchange would count one system more often as the first."""
    import numpy as np

    ab, ba = calls[:, :, 0], calls[:, :, 1]
    both = ~np.isnan(ab) & ~np.isnan(ba)
    a_first, a_second = np.where(both, (ab + 1) / 2, np.nan), np.where(both, (ba + 1) / 2, np.nan)
    _shares(counts.a_first, table, a_first)
    _shares(counts.a_second, table, a_second)
    _shares(counts.first, table, (a_first + 1 - a_second) / 2)
    product = ab.mean(axis=-1) * ba.mean(axis=-1)  # over repeats; NaN where one is lacking, below 0 where the orders disagree
    _shares(counts.flips, table, np.where(np.isnan(product), np.nan, product < 0))
    with np.errstate(invalid="ignore"):
        counts.turned, counts.agreed = int((product < 0).sum()), int((product > 0).sum())
        decided = np.abs(product) > 0
        first, second = (int((decided & (order.mean(axis=-1) > 0)).sum()) for order in (ab, ba))
        counts.ahead = first, second
    counts.decided = int(decided.any(axis=1).sum())


def _shares(into: Shares, table: PairTable, values: Floats) -> None:
    """Adds values whose first axis is the question; NaN is left out."""
    import numpy as np

    flat = values.reshape(len(table.questions), -1)
    counted = ~np.isnan(flat)
    totals, numbers = np.where(counted, flat, 0.0).sum(axis=1).tolist(), counted.sum(axis=1).tolist()
    for question, total, number in zip(table.questions, totals, numbers, strict=True):
        into.add(question.question_id, total, number)


def _repeats(counts: JudgeTally, table: PairTable, calls: Floats, *, together: bool) -> None:
    """Pairs of calls that were asked the same thing: of those, how many named the same winner."""
    import numpy as np

    alike = np.moveaxis(calls, 1, 2)  # (questions, positions, trials, repeats)
    groups = alike.reshape(*alike.shape[:2], 1, -1) if together else alike
    outcomes = np.stack([(groups == sign).sum(axis=-1) for sign in (1, 0, -1)], axis=-1)  # (questions, positions, groups, 3)
    equal = (outcomes * (outcomes - 1) // 2).sum(axis=(1, 2, 3)).tolist()
    total = outcomes.sum(axis=-1)
    pairs = (total * (total - 1) // 2).sum(axis=(1, 2)).tolist()
    for question, same, of in zip(table.questions, equal, pairs, strict=True):
        counts.agreeing.add(question.question_id, float(same), of)


def _lengths(counts: JudgeTally, table: PairTable, wins: Floats) -> None:
    """Question-trials by how many words the answers differ."""
    import numpy as np

    difference = table.words[..., 0] - table.words[..., 1]
    usable = ~np.isnan(difference) & ~np.isnan(wins) & (difference != 0)
    gaps, longer = np.abs(difference[usable]), (np.sign(difference) * wins)[usable]
    counts.widest = int(gaps.max()) if gaps.size else 0
    bins = np.searchsorted(EDGES[1:], gaps, side="left")
    for number in np.unique(bins).tolist():
        in_bin = longer[bins == number]
        counts.bins[number] = [int((in_bin == sign).sum()) for sign in (1, -1, 0)]


def length_bins(counts: JudgeTally) -> list[LengthBin]:
    """The bins that hold something, from near to far: shares of question-trials."""
    bins = []
    for number, outcomes in sorted(counts.bins.items()):
        n = sum(outcomes)
        low = EDGES[0] if number == 0 else EDGES[number] + 1
        high = EDGES[number + 1] if number + 1 < len(EDGES) else counts.widest
        longer, shorter, ties = (outcome / n for outcome in outcomes)
        bins.append(LengthBin(low=low, high=high, n=n, longer_wins=longer, shorter_wins=shorter, ties=ties))
    return bins
