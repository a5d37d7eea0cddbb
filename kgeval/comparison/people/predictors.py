"""What is compared with people's labels, as one number an item: metrics, judges, lengths. For a pair: A minus B, higher is better."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kgeval.comparison.people.dimensions import TOOL_LOWER, pair_kind, tool_metric
from kgeval.comparison.people.labels import LabelledItem
from kgeval.comparison.people.scales import OVERALL
from kgeval.records import Answer, ComparisonVerdict, PredictorKind
from kgeval.rounding import is_equal
from kgeval.tables.score_tables import NO_SCORE, ScoreCell
from kgeval.text.length import count_words

LOWER = " (turned: lower is better)"
LENGTH = "length in words"


@dataclass(frozen=True)
class Predictor:
    """`values`: item id -> number; `missing`: item id -> why there is none. `aspect`: of a judge: only for this aspect of people.
    `dimension`: the aspect that it measures itself; None: another thing."""

    name: str
    kind: PredictorKind
    values: dict[str, float] = field(repr=False)
    missing: dict[str, str] = field(default_factory=dict, repr=False)
    aspect: str | None = None
    dimension: str | None = None


def metric_predictors(items: Sequence[LabelledItem], scores: Mapping[str, Iterable[ScoreCell]], lower: frozenset[str]) -> list[Predictor]:
    """One a metric and file (`scores`: name of the file -> its scores); trials are averaged. `lower`: metrics where lower is better:
    their numbers are turned."""
    tables = {stem: _by_metric(own) for stem, own in scores.items()}
    named = Counter(metric for table in tables.values() for metric in table)
    predictors = []
    for stem, table in tables.items():
        for metric, known in table.items():
            name = metric if named[metric] == 1 else f"{metric} ({stem})"
            sign = -1 if metric in lower or tool_metric(metric) in lower.union(TOOL_LOWER) else 1
            predictor = _predictor(name + (LOWER if sign < 0 else ""), "metric", items, known, sign=sign)
            predictors.append(replace(predictor, dimension=pair_kind(metric)))
    return predictors


Known = dict[tuple[str, str], list[float | str]]


def _by_metric(scores: Iterable[ScoreCell]) -> dict[str, Known]:
    """Metric -> (question, system) -> its values, and causes of those that have none."""
    metrics: dict[str, Known] = {}
    for score in scores:
        values = metrics.setdefault(score.metric, {}).setdefault((score.question_id, score.system), [])
        values.append(score.cause or NO_SCORE if score.value is None else score.value)
    return metrics


def _predictor(name: str, kind: PredictorKind, items: Sequence[LabelledItem], known: Known, *, sign: int = 1) -> Predictor:
    values, missing = dict[str, float](), dict[str, str]()
    for item in items:
        sides = [_mean(known.get((item.question, system))) for system in item.systems]
        numbers = [side for side in sides if not isinstance(side, str)]
        if len(numbers) < len(sides):
            missing[item.id] = next(side for side in sides if isinstance(side, str))
        else:
            values[item.id] = 0.0 if len(numbers) > 1 and is_equal(*numbers) else sign * (numbers[0] - sum(numbers[1:]))
    return Predictor(name, kind, values, missing)


def _mean(given: list[float | str] | None) -> float | str:
    if given is None:
        return "no score"
    numbers = [value for value in given if not isinstance(value, str)]
    return sum(numbers) / len(numbers) if numbers else next(value for value in given if isinstance(value, str))


def length_predictor(items: Sequence[LabelledItem], answers: Iterable[Answer]) -> Predictor | None:
    """The words of the answers alone: what a metric that only likes length would give. None without answers."""
    known: Known = {}
    for answer in answers:
        known.setdefault((answer.question_id, answer.system), []).append(float(count_words(answer.answer)))
    return _predictor(LENGTH, "length", items, known) if known else None


def judge_predictors(
    items: Sequence[LabelledItem], verdicts: Mapping[str, Iterable[ComparisonVerdict]], aspects: Sequence[str],
) -> list[Predictor]:
    """The judge of each file and procedure: `overall` for every aspect of people, and each aspect that people judged too."""
    predictors = []
    for stem, of_file in verdicts.items():
        by_procedure: dict[str, list[ComparisonVerdict]] = {}
        for verdict in of_file:
            by_procedure.setdefault(verdict.procedure, []).append(verdict)
        for procedure, own in by_procedure.items():
            name = stem if len(by_procedure) == 1 else f"{stem} ({procedure})"
            predictors += _of_judge(name, items, own, aspects)
    return predictors


def _of_judge(name: str, items: Sequence[LabelledItem], verdicts: Sequence[ComparisonVerdict], aspects: Sequence[str]) -> list[Predictor]:
    gaps, causes = _gaps(verdicts)
    judged = list(dict.fromkeys(aspect for _, aspect in gaps))
    summed = OVERALL not in judged
    positions = max((gap.positions() for gap in gaps.values()), default=1)
    predictors = []
    for aspect in [OVERALL, *(name for name in judged if name in aspects and name != OVERALL)]:
        values, missing = dict[str, float](), dict[str, str]()
        for item in items:
            key = (item.question, frozenset(item.systems))
            parts = judged if aspect == OVERALL and summed else [aspect]
            known = (gaps[key, part].of(item.systems[0], positions) for part in parts if (key, part) in gaps)
            numbers = [number for number in known if number is not None]
            if len(numbers) == len(parts) and numbers:
                values[item.id] = sum(numbers)
            else:
                missing[item.id] = causes.get(key, "no verdict")
        only = None if aspect == OVERALL else aspect
        predictors.append(Predictor(f"{name}: {aspect}", "judge", values, missing, only, only))
    return predictors


Pair = tuple[str, frozenset[str]]


@dataclass
class _Gap:
    """Points of `system_a` minus those of the other: the mean over trials of means over positions of means over repeats."""

    system_a: str
    given: dict[tuple[int, str | None], list[float]] = field(default_factory=dict)

    def _trials(self) -> dict[int, list[float]]:
        """Trial -> a mean for each position."""
        trials: dict[int, list[float]] = {}
        for (trial, _), values in self.given.items():
            trials.setdefault(trial, []).append(sum(values) / len(values))
        return trials

    def positions(self) -> int:
        """In how many orders a trial was judged, at most."""
        return max((len(means) for means in self._trials().values()), default=1)

    def of(self, system: str, positions: int) -> float | None:
        """As seen from this system; over trials with all positions, as half an exchange would be biased; None where there is none."""
        means = [sum(orders) / len(orders) for orders in self._trials().values() if len(orders) >= positions]
        if not means:
            return None
        mean = sum(means) / len(means)
        return mean if system == self.system_a else -mean


def _gaps(verdicts: Iterable[ComparisonVerdict]) -> tuple[dict[tuple[Pair, str], _Gap], dict[Pair, str]]:
    gaps: dict[tuple[Pair, str], _Gap] = {}
    causes: dict[Pair, str] = {}
    for verdict in verdicts:
        pair = (verdict.question_id, frozenset((verdict.system_a, verdict.system_b)))
        if verdict.score_a is None or verdict.score_b is None:
            causes.setdefault(pair, (verdict.failure or "no points").partition(":")[0])
            continue
        gap = gaps.setdefault((pair, verdict.aspect), _Gap(verdict.system_a))
        difference = verdict.score_a - verdict.score_b
        gap.given.setdefault((verdict.trial, verdict.first), []).append(difference if verdict.system_a == gap.system_a else -difference)
    return gaps, causes
