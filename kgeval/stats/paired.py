"""Two systems on the same questions: tests and sizes of their differences. One value a question, A minus B.

A question counts once: average its trials, repeats and positions first (`clustered.question_means`). NaN stands for a question without
a result and is left out here; say beside the figure how many were. An infinite value raises ValueError.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kgeval.rounding import REST
from kgeval.stats.power import spread
from kgeval.stats.rests import mean_of, tied

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

EXACT = 14  # values that are not 0: 2^14 patterns of signs are counted, not drawn
FEW = 50  # values that are not 0: up to here Wilcoxon's test is exact
ALIKE = 64  # values of one size, on the mean, from which it is quicker to draw how many of them are up
RESAMPLES = 10_000
DRAWS = 50_000_000  # signs in one test, at most: from 5,000 questions on fewer patterns are drawn, never under LEAST
LEAST = 1_000
CHUNK = 1_000_000  # bytes of eight signs in memory at a time
SMOOTH = 1e-3  # sum of fourth powers / (sum of squares)^2: up to here the sum under random signs is normal far out into its tails


def sign_flip(differences: Sequence[float] | Floats, *, seed: int, resamples: int = RESAMPLES) -> float | None:
    """Two-sided p (0..1) of the sign-flip permutation test that the differences lie evenly around 0 (Fisher 1935; paired permutation).

    Statistic: |sum|. Where A and B are exchangeable each difference is as likely with the other sign. Up to 14 values that are not 0 all
    2^n patterns of theirs are counted, the observed one among them; above, `resamples` patterns are drawn and
    p = (1 + as far out or farther) / (1 + drawn) (Phipson & Smyth 2010), so p is never 0; where none is as far out, Hoeffding's bound
    if that is smaller (else no test of a family of more than 500 could hold). Where so many values stand that fewer patterns
    could be drawn than `resamples` and none of them weighs much, p is that of the normal limit of the sum, whose variance under random
    signs is known: the sum of the squares. Zeros and ties stay: under any sign a zero is one. Differences that are all 0 give 1. Neither
    order nor whose side is called A changes p. None for fewer than 2 values.
    """
    values = _finite(differences)
    if len(values) < 2:
        return None
    import numpy as np

    moving = np.sort(np.abs(values[values != 0]))  # all that the distribution of the sum hangs on
    if not len(moving):
        return 1.0
    # Less REST of the sum of all sizes: patterns that are as far out on paper count.
    bound = abs(math.fsum(values.tolist())) - REST * float(moving.sum())
    if len(moving) <= EXACT:
        signs = 2 * ((np.arange(2 ** len(moving))[:, None] >> np.arange(len(moving))) & 1) - 1
        return float((np.abs(signs @ moving) >= bound).mean())
    sizes, times = np.unique(moving, return_counts=True)
    drawn = max(1, resamples)
    squares = moving * moving
    if len(sizes) * ALIKE <= len(moving):
        return _chance(_as_far_of_few(sizes, times, bound, drawn, seed), drawn, bound, float(squares.sum()))
    if drawn > DRAWS // len(moving) and float(squares @ squares) <= SMOOTH * float(squares.sum()) ** 2:
        # Few patterns have a least p of 1/1001: in a family of more than 50 tests Holm's correction would let nothing stand, however
        # many questions there are. And the tables of signs take 256 bytes a question.
        return max(sys.float_info.min, math.erfc(max(0.0, bound) / math.sqrt(2 * float(squares.sum()))))
    drawn = min(drawn, max(LEAST, DRAWS // len(moving)))
    return _chance(_as_far(moving, bound, drawn, seed), drawn, bound, float(squares.sum()))


def _chance(as_far: int, drawn: int, bound: float, squares: float) -> float:
    """p of drawn patterns. Where none was as far out, 1 / (1 + drawn) says only how few were drawn: Hoeffding's bound (1963) for a sum
    under random signs, 2 exp(-sum^2 / (2 * squares)), is never below the exact p, and is taken where it is smaller."""
    p = (1 + as_far) / (1 + drawn)
    return p if as_far else min(p, max(sys.float_info.min, 2 * math.exp(-max(0.0, bound) ** 2 / (2 * squares))))


def _as_far_of_few(sizes: Floats, times: Ints, bound: float, drawn: int, seed: int) -> int:
    """How many of the drawn patterns are as far out, where few sizes stand often: of each it is drawn how many are up."""
    import numpy as np

    rng, step, as_far = np.random.default_rng(seed), max(1, CHUNK // len(sizes)), 0
    for start in range(0, drawn, step):
        up = rng.binomial(times, 0.5, size=(min(step, drawn - start), len(sizes)))
        as_far += int((np.abs((2 * up - times) @ sizes) >= bound).sum())
    return as_far


def _as_far(values: Floats, bound: float, drawn: int, seed: int) -> int:
    """How many of the drawn patterns are as far out. Eight signs are one byte: its sum is looked up, not added."""
    import numpy as np

    rng = np.random.default_rng(seed)
    # A zero is one under any sign, so it fills the last byte.
    eights = np.append(values, np.zeros(-len(values) % 8)).reshape(-1, 8)
    signs = 2.0 * ((np.arange(256)[:, None] >> np.arange(8)) & 1) - 1
    tables, places = eights @ signs.T, np.arange(len(eights))  # (bytes, 256)
    step, as_far = max(1, CHUNK // len(eights)), 0
    for start in range(0, drawn, step):
        drawn_bytes = rng.integers(0, 256, size=(min(step, drawn - start), len(eights)), dtype=np.uint8)
        as_far += int((np.abs(tables[places, drawn_bytes].sum(axis=1)) >= bound).sum())
    return as_far


def wilcoxon(differences: Sequence[float] | Floats) -> float | None:
    """Two-sided p (0..1) of the signed-rank test (Wilcoxon 1945).

    Zeros are ranked with the others and then put aside (Pratt 1959): ties between two systems are results, and dropping them first makes
    the rest look surer. Exact up to 50 values that are not 0, with zeros and equal sizes among them; above, scipy's normal approximation
    with correction for ties. Differences that are all 0 give 1. None for fewer than 2 values.
    """
    import numpy as np
    from scipy import stats

    values = _finite(differences)
    if len(values) < 2:
        return None
    values = np.sign(values) * tied(np.abs(values))  # means of the same points must tie
    moving = np.count_nonzero(values)
    if not moving:
        return 1.0
    if moving <= FEW:
        return _signed_ranks(values)
    return float(stats.wilcoxon(values, zero_method="pratt", method="asymptotic").pvalue)


def _signed_ranks(values: Floats) -> float:
    """The exact p over all patterns of signs: the shares of all sums of ranks, one rank after the other. Twice a middle rank is whole."""
    import numpy as np
    from scipy import stats

    ranks = np.rint(2 * stats.rankdata(np.abs(values))).astype(np.int64)
    shares = np.zeros(int(ranks[values != 0].sum()) + 1)
    shares[0] = 1.0
    for rank in ranks[values != 0].tolist():
        # The low part is halved after: the sum still needs it whole. `rank` is never 0: the least is twice the rank 1.
        shares[rank:] = (shares[rank:] + shares[:-rank]) / 2
        shares[:rank] /= 2
    up = int(ranks[values > 0].sum())
    return min(1.0, 2 * float(min(shares[: up + 1].sum(), shares[up:].sum())))


def mcnemar(only_a: int, only_b: int, *, mid_p: bool = False) -> float:
    """Two-sided p (0..1) of McNemar's test (1947) for right-or-wrong answers: questions that only A, that only B has right.

    The exact binomial test: questions that both have right or wrong tell nothing. `mid_p`: half the weight of what was seen (Fagerland,
    Lydersen & Laake 2013): less cautious, nearer to its nominal error. No such question: 1. Raises: ValueError for a negative count.
    """
    from scipy import stats

    if only_a < 0 or only_b < 0:
        raise ValueError("counts are not negative")
    n, fewer = only_a + only_b, min(only_a, only_b)
    if not n:
        return 1.0
    tail = float(stats.binom.cdf(fewer, n, 0.5))
    if mid_p:
        tail -= float(stats.binom.pmf(fewer, n, 0.5)) / 2
    return min(1.0, 2 * tail)


def discordant(of_a: Floats, of_b: Floats) -> tuple[int, int] | None:
    """Questions that only A, that only B has right; None unless every value of both is 0 or 1. For `mcnemar`."""
    import numpy as np

    if not np.isin(of_a, (0, 1)).all() or not np.isin(of_b, (0, 1)).all():
        return None
    return int((of_a > of_b).sum()), int((of_b > of_a).sum())


def cohens_d(differences: Sequence[float] | Floats) -> float | None:
    """Cohen's d of paired differences (d_z): mean over standard deviation (n - 1), any sign (Cohen 1988).

    None for fewer than 2 values, and where all are equal: without spread there is no unit to measure the mean in (0/0, or infinite).
    """
    values = _finite(differences)
    if len(values) < 2:
        return None
    sd = spread(values)
    return None if sd == 0 else mean_of(values) / sd


def superiority(wins: Sequence[float] | Floats) -> float | None:
    """P(A is better) + P(tie) / 2, 0..1 (McGraw & Wong 1992; Vargha & Delaney 2000), over questions: the mean of (1 + w) / 2.

    `wins`: 1 A, 0 tie, -1 B, or a question's mean over its trials. 0.5: neither. None without values. Raises: ValueError outside -1..1.
    """
    import numpy as np

    values = _finite(wins)
    if not len(values):
        return None
    if float(np.abs(values).max()) > 1 + REST:
        raise ValueError("a win lies between -1 and 1")
    return min(1.0, max(0.0, 0.5 + float(values.mean()) / 2))


def _finite(values: Sequence[float] | Floats) -> Floats:
    import numpy as np

    array: Floats = np.asarray(values, dtype=np.float64).reshape(-1)
    if np.isinf(array).any():
        raise ValueError("a difference is infinite")
    return array[~np.isnan(array)]
