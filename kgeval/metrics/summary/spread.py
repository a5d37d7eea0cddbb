"""How values are spread: over questions, and between repeated runs. The two are never mixed."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import TYPE_CHECKING

from kgeval.records import Repeats, Spread

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

BINS = 20


def spread(values: Floats) -> Spread:
    """Quantiles (linear between neighbours) and counts in 20 equal bins of 0..1, each without its end but the last one."""
    import numpy as np

    if not len(values):
        return Spread()
    lowest, q25, median, q75, highest = (float(q) for q in np.quantile(values, (0, 0.25, 0.5, 0.75, 1)))
    bins = np.bincount(np.minimum((values * BINS).astype(np.int8), BINS - 1), minlength=BINS)
    return Spread(minimum=lowest, q25=q25, median=median, q75=q75, maximum=highest, bins=[int(count) for count in bins])


def repeats(runs: Mapping[int, Floats]) -> Repeats | None:
    """The means of repeated runs, each over what was scored in it, their standard deviation and the standard error of their mean.

    `runs`: repetition -> values by question, below 0 where there is none. None for one run: it says nothing of the next. [K figs 3-7]
    """
    import numpy as np

    means = [float(np.sort(run[run >= 0]).mean()) for _, run in sorted(runs.items()) if (run >= 0).any()]
    if len(means) < 2:
        return None
    sd = float(np.std(means, ddof=1))
    return Repeats(runs=len(means), means=means, sd=sd, se=sd / sqrt(len(means)))
