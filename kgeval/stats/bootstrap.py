"""Intervals of means by the bootstrap (Efron 1987: bias-corrected and accelerated, BCa), for 2 to 100,000 values and more.

The bootstrap distribution of a mean is known by its cumulants without drawing anything. Where it is nearly normal (SMOOTH values
or more, skewness of the mean at most NEARLY_NORMAL) its quantiles come from them by Cornish and Fisher's expansion: what endless
resampling would give, nearer than RESAMPLES draws come to it, and in no time. Elsewhere resamples are drawn. Values are sorted first,
so the order in which they come changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgeval.rounding import REST, is_equal
from kgeval.stats.intervals import Interval
from kgeval.stats.rests import unit_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

RESAMPLES = 10_000
SMOOTH = 500
NEARLY_NORMAL = 0.1
DRAWS = 50_000_000  # in one interval, at most: from 5,000 skewed values on there are fewer resamples, never under LEAST
LEAST = 1_000
CHUNK = 2_000_000  # draws in memory at a time


@dataclass(frozen=True)
class BootstrapShape:
    """The bootstrap distribution of an estimate: its centre and cumulants, exact. `values`: how many it is made of."""

    values: int
    centre: float
    k2: float
    k3: float
    k4: float

    @property
    def skewness(self) -> float:
        """Of the estimate, not of the values."""
        return float(self.k3 / self.k2**1.5)

    @property
    def acceleration(self) -> float:
        """BCa's a: the jackknife's skewness over 6, in closed form for means (Efron & Tibshirani 1993, eq. 14.15)."""
        return self.skewness / 6


def bootstrap_mean(
    values: Sequence[float] | Floats, *, seed: int, confidence: float = 0.95, resamples: int | None = None,
) -> Interval | None:
    """The BCa interval of the mean of independent values; of paired differences for a paired comparison.

    None for fewer than 2 values: nothing is known of their spread. Values that are all equal give that value twice. The mean itself
    is always inside, and no end lies outside the values. `resamples`: that many are drawn whatever the shape; None: see above.
    Raises: ValueError for a value that is no finite number, or a confidence outside 0..1.
    """
    sample = _checked(values, confidence)
    return _interval((sample,), (1,), seed, confidence, resamples)


def bootstrap_difference(
    a: Sequence[float] | Floats, b: Sequence[float] | Floats, *, seed: int, confidence: float = 0.95, resamples: int | None = None,
) -> Interval | None:
    """The BCa interval of mean(a) - mean(b) of two independent groups, each resampled by itself. Ends may be negative.

    None where a group has fewer than 2 values. Otherwise as `bootstrap_mean`.
    """
    return _interval((_checked(a, confidence), _checked(b, confidence)), (1, -1), seed, confidence, resamples)


def bootstrap_sum(
    groups: Sequence[Sequence[float] | Floats], *, seed: int, confidence: float = 0.95, resamples: int | None = None,
) -> Interval | None:
    """The BCa interval of the sum of the means of independent groups, each resampled by itself: a mean over groups, if their values were
    divided by the number of groups before. None where a group has fewer than 2 values. Otherwise as `bootstrap_mean`.
    """
    samples = tuple(_checked(group, confidence) for group in groups)
    return _interval(samples, (1,) * len(samples), seed, confidence, resamples)


def _checked(values: Sequence[float] | Floats, confidence: float) -> Floats:
    import numpy as np

    if not 0 < confidence < 1:
        raise ValueError(f"a confidence of {confidence} is not between 0 and 1")
    sample: Floats = np.sort(np.asarray(values, dtype=np.float64))
    if not np.isfinite(sample).all():
        raise ValueError("there is no interval for values that are not finite numbers")
    return sample


def _interval(samples: tuple[Floats, ...], signs: tuple[int, ...], seed: int, confidence: float, resamples: int | None) -> Interval | None:
    """The interval of the signed sum of the samples' means."""
    import numpy as np

    if any(len(sample) < 2 for sample in samples):
        return None
    if all(is_equal(sample[0], sample[-1], scale=max(-sample[0], sample[-1])) for sample in samples):
        # Around the first value: the mean of equal values is then that value to the last digit, and their sum over n may not be.
        end = sum(sign * float(sample[0] + (sample - sample[0]).mean()) for sign, sample in zip(signs, samples, strict=True))
        return Interval(end, end)
    unit = unit_of(*samples)
    samples = tuple(sample / unit for sample in samples)
    shape = _shape(samples, signs)
    if resamples is None and shape.values >= SMOOTH and abs(shape.skewness) <= NEARLY_NORMAL:
        low, high = (_expanded(shape, z) for z in _levels(shape.acceleration, shape.acceleration, confidence))
    else:
        rng = np.random.default_rng(seed)
        count = resamples or max(LEAST, min(RESAMPLES, DRAWS // shape.values))
        drawn = sum(sign * _means(sample, count, rng) for sign, sample in zip(signs, samples, strict=True))
        low, high = _quantiles(np.asarray(drawn), shape, confidence)
    return Interval(min(low, shape.centre) * unit, max(high, shape.centre) * unit)


def _shape(samples: tuple[Floats, ...], signs: tuple[int, ...]) -> BootstrapShape:
    """Cumulants of a mean of n draws: those of one draw over n, n^2, n^3; cumulants of independent parts add up."""
    import numpy as np

    centre = k2 = k3 = k4 = 0.0
    for sign, sample in zip(signs, samples, strict=True):
        n, mean = len(sample), float(sample.mean())
        from_mean = sample - mean
        squared = from_mean * from_mean
        m2 = float(squared.mean())
        # in place: a sample may be a million values, and two of its size are enough
        m3 = float(np.multiply(squared, from_mean, out=from_mean).mean())
        m4 = float(np.multiply(squared, squared, out=squared).mean())
        centre += sign * mean
        k2 += m2 / n
        k3 += sign * m3 / n**2
        k4 += (m4 - 3 * m2 * m2) / n**3
    return BootstrapShape(sum(map(len, samples)), centre, k2, k3, k4)


def _levels(bias: float, acceleration: float, confidence: float) -> tuple[float, float]:
    """BCa's two levels as normal quantiles: z0 + (z0 + z) / (1 - a (z0 + z)).

    In an expansion of a mean the bias correction z0 equals a: both are a sixth of the skewness.
    """
    from scipy import special

    z = float(special.ndtri(0.5 + confidence / 2))
    low, high = (bias + (bias + end) / (1 - acceleration * (bias + end)) for end in (-z, z))
    return low, high


def _expanded(shape: BootstrapShape, z: float) -> float:
    """The quantile at the normal quantile z (Cornish & Fisher 1938, to the second order)."""
    skewness, excess = shape.skewness, shape.k4 / shape.k2**2
    w = z + skewness * (z**2 - 1) / 6 + excess * (z**3 - 3 * z) / 24 - skewness**2 * (2 * z**3 - 5 * z) / 36
    return float(shape.centre + shape.k2**0.5 * w)


def _quantiles(drawn: Floats, shape: BootstrapShape, confidence: float) -> tuple[float, float]:
    import numpy as np
    from scipy import special

    # resampled means that are equal on paper differ in their last digits; ties count half
    # Of the spread, so that it does not depend on the unit of the values.
    tied = REST * shape.k2**0.5
    below = float((drawn < shape.centre - tied).mean() + (drawn <= shape.centre + tied).mean()) / 2
    # With all draws on one side the quantile would be infinite.
    half_a_draw = 0.5 / len(drawn)
    bias = float(special.ndtri(min(1 - half_a_draw, max(half_a_draw, below))))
    low, high = np.quantile(drawn, special.ndtr(_levels(bias, shape.acceleration, confidence)))
    return float(low), float(high)


def _means(sample: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Means of `count` resamples of a sorted sample; (count,). Memory: CHUNK draws."""
    import numpy as np

    n = len(sample)
    distinct, times = np.unique(sample, return_counts=True)
    if len(distinct) * 20 <= n:  # how often each value is drawn, instead of what is drawn: a draw costs the twentieth part
        drawn: Floats = rng.multinomial(n, times / n, size=count) @ distinct / n
        return drawn
    means = np.empty(count, dtype=np.float64)
    step = max(1, CHUNK // n)
    for start in range(0, count, step):
        part = min(step, count - start)
        means[start : start + part] = sample[rng.integers(0, n, size=(part, n), dtype=np.int32)].mean(axis=1)
    return means
