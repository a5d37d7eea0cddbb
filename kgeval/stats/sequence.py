"""Confidence sequences: intervals of a mean that hold at every look, however often one looks and whenever one stops.

For values in -1..1 that are drawn independently from one population. Whoever bets against "the mean is m" with a share f of what he has,
multiplies it by 1 - f + f (1 + x) / (1 + m) at each value x. If m (or less) is the mean, nobody wins in the long run: the chance that
his wealth ever reaches 2 / alpha is at most alpha / 2 (Ville 1939). What he reaches it with is no longer believed. Bets on a greater mean
give the low end, the mirrored bets the high one: the hedged capital process of Waudby-Smith & Ramdas (2024, J. R. Stat. Soc. B 86,
section 4) with the bets of Cover's universal portfolio (1991; as a confidence sequence: Orabona & Jun 2024): all shares at once, weighted
by the arcsine law, so that none has to be chosen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import log
from typing import TYPE_CHECKING

from kgeval.stats.intervals import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

SHARES = 20  # points of the arcsine law; ten times as many move no end by 1e-5
ROUNDS, PARTS = 8, 32  # ends are found to 2 / 32^8


@dataclass
class ConfidenceSequence:
    """The running interval of one mean. `add` values in the order in which they come; `interval` holds the true mean at all times
    together with a chance of at least `confidence`. It only narrows: what was once excluded stays so.

    The population is what the values were drawn from, not the values themselves: the interval of a set of questions is about the questions
    that the set was drawn from, as is the interval of the finished comparison.
    Raises: ValueError for a confidence outside 0..1.
    """

    confidence: float = 0.95
    n: int = 0
    interval: Interval = field(default=Interval(-1.0, 1.0))
    _counts: Counter[float] = field(default_factory=Counter, repr=False)

    def __post_init__(self) -> None:
        threshold(self.confidence)

    @property
    def mean(self) -> float | None:
        """Of the values so far; None before the first."""
        return sum(value * times for value, times in self._counts.items()) / self.n if self.n else None

    def add(self, values: Iterable[float]) -> Interval:
        """The interval after these values too. How they are cut into calls changes nothing.

        Should the sequence contradict itself (no mean is left: the values were not drawn from one population in random order, or the
        chance of 1 - confidence came true), the last interval stays.
        Raises: ValueError for a value outside -1..1; none of the values is taken then.
        """
        taken = list(values)
        if any(not -1 <= value <= 1 for value in taken):
            raise ValueError("a confidence sequence needs values in -1..1")
        for value in taken:
            self._counts[float(value)] += 1
            self.n += 1
            now = self.at_once()
            low, high = max(self.interval.low, now.low), min(self.interval.high, now.high)
            if low <= high:
                self.interval = Interval(low, high)
        return self.interval

    def at_once(self) -> Interval:
        """The interval by the values so far alone, not intersected with those before: it always holds their mean."""
        if self.n == 0:
            return Interval(-1.0, 1.0)
        import numpy as np

        values, times = np.array(list(self._counts)), np.array(list(self._counts.values()), dtype=np.float64)
        limit = threshold(self.confidence)
        return Interval(_low(values, times, limit), -_low(-values, times, limit))


def threshold(confidence: float = 0.95) -> float:
    """The logarithm of the wealth at which a mean is given up: log(2 / alpha); half of alpha for each side. Raises: ValueError."""
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence of {confidence} is not between 0 and 1")
    return log(2 / (1 - confidence))


def log_wealth(values: Floats, mean: float) -> Floats:
    """Logarithm of the wealth after each value of betting that the true mean is above `mean`; (..., n) -> (..., n).

    Values in -1..1; NaN: no value there, the wealth stays. `mean` in -1..1, -1 excluded. Against means below: log_wealth(-values, -mean).
    A sequence excludes `mean` from below where this ever reached `threshold`: many sequences at once, for simulations.
    """
    import numpy as np

    shares, weights = _shares()
    with np.errstate(divide="ignore"):  # a share of 1 may lose all
        grown: Floats = np.log((1 - shares) + shares * ((1 + values[..., None]) / (1 + mean)))
    grown = np.where(np.isnan(values)[..., None], 0.0, grown)
    return _mixed(np.cumsum(grown, axis=-2), weights)


def _low(values: Floats, times: Floats, limit: float) -> float:
    """The greatest mean that bets on more have ruined: their wealth falls as the mean rises, so the place is cut smaller and smaller."""
    import numpy as np

    # Every mean that is tried would be -1, and 1 + mean is divided by.
    if values.max() == -1:
        return -1.0
    shares, weights = _shares()
    ruined, held = -1.0, float(values @ times / times.sum())  # at the mean of the values no bet has won
    for _ in range(ROUNDS):
        means = np.linspace(ruined, held, PARTS + 1)
        won = (1 + values[:, None, None]) / (1 + means[1:-1, None])
        lost = int((_mixed(np.tensordot(times, np.log(1 - shares + shares * won), axes=1), weights) >= limit).sum())
        ruined, held = float(means[lost]), float(means[lost + 1])
    return ruined


def _shares() -> tuple[Floats, Floats]:
    """The shares that are bet and their weights: midpoints of equal parts of the arcsine law (Beta(1/2, 1/2)), none 0 or 1."""
    import numpy as np

    shares: Floats = np.sin(np.pi * (np.arange(SHARES) + 0.5) / (2 * SHARES)) ** 2
    return shares, np.full(SHARES, 1 / SHARES)


def _mixed(logs: Floats, weights: Floats) -> Floats:
    """Logarithm of the weighted mean over the last axis of what the logarithms stand for."""
    import numpy as np

    # The largest is taken out first: exp of a few hundred is too large for a number.
    most = logs.max(axis=-1)
    mixed: Floats = most + np.log(np.exp(logs - most[..., None]) @ weights)
    return mixed
