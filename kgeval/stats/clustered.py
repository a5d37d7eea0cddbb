"""Means over questions whose trials are nested in them, and means over groups of questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgeval.stats.bootstrap import bootstrap_mean, bootstrap_sum
from kgeval.stats.intervals import Interval
from kgeval.stats.rests import mean_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Values = Floats | Sequence[Sequence[float]] | Sequence[float]


@dataclass(frozen=True)
class Clustered:
    """A mean over `n` questions with a value, from `n_values` of their trials. `mean` None: n is 0; `low`, `high` None: n < 2."""

    mean: float | None
    low: float | None
    high: float | None
    n: int
    n_values: int


@dataclass(frozen=True)
class Stratified:
    """The unweighted mean over `groups` groups (data sets) of their means, from `n` questions. `empty`: groups without any value: they
    are not in the mean. `low`, `high` None where a group has fewer than 2 questions: its spread is unknown."""

    mean: float | None
    low: float | None
    high: float | None
    n: int
    groups: int
    empty: tuple[str, ...] = ()


def question_means(values: Values) -> Floats:
    """Each question's mean over its trials, (questions,), NaN where it has none. `values`: (questions, trials) or (questions,)."""
    import numpy as np

    table = np.asarray(values, dtype=np.float64)
    table = table.reshape(len(table), -1 if table.size else 0)
    known = ~np.isnan(table)
    counts = known.sum(axis=1)
    sums = np.where(known, table, 0.0).sum(axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def clustered_mean(values: Values, *, seed: int, confidence: float = 0.95) -> Clustered:
    """The mean over questions with its interval by the cluster bootstrap: whole questions are drawn, each with all its trials.

    `values`: (questions, trials), NaN = lacking. A question's trials are averaged first, so each question weighs the same, however many
    trials it has: more trials make a question's value surer, not more important. Resampling these means is resampling the questions
    (BCa: `bootstrap_mean`). Raises: ValueError for an infinite value.
    """
    import numpy as np

    means = question_means(values)
    means = means[~np.isnan(means)]
    held = int((~np.isnan(np.asarray(values, dtype=np.float64))).sum())
    if not len(means):
        return Clustered(None, None, None, 0, 0)
    interval = bootstrap_mean(means, seed=seed, confidence=confidence)
    mean = mean_of(means)
    return Clustered(mean, *_ends(interval), len(means), held)


def stratified_mean(groups: Mapping[str, Values], *, seed: int, confidence: float = 0.95) -> Stratified:
    """The mean over groups of the groups' means: each data set weighs the same, whatever its size. Its interval resamples the questions of
    each group by themselves (the groups are what they are: it says nothing of data sets that are not there).

    `groups`: name -> values as in `clustered_mean`. Raises: as there.
    """
    import numpy as np

    means = {name: question_means(values) for name, values in groups.items()}
    means = {name: estimate[~np.isnan(estimate)] for name, estimate in means.items()}
    held = [estimate for estimate in means.values() if len(estimate)]
    empty = tuple(name for name, estimate in means.items() if not len(estimate))
    if not held:
        return Stratified(None, None, None, 0, 0, empty)
    mean = mean_of([mean_of(estimate) for estimate in held])
    interval = bootstrap_sum([estimate / len(held) for estimate in held], seed=seed, confidence=confidence)
    return Stratified(mean, *_ends(interval), sum(map(len, held)), len(held), empty)


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)
