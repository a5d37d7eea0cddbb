"""What a sample of questions can show: the smallest difference it would find, the questions that a difference needs, and the tiers.

For the mean of independent values, one a question: differences of scores, or win - loss of a question (its mean is the relative win
rate). Two-sided tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Literal

from kgeval.rounding import is_zero
from kgeval.stats.intervals import MANY, round_up

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

Method = Literal["t", "normal"]
TierName = Literal["too few", "quick", "standard", "comprehensive"]
CAUTION = 100  # questions: under this a caution is printed
TIERS: tuple[tuple[int, TierName], ...] = ((500, "comprehensive"), (100, "standard"), (20, "quick"), (0, "too few"))


@dataclass(frozen=True)
class Tier:
    """How much `n` questions are good for. `caution`: words to print beside every figure, None from 100 questions on."""

    name: TierName
    n: int
    caution: str | None


@dataclass(frozen=True)
class Needed:
    """How many questions a difference needs. `above`: more than so many, then `n` is None. Both None: there is no such number."""

    n: int | None = None
    above: int | None = None


def detectable(sd: float, n: int, *, power: float = 0.8, alpha: float = 0.05, method: Method = "t") -> float | None:
    """The smallest true mean difference that a test of `n` questions finds with this power: an unsigned number in the unit of `sd`.

    `sd`: standard deviation of the questions' differences. `t`: the paired t test, by the non-central t distribution (Cohen
    1988); `normal`: (z_(1 - alpha/2) + z_power) sd / sqrt(n), a little smaller. None for n < 2, and for an sd of 0 (`spread`
    tells 0 from what rounding leaves): a sample without spread does not tell what the next question would do.
    Raises: ValueError for a negative sd, or levels outside (0, 1) or power <= alpha.
    """
    _checked(sd, power, alpha)
    if n < 2 or sd == 0:
        return None
    low = _standard(power, alpha) / sqrt(n)
    if method == "normal" or n >= MANY:
        return low * sd
    from scipy import optimize

    # The normal's answer is nearly the t test's; the loop is for two or three questions.
    high = 2 * low
    while _power(high, n, alpha) < power:
        high *= 2
    effect_size = optimize.brentq(lambda effect: _power(effect, n, alpha) - power, 1e-9, high, xtol=1e-13, rtol=1e-12)
    return float(effect_size) * sd


def needed(difference: float, sd: float, *, power: float = 0.8, alpha: float = 0.05, method: Method = "t") -> Needed:
    """Questions needed to find this true mean difference with this power; at least 2. `method` and errors: as `detectable`.

    Without a count for a difference of 0, also 0 but for rounding (no number is enough), for an sd of 0 (the spread is not known), and
    where more than MANY would be needed: such a number says no more than that the difference is next to nothing.
    """
    _checked(sd, power, alpha)
    if sd == 0 or is_zero(difference, scale=sd):
        return Needed()
    effect = abs(difference) / sd
    wanted = (_standard(power, alpha) / effect) ** 2
    n = max(2, round_up(wanted))
    if method == "t" and n < MANY:  # from there on t and normal agree to the last question that matters
        while _power(effect, n, alpha) < power - 1e-12:
            n += 1
    return Needed(n) if n <= MANY else Needed(above=MANY)


def spread(values: Sequence[float] | Floats, *, scale: float | None = None) -> float:
    """Standard deviation (n - 1); 0 where all are equal but for rounding. Two values at least. `scale`: the size of what the
    values were computed from; None: that of the largest of them."""
    import numpy as np

    numbers = np.asarray(values, dtype=np.float64)
    sd = float(numbers.std(ddof=1))
    return 0.0 if is_zero(sd, scale=float(np.abs(numbers).max()) if scale is None else scale) else sd


def tier(n: int) -> Tier:
    """The tier of [M]: 20-50 quick, 100-200 standard, 500 and more comprehensive. What lies between belongs to the lower one (51-99
    quick, 201-499 standard); under 20 is too few for any. Raises: ValueError for a negative n."""
    if n < 0:
        raise ValueError("there are no fewer than 0 questions")
    name = next(name for least, name in TIERS if n >= least)
    if n >= CAUTION:
        return Tier(name, n, None)
    what = "too few for a conclusion" if name == "too few" else "a quick look: only large differences can be found"
    return Tier(name, n, f"{n} question{'' if n == 1 else 's'}: {what} (100 and more for a standard evaluation)")


def _standard(power: float, alpha: float) -> float:
    from scipy import special

    return float(special.ndtri(1 - alpha / 2) + special.ndtri(power))


def _power(effect: float, n: int, alpha: float) -> float:
    """Of the two-sided t test of a mean at this effect (mean / sd). The tail on the wrong side is the right one of -effect: written so,
    scipy has a number for it everywhere."""
    from scipy import special, stats

    df, nc = n - 1, effect * sqrt(n)
    edge = float(special.stdtrit(df, 1 - alpha / 2))
    return float(stats.nct.sf(edge, df, nc) + stats.nct.sf(edge, df, -nc))


def _checked(sd: float, power: float, alpha: float) -> None:
    if not sd >= 0 or sd == float("inf"):
        raise ValueError(f"a standard deviation of {sd} is not possible")
    if not 0 < alpha < power < 1:
        raise ValueError("alpha and power lie between 0 and 1, power above alpha")
