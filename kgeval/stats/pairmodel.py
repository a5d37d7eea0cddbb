"""The model behind strengths: Bradley and Terry's (1952) with ties as Davidson (1970) has them; when it has an answer, and what it is.

With strengths s (log t): P(i beats j) = s_i / D, P(tie) = 2 v sqrt(s_i s_j) / D, D = s_i + s_j + 2 v sqrt(s_i s_j). Without ties v = 0.
Matrices: wins[i, j] is how often (weighted) i beat j; ties is symmetric, each tie standing once above and once below the diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Mask = npt.NDArray[np.bool_]

STEPS = 100  # Newton's, at most
LONGEST = 2.0  # a step's largest change of a log strength: farther out the model is too flat to be trusted
NEAR = 1e-11  # a step shorter than this ends
EVALICA_STEPS = 2_000


@dataclass(frozen=True)
class Fit:
    """`theta`: log strengths with mean 0, (..., systems); `eta`: log(2 v), -inf without ties, (...,); `converged` (...,)."""

    theta: Floats
    eta: Floats
    converged: Mask


def exists(wins: Floats, ties: Floats) -> Mask:
    """Whether finite strengths of greatest likelihood exist; (times, systems, systems) each; (times,).

    Two things are needed. Every system reaches every other through wins and ties (Ford 1957; ties lead both ways): the graph is strongly
    connected. And, with ties, some round trip holds more wins than ties: else letting v grow with the strengths explains the ties ever
    better (A beats B or ties, never loses: no finite pair of strengths fits best). The second is the lack of a solution of the difference
    constraints d_i - d_j >= 1 for wins and |d_i - d_j| <= 1 for ties, told by Bellman and Ford.
    """
    import numpy as np

    finite: Mask = connected(wins + ties)
    returned = ((wins > 0) & (np.swapaxes(wins, 1, 2) > 0)).any(axis=(1, 2)) | ~ties.any(axis=(1, 2))
    for index in np.nonzero(finite & ~returned)[0]:
        finite[index] = turns_round(wins[index], ties[index])
    return finite


def connected(results: Floats) -> Mask:
    """Whether results lead from each system to each other one; (times, systems, systems) -> (times,). By squaring: n = 64 takes 6 steps."""
    import numpy as np

    # Floats, because numpy has no fast product of truth values or whole numbers.
    reached = ((results > 0) | np.eye(results.shape[-1], dtype=bool)).astype(np.float32)
    for _ in range(max(1, (results.shape[-1] - 1).bit_length())):
        reached = (reached @ reached > 0).astype(np.float32)
    whole: Mask = np.asarray((reached > 0).all(axis=(1, 2)))
    return whole


def components(matrix: Floats, *, strong: bool = True) -> npt.NDArray[np.int32]:
    """The strongly (or weakly) connected component of each system, from 0; an edge i -> j where matrix[i, j] > 0."""
    from scipy.sparse import csgraph, csr_array

    labels: npt.NDArray[np.int32] = csgraph.connected_components(csr_array(matrix > 0), connection="strong" if strong else "weak")[1]
    return labels


def turns_round(wins: Floats, ties: Floats) -> bool:
    """Whether some round trip along wins (downwards) and ties (both ways) holds more wins than ties."""
    import numpy as np
    from scipy.sparse import csgraph, csr_array

    if ((wins > 0) & (wins.T > 0)).any():
        return True
    try:
        # More wins than ties on a round trip make its length negative, and then there are no shortest paths. 0.0 is no edge.
        csgraph.bellman_ford(csr_array(np.where(wins > 0, -1.0, np.where(ties > 0, 1.0, 0.0))))
    except csgraph.NegativeCycleError:
        return True
    return False


def started(wins: Floats, ties: Floats) -> tuple[Floats, float]:
    """Log strengths (mean 0) and log(2 v) as evalica's `newman` finds them (Newman 2023), near enough to start Newton's steps from.

    evalica gives its scores in order of size, and stops when scores settle, though v may not have (two systems: at the first step).
    """
    import evalica
    import numpy as np
    import pandas as pd

    n = len(wins)
    rows, columns = np.nonzero(wins)
    upper, lower = np.nonzero(np.triu(ties))
    winners = [evalica.Winner.X] * len(rows) + [evalica.Winner.Draw] * len(upper)
    newman = evalica.newman(
        [*rows.tolist(), *upper.tolist()], [*columns.tolist(), *lower.tolist()], winners, index=pd.Index(range(n)),
        weights=[*wins[rows, columns].tolist(), *ties[upper, lower].tolist()], tolerance=1e-12, limit=EVALICA_STEPS,
    )
    scores = newman.scores.reindex(range(n)).to_numpy(dtype=np.float64)
    if not (np.isfinite(scores).all() and (scores > 0).all() and np.isfinite(newman.v)):
        return np.zeros(n), 0.0 if len(upper) else -np.inf
    theta = np.log(scores)
    return theta - theta.mean(), float(np.log(2 * newman.v)) if len(upper) and newman.v > 0 else -np.inf


def fit(wins: Floats, ties: Floats, theta: Floats, eta: float) -> Fit:
    """The strengths of greatest likelihood by Newton's method, many at a time; the likelihood is concave in (t, log v).

    `wins`, `ties`: (times, systems, systems), for each of which they exist (`exists`); `theta`, `eta`: where to start (eta is passed
    over where there are no ties). Memory: a few arrays of that shape.
    """
    import numpy as np

    times, n = len(wins), wins.shape[-1]
    tied: Mask = np.asarray(ties.any(axis=(1, 2)))
    now = np.concatenate([np.tile(theta, (times, 1)), np.full((times, 1), eta if np.isfinite(eta) else 0.0)], axis=1)
    left = np.arange(times)
    for _ in range(STEPS):
        step = _step(wins[left], ties[left], now[left], tied[left])
        longest = np.abs(step).max(axis=1)
        # 1e-300: a step may be 0.
        now[left] += step * np.minimum(1.0, LONGEST / np.maximum(longest, 1e-300))[:, None]
        left = left[longest > NEAR]
        if not len(left):
            break
    converged = np.ones(times, dtype=bool)
    converged[left] = False
    strengths = now[:, :n] - now[:, :n].mean(axis=1, keepdims=True)
    return Fit(strengths, np.where(tied, now[:, n], -np.inf), converged)


def _step(wins: Floats, ties: Floats, now: Floats, tied: Mask) -> Floats:
    """Newton's step for (t, eta): the information matrix is the covariance of wins + ties / 2 and of ties, pair by pair."""
    import numpy as np

    times, n = len(wins), wins.shape[-1]
    # All is divided by sqrt(s_i s_j): the exponents are half as large, and strong systems overflow later.
    half = (now[:, :n, None] - now[:, None, :n]) / 2
    tie = np.where(tied, np.exp(now[:, n]), 0.0)[:, None, None]
    up = np.exp(half)
    whole = up + 1 / up + tie
    drawn = tie / whole
    mean = up / whole + drawn / 2  # of wins + ties / 2 of the row's system
    met = wins + np.swapaxes(wins, 1, 2) + ties
    spread = met * (up / whole + drawn / 4 - mean**2)
    cross = (met * drawn * (0.5 - mean)).sum(axis=2)
    slope, matrix = np.empty((times, n + 1)), np.empty((times, n + 1, n + 1))
    slope[:, :n] = (wins + ties / 2 - met * mean).sum(axis=2)
    slope[:, n] = (ties - met * drawn).sum(axis=(1, 2)) / 2
    matrix[:, :n, :n] = -spread + spread.sum(axis=(1, 2))[:, None, None] / n**2  # adds the direction (1, ..., 1), along which nothing moves
    diagonal = np.arange(n)
    matrix[:, diagonal, diagonal] += spread.sum(axis=2)
    matrix[:, :n, n] = matrix[:, n, :n] = cross
    matrix[:, n, n] = (met * drawn * (1 - drawn)).sum(axis=(1, 2)) / 2
    slope[:, n] = np.where(tied, slope[:, n], 0.0)
    matrix[:, n, n] = np.where(tied, matrix[:, n, n], 1.0)
    step: Floats = np.linalg.solve(matrix, slope[:, :, None])[:, :, 0]
    return step
