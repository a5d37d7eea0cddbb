"""What one system gains over another on the same questions: with the graph against plain vector retrieval and closed book [M 4], over all
questions, and by level and hops: when does a graph pay [X figure 7]?

Differences are paired: only questions that both systems have a value for count, and the interval is over their differences. The tests are
those of `kgeval stats` (kgeval/stats/paired.py), and so is the correction for many of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, get_args

from kgeval.metrics.definition import Group
from kgeval.metrics.summary.costs import Costs
from kgeval.metrics.summary.groups import Grouping
from kgeval.metrics.summary.values import RunScores
from kgeval.metrics.table import all_metrics
from kgeval.records import BothMeans, Gain, GainBy, GroupCost, GroupGain, MetricInfo, PairedGain
from kgeval.stats.adjust import holm
from kgeval.stats.bootstrap import bootstrap_mean
from kgeval.stats.paired import cohens_d, discordant, mcnemar, sign_flip
from kgeval.stats.power import detectable, spread
from kgeval.stats.rests import differences_of, mean_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from kgeval.metrics.summary.values import Whole

    Floats = npt.NDArray[np.float64]

GROUPS: tuple[Group, ...] = ("answers", "grounding")
MOST_SYSTEMS = 8  # without a baseline every pair is compared, up to so many systems: 28 pairs a metric are read by nobody already
MOST_DATASETS = 8  # with more, groups are of all datasets together: every further test makes the others less sure
RELEVANCE = "context_relevance"
ALPHA = 0.05

Pair = tuple[str, str]


def gains(
    table: RunScores, systems: Sequence[str], infos: Sequence[MetricInfo], *, baseline: str | None, graphs: Collection[str], seed: int,
) -> list[PairedGain]:
    """For each metric of the groups answers and grounding: every other system minus the baseline; without a baseline every system
    minus each that stands after it, one whose answers come from a graph (`graphs`) minus one whose do not. A pair without a common
    question has n = 0 and no mean; one with a single question no interval.

    Means are in the metric's own direction: a hallucination rate that falls is a negative difference. Holm's correction is over all of
    them.
    """
    tested = []
    for name in _compared(infos):
        for pair in pairs(systems, baseline, graphs):
            both = _both(table, name, pair)
            tested.append(PairedGain(**_differences(both, seed), **_tests(both, seed)))
    corrected = holm([one.p for one in tested])
    return [one.model_copy(update={"p_holm": p}) for one, p in zip(tested, corrected, strict=True)]


def gain(table: RunScores, metric: str, pair: Pair, *, seed: int, only: Whole | None = None) -> Gain:
    """The mean of (first minus second) over the questions that both have a value for, with its 95 % interval (BCa). `only`: numbers of
    the questions that count; None: all."""
    import numpy as np

    both = _both(table, metric, pair)
    if only is not None:
        both = both.of(np.flatnonzero(np.isin(both.questions, only)))
    return Gain(**_differences(both, seed))


def group_gains(
    table: RunScores, systems: Sequence[str], infos: Sequence[MetricInfo], groups: Grouping, *, baseline: str | None,
    graphs: Collection[str], seed: int,
) -> list[GroupGain]:
    """The same by level and by hops, where the questions have several of them, and by these within each of several datasets. A group in
    which the metric has no meaning for a system has no row.

    Holm's correction is over all rows of one metric: which metric is looked at is decided before, how many groups are is not.
    """
    rows: list[GroupGain] = []
    if not _fields(groups):  # else the values of a million questions were unfolded for every pair, for no row
        return rows
    for name in _compared(infos):
        tested = []
        for pair in pairs(systems, baseline, graphs):
            both = _both(table, name, pair)
            for by, value, dataset, places in _members(groups, both.questions):
                part = both.of(places)
                if part.meant:
                    tested.append(GroupGain(**_differences(part, seed), **_tests(part, seed), by=by, value=value, dataset=dataset))
        level = ALPHA / max(1, sum(one.p is not None for one in tested))
        for one, p in zip(tested, holm([one.p for one in tested]), strict=True):
            least = detectable(one.sd, one.n, alpha=level) if one.sd else None
            rows.append(one.model_copy(update={"p_holm": p, "detectable": least if least is not None and least <= 1 else None}))
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
        relevance = _both(table, RELEVANCE, pair)
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


def _compared(infos: Sequence[MetricInfo]) -> list[str]:
    known = all_metrics()
    return [info.metric for info in infos if info.metric not in known or known[info.metric].group in GROUPS]


@dataclass(frozen=True)
class _Both:
    """The values of two systems for the questions that the metric was asked for of both; shapes (questions,), NaN where there is none.
    `questions`: their numbers; `applies`: it has a meaning for both. `single`: no question has repetitions."""

    metric: str
    pair: Pair
    questions: Whole
    own: Floats
    other: Floats
    applies: npt.NDArray[np.bool_]
    single: bool

    def of(self, places: Whole) -> _Both:
        """Of some of the questions."""
        return _Both(
            self.metric, self.pair, self.questions[places], self.own[places], self.other[places], self.applies[places], self.single,
        )

    @property
    def meant(self) -> bool:
        """Whether the metric has a meaning for both systems at any of the questions."""
        return bool(self.applies.any())


def _both(table: RunScores, metric: str, pair: Pair) -> _Both:
    import numpy as np

    (own, at_one), (other, at_other) = (table.values(system, metric) for system in pair)
    questions, mine, theirs = np.intersect1d(at_one, at_other, assume_unique=True, return_indices=True)
    return _Both(
        metric, pair, questions, own.value[mine], other.value[theirs], ~(own.not_applicable[mine] | other.not_applicable[theirs]),
        all(len(table.columns.get((system, metric), ())) < 2 for system in pair),
    )


def _sorted(both: _Both) -> Floats:
    """The differences of the questions that both have a value for. Sorted: their sums do not depend on the order of the rows."""
    import numpy as np

    differences = differences_of(both.own, both.other)
    return np.sort(differences[~np.isnan(differences)])


def _differences(both: _Both, seed: int) -> dict[str, Any]:
    """The fields of a Gain."""
    import numpy as np

    differences = _sorted(both)
    differ = int(np.count_nonzero(differences))
    fields = {"system": both.pair[0], "baseline": both.pair[1], "metric": both.metric, "n": len(differences), "differ": differ}
    if not len(differences):
        return fields
    ends = bootstrap_mean(differences, seed=seed)
    low, high = (None, None) if ends is None else (ends.low, ends.high)
    return fields | {"mean": mean_of(differences, scale=1.0), "low": low, "high": high}


def _tests(both: _Both, seed: int) -> dict[str, Any]:
    """What a PairedGain has beside them but the correction, which needs all tests."""
    import numpy as np

    differences = _sorted(both)
    if len(differences) < 2:
        return {}
    fields: dict[str, Any] = {"p": sign_flip(differences, seed=seed), "effect": cohens_d(differences), "sd": spread(differences, scale=1.0)}
    scored = ~np.isnan(both.own) & ~np.isnan(both.other)
    only = discordant(both.own[scored], both.other[scored]) if both.single else None
    return fields | ({} if only is None else {"only_system": only[0], "only_baseline": only[1], "mcnemar_p": mcnemar(*only)})


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
