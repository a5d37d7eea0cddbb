"""What floating point leaves of equality: the one rule by which computed figures are equal, are 0, and keep a
limit.

Adding up n numbers loses at most n * 1.1e-16 of the sum of their sizes (Higham 2002, section 4.2), of a
million scores 1e-10 of their scale. So what is nearer than REST of the scale is the same: ten times what a
million numbers can lose, and a millionth of the last digit that a report shows. The scale is that of the
numbers which a figure was computed from, not the figure's own: 0.1 + 0.2 - 0.3 is what rounding left of
numbers near 1, no difference of 5.6e-17. Shares, scores in 0..1, win rates and differences of them have the
scale 1.

Counts, and numbers as they were given, are compared exactly: nothing was computed. So is a share of counts:
one division is rounded as the number that a user writes is.
"""

from __future__ import annotations

import math

REST = 1e-9  # of the scale
FAINT = 1e-12  # of unknown scale, beside 0: a share of one in 10^12 is nothing, one in 10^9 is a hit


def is_equal(a: float, b: float, *, scale: float | None = None) -> bool:
    """Whether two figures differ by rounding only. `scale`: the size of what they were computed from; None:
    not known, then the larger of both, and FAINT beside 0."""
    if scale is None:
        return math.isclose(a, b, rel_tol=REST, abs_tol=FAINT)
    return abs(a - b) <= REST * abs(scale)


def is_zero(value: float, *, scale: float = 1.0) -> bool:
    """Whether rounding alone made the figure differ from 0."""
    return abs(value) <= REST * abs(scale)


def sign(value: float, *, scale: float = 1.0) -> int:
    """1 or -1; 0 where the figure is 0 but for rounding."""
    return 0 if is_zero(value, scale=scale) else 1 if value > 0 else -1


def side(low: float | None, high: float | None, *, middle: float = 0.0, scale: float = 1.0) -> int:
    """1 where a whole interval (of a figure of this scale) lies above the middle, -1 where it lies below; 0 where
    it holds the middle, or there is none. An end that is the middle but for rounding holds it."""
    if low is None or high is None:
        return 0
    return 1 if sign(low - middle, scale=scale) > 0 else -1 if sign(high - middle, scale=scale) < 0 else 0


def at_least(value: float, limit: float) -> bool:
    """Whether a figure reaches a limit that somebody wrote: 0.1 * 7 reaches 0.7."""
    return value >= limit or is_equal(value, limit)


def at_most(value: float, limit: float) -> bool:
    """Whether a figure stays within a limit that somebody wrote: 0.1 + 0.2 stays within 0.3."""
    return value <= limit or is_equal(value, limit)
