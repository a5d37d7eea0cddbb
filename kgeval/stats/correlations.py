"""Correlations with intervals: Spearman's rho, Kendall's tau-b, Pearson's r; constant columns have none, and say so."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from kgeval.stats.kappa import IntervalEstimate
from kgeval.stats.resampling import RESAMPLES, numbered, resampled
from kgeval.stats.rests import tied

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from kgeval.stats.resampling import Statistic

    Floats = npt.NDArray[np.float64]

Kind = Literal["spearman", "kendall", "pearson"]
KINDS: tuple[Kind, ...] = ("spearman", "kendall", "pearson")
LEAST = 3
LARGE = 1_500  # rows; with more, tau is computed resample by resample, and fewer of them
FEW = 300
SAME = 1e-12  # of a variance of columns in 0..1, or of ranks


@dataclass(frozen=True)
class Correlations:
    """`n` rows of `units` units. `constant`: "first", "second" or "both" where a side has one value only; then nothing has a value."""

    n: int
    units: int
    values: dict[Kind, IntervalEstimate] = field(default_factory=dict)
    constant: str | None = None


def correlate(
    first: Sequence[float] | Floats, second: Sequence[float] | Floats, *, seed: int, units: Sequence[Hashable] | None = None,
    kinds: Sequence[Kind] = KINDS, resamples: int = RESAMPLES,
) -> Correlations:
    """The correlations of two columns with 95 % intervals (BCa, resampling units: rows of one question are drawn together).

    Fewer than LEAST rows, or a constant side: no value. `resamples`: fewer are drawn for tau of more than LARGE rows.
    Raises: ValueError for columns of different lengths or values that are not finite.
    """
    import numpy as np

    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.shape != y.shape:
        raise ValueError("two columns must have the same rows")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("there is no correlation of values that are not finite numbers")
    x, y = tied(x), tied(y)
    unit_of = numbered(units, len(x))
    count = int(unit_of.max()) + 1 if len(x) else 0
    flat = [name for name, column in (("first", x), ("second", y)) if len(column) and not np.ptp(column)]
    constant = "both" if len(flat) == 2 else flat[0] if flat else None
    if len(x) < LEAST or constant:
        return Correlations(len(x), count, {kind: IntervalEstimate() for kind in kinds}, constant if len(x) >= LEAST else None)
    values: dict[Kind, IntervalEstimate] = {}
    for kind in kinds:
        value = plain(x, y, kind)
        draws = min(resamples, FEW) if kind == "kendall" and len(x) > LARGE else resamples
        interval = resampled(statistic(x, y, kind), unit_of, seed=seed, resamples=draws)
        values[kind] = IntervalEstimate(value, interval.low, interval.high) if interval else IntervalEstimate(value)
    return Correlations(len(x), count, values)


def plain(x: Floats, y: Floats, kind: Kind) -> float:
    """The correlation itself, by scipy. NaN where a side is constant."""
    from scipy import stats

    if kind == "kendall":
        return float(stats.kendalltau(x, y).statistic)
    return float((stats.spearmanr if kind == "spearman" else stats.pearsonr)(x, y).statistic)


def statistic(x: Floats, y: Floats, kind: Kind) -> Statistic:
    """The correlation as a function of weights: (draws, rows) -> (draws,), NaN where a side is constant among the rows with weight."""
    if kind == "pearson":
        whole_x, whole_y = _to_one(x), _to_one(y)
        return lambda w: _pearson(w, whole_x, whole_y)
    if kind == "spearman":
        ranks_x, ranks_y = _Ranks(x), _Ranks(y)
        return lambda w: _pearson(w, ranks_x.of(w), ranks_y.of(w))
    if len(x) > LARGE:
        return lambda w: _each_tau(w, x, y)
    return _taus(x, y)


def _to_one(column: Floats) -> Floats:
    """Moved and stretched to 0..1, which r does not see: what counts as constant must not hang on the unit."""
    import numpy as np

    width = float(np.ptp(column))
    return (column - column.min()) / width if width > 0 else column * 0.0


class _Ranks:
    """Middle ranks of a column under weights: a row with weight 2 stands twice."""

    def __init__(self, column: Floats) -> None:
        import numpy as np

        self._order = np.argsort(column, kind="stable")
        ordered = column[self._order]
        self._starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        self._group = np.cumsum(np.r_[True, ordered[1:] != ordered[:-1]]) - 1
        self._back = np.argsort(self._order, kind="stable")

    def of(self, weights: Floats) -> Floats:
        """(draws, rows) ranks."""
        import numpy as np

        # A group of equal values has the middle of the places that its rows take.
        held = np.add.reduceat(weights[:, self._order], self._starts, axis=1)
        middle = np.cumsum(held, axis=1) - held / 2
        ranks: Floats = middle[:, self._group][:, self._back]
        return ranks


def _pearson(w: Floats, x: Floats, y: Floats) -> Floats:
    """Pearson's r with weights; x, y: (rows,) or (draws, rows)."""
    import numpy as np

    total = w.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        dx, dy = x - (w * x).sum(axis=1, keepdims=True) / total, y - (w * y).sum(axis=1, keepdims=True) / total
        vx, vy = (w * dx * dx).sum(axis=1), (w * dy * dy).sum(axis=1)
        r: Floats = np.where((vx > SAME) & (vy > SAME), (w * dx * dy).sum(axis=1) / np.sqrt(vx * vy), np.nan)
    return np.clip(r, -1, 1)


def _taus(x: Floats, y: Floats) -> Statistic:
    """Tau-b from the signs of all pairs of rows: sums over pairs are products with the weights."""
    import numpy as np

    # 32 bits hold signs and counts exactly (below 2^24), in half the memory and time; sums over all rows are made with 64.
    sx, sy = np.sign(x[:, None] - x[None, :]).astype(np.float32), np.sign(y[:, None] - y[None, :]).astype(np.float32)
    both, in_x, in_y = sx * sy, np.abs(sx), np.abs(sy)

    def of(w: Floats) -> Floats:
        small = w.astype(np.float32)
        same, untied_x, untied_y = (((small @ matrix) * small).sum(axis=1, dtype=np.float64) for matrix in (both, in_x, in_y))
        with np.errstate(invalid="ignore", divide="ignore"):
            tau: Floats = np.where((untied_x > 0) & (untied_y > 0), same / np.sqrt(untied_x * untied_y), np.nan)
        return tau

    return of


def _each_tau(w: Floats, x: Floats, y: Floats) -> Floats:
    import numpy as np

    index = np.arange(len(x))
    drawn = (np.repeat(index, row.astype(np.int64)) for row in w)
    return np.array([plain(x[rows], y[rows], "kendall") for rows in drawn])
