"""How well a number tells two groups apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Separation:
    """`auc`: the chance (0..1) that a number of the first group is above one of the second, ties counted half; 0.5: it tells nothing.
    `medians`: median of the first minus median of the second. Both None where a group is empty."""

    n: int
    m: int
    auc: float | None = None
    medians: float | None = None


def separation(first: Sequence[float], second: Sequence[float]) -> Separation:
    """AUC = U / (n m), U of Mann and Whitney (1947) from mid-ranks; n log n. Raises: ValueError for a number that is not finite."""
    import numpy as np

    ones, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    n, m = len(ones), len(other)
    if not (np.isfinite(ones).all() and np.isfinite(other).all()):
        raise ValueError("only finite numbers can be ranked")
    if not n or not m:
        return Separation(n, m)
    _, places, counts = np.unique(np.concatenate((ones, other)), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places.reshape(-1)]
    u = float(ranks[:n].sum()) - n * (n + 1) / 2
    return Separation(n, m, u / (n * m), float(np.median(ones) - np.median(other)))
