"""Outcomes of pairs of systems as matrices of wins and ties, for all questions or for resamples of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from scipy.sparse import csr_array

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

CHUNK = 400_000  # cells of matrices in memory at a time


@dataclass(frozen=True)
class Tally:
    """One row a pair and question: shares of `win` of `first`, `tie` and `loss` over its trials, adding up to 1; (rows,) each.

    `first` < `second` < `systems`; `question` < `questions`.
    """

    systems: int
    questions: int
    first: Ints
    second: Ints
    question: Ints
    win: Floats
    tie: Floats
    loss: Floats

    @cached_property
    def cells(self) -> csr_array:
        """(questions, 2 * systems^2): wins by (winner, loser), then ties by (first, second), each question's in its row."""
        import numpy as np
        from scipy.sparse import csr_array

        n = self.systems
        places = (self.first * n + self.second, self.second * n + self.first, n * n + self.first * n + self.second)
        columns, values = np.concatenate(places), np.concatenate((self.win, self.loss, self.tie))
        return csr_array((values, (np.tile(self.question, 3), columns)), shape=(self.questions, 2 * n * n))

    def matrices(self, weights: Floats) -> tuple[Floats, Floats]:
        """Wins and ties, (times, systems, systems) each, with each question weighing `weights` (times, questions). Ties are symmetric."""
        import numpy as np

        n = self.systems
        flat = np.asarray((self.cells.T @ weights.T).T).reshape(len(weights), 2, n, n)
        return np.ascontiguousarray(flat[:, 0]), flat[:, 1] + np.swapaxes(flat[:, 1], 1, 2)

    def resampled(self, times: int, rng: np.random.Generator) -> Iterator[tuple[Floats, Floats]]:
        """`matrices` of `times` resamples of the questions that have an outcome, a part at a time."""
        import numpy as np

        held = np.unique(self.question)
        step = max(1, CHUNK // max(2 * self.systems**2, self.questions))
        for start in range(0, times, step):
            part = min(step, times - start)
            weights = np.zeros((part, self.questions))
            weights[:, held] = rng.multinomial(len(held), np.full(len(held), 1 / len(held)), size=part)
            yield self.matrices(weights)


def tally(first: Ints, second: Ints, question: Ints, wins: Floats, *, systems: int, questions: int) -> Tally:
    """Single outcomes, (rows,) each, as a Tally; those of one pair and question weigh together as one.

    `wins`: 1 first, 0 tie, -1 second; in between (1 + w) / 2 of a win, the rest a loss. Raises: ValueError for a w outside -1..1, a system
    against itself, or a place outside.
    """
    import numpy as np

    if len(wins) and not (np.abs(wins) <= 1).all():
        raise ValueError("an outcome lies between -1 and 1")
    if (first == second).any():
        raise ValueError("a system is not compared with itself")
    if len(first) and (min(first.min(), second.min()) < 0 or max(first.max(), second.max()) >= systems):
        raise ValueError("an outcome names a system that is not in the list")
    turned = np.where(first < second, wins, -wins)
    low, high = np.minimum(first, second), np.maximum(first, second)
    key, row, times = np.unique((low * systems + high) * max(questions, 1) + question, return_inverse=True, return_counts=True)
    tied = turned == 0
    win = np.where(tied, 0.0, (1 + turned) / 2)
    shares = [np.bincount(row, weights=part, minlength=len(key)) / times for part in (win, tied * 1.0, np.where(tied, 0.0, 1 - win))]
    pair = key // max(questions, 1)
    return Tally(systems, questions, pair // systems, pair % systems, key % max(questions, 1), *shares)


def joined(parts: list[Tally], *, systems: int, questions: int) -> Tally:
    """Tallies of different pairs as one."""
    import numpy as np

    names, whole, shares = ("first", "second", "question"), np.empty(0, dtype=np.int64), np.empty(0)
    ids = [np.concatenate([whole, *(getattr(part, name) for part in parts)]) for name in names]
    counts = [np.concatenate([shares, *(getattr(part, name) for part in parts)]) for name in ("win", "tie", "loss")]
    return Tally(systems, questions, ids[0], ids[1], ids[2], counts[0], counts[1], counts[2])


def average_win_rates(wins: Floats, ties: Floats) -> Floats:
    """Each system's mean over the opponents that it met of its win rate against them, ties half; NaN where it met nobody.

    `wins`, `ties`: (..., systems, systems); (..., systems), 0..1. Each opponent weighs the same, however many questions they share.
    """
    import numpy as np

    won = wins + ties / 2
    met = wins + np.swapaxes(wins, -1, -2) + ties
    rates = np.where(met > 0, won / np.where(met > 0, met, 1.0), 0.0)
    opponents = (met > 0).sum(axis=-1)
    return np.where(opponents > 0, rates.sum(axis=-1) / np.maximum(opponents, 1), np.nan)
