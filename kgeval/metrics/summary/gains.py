"""What one system gains over another on the same questions: with the graph against plain vector retrieval and closed book [M 4].

Differences are paired: only questions that both systems have a value for count, and the interval is over their differences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from kgeval.metrics.definition import Group
from kgeval.metrics.summary.values import RunScores
from kgeval.metrics.table import all_metrics
from kgeval.records import Gain, MetricInfo
from kgeval.stats.bootstrap import EQUAL, bootstrap_mean

if TYPE_CHECKING:
    from kgeval.metrics.summary.values import Whole

GROUPS: tuple[Group, ...] = ("answers", "grounding")
MOST_SYSTEMS = 8  # without a baseline every pair is compared, up to so many systems: 28 pairs a metric are read by nobody already


def gains(table: RunScores, systems: Sequence[str], infos: Sequence[MetricInfo], *, baseline: str | None, seed: int) -> list[Gain]:
    """For each metric of the groups answers and grounding: every other system minus the baseline; without a baseline every system
    minus each that stands after it. A pair without a common question has n = 0 and no mean; one with a single question no interval.

    Means are in the metric's own direction: a hallucination rate that falls is a negative difference.
    """
    known = all_metrics()
    names = [info.metric for info in infos if info.metric not in known or known[info.metric].group in GROUPS]
    return [gain(table, name, pair, seed=seed) for name in names for pair in _pairs(systems, baseline)]


def _pairs(systems: Sequence[str], baseline: str | None) -> Iterator[tuple[str, str]]:
    if baseline is not None:
        yield from ((system, baseline) for system in systems if system != baseline)
    elif len(systems) <= MOST_SYSTEMS:
        yield from combinations(systems, 2)


def gain(table: RunScores, metric: str, pair: tuple[str, str], *, seed: int, only: Whole | None = None) -> Gain:
    """The mean of (first minus second) over the questions that both have a value for, with its 95 % interval (BCa). `only`: numbers of
    the questions that count; None: all."""
    import numpy as np

    (ours, at_one), (theirs_, at_other) = (table.values(system, metric) for system in pair)
    _, mine, theirs = np.intersect1d(at_one, at_other, assume_unique=True, return_indices=True)
    if only is not None:
        chosen = np.isin(at_one[mine], only)
        mine, theirs = mine[chosen], theirs[chosen]
    differences = ours.value[mine] - theirs_.value[theirs]
    differences = np.sort(differences[~np.isnan(differences)])  # sums of sorted numbers do not depend on the order of the rows
    differ = int((np.abs(differences) > EQUAL).sum())
    gain = Gain(system=pair[0], baseline=pair[1], metric=metric, n=len(differences), differ=differ)
    if not len(differences):
        return gain
    ends = bootstrap_mean(differences, seed=seed)
    low, high = (None, None) if ends is None else (ends.low, ends.high)
    return gain.model_copy(update={"mean": float(differences.mean()), "low": low, "high": high})
