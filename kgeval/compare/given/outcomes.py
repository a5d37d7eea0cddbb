"""Wins of each question of a pair, for tests and corrections. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgeval.compare.table import OVERALL, PairTable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


def question_wins(table: PairTable, aspect: str = OVERALL) -> Floats:
    """Win minus loss of A by question, in -1..1: the mean over its trials; NaN where no trial has a result; (questions,)."""
    from kgeval.stats.clustered import question_means

    return question_means(table.wins(aspect))
