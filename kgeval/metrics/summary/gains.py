"""What one system gains over another on the same questions: with the graph against plain vector retrieval and closed book [M 4], over all
questions, and by level and hops: when does a graph pay [X figure 7]?

Differences are paired: only questions that both systems have a value for count, and the interval is over their differences, or over groups
of them where questions come in groups (kgeval/stats/grouped.py). The tests are those of `kgeval stats` (kgeval/stats/paired.py), and so is
the correction for many of them. What may be concluded is decided by `kgeval.stats.outcome.conclude` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, get_args

from kgeval.metrics.definition import Group
from kgeval.metrics.summary.costs import Costs
from kgeval.metrics.summary.coverage import Coverage
from kgeval.metrics.summary.drawn import Drawn
from kgeval.metrics.summary.groups import Grouping
from kgeval.metrics.summary.pairs import Pair, PairFigures, PairValues, pair_values
from kgeval.metrics.summary.values import RunScores
from kgeval.metrics.table import all_metrics
from kgeval.records import BothMeans, Gain, GainBy, GroupCost, GroupGain, MetricInfo, SystemCoverage
from kgeval.stats.adjust import holm
from kgeval.stats.outcome import ALPHA

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Whole = npt.NDArray[np.int64]

    Floats = npt.NDArray[np.float64]

GROUPS: tuple[Group, ...] = ("answers", "grounding")
MOST_SYSTEMS = 8  # without a baseline every pair is compared, up to so many systems: 28 pairs a metric are read by nobody already
MOST_DATASETS = 8  # with more, groups are of all datasets together: every further test makes the others less sure
RELEVANCE = "context_relevance"
Doubts = Callable[[PairFigures, float | None, PairValues], list[str]]


def gains(
    table: RunScores, systems: Sequence[str], infos: Sequence[MetricInfo], *, baseline: str | None, graphs: Collection[str], seed: int,
    drawn: Drawn | None = None, coverage: Coverage | None = None,
) -> list[PairFigures]:
    """For each metric of the groups answers and grounding: every other system minus the baseline; without a baseline every system
    minus each that stands after it, one whose answers come from a graph (`graphs`) minus one whose do not. A pair without a common
    question has n = 0 and no mean; one with a single question no interval.

    Means are in the metric's own direction: a hallucination rate that falls is a negative difference.
    """
    return [
        pair_values(table, info.metric, pair, lower=info.better == "lower", drawn=drawn, coverage=coverage).figures(seed)
        for info in compared(infos) for pair in pairs(systems, baseline, graphs)
    ]


def gain(table: RunScores, metric: str, pair: Pair, *, seed: int, only: Whole | None = None) -> Gain:
    """The mean of (first minus second) over the questions that both have a value for, with its 95 % interval (BCa). `only`: numbers of
    the questions that count; None: all."""
    import numpy as np

    both = pair_values(table, metric, pair)
    if only is not None:
        both = both.of(np.flatnonzero(np.isin(both.questions, only)))
    return Gain(**both.figures(seed).fields)


def group_gains(
    table: RunScores, systems: Sequence[str], infos: Sequence[MetricInfo], groups: Grouping, *, baseline: str | None,
    graphs: Collection[str], seed: int, drawn: Drawn, coverage: Coverage, covered: Mapping[str, SystemCoverage], doubts: Doubts,
) -> list[GroupGain]:
    """The same by level and by hops, where the questions have several of them, and by these within each of several datasets. A group in
    which the metric has no meaning for a system has no row.

    `doubts`: why nothing may be concluded of two systems, by their figures, p and values.
    Holm's correction is over all rows of one metric: which metric is looked at is decided before, how many groups are is not.
    """
    rows: list[GroupGain] = []
    if not _fields(groups):  # else the values of a million questions were unfolded for every pair, for no row
        return rows
    for info in compared(infos):
        tested: list[tuple[PairFigures, PairValues, dict[str, Any]]] = []
        for pair in pairs(systems, baseline, graphs):
            both = pair_values(table, info.metric, pair, lower=info.better == "lower", drawn=drawn, coverage=coverage)
            for by, value, dataset, places in _members(groups, both.questions):
                part = both.of(places)
                if part.meant:
                    part = part.alone() if by == drawn.unit else part
                    tested.append((part.figures(seed), part, {"by": by, "value": value, "dataset": dataset}))
        level = ALPHA / max(1, sum(figures.p is not None for figures, *_ in tested))
        for (figures, part, where), p in zip(tested, holm([figures.p for figures, *_ in tested]), strict=True):
            found = figures.outcome(p, covered, drawn.unit, doubts=doubts(figures, p, part))
            rows.append(GroupGain(
                **figures.fields, **figures.tests, **where, p_holm=p, detectable=figures.detectable(level), conclusion=found.conclusion,
                because=found.because,
            ))
    return rows


def group_costs(
    table: RunScores, systems: Sequence[str], costs: Costs, groups: Grouping, *, baseline: str | None, graphs: Collection[str],
) -> list[GroupCost]:
    """What the pairs of `group_gains` took and how relevant what they retrieved was, group by group. Groups of which neither answers nor
    scores tell anything have no row."""
    import numpy as np

    count = len(table.questions)
    everything = np.arange(count)
    fields = {"context_tokens": "context_tokens", "prompt_tokens": "input_tokens", "seconds": "latency_s"}
    rows: list[GroupCost] = []
    if not _fields(groups):
        return rows
    for pair in pairs(systems, baseline, graphs):
        both = {name: [costs.by_question(system, field, count) for system in pair] for name, field in fields.items()}
        relevance = pair_values(table, RELEVANCE, pair)
        both["relevance"] = [np.full(count, np.nan), np.full(count, np.nan)]
        for values, own in zip(both["relevance"], (relevance.own, relevance.other), strict=True):
            values[relevance.questions] = own
        for by, value, dataset, places in _members(groups, everything):
            means = {name: known for name, (own, other) in both.items() if (known := _both_means(own[places], other[places]))}
            if means:
                rows.append(GroupCost(system=pair[0], baseline=pair[1], by=by, value=value, dataset=dataset, **means))
    return rows


def pairs(systems: Sequence[str], baseline: str | None, graphs: Collection[str]) -> Iterator[Pair]:
    """The pairs that are compared. Without a baseline a system whose answers come from a graph stands before one whose do not: what the
    graph gains is asked."""
    if baseline is not None:
        yield from ((system, baseline) for system in systems if system != baseline)
    elif len(systems) <= MOST_SYSTEMS:
        for first, second in combinations(systems, 2):
            yield (second, first) if second in graphs and first not in graphs else (first, second)


def compared(infos: Sequence[MetricInfo]) -> list[MetricInfo]:
    """The metrics by which systems are compared: of answers and grounding, and those of the user's own."""
    known = all_metrics()
    return [info for info in infos if info.metric not in known or known[info.metric].group in GROUPS]


def _fields(groups: Grouping) -> list[GainBy]:
    """The fields by which differences are told apart: those with several values."""
    return [by for by in get_args(GainBy) if len(groups.shown[by]) > 1]


def _members(groups: Grouping, questions: Whole) -> Iterator[tuple[GainBy, str, str | None, Whole]]:
    """Field, value, dataset (None: all) and the places of its questions among `questions`: fields with several values, and datasets where
    there are several."""
    shown, fields = groups.shown, _fields(groups)
    whole: dict[tuple[GainBy, str], int] = {}
    for by in fields:
        for value, places in groups.members(by, questions):
            whole[by, value] = len(places)
            yield by, value, None, places
    if 1 < len(shown["dataset"]) <= MOST_DATASETS:
        for dataset, inside in groups.members("dataset", questions):
            for by in fields:
                for value, places in groups.members(by, questions[inside]):
                    if len(places) < whole[by, value]:  # else the same test would stand twice in the family
                        yield by, value, dataset, inside[places]


def _both_means(own: Floats, other: Floats) -> BothMeans | None:
    """Both means over the questions of which both tell; None without any."""
    import numpy as np

    both = ~np.isnan(own) & ~np.isnan(other)
    if not both.any():
        return None
    return BothMeans(n=int(both.sum()), system=float(np.sort(own[both]).mean()), baseline=float(np.sort(other[both]).mean()))
