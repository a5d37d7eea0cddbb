"""Does a metric tell right answers from wrong ones? Its scores as answered, of references, and of answers to other questions [D 5.2]."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from kgeval.metrics.conditions import CONDITIONS, Condition, Conditions
from kgeval.metrics.definition import Metric, MetricSettings
from kgeval.metrics.engine import Tools, score
from kgeval.metrics.select import Selection
from kgeval.metrics.summary.spread import spread
from kgeval.records import ConditionScores, Score, Sensitivity
from kgeval.stats.ranking import Separation, separation


@dataclass
class ConditionTally:
    """The scores of one metric, system and condition."""

    values: array[float] = field(default_factory=lambda: array("d"))
    not_applicable: int = 0
    failures: Counter[str] = field(default_factory=Counter)

    def add(self, score: Score) -> None:
        """Counts one score."""
        if score.value is not None:
            self.values.append(score.value)
        elif score.status == "not_applicable":
            self.not_applicable += 1
        else:
            self.failures[(score.reason or "unknown").partition(":")[0]] += 1

    def __add__(self, other: ConditionTally) -> ConditionTally:
        return ConditionTally(self.values + other.values, self.not_applicable + other.not_applicable, self.failures + other.failures)


Tallies = dict[tuple[str, str, Condition], ConditionTally]


def sensitivity(conditions: Conditions, selection: Selection, tools: Tools, settings: MetricSettings) -> list[Sensitivity]:
    """One result a system and metric, in the order of the rows and of the selection; with several systems one of all together too.

    Memory: a number a row, metric and condition. Raises: what engine.score raises.
    """
    tallies: Tallies = {}
    for condition in CONDITIONS:
        for result in score(conditions[condition], selection, tools, settings, total=conditions.sizes[condition]):
            for score_ in result.scores:
                tallies.setdefault((score_.system, score_.metric, condition), ConditionTally()).add(score_)
    systems = list(dict.fromkeys(system for system, _, _ in tallies))
    results = [_result(system, metric, tallies, (system,)) for system in systems for metric in selection.metrics]
    if len(systems) > 1:
        results += [_result(None, metric, tallies, systems) for metric in selection.metrics]
    return results


def _result(system: str | None, metric: Metric, tallies: Tallies, systems: Sequence[str]) -> Sensitivity:
    parts = {
        condition: sum((tallies.get((name, metric.name, condition), ConditionTally()) for name in systems), ConditionTally())
        for condition in CONDITIONS
    }
    reference, answered = (_separation(parts[row], parts["wrong"], metric) for row in ("reference", "answered"))
    return Sensitivity(
        system=system, metric=metric.name, better=metric.better, conditions=[_scores(row, part) for row, part in parts.items()],
        auc_reference=reference.auc, separation_reference=reference.medians, auc_answered=answered.auc,
        separation_answered=answered.medians,
    )


def _separation(right: ConditionTally, wrong: ConditionTally, metric: Metric) -> Separation:
    """How well right answers score above wrong ones; below, where lower is better.

    By rank (AUC) and by medians: a metric may rank answers perfectly and still give all of them 0.9, so that no threshold parts them."""
    apart = separation(right.values, wrong.values)
    if metric.better == "lower" and apart.auc is not None:
        return Separation(apart.n, apart.m, 1 - apart.auc, apart.medians)
    return apart


def _scores(condition: Condition, part: ConditionTally) -> ConditionScores:
    import numpy as np

    values = np.asarray(part.values)
    return ConditionScores(
        condition=condition, n=len(values) + part.not_applicable + part.failures.total(), n_scored=len(values),
        not_applicable=part.not_applicable, failures=dict(sorted(part.failures.items())),
        mean=float(values.mean()) if len(values) else None, spread=spread(values),
    )
