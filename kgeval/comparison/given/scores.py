"""Scores of several systems, question by question: means, paired differences, their tests, and what the sample can tell. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING

from kgeval.format import plural, plus
from kgeval.records import DrawnGroups, Estimated, Outcome, PairedResult, StatsMean, SystemCoverage
from kgeval.rounding import is_equal
from kgeval.stats.outcome import PairEvidence, conclude

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from kgeval.stats.grouped import GroupedMean
    from kgeval.tables.score_tables import ScoreCell

    Floats = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]

NO_ROW = "no row"
Span = tuple[float, float]


@dataclass(frozen=True)
class ScoreColumn:
    """One system's values of one metric. `values`: question -> mean over its trials; `causes`: question -> why it has none; `single`: no
    question has two trials; `groups`: question -> what it was drawn in, where rows say so."""

    system: str
    metric: str
    values: Mapping[str, float]
    causes: Mapping[str, str] = field(default_factory=dict)
    single: bool = True
    groups: Mapping[str, str] = field(default_factory=dict)

    @property
    def questions(self) -> list[str]:
        """Every question that the files have for this system."""
        return [*self.values, *self.causes]

    def cause(self, question: str) -> str:
        """Why it has no value for a question; "" where it has one."""
        return "" if question in self.values else f"{self.system}: {self.causes.get(question, NO_ROW)}"


def columns_of(cells: Iterable[ScoreCell]) -> list[ScoreColumn]:
    """The columns of every system and metric in the order of first sight. A question has a value where one of its trials has."""
    values: dict[tuple[str, str], dict[str, list[float]]] = {}
    causes: dict[tuple[str, str], dict[str, str]] = {}
    groups: dict[str, str] = {}
    for cell in cells:
        place = (cell.system, cell.metric)
        if cell.group is not None:
            groups.setdefault(cell.question_id, cell.group)
        own, why = values.setdefault(place, {}), causes.setdefault(place, {})
        if cell.value is None:
            why.setdefault(cell.question_id, cell.cause or "no score")
        else:
            own.setdefault(cell.question_id, []).append(cell.value)
    return [
        ScoreColumn(
            system, metric, {question: sum(scores) / len(scores) for question, scores in own.items()},
            {question: why for question, why in causes[system, metric].items() if question not in own},
            all(len(scores) == 1 for scores in own.values()), groups,
        )
        for (system, metric), own in values.items()
    ]


def missing_of(columns: Sequence[ScoreColumn]) -> dict[str, list[str]]:
    """System -> questions that another system has a row for (of the same metric) and this one has not."""
    missing: dict[str, dict[str, None]] = {}
    for alike in _by_metric(columns):
        every = dict.fromkeys(question for column in alike for question in column.questions)
        for column in alike:
            own = set(column.questions)
            missing.setdefault(column.system, {}).update(dict.fromkeys(question for question in every if question not in own))
    return {system: list(questions) for system, questions in missing.items() if questions}


def _by_metric(columns: Sequence[ScoreColumn]) -> list[list[ScoreColumn]]:
    """The columns of each metric, in the order of first sight."""
    groups: dict[str, list[ScoreColumn]] = {}
    for column in columns:
        groups.setdefault(column.metric, []).append(column)
    return list(groups.values())


def scale_of(columns: Sequence[ScoreColumn], bounds: Span | None = None) -> Span | None:
    """The least and the largest score there can be: as given, else 0 and 1 where all scores lie there; None: not known."""
    values = [value for column in columns for value in column.values.values()]
    return bounds or ((0.0, 1.0) if values and min(values) >= 0 and max(values) <= 1 else None)


def means(columns: Sequence[ScoreColumn], *, seed: int, confidence: float, scale: Span | None = None) -> list[StatsMean]:
    """The mean of each column over its questions, with its interval."""
    import numpy as np

    found = []
    for column in columns:
        values = np.array(list(column.values.values()), dtype=np.float64)
        groups = grouped_by(column.groups, list(column.values))
        mean = estimated(values, seed=seed, confidence=confidence, span=scale)
        drawn = {}
        if groups is not None:
            grouped = _grouped(values, groups, scale, confidence)
            mean, drawn = Estimated.of(grouped.mean, grouped.interval), {"groups": grouped.groups, "effective": grouped.effective}
        found.append(StatsMean.model_validate({
            "system": column.system, "metric": column.metric, "n": len(column.questions), "n_scored": len(column.values),
            "failures": dict(Counter(column.causes.values())), "mean": mean, **drawn,
        }))
    return found


def grouped_by(groups: Mapping[str, str], questions: Sequence[str]) -> Whole | None:
    """The numbers of the questions' groups, one of its own for a question without; None where no two are of one group."""
    from kgeval.stats.grouped import are_grouped, group_numbers

    numbers = group_numbers(map(groups.get, questions))
    return numbers if are_grouped(numbers) else None


def _grouped(values: Floats, groups: Whole, span: Span | None, confidence: float) -> GroupedMean:
    import numpy as np

    from kgeval.stats.grouped import grouped_mean

    order = np.lexsort((values, groups))
    low, high = span or (-np.inf, np.inf)
    return grouped_mean([(values[order], groups[order])], low=low, high=high, confidence=confidence)


def paired_results(columns: Sequence[ScoreColumn], *, seed: int, confidence: float, scale: Span | None = None) -> list[PairedResult]:
    """Every two systems on every metric that both have; `p_holm` over all of them. `scale`: as `scale_of` has it."""
    from kgeval.stats.adjust import holm

    results = [
        paired_result(a, b, seed=seed, confidence=confidence, scale=scale)
        for alike in _by_metric(columns) for a, b in combinations(alike, 2)
    ]
    corrected = holm([result.p for result in results])
    return [result.model_copy(update={"p_holm": p}) for result, p in zip(results, corrected, strict=True)]


def outcomes_of(
    columns: Sequence[ScoreColumn], results: Sequence[PairedResult], *, seed: int, confidence: float, scale: Span | None, unit: str,
) -> list[Outcome]:
    """What each of `paired_results` lets one conclude, the higher score being the better one. A question without a value of both is taken
    lost and won; where the scale is not known, it could decide anything. `unit`: what questions come in groups of."""
    by_name = {(column.system, column.metric): column for column in columns}
    found = []
    for result in results:
        a, b = by_name[result.system_a, result.metric], by_name[result.system_b, result.metric]
        missing, doubts = result.n - result.n_scored, []
        lowest = highest = result.difference
        if missing and scale is not None:
            lowest, highest = (
                paired_result(_filled(a, b, mine), _filled(b, a, other), seed=seed, confidence=confidence, scale=scale).difference
                for mine, other in (scale, scale[::-1])
            )
        elif missing:
            doubts = [
                f"{plural(missing, 'question')} without a score of both could decide it: give --range LOW,HIGH, the least and largest "
                "score there can be"
            ]
        groups = DrawnGroups(
            unit="question" if result.groups is None else unit, groups=result.n_scored if result.groups is None else result.groups,
            questions=result.n_scored, effective=result.effective,
        )
        found.append(conclude(PairEvidence(
            pair=(a.system, b.system), of=result.metric, figure=result.difference, p=result.p_holm, groups=groups,
            coverage=(_covered(a, result.n), _covered(b, result.n)), missing=missing, lowest=lowest, highest=highest, within=0.0,
            doubts=doubts, shown=plus,
        )))
    return found


def _filled(column: ScoreColumn, other: ScoreColumn, score: float) -> ScoreColumn:
    """With a score for every question that one of the two has none for."""
    lacking = [question for question in dict.fromkeys([*column.questions, *other.questions]) if question not in column.values]
    return replace(column, values={**column.values, **dict.fromkeys(lacking, score)}, causes={})


def _covered(column: ScoreColumn, questions: int) -> SystemCoverage:
    return SystemCoverage(system=column.system, questions=questions, absent=questions - len(column.values))


def paired_result(a: ScoreColumn, b: ScoreColumn, *, seed: int, confidence: float = 0.95, scale: Span | None = None) -> PairedResult:
    """Two systems of one metric: A minus B over the questions that both have a value for. Nulls where nothing can be said.

    Computed in the order of the two names, so that B against A has the same p and the mirrored interval.
    """
    import numpy as np

    from kgeval.stats.rests import mean_of

    questions = list(dict.fromkeys([*a.questions, *b.questions]))
    both = [question for question in questions if question in a.values and question in b.values]
    of_a, of_b = (np.array([column.values[question] for question in both], dtype=np.float64) for column in (a, b))
    result = PairedResult(
        system_a=a.system, system_b=b.system, metric=a.metric, n=len(questions), n_scored=len(both),
        failures=dict(Counter(cause for question in questions if (cause := a.cause(question) or b.cause(question)))),
    )
    if not both:
        return result
    binary = _binary(of_a, of_b) if a.single and b.single else {}
    figures = _tested(of_a, of_b, seed, confidence, mirrored=a.system > b.system, widest=None if scale is None else scale[1] - scale[0])
    groups = grouped_by({**b.groups, **a.groups}, both)
    if groups is not None:
        figures |= _tested_in_groups(of_a, of_b, groups, seed, confidence, widest=None if scale is None else scale[1] - scale[0])
        binary.pop("mcnemar_p", None)
    return result.model_copy(update={"mean_a": mean_of(of_a), "mean_b": mean_of(of_b), **figures, **binary})


def _tested(of_a: Floats, of_b: Floats, seed: int, confidence: float, *, mirrored: bool, widest: float | None) -> dict[str, object]:
    """`widest`: the largest difference that there can be; None: not known."""
    import numpy as np

    from kgeval.stats import paired
    from kgeval.stats.power import Needed, detectable, needed, spread
    from kgeval.stats.rests import differences_of, magnitude, unit_of

    unit = unit_of(of_a, of_b)
    size, differences = magnitude(of_a / unit, of_b / unit), differences_of(of_a / unit, of_b / unit)
    sign = -1.0 if mirrored else 1.0
    span = None if widest is None else (-widest / unit, widest / unit)
    difference = estimated(sign * differences, seed=seed, confidence=confidence, span=span, scale=size)
    if mirrored:
        value, low, high = (None if end is None else 0.0 - end for end in (difference.value, difference.high, difference.low))
        difference = Estimated(value=value, low=low, high=high)
    sd = spread(differences, scale=size) if len(differences) > 1 else None
    alpha, least, questions = 1 - confidence, None, Needed()
    if sd and alpha < 0.8:
        least = detectable(sd, len(differences), alpha=alpha)
        questions = needed(difference.value or 0.0, sd, alpha=alpha)
    return {
        "difference": Estimated.model_validate({key: end and end * unit for key, end in difference}),
        "sd": None if sd is None else sd * unit,
        "p": paired.sign_flip(sign * differences, seed=seed), "wilcoxon_p": paired.wilcoxon(sign * differences),
        "effect": paired.cohens_d(differences), "superiority": paired.superiority(np.sign(differences)),
        "detectable": within(None if least is None else least * unit, widest),
        "needed": questions.n, "needed_above": questions.above,
    }


def _tested_in_groups(
    of_a: Floats, of_b: Floats, groups: Whole, seed: int, confidence: float, *, widest: float | None,
) -> dict[str, object]:
    """What is otherwise where questions come in groups: the interval, the tests, and what would be found, all over groups."""
    import numpy as np

    from kgeval.stats import paired
    from kgeval.stats.grouped import group_sums
    from kgeval.stats.power import Needed, detectable, needed
    from kgeval.stats.rests import differences_of

    differences = differences_of(of_a, of_b)
    found = _grouped(differences, groups, None if widest is None else (-widest, widest), confidence)
    alpha, least, questions = 1 - confidence, None, Needed()
    if found.variance and alpha < 0.8:
        sd = float(np.sqrt(found.variance * found.groups))
        least = detectable(sd, found.groups, alpha=alpha)
        questions = needed(found.mean, sd, alpha=alpha)
    # as many questions as groups are needed, times what a group has of them here
    each = len(differences) / found.groups
    return {
        "difference": Estimated.of(found.mean, found.interval), "groups": found.groups, "effective": found.effective,
        "p": paired.sign_flip(np.sort(group_sums(differences, groups)), seed=seed), "wilcoxon_p": None,
        "detectable": within(least, widest), "needed": None if questions.n is None else round(questions.n * each),
        "needed_above": questions.above,
    }


def within(least: float | None, widest: float | None) -> float | None:
    """The smallest difference that would be found; None where it is wider than the scale: then none would be."""
    return None if least is None or (widest is not None and least > widest) else least


def estimated(
    values: Floats, *, seed: int, confidence: float, span: Span | None, scale: float | None = None,
) -> Estimated:
    """The mean with its BCa interval; no interval for fewer than 2 values, nothing for none. `span`: where values can lie; values that are
    all equal have the interval of `unvaried` in it, and none where it is not known: resampling them would show no spread at all.
    `scale`: the size of what the values were computed from; None: that of the values."""
    from kgeval.stats.bootstrap import bootstrap_mean
    from kgeval.stats.intervals import unvaried
    from kgeval.stats.rests import magnitude, mean_of

    if not len(values):
        return Estimated()
    scale = magnitude(values) if scale is None else scale
    if len(values) > 1 and is_equal(float(values.max()), float(values.min()), scale=scale):
        value = float(values[0])
        if span is None or not span[0] <= value <= span[1]:
            return Estimated(value=value)
        return Estimated.of(value, unvaried(value, len(values), low=span[0], high=span[1], confidence=confidence))
    mean, ends = mean_of(values, scale=scale), bootstrap_mean(values, seed=seed, confidence=confidence)
    return Estimated(value=mean) if ends is None else Estimated(value=mean, low=min(ends.low, mean), high=max(ends.high, mean))


def _binary(of_a: Floats, of_b: Floats) -> dict[str, object]:
    """McNemar's figures where every value is 0 or 1."""
    from kgeval.stats.paired import discordant, mcnemar

    only = discordant(of_a, of_b)
    return {} if only is None else {"only_a": only[0], "only_b": only[1], "mcnemar_p": mcnemar(*only)}
