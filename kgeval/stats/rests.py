"""Takes out of columns of scores what rounding left (`kgeval.rounding`): before a rank, a sign or a test
sees it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kgeval.rounding import REST, is_zero

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


def differences_of(of_a: Sequence[float] | Floats, of_b: Sequence[float] | Floats) -> Floats:
    """A minus B by question; NaN where either has none. What rounding leaves of equal scores (REST of their
    size) is exactly 0: else a test would count the last digits of 0.1 + 0.2 and 0.3 as a difference,
    and twenty of them as a sure one."""
    import numpy as np

    a, b = np.asarray(of_a, dtype=np.float64), np.asarray(of_b, dtype=np.float64)
    differences: Floats = a - b
    size = np.maximum(np.maximum(np.abs(a), np.abs(b)), magnitude(a, b))
    differences[np.abs(differences) <= REST * size] = 0.0
    return differences


def magnitude(*columns: Floats) -> float:
    """The usual size of scores: the median of those that are not 0; 0 where there is none. Not the largest:
    beside one 10^12 that stands for "none", all others would be rests."""
    import numpy as np

    sizes = np.abs(np.concatenate([column.reshape(-1) for column in columns]))
    sizes = sizes[sizes > 0]  # NaN is not
    return float(np.median(sizes)) if len(sizes) else 0.0


def unit_of(*columns: Floats) -> float:
    """A power of two near the largest value: dividing by it is exact, and the squares of very small values do
    not vanish."""
    largest = max((float(abs(column).max()) for column in columns if len(column)), default=0.0)
    return math.ldexp(1.0, math.frexp(largest)[1]) if largest else 1.0


def mean_of(values: Sequence[float] | Floats, *, scale: float | None = None) -> float:
    """The mean of one value or more, the same in whatever order they come, and exactly 0 where it is 0 but for
    rounding. `scale`: the size of what the values were computed from; None: that of the largest of
    them."""
    import numpy as np

    numbers = np.asarray(values, dtype=np.float64)
    mean = math.fsum(numbers.tolist()) / len(numbers)
    return 0.0 if is_zero(mean, scale=float(np.abs(numbers).max()) if scale is None else scale) else mean


def tied(values: Sequence[float] | Floats) -> Floats:
    """The values (none NaN), in their order; one that differs from the next smaller one by rounding only
    becomes that one, so that they share a rank."""
    import numpy as np

    numbers = np.asarray(values, dtype=np.float64)
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    apart = np.diff(ordered) > REST * np.maximum(np.abs(ordered[1:]), magnitude(numbers))
    firsts = np.flatnonzero(np.concatenate([[True], apart])) if len(ordered) else np.empty(0, dtype=np.int64)
    merged = np.empty_like(numbers)
    merged[order] = np.repeat(ordered[firsts], np.diff(np.append(firsts, len(ordered))))
    return merged
