"""Bootstrap intervals of any figure that can be computed from rows with weights (Efron 1987: bias-corrected and accelerated).

A resample of n units is a row of n counts that add up to n. Units are what was sampled: items, questions. Several rows of one unit (two
labels of one pair) are drawn together, so labels of one question are never taken for independent ones.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from kgeval.rounding import REST
from kgeval.stats.intervals import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]

RESAMPLES = 2_000
LEAST_UNITS = 3
JACKKNIFED = 2_000  # units; with more, the acceleration is next to 0
UNDEFINED = 0.1  # share of resamples without a value, above which there is no interval
CELLS = 4_000_000  # weights in memory at a time
KEPT = 500_000  # weights of one size that are kept

Statistic = Callable[["Floats"], "Floats"]
"""(draws, rows) weights -> (draws,) values; NaN where there is none."""


def numbered(units: Sequence[Hashable] | None, rows: int) -> Whole:
    """The place of each row's unit, from 0 in order of appearance; without units each row is its own.

    Raises: ValueError where there are not as many units as rows.
    """
    import numpy as np

    if units is None:
        return np.arange(rows, dtype=np.int64)
    if len(units) != rows:
        raise ValueError(f"{len(units)} units were given for {rows} rows")
    places = {unit: index for index, unit in enumerate(dict.fromkeys(units))}
    return np.array([places[unit] for unit in units], dtype=np.int64)


def resampled(
    statistic: Statistic, unit_of: Whole, *, seed: int, confidence: float = 0.95, resamples: int = RESAMPLES,
) -> Interval | None:
    """The BCa interval of a figure, resampling units. The figure itself is always inside.

    None for fewer than LEAST_UNITS units, where the figure is not defined, and where more than UNDEFINED of the resamples have no value.
    Raises: ValueError for a confidence outside 0..1.
    """
    import numpy as np

    if not 0 < confidence < 1:
        raise ValueError(f"a confidence of {confidence} is not between 0 and 1")
    units = int(unit_of.max()) + 1 if len(unit_of) else 0
    if units < LEAST_UNITS:
        return None
    value = float(statistic(np.ones((1, len(unit_of))))[0])
    drawn = _drawn(statistic, unit_of, units, seed, resamples)
    known = drawn[np.isfinite(drawn)]
    if not np.isfinite(value) or len(known) < (1 - UNDEFINED) * len(drawn):
        return None
    low, high = _ends(known, value, _acceleration(statistic, unit_of, units), confidence)
    return Interval(min(low, value), max(high, value))


def _drawn(statistic: Statistic, unit_of: Whole, units: int, seed: int, resamples: int) -> Floats:
    import numpy as np

    step = max(1, CELLS // max(units, len(unit_of)))
    parts = (_counts(units, min(step, resamples - start), seed, start) for start in range(0, resamples, step))
    drawn: Floats = np.concatenate([statistic(counts[:, unit_of]) for counts in parts])
    return drawn


def _counts(units: int, draws: int, seed: int, start: int) -> Floats:
    """How often each unit is drawn, (draws, units). One report asks for the same again and again: small ones are kept."""
    return _kept_counts(units, draws, seed, start) if units * draws <= KEPT else _new_counts(units, draws, seed, start)


def _new_counts(units: int, draws: int, seed: int, start: int) -> Floats:
    import numpy as np

    # A stream for each part: one that was kept needs no earlier part to be drawn again.
    rng = np.random.default_rng((seed, start))
    return rng.multinomial(units, np.full(units, 1 / units), size=draws).astype(np.float64)


# 64 MB at most: 16 of KEPT weights.
_kept_counts = lru_cache(maxsize=16)(_new_counts)


def _acceleration(statistic: Statistic, unit_of: Whole, units: int) -> float:
    """BCa's a from the values without each unit (Efron & Tibshirani 1993, eq. 14.15); 0 where they say nothing."""
    import numpy as np

    if units > JACKKNIFED:
        return 0.0
    out = []
    step = max(1, CELLS // max(units, len(unit_of)))
    for start in range(0, units, step):
        left = np.arange(start, min(units, start + step))
        out.append(statistic((unit_of[None, :] != left[:, None]).astype(np.float64)))
    values = np.concatenate(out)
    values = values[np.isfinite(values)]
    gaps = values.mean() - values if len(values) else values
    spread = float((gaps**2).sum()) ** 1.5
    # Where the figure is nearly the same without any unit, gaps are rounding, and their quotient could be anything.
    return float((gaps**3).sum()) / (6 * spread) if spread > 1e-15 else 0.0


def _ends(drawn: Floats, value: float, acceleration: float, confidence: float) -> tuple[float, float]:
    import numpy as np
    from scipy import special

    # Draws that are equal on paper differ in their last digits; ties count half. At all draws on one side the quantile would be infinite.
    tied = REST * max(1.0, abs(value))
    below = float((drawn < value - tied).mean() + (drawn <= value + tied).mean()) / 2
    half = 0.5 / len(drawn)
    bias = float(special.ndtri(min(1 - half, max(half, below))))
    z = float(special.ndtri(0.5 + confidence / 2))
    levels = [special.ndtr(bias + (bias + end) / (1 - acceleration * (bias + end))) for end in (-z, z)]
    low, high = np.quantile(drawn, levels)
    return float(low), float(high)
