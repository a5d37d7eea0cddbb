"""Logistic regression with outcomes in 0..1 and errors over clusters: fitted by Newton's method, with separation seen before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

STEPS = 100
NEAR = 1e-12
FLAT = 1e-9  # of a column: what other columns leave of it


@dataclass(frozen=True)
class Logit:
    """`beta`: coefficients, (columns,); `covariance`: over clusters, (columns, columns)."""

    beta: Floats
    covariance: Floats


def fit(design: Floats, outcome: Floats, weights: Floats, clusters: Ints) -> Logit | None:
    """Fractional logit (Papke & Wooldridge 1996): logit of the mean outcome = design @ beta, by quasi-likelihood.

    `design` (rows, columns), of full rank and without separation (`independent`, `separated`); `outcome` (rows,) in 0..1; `weights`
    (rows,) > 0; `clusters` (rows,) from 0, without gaps. Covariance: the sandwich with the scores added up by cluster (Liang & Zeger
    1986), times G / (G - 1) * (N - 1) / (N - k) for G clusters, N rows, k columns. None where Newton's steps do not settle.
    """
    import numpy as np

    beta = np.zeros(design.shape[1])
    for _ in range(STEPS):
        mean = _mean(design @ beta)
        slope = design.T @ (weights * (outcome - mean))
        step = np.linalg.solve((design * (weights * mean * (1 - mean))[:, None]).T @ design, slope)
        # A whole step overshoots where the outcomes are nearly separated: there the curve is flat. 1e-300: a step may be 0.
        beta = beta + step * min(1.0, 4.0 / max(float(np.abs(step).max()), 1e-300))
        if float(np.abs(step).max()) <= NEAR * max(1.0, float(np.abs(beta).max())):
            return Logit(beta, _sandwich(design, outcome, weights, clusters, beta))
        if float(np.abs(beta).max()) > 1e3:
            return None
    return None


def _mean(linear: Floats) -> Floats:
    from scipy import special

    mean: Floats = special.expit(linear)
    return mean


def _sandwich(design: Floats, outcome: Floats, weights: Floats, clusters: Ints, beta: Floats) -> Floats:
    import numpy as np

    mean = _mean(design @ beta)
    bread = np.linalg.inv((design * (weights * mean * (1 - mean))[:, None]).T @ design)
    held, (rows, columns) = int(clusters.max()) + 1, design.shape
    summed = np.zeros((held, columns))
    np.add.at(summed, clusters, design * (weights * (outcome - mean))[:, None])
    factor = held / (held - 1) * (rows - 1) / (rows - columns)
    covariance: Floats = factor * bread @ summed.T @ summed @ bread
    return covariance


def independent(columns: Floats) -> list[int]:
    """Which columns of (rows, columns) are kept, in order, so that none is a sum of those before it."""
    import numpy as np

    kept: list[int] = []
    for index in range(columns.shape[1]):
        size = float(np.linalg.norm(columns[:, index]))
        if size == 0:
            continue
        rest = columns[:, index]
        if kept:
            rest = rest - columns[:, kept] @ np.linalg.lstsq(columns[:, kept], columns[:, index], rcond=None)[0]
        if float(np.linalg.norm(rest)) > FLAT * size:
            kept.append(index)
    return kept


def separated(design: Floats, outcome: Floats) -> bool:
    """Whether some direction of beta tells wins from losses without fault, so that no finite beta fits best (Albert & Anderson 1984).

    Sought by a linear programme (Konis 2007): the largest sum of margins. An outcome strictly between 0 and 1 is a win and a loss in one.
    """
    import numpy as np
    from scipy import optimize

    up, down = design[outcome > 0], -design[outcome < 1]
    signed = np.unique(np.concatenate((up, down)), axis=0)
    # Only the direction matters, so the box may have any size; without one the programme has no end where the outcomes are separated.
    solution = optimize.linprog(-signed.sum(axis=0), A_ub=-signed, b_ub=np.zeros(len(signed)), bounds=(-1, 1), method="highs")
    # What HiGHS itself takes for 0 (its feasibility tolerance).
    return bool(-solution.fun > 1e-7)


def separates_alone(gap: Floats, outcome: Floats) -> bool:
    """`separated` for a constant and one gap, (rows,) each, without a programme: wins and losses overlap in no more than one value."""
    won, lost = gap[outcome > 0], gap[outcome < 1]
    return not len(won) or not len(lost) or bool(won.min() >= lost.max() or lost.min() >= won.max())
