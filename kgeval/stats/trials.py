"""The box plot of a figure over trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

WHISKER = 1.5  # interquartile ranges


@dataclass(frozen=True)
class TukeyBox:
    """`n` values: quartiles, whiskers `low` and `high` (the farthest values within 1.5 interquartile ranges of the box), `outliers`."""

    n: int
    low: float
    q25: float
    median: float
    q75: float
    high: float
    outliers: tuple[float, ...] = ()


def box(values: Sequence[float] | Floats) -> TukeyBox | None:
    """Tukey's box plot (1977) of one value a trial, as matplotlib draws it: quartiles with linear interpolation; a whisker with no value
    beyond the box ends at the box. NaN (a trial without a result) is left out; None where none is left. Outliers ascend."""
    import numpy as np

    spread = np.asarray(values, dtype=np.float64).reshape(-1)
    spread = np.sort(spread[~np.isnan(spread)])
    if not len(spread):
        return None
    if np.isinf(spread).any():
        raise ValueError("a box plot needs finite values")
    q25, median, q75 = (float(q) for q in np.percentile(spread, (25, 50, 75)))
    reach = WHISKER * (q75 - q25)
    inside = spread[(spread >= q25 - reach) & (spread <= q75 + reach)]
    low = min(float(inside[0]), q25) if len(inside) else q25
    high = max(float(inside[-1]), q75) if len(inside) else q75
    outliers = tuple(float(value) for value in spread if value < low or value > high)
    return TukeyBox(len(spread), low, q25, median, q75, high, outliers)
