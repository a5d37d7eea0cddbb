"""Shares estimated from cluster samples: the combined ratio estimator with its linearised variance.

Design: in each stratum a simple random sample without replacement of clusters, each taken whole. Sources: Cochran, Sampling
Techniques (3rd ed.), 2.11, 6.12 and 9A; Kish, Survey Sampling, 8.2 (design effect); Korn & Graubard 1998 (intervals of shares).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from kgeval.rounding import is_zero, sign
from kgeval.stats.intervals import Interval, quantile, wilson

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Codes = npt.NDArray[np.int64]


# Clusters: what the supposition of `steadied` weighs; without it intervals near 0 and 1 cover too little (simulated in tests).
SUPPOSED = 4


@dataclass(frozen=True)
class Clusters:
    """Which cluster each item is in (codes 0..n_clusters-1, shape (n_items,)), each cluster's stratum (shape (n_clusters,)),
    and how many clusters each stratum has in the population (shape (n_strata,)). A cluster without an item counts too."""

    of_item: Codes
    stratum: Codes
    population: Floats

    @property
    def drawn(self) -> Floats:
        """Clusters drawn, by stratum."""
        import numpy as np

        return np.bincount(self.stratum, minlength=len(self.population)).astype(np.float64)

    @property
    def weights(self) -> Floats:
        """How many clusters of the population each drawn one stands for, by cluster."""
        import numpy as np

        share: Floats = (self.population / np.maximum(self.drawn, 1))[self.stratum]
        return share


@dataclass(frozen=True)
class ShareEstimate:
    """A share in 0..1 with its variance. `n`: items; `clusters`: clusters with an item; `df`: degrees of freedom.

    `design_effect`: variance (without the finite population correction) over that of as many independent items; None where it
    cannot be seen (no variation, or one cluster). `steadied`: the one that the interval uses, at least 1.
    `low`, `high`: 95 % interval, None with fewer than 2 clusters.
    """

    value: float
    variance: float
    n: int
    clusters: int
    df: int
    design_effect: float | None
    steadied: float
    low: float | None
    high: float | None


def arranged(clusters: Sequence[str], strata: Mapping[str, str], population: Mapping[str, int]) -> Clusters:
    """The design in codes. `clusters`: each item's cluster; `strata`: stratum of every drawn cluster (also of those without
    an item); `population`: clusters in each stratum."""
    import numpy as np

    names = {name: index for index, name in enumerate(strata)}
    places = {name: index for index, name in enumerate(population)}
    return Clusters(
        np.array([names[name] for name in clusters], dtype=np.int64),
        np.array([places[stratum] for stratum in strata.values()], dtype=np.int64),
        np.array(list(population.values()), dtype=np.float64),
    )


def ratio(y: Floats, x: Floats, clusters: Clusters, *, answered: float = 1.0) -> ShareEstimate | None:
    """The share sum(y) / sum(x) in the population. `y`, `x`: one number an item, 0 <= y <= x; x = 0 leaves an item out.

    `answered`: the share (0..1) of these clusters' items that have a value at all: what has none is not drawn, so the finite
    population correction shrinks with it.

    None if no item is in. Items of a domain (a type, a document) are given by x = 1 inside and 0 outside: the clusters
    without one still tell about the sample. The interval is Wilson's at the effective sample size, with a t quantile; see
    `steadied` for where few clusters show the rarer outcome.
    """
    import numpy as np

    total = len(clusters.stratum)
    weights = clusters.weights
    by_cluster_y = np.bincount(clusters.of_item, weights=y, minlength=total)
    by_cluster_x = np.bincount(clusters.of_item, weights=x, minlength=total)
    size = float(weights @ by_cluster_x)
    if size <= 0:
        return None
    value = min(1.0, max(0.0, float(weights @ by_cluster_y) / size))
    residuals = (by_cluster_y - value * by_cluster_x) / size
    occupied = by_cluster_x > 0
    counts = np.bincount(clusters.stratum[occupied], minlength=len(clusters.population))
    n, held = round(float(x.sum())), int(counts.sum())
    # Clusters less strata: each stratum's mean is estimated from its own clusters.
    df = held - int((counts > 0).sum())
    bare = total_variance(residuals * weights, clusters, corrected=False)
    left = total_variance(residuals * weights, clusters) / bare if not is_zero(sqrt(bare)) else _left_out(clusters)
    left = 1 - (1 - left) * answered
    effect = _design_effect(value, bare, n) if held > 1 else None
    # How sure the design effect is depends on the clusters with the rarer outcome: the others all look alike.
    rare = by_cluster_y if value < 0.5 else by_cluster_x - by_cluster_y
    steady = steadied(effect, n / held, int((rare > 0).sum()))
    interval = _interval(value, left, steady, n=n, df=df)
    return ShareEstimate(
        value, bare * left, n, held, df, effect, steady, interval.low if interval else None, interval.high if interval else None,
    )


def total_variance(weighted: Floats, clusters: Clusters, *, corrected: bool = True) -> float:
    """Variance of the sum of `weighted` values (one a drawn cluster, shape (n_clusters,)), stratum by stratum.

    `corrected`: with the finite population correction. A stratum with one drawn cluster of several is measured against the
    mean of all clusters, which is on the safe side.
    """
    import numpy as np

    drawn = clusters.drawn
    overall = float(weighted.mean())
    sums = np.bincount(clusters.stratum, weights=weighted, minlength=len(drawn))
    means = np.where(drawn > 1, sums / np.maximum(drawn, 1), overall)
    squares = np.bincount(clusters.stratum, weights=(weighted - means[clusters.stratum]) ** 2, minlength=len(drawn))
    spread = squares * np.where(drawn > 1, drawn / np.maximum(drawn - 1, 1), 1.0)
    left = np.clip(1 - drawn / np.maximum(clusters.population, 1), 0, 1) if corrected else np.ones_like(drawn)
    return float((spread * left).sum())


def _design_effect(value: float, variance: float, n: int) -> float | None:
    """Kish's deff; None where the share is 0 or 1."""
    plain = value * (1 - value) / n
    return variance / plain if sign(plain) > 0 and not is_zero(sqrt(variance)) else None


def steadied(effect: float | None, size: float, showing: int, *, weight: float = SUPPOSED) -> float:
    """The design effect for the interval: what was seen, drawn towards that of items half alike (intraclass correlation 0.5).

    `size`: items a cluster; `showing`: clusters that show the rarer outcome; the supposition weighs as much as `weight` of
    them. A design effect from two or three clusters with an error is mostly chance: taken as it is, intervals near 0 and 1
    cover 92-93 % instead of 95 % (simulated in tests). Below 1 it is taken as 1.
    """
    supposed = 1 + 0.5 * (size - 1)
    seen = max(1.0, effect) if effect is not None else supposed
    return (seen * showing + supposed * weight) / (showing + weight)


def _left_out(clusters: Clusters) -> float:
    """The share of the population's clusters that was not drawn, for estimates without variation."""
    total = float(clusters.population.sum())
    return max(0.0, 1 - len(clusters.stratum) / total) if total else 0.0


def _interval(value: float, left: float, effect: float, *, n: int, df: int) -> Interval | None:
    """Wilson's interval at the effective size. `left`: the finite population correction; 0 (all drawn) leaves no doubt."""
    if left <= 0:
        return Interval(value, value)
    if df < 1:
        return None
    # The size that a sample of independent items would need for the same variance.
    return wilson(value, n / (effect * left), quantile=quantile(df=df))
