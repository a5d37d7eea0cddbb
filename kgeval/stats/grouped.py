"""Means of values that come in groups: several questions of one document say less than as many of as many documents.

Cluster-robust variance with the small-sample correction CR2 and the degrees of freedom of Bell and McCaffrey (2002), which hold for few
groups too (Imbens & Kolesar 2016; Pustejovsky & Tipton 2018); both have a closed form for a mean. Of bounded values the interval is
Wilson's, at the size at which independent values of 0 and 1 would vary as much: a plain one covers too little near the bounds (simulated in
tests). The test flips the signs of whole groups. With fewer than LEAST_GROUPS groups there is no interval: nothing could tell whether a
further document would be like these.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import TYPE_CHECKING

from kgeval.rounding import is_zero
from kgeval.stats.intervals import Interval, quantile, unvaried, wilson
from kgeval.stats.rests import mean_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]

LEAST_GROUPS = 6


@dataclass(frozen=True)
class GroupedMean:
    """A mean over values in groups. `interval` None: fewer than LEAST_GROUPS groups. `variance`: of the mean; None with one group.
    `groups`: how many there are; `effective`: as many independent values would be as sure, at most all of them."""

    mean: float
    interval: Interval | None
    variance: float | None
    groups: int
    effective: float | None


@dataclass(frozen=True)
class _Part:
    """One stratum: its mean, the variance of that, its degrees of freedom, groups, and the variance that independent values would have."""

    mean: float
    variance: float
    df: float
    groups: int
    plain: float


def group_numbers(names: Iterable[str | None]) -> Whole:
    """The number of each value's group, in the order of first sight; what is in no group (None) has a number of its own."""
    import numpy as np

    numbers: dict[str | int, int] = {}
    return np.array([numbers.setdefault(place if name is None else name, len(numbers)) for place, name in enumerate(names)], dtype=np.int64)


def are_grouped(groups: Whole) -> bool:
    """Whether any group has two values or more."""
    import numpy as np

    return len(np.unique(groups)) < len(groups)


def grouped_mean(
    parts: Sequence[tuple[Floats, Whole]], *, low: float = -inf, high: float = inf, confidence: float = 0.95,
) -> GroupedMean:
    """The mean over strata (one: all values) of their means, each given with the numbers of its values' groups; values lie in low..high.

    Strata are what they are, groups within them a sample of more. Where the groups do not differ the interval is that of as many equal
    values as there are groups (`intervals.unvaried`). Raises: ValueError for a stratum without values.
    """
    if not parts or any(not len(values) for values, _ in parts):
        raise ValueError("there is no mean of no values")
    found = [_part(values, groups) for values, groups in parts]
    bounded = high - low < inf
    scale = high - low if bounded else max(float(abs(values).max()) for values, _ in parts)
    mean = mean_of([part.mean for part in found], scale=scale)
    groups = sum(part.groups for part in found)
    if min(part.groups for part in found) < 2:
        return GroupedMean(mean, None, None, groups, None)
    share = len(found) ** 2
    variance = sum(part.variance for part in found) / share
    n = sum(len(values) for values, _ in parts)
    if is_zero(sqrt(variance), scale=scale):
        # the groups' means are all alike: of another group nothing was seen, so nothing says that it must be like these
        ends = unvaried(min(high, max(low, mean)), groups, low=low, high=high, confidence=confidence) if bounded else Interval(mean, mean)
        return GroupedMean(mean, ends if groups >= LEAST_GROUPS else None, 0.0, groups, float(groups))
    plain = sum(part.plain for part in found) / share
    effective = min(float(n), n * plain / variance)
    if groups < LEAST_GROUPS:
        return GroupedMean(mean, None, variance, groups, effective)
    # of a sum of independent parts: Satterthwaite (1946)
    df = variance**2 / sum((part.variance / share) ** 2 / part.df for part in found if part.df < inf and part.variance)
    times = quantile(confidence, max(1.0, df))
    return GroupedMean(mean, _interval(mean, variance, times, low, high), variance, groups, effective)


def group_sums(values: Floats, groups: Whole) -> Floats:
    """The sum of each group's values, for a test that flips the signs of whole groups; groups in the order of their numbers."""
    import numpy as np

    _, places = np.unique(groups, return_inverse=True)
    return np.bincount(places, weights=values).astype(np.float64)


def _interval(mean: float, variance: float, times: float, low: float, high: float) -> Interval:
    """`times`: how many standard errors; where values are bounded they are those of Wilson's interval."""
    if high - low == inf:
        return Interval(mean - times * sqrt(variance), mean + times * sqrt(variance))
    width = high - low
    share = min(1.0, max(0.0, (mean - low) / width))
    ends = wilson(share, share * (1 - share) * width**2 / variance, quantile=times)
    return Interval(low + width * ends.low, low + width * ends.high)


def _part(values: Floats, groups: Whole) -> _Part:
    """With p_g = n_g / n of the values in group g and s_g the sum of its residuals, CR2 is sum s_g^2 / (1 - p_g) / n^2: the vector of ones
    is an eigenvector of I - P_gg. Its degrees of freedom are (tr B)^2 / tr(B^2), B = A (diag(n_g) - n_g n_h / n) A with
    A = diag((1 - p_g)^-1/2), for values that are independent."""
    import numpy as np

    mean, n = mean_of(values), len(values)
    _, places, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    plain = float(values.var(ddof=1)) / n if n > 1 else 0.0
    if len(sizes) < 2:
        return _Part(mean, 0.0, inf, len(sizes), plain)
    share = sizes / n
    sums = np.bincount(places, weights=values - mean)
    variance = float((sums * sums / (1 - share)).sum()) / n**2
    # B = diag(d) - c c' with d = p / (1 - p), c = p / sqrt(1 - p): its traces need no table of groups by groups
    d, c2 = share / (1 - share), share * share / (1 - share)
    trace = float((d - c2).sum())
    squared = float((d * d - 2 * d * c2).sum() + c2.sum() ** 2)
    return _Part(mean, variance, trace * trace / squared, len(sizes), plain)
