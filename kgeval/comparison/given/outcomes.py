"""Wins of each question of a pair, for tests and corrections. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from kgeval.comparison.table import OVERALL, PairTable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


def question_wins(table: PairTable, aspect: str = OVERALL) -> Floats:
    """Win minus loss of A by question, in -1..1: the mean over its trials; NaN where no trial has a result; (questions,)."""
    from kgeval.stats.clustered import question_means

    return question_means(table.wins(aspect))


def single_outcomes(tables: Iterable[PairTable]) -> Iterator[tuple[str, str, int, str]]:
    """(A, B, outcome, question) of every question and trial with a result: 1 A wins, 0 tie, -1 B wins, over both orders and all repeats."""
    import numpy as np

    for table in tables:
        wins = table.wins()
        for at, trial in zip(*np.nonzero(~np.isnan(wins)), strict=True):
            yield table.system_a, table.system_b, int(wins[at, trial]), table.questions[at].question_id
