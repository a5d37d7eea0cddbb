"""How far labellers agree beyond chance: kappa with weights (Cohen 1968), Krippendorff's alpha (2011), shares of equal labels.

Labels are numbers of categories, from 0, in their order; NaN: not labelled. Unweighted kappa of texts stands in `agreement`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Literal, TypeVar

from kgeval.stats.resampling import numbered, resampled

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from kgeval.stats.resampling import Statistic, Whole

    Floats = npt.NDArray[np.float64]

Weights = Literal["nominal", "linear", "quadratic"]
Scale = Literal["nominal", "ordinal", "interval"]
T = TypeVar("T", bound=Hashable)
SAME = 1e-12


@dataclass(frozen=True)
class IntervalEstimate:
    """A figure with the ends of its interval; None where there is none."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Agreed:
    """Two labellers of the same `n` items. `raw`, `within_one`: shares of items with the same label, with labels at most one step apart.

    `kappa`, `linear`, `quadratic`: Cohen's kappa without weights, with weights by steps, by squared steps; None where chance alone gives
    full agreement (both used one and the same label throughout)."""

    n: int
    raw: IntervalEstimate
    within_one: IntervalEstimate
    kappa: IntervalEstimate
    linear: IntervalEstimate
    quadratic: IntervalEstimate


@dataclass(frozen=True)
class Majority:
    """The label that most gave. `label` None: nobody labelled, or it is a tie between `tied`."""

    label: object | None
    tied: tuple[object, ...] = ()


def majority(labels: Sequence[T]) -> Majority:
    """The label of most labellers; where several labels have equally many, none, and those are named."""
    counts = Counter(labels).most_common()
    best = [label for label, n in counts if n == counts[0][1]]
    return Majority(best[0]) if len(best) == 1 else Majority(None, tuple(best))


def agreed(
    first: Sequence[int], second: Sequence[int], *, categories: int, seed: int, units: Sequence[Hashable] | None = None,
) -> Agreed:
    """Everything that two labellers' labels of the same items say, with 95 % intervals by resampling units (items, if none are given).

    Raises: ValueError for lists of different lengths.
    """
    cells = _cells(first, second, categories)
    unit_of = numbered(units, len(cells))

    def shares(steps: int) -> IntervalEstimate:
        near = _steps(categories).ravel() <= steps
        return _estimate(lambda w: (w @ cells)[:, near].sum(axis=1) / w.sum(axis=1), cells, unit_of, seed)

    def kappas(weights: Weights) -> IntervalEstimate:
        return _estimate(lambda w: _kappas(w @ cells, categories, weights), cells, unit_of, seed)

    return Agreed(len(cells), shares(0), shares(1), kappas("nominal"), kappas("linear"), kappas("quadratic"))


def _estimate(statistic: Statistic, cells: Floats, unit_of: Whole, seed: int) -> IntervalEstimate:
    import numpy as np

    if not len(cells):
        return IntervalEstimate()
    value = float(statistic(np.ones((1, len(cells))))[0])
    if np.isnan(value):
        return IntervalEstimate()
    interval = resampled(statistic, unit_of, seed=seed)
    return IntervalEstimate(value, interval.low, interval.high) if interval else IntervalEstimate(value)


def _cells(first: Sequence[int], second: Sequence[int], categories: int) -> Floats:
    """One row an item: which cell of the table of both labels it falls into. (items, categories^2)"""
    import numpy as np

    if len(first) != len(second):
        raise ValueError("two labellers must have labelled the same items")
    if any(not 0 <= label < categories for label in (*first, *second)):
        raise ValueError(f"labels are numbers from 0 to {categories - 1}")
    cells = np.zeros((len(first), categories * categories))
    cells[np.arange(len(first)), np.asarray(first, dtype=int) * categories + np.asarray(second, dtype=int)] = 1
    return cells


def _steps(categories: int) -> Floats:
    import numpy as np

    numbers = np.arange(categories, dtype=np.float64)
    apart: Floats = np.abs(numbers[:, None] - numbers[None, :])
    return apart


def _kappas(tables: Floats, categories: int, weights: Weights) -> Floats:
    """(draws, categories^2) tables -> kappas, NaN where no disagreement is expected."""
    import numpy as np

    steps = _steps(categories)
    cost = {"nominal": (steps > 0).astype(np.float64), "linear": steps, "quadratic": steps**2}[weights]
    shaped = tables.reshape(-1, categories, categories)
    rows, columns, n = shaped.sum(axis=2), shaped.sum(axis=1), shaped.sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = np.einsum("di,ij,dj->d", rows, cost, columns) / n
        kappas: Floats = np.where(expected > SAME, 1 - (shaped * cost).sum(axis=(1, 2)) / expected, np.nan)
    return kappas


def alpha(
    table: Floats, *, categories: int, scale: Scale, seed: int, units: Sequence[Hashable] | None = None,
) -> IntervalEstimate:
    """Krippendorff's alpha with its 95 % interval by resampling units. `table`: (items, labellers), NaN where not labelled.

    Value by the library `evalica`; resamples by the coincidences of each item. None where no item has two labels, and where all
    labels are the same. `interval`: the categories are equally far apart.
    """
    import numpy as np

    counts = np.stack([(table == label).sum(axis=1) for label in range(categories)], axis=1).astype(np.float64)
    twice = counts.sum(axis=1) >= 2
    kept = counts[twice]
    if not len(kept) or (kept.sum(axis=0) > 0).sum() < 2:
        return IntervalEstimate()
    import evalica
    import pandas as pd

    value = float(evalica.alpha(pd.DataFrame(table[twice].T), distance=scale).alpha)
    chosen = None if units is None else [unit for unit, there in zip(units, twice, strict=True) if there]
    met = _coincidences(kept)
    interval = resampled(lambda w: _alphas(w @ met, categories, scale), numbered(chosen, len(kept)), seed=seed)
    return IntervalEstimate(value, interval.low, interval.high) if interval else IntervalEstimate(value)


def _coincidences(counts: Floats) -> Floats:
    """Pairs of labels within each item, over the item's labels less one. (items, categories^2)"""
    import numpy as np

    pairs = counts[:, :, None] * counts[:, None, :]
    index = np.arange(counts.shape[1])
    # A label makes no pair with itself.
    pairs[:, index, index] -= counts
    met: Floats = (pairs / (counts.sum(axis=1) - 1)[:, None, None]).reshape(len(counts), -1)
    return met


def _alphas(tables: Floats, categories: int, scale: Scale) -> Floats:
    """(draws, categories^2) coincidences -> alphas, NaN where no disagreement is expected."""
    import numpy as np

    met = tables.reshape(-1, categories, categories)
    margins = met.sum(axis=2)
    n = margins.sum(axis=1)
    cost = _costs(margins, categories, scale)
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = (margins[:, :, None] * margins[:, None, :] * cost).sum(axis=(1, 2)) / (n - 1)
        alphas: Floats = np.where(expected > SAME, 1 - (met * cost).sum(axis=(1, 2)) / expected, np.nan)
    return alphas


def _costs(margins: Floats, categories: int, scale: Scale) -> Floats:
    """Squared differences by scale (Krippendorff 2011): ordinal ones depend on how often each label was given."""
    import numpy as np

    steps = _steps(categories)
    if scale != "ordinal":
        return np.broadcast_to((steps > 0).astype(np.float64) if scale == "nominal" else steps**2, (len(margins), categories, categories))
    upto = np.cumsum(margins, axis=1)
    # The middle rank of each label: a distance is how many labels were given between two, half of each end's own.
    middle = upto - margins / 2
    costs: Floats = (middle[:, :, None] - middle[:, None, :]) ** 2
    return costs


def pairs_of(labellers: Sequence[T]) -> list[tuple[T, T]]:
    """Every two labellers, in their order."""
    return list(combinations(labellers, 2))
