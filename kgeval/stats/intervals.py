"""Intervals of shares: Wilson's, widened or narrowed to the sample that was drawn; of the difference of two, Newcombe's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

from kgeval.rounding import is_equal

MANY = 100_000  # questions, items: of more it is only told that it is more


@dataclass(frozen=True)
class Interval:
    """Two ends, low <= high: in 0..1 of a share, in -1..1 of a difference of shares."""

    low: float
    high: float


def quantile(confidence: float = 0.95, df: float | None = None) -> float:
    """The two-sided quantile for a confidence in (0, 1): of Student's t with `df` degrees of freedom, of the normal if None."""
    from scipy import special

    if df is None or df == inf:
        return float(special.ndtri(0.5 + confidence / 2))
    if df < 1:
        raise ValueError("a t quantile needs at least 1 degree of freedom")
    return float(special.stdtrit(df, 0.5 + confidence / 2))


def wilson(share: float, n: float, *, quantile: float) -> Interval:
    """Wilson's score interval (1927) of a share in 0..1 seen in `n` items; `n` may be an effective size, or infinite.

    Raises: ValueError for a share outside 0..1 or n <= 0.
    """
    if not 0 <= share <= 1 or n <= 0:
        raise ValueError(f"no Wilson interval for a share of {share} in {n} items")
    if n == inf:
        return Interval(share, share)
    z2 = quantile * quantile
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = quantile * sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    # At 0 and 1 rounding could leave the share itself outside.
    return Interval(min(share, max(0.0, centre - half)), max(share, min(1.0, centre + half)))


def unvaried(value: float, n: int, *, low: float, high: float, confidence: float = 0.95) -> Interval:
    """The interval of a mean of values in low..high of which n were drawn, and all were `value`. A bootstrap would say that nothing else
    exists; but three of three that were won do not show that all are.

    With the confidence, other values have a share of at most e = 1 - ((1 - confidence) / 2)^(1/n) (the exact binomial limit for none of n:
    Clopper & Pearson 1934), so the mean lies in value - e (value - low) .. value + e (high - value). It holds the truth at least as often
    as it says. Raises: ValueError for a value outside its range, or n < 1.
    """
    if n < 1 or not low <= value <= high:
        raise ValueError(f"{n} values of {value} in {low}..{high}: there must be one at least, inside its range")
    others = 1 - ((1 - confidence) / 2) ** (1 / n)
    return Interval(value - others * (value - low), value + others * (high - value))


def newcombe(first: tuple[float, float], second: tuple[float, float], *, quantile: float) -> Interval:
    """The interval of the difference of two independent shares, first minus second, each given with its n: Newcombe's hybrid score
    interval (1998, method 10), made of the two Wilson intervals. Ends lie in -1..1. Raises: as wilson."""
    (p1, n1), (p2, n2) = first, second
    first_ends, second_ends = wilson(p1, n1, quantile=quantile), wilson(p2, n2, quantile=quantile)
    below = sqrt((p1 - first_ends.low) ** 2 + (second_ends.high - p2) ** 2)
    above = sqrt((first_ends.high - p1) ** 2 + (p2 - second_ends.low) ** 2)
    return Interval(max(-1.0, p1 - p2 - below), min(1.0, p1 - p2 + above))


def quantile_interval(ordered: Sequence[float], share: float, *, confidence: float = 0.95) -> tuple[float | None, float | None]:
    """The interval of a quantile (`share` in 0..1) of independent values, given in order: the values at the ranks between which the number
    of smaller ones lies with this confidence, by the binomial distribution; no shape is assumed (Conover, Practical Nonparametric
    Statistics, 3.2). None for an end beyond the values that there are: too few for it."""
    from scipy.stats import binom

    n = len(ordered)
    low = int(binom.ppf((1 - confidence) / 2, n, share))  # how many values are below the quantile, at least
    high = int(binom.ppf(1 - (1 - confidence) / 2, n, share)) + 1
    return (ordered[low - 1] if low >= 1 else None, ordered[high - 1] if high <= n else None)


def clipped(value: float, half: float) -> Interval:
    """value -+ half, cut at 0 and 1."""
    low, high = max(0.0, value - half), min(1.0, value + half)
    return Interval(min(low, 1.0), max(high, 0.0))


def needed(share: float, half_width: float, *, design_effect: float = 1.0, population: int | None = None) -> int | None:
    """Items to judge so that Wilson's 95 % interval around `share` has at most this half-width, with this design effect.

    With `population` the finite population correction is applied (never more than all). None for more than MANY.
    Raises: ValueError for a half-width outside (0, 0.5).
    """
    if not 0 < half_width < 0.5:
        raise ValueError("a half-width lies between 0 and 0.5")
    z2 = quantile() ** 2
    # half-width^2 (1 + z2/n)^2 = z2 (p(1-p)/n + z2/(4n^2)), a quadratic in n; its larger root
    h2, spread = half_width**2, share * (1 - share)
    b, c = z2 * (2 * h2 - spread), z2 * z2 * (h2 - 0.25)
    simple = (-b + sqrt(b * b - 4 * h2 * c)) / (2 * h2)
    n = simple * design_effect
    if population is not None:
        n = n / (1 + n / population) if population else 0
    items = round_up(n) if population is None else min(round_up(n), population)
    return items if items <= MANY else None


def round_up(n: float) -> int:
    """Rounded up, but not for the noise of floating point: 100.0000000001 is 100."""
    whole = round(n)
    return whole if is_equal(n, whole) else math.ceil(n)
