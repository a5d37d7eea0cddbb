"""What came of one pair of systems: rates, boxes over trials, intervals, tests, effect sizes; by aspect and group of questions. Pure.

The unit is the coarsest that is known [design: statistics]: what a question's trials say is one mean, and only then are questions summed
up, each with the same weight. Intervals resample questions (BCa); the p-value flips the signs of the questions' means; Wilcoxon and Cohen's
d look at points. Where several questions come from one document, documents are what was drawn: intervals are cluster-robust
(stats/grouped.py), and the p-value flips whole documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING

from kgeval.comparison.table import OVERALL, PairTable
from kgeval.records import Box, ComparedBy, Estimated, PairResult, Rates, TrialRates
from kgeval.rounding import is_equal, is_zero
from kgeval.stats.clustered import question_means
from kgeval.stats.grouped import are_grouped, group_sums, grouped_mean

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]

# The groups of questions that figures are given for: all, one data set, one level, and the mean over data sets. Pure.

NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class PairGroup:
    """Some questions of a table, by their places in it. `strata`: the same places, data set by data set, where the figure is the
    unweighted mean over data sets; empty elsewhere."""

    by: ComparedBy
    value: str | None
    places: tuple[int, ...]
    strata: tuple[tuple[int, ...], ...] = field(default=())


def groups_of(table: PairTable, by: Collection[ComparedBy]) -> Iterator[PairGroup]:
    """All questions; then, for two or more data sets, their mean and each of them; then each of two or more levels.

    A data set or level that is the only one would only repeat the figures of `all`. Questions without one are in `all` alone.
    """
    datasets = _places_of([question.dataset for question in table.questions])
    levels = _places_of([question.level for question in table.questions])
    if "all" in by:
        yield PairGroup("all", None, tuple(range(len(table.questions))))
    if "dataset" in by and len(datasets) > 1:
        yield PairGroup("all", None, tuple(chain.from_iterable(datasets.values())), tuple(datasets.values()))
        yield from (PairGroup("dataset", name, places) for name, places in datasets.items())
    if "level" in by and len(levels) > 1:
        yield from (PairGroup("level", name, places) for name, places in levels.items())


def _places_of(names: Sequence[str | None]) -> dict[str, tuple[int, ...]]:
    """Name -> its places, in the order of first sight."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        if name is not None:
            places.setdefault(name, []).append(place)
    return {name: tuple(own) for name, own in places.items()}


def _counted(table: PairTable, aspect: str, wins: Floats, group: PairGroup) -> PairResult:
    """What became of the questions of a group in one aspect, without figures. Every question is in one count: scored (a result in one trial
    at least), discarded, or failed by the cause before the colon of its first failed trial. `lost`: question-trials without a result that
    were not discarded, those of scored questions among them."""
    import numpy as np

    places = list(group.places)
    results = (~np.isnan(wins[places])).sum(axis=1)
    causes = Counter(_cause(table, place) for place, number in zip(places, results.tolist(), strict=True) if not number)
    asked = sum(wins.shape[1] - len(table.questions[place].discarded) for place in places)
    return PairResult(
        system_a=table.system_a, system_b=table.system_b, aspect=aspect, by=group.by, value=group.value,
        mean_of_datasets=bool(group.strata), n=len(places), n_scored=len(places) - causes.total(), results=int(results.sum()),
        discarded=causes[None], failures={cause: number for cause, number in causes.items() if cause is not None},
        trials=table.points.shape[1], lost=asked - int(results.sum()),
    )


def _cause(table: PairTable, place: int) -> str | None:
    """Why a question has no result; None: its lengths could not be brought together."""
    failures = (table.failures.get((place, trial)) for trial in range(table.points.shape[1]))
    if (failure := next((failure for failure in failures if failure is not None), None)) is not None:
        return failure.partition(":")[0].strip() or NOT_JUDGED
    return None if table.questions[place].discarded else NOT_JUDGED


BY: tuple[ComparedBy, ...] = ("all", "dataset", "level")
FINE = 40  # draws a test of the family: the smallest corrected p is 1 / 40
NEAR_FLOOR = 20  # of 10,000 draws


def pair_results(
    table: PairTable, *, seed: int, by: Sequence[ComparedBy] = BY, aspects: Sequence[str] | None = None, tested: bool = True,
    pairs: int = 1, confidence: float = 0.95,
) -> list[PairResult]:
    """The figures of one pair: by aspect (`overall` first), in each by group (all questions, mean of data sets, data sets, levels).

    `aspects`: which (None: overall and all of the table). `tested` false: means and counts only, without intervals, tests and trials: for
    heat maps of very many pairs. `pairs`: how many pairs will be printed together: a p-value that is to stand a correction for many tests
    is drawn more finely. `confidence`: of the intervals; the rest to 1 is the error of `detectable` and `needed`. `p_holm` is over what is
    returned (`with_holm`): over several pairs, call that again on all of them.
    Where nothing has a result, `n_scored` is 0 and every figure is None. Turning the pair round turns every figure's sign exactly.
    Raises: KeyError for an aspect that the table lacks.
    """
    if aspects is None:
        aspects = (OVERALL, *(aspect for aspect in table.aspects if aspect != OVERALL))
    groups = tuple(groups_of(table, by))
    plan = _TestPlan(seed, tested, pairs, pairs * len(aspects) * len(groups), table.system_a > table.system_b, confidence)
    return with_holm(result for aspect in aspects for result in _of_aspect(table, aspect, groups, plan))


def with_holm(results: Iterable[PairResult]) -> list[PairResult]:
    """The results with `p_holm`, corrected in two families, named before anything is seen.

    The first question of a comparison is who is better overall on all questions: those p-values, over all pairs given, are one family.
    All others (aspects, data sets, their mean, levels) are looked at beside them: they are corrected over everything given.
    """
    from kgeval.stats.adjust import holm

    all_results = list(results)
    among_first = iter(holm([result.p for result in all_results if is_first(result)]))
    among_all = holm([result.p for result in all_results])
    return [
        result.model_copy(update={"p_holm": next(among_first) if is_first(result) else p})
        for result, p in zip(all_results, among_all, strict=True)
    ]


def is_first(result: PairResult) -> bool:
    """Overall, on all questions: what the verdict of a comparison is about."""
    return result.aspect == OVERALL and result.by == "all" and not result.mean_of_datasets


@dataclass(frozen=True)
class _TestPlan:
    """`family`, `first`: how many p-values are corrected together, of all and of the first question of a comparison. `mirrored`: computed
    the other way round, so that (A, B) and (B, A) draw the same resamples."""

    seed: int
    tested: bool
    first: int
    family: int
    mirrored: bool
    confidence: float

    @property
    def sign(self) -> float:
        """By what values are multiplied before anything is drawn."""
        return -1.0 if self.mirrored else 1.0


@dataclass(frozen=True)
class _Cell:
    """One aspect on one group: wins and gaps of its scored questions, (questions, trials), and the weight of each question (mean 1).
    `strata`: the rows of each data set; one slice of all rows where data sets do not count. `documents`: what each question was drawn
    with."""

    wins: Floats
    gaps: Floats
    weights: Floats
    strata: tuple[slice, ...]
    documents: Whole

    def parts(self, values: Floats) -> list[tuple[Floats, Whole]]:
        """Known values and what their questions were drawn with, stratum by stratum; empty where one has none."""
        import numpy as np

        known = ~np.isnan(values)
        parts = [(values[rows][known[rows]], self.documents[rows][known[rows]]) for rows in self.strata]
        return parts if all(len(part) for part, _ in parts) else []


def _of_aspect(table: PairTable, aspect: str, groups: Sequence[PairGroup], plan: _TestPlan) -> Iterator[PairResult]:
    wins, gaps = table.wins(aspect), table.gaps(aspect)
    for group in groups:
        base = _counted(table, aspect, wins, group)
        cell = _cell(wins, gaps, table.documents, group)
        if cell is None:
            yield base
            continue
        figures = _described(cell)
        if plan.tested:
            figures |= _over_trials(cell) | _tested(cell, plan, plan.first if is_first(base) else plan.family)
        yield base.model_copy(update=figures)


def _cell(wins: Floats, gaps: Floats, documents: Whole, group: PairGroup) -> _Cell | None:
    """The scored questions of a group; None where there is none, or where a data set of a mean over data sets has none."""
    import numpy as np

    scored = np.count_nonzero(~np.isnan(wins), axis=1).tolist()
    strata = [[place for place in places if scored[place]] for places in group.strata or (group.places,)]
    if not all(strata):
        return None
    rows = list(chain.from_iterable(strata))
    sizes = [len(places) for places in strata]
    # each data set weighs the same, however many questions it has; the mean weight is 1
    weights = np.repeat([len(rows) / len(strata) / size for size in sizes], sizes)
    slices = tuple(slice(low, high) for low, high in pairwise(accumulate(sizes, initial=0)))
    return _Cell(wins[rows], gaps[rows], weights, slices, documents[rows])


def _described(cell: _Cell) -> dict[str, object]:
    """Means over questions, without intervals."""
    import numpy as np

    trials_scored = (~np.isnan(cell.wins)).sum(axis=1)
    win, tie, loss = (float(((cell.wins == sign).sum(axis=1) / trials_scored * cell.weights).mean()) for sign in (1, 0, -1))
    relative = Estimated(value=_weighted(question_means(cell.wins), cell))
    gap = Estimated(value=_weighted(question_means(cell.gaps), cell))
    return {"rates": Rates(win=win, tie=tie, loss=loss), "relative": relative, "gap": gap}


def _weighted(values: Floats, cell: _Cell) -> float | None:
    """The mean over questions with a value, by their weights: the mean over data sets where these count the same. None where none has one:
    a question that was decided without a judge has no points."""
    import numpy as np

    from kgeval.stats.rests import mean_of

    if not np.isnan(values).any():
        return mean_of(values * cell.weights)
    parts = cell.parts(values)
    return mean_of([mean_of(part) for part, _ in parts]) if parts else None


def _over_trials(cell: _Cell) -> dict[str, object]:
    """The rates of each trial, and boxes over them."""
    trials = [rates for trial in range(cell.wins.shape[1]) if (rates := _trial(cell, trial)) is not None]
    return {
        "per_trial": trials, "box_win": box([trial.rates.win for trial in trials]),
        "box_loss": box([trial.rates.loss for trial in trials]), "box_relative": box([trial.relative for trial in trials]),
    }


def _trial(cell: _Cell, trial: int) -> TrialRates | None:
    """The rates of one trial, over the questions that have a result in it; None where a data set has none."""
    import numpy as np

    wins = cell.wins[:, trial]
    numbers = [int((~np.isnan(wins[rows])).sum()) for rows in cell.strata]
    if not all(numbers):
        return None
    shares = [[(wins[rows] == sign).sum() / n for rows, n in zip(cell.strata, numbers, strict=True)] for sign in (1, 0, -1)]
    win, tie, loss = (float(sum(parts) / len(parts)) for parts in shares)
    return TrialRates(trial=trial + 1, n=sum(numbers), rates=Rates(win=win, tie=tie, loss=loss), relative=win - loss)


def box(values: Sequence[float]) -> Box | None:
    """Tukey's box of one value a trial; None without trials."""
    from kgeval.stats import trials

    tukey = trials.box(values)
    return None if tukey is None else Box.model_validate({**asdict(tukey), "outliers": list(tukey.outliers)})


def _tested(cell: _Cell, plan: _TestPlan, family: int) -> dict[str, object]:
    """Intervals, tests, effect sizes."""
    import numpy as np

    from kgeval.stats import paired

    wins, gaps = question_means(cell.wins), question_means(cell.gaps)
    drawn = _over_drawn(cell, wins, plan)
    gap = _estimated(cell, gaps, plan) if drawn.alone else _grouped_gap(cell, gaps, plan)
    figures: dict[str, object] = {
        "relative": drawn.relative, "gap": gap, "p": _chance(plan.sign * drawn.units, plan.seed, family), "groups": drawn.groups,
        "effective": drawn.effective, "superiority": float(np.mean([paired.superiority(wins[rows]) for rows in cell.strata])),
        **_power(len(wins), drawn.variance, drawn.relative.value or 0.0, 1 - plan.confidence),
    }
    if len(cell.strata) == 1:  # ranks and a paired d have no weighted form in use
        figures |= {"wilcoxon_p": paired.wilcoxon(plan.sign * gaps), "effect": paired.cohens_d(gaps)}
    return figures


def _chance(values: Floats, seed: int, family: int) -> float | None:
    """p by sign flips. Drawn p-values have a floor, 1 / (draws + 1): of many tests, none could stand Holm's correction. So one that lies
    near the floor is drawn anew, by as many signs as the family needs (the second draw replaces the first: still a valid p)."""
    from kgeval.stats import paired

    p = paired.sign_flip(values, seed=seed)
    if p is None or len(values) <= paired.EXACT or p * paired.RESAMPLES > NEAR_FLOOR or FINE * family <= paired.RESAMPLES:
        return p
    return paired.sign_flip(values, seed=seed + 1, resamples=FINE * family)


def _unvaried(cell: _Cell, wins: Floats, plan: _TestPlan) -> Estimated | None:
    """The relative win rate where every question came out the same: resampling them would show no spread at all, so that three of three
    would be as sure as three hundred. None where they differ."""
    from kgeval.stats.intervals import unvaried

    if len(wins) < 2 or not is_equal(wins.max(), wins.min(), scale=1.0):
        return None
    value = min(1.0, max(-1.0, float(wins[0])))
    n = min(len(wins[rows]) for rows in cell.strata)
    return Estimated.of(value, unvaried(value, n, low=-1.0, high=1.0, confidence=plan.confidence))


@dataclass(frozen=True)
class _OverDrawn:
    """The relative win rate over what was drawn. `units`: a value each for the test; `alone`: questions were drawn, none with another."""

    relative: Estimated
    variance: float | None
    units: Floats
    groups: int
    effective: float | None
    alone: bool


def _over_drawn(cell: _Cell, wins: Floats, plan: _TestPlan) -> _OverDrawn:
    if not are_grouped(cell.documents):
        relative = _unvaried(cell, wins, plan) or _estimated(cell, wins, plan)
        return _OverDrawn(relative, _variance(cell, wins), wins * cell.weights, len(wins), float(len(wins)), alone=True)
    found = grouped_mean(cell.parts(wins), low=-1.0, high=1.0, confidence=plan.confidence)
    return _OverDrawn(
        Estimated.of(_weighted(wins, cell), found.interval), found.variance, group_sums(wins * cell.weights, cell.documents),
        found.groups, found.effective, alone=False,
    )


def _estimated(cell: _Cell, values: Floats, plan: _TestPlan) -> Estimated:
    """The mean over questions (of data sets: the mean of their means) with its interval over questions."""
    from kgeval.stats.bootstrap import bootstrap_sum

    mean, known = _weighted(values, cell), cell.parts(values)
    if mean is None:
        return Estimated()
    sign = plan.sign
    parts = [sign * part / len(known) for part, _ in known]
    # resampled data set by data set: questions of one do not stand for those of another
    interval = bootstrap_sum(parts, seed=plan.seed, confidence=plan.confidence)  # of one stratum: bootstrap_mean
    if interval is None:
        return Estimated(value=mean)
    low, high = sorted((sign * interval.low, sign * interval.high))
    return Estimated(value=mean, low=min(low, mean), high=max(high, mean))


def estimated_mean(wins: Floats, documents: Whole, *, seed: int, confidence: float = 0.95) -> Estimated:
    """The mean of known values in -1..1, one a question, with its interval over what they were drawn with."""
    cell = _Cell(wins[:, None], wins[:, None], wins * 0 + 1, (slice(0, len(wins)),), documents)
    return _over_drawn(cell, wins, _TestPlan(seed, tested=True, first=1, family=1, mirrored=False, confidence=confidence)).relative


def _grouped_gap(cell: _Cell, gaps: Floats, plan: _TestPlan) -> Estimated:
    """The mean of points over questions, with its interval over what they were drawn with."""
    parts = cell.parts(gaps)
    found = grouped_mean(parts, confidence=plan.confidence) if parts else None
    return Estimated.of(_weighted(gaps, cell), found.interval if found else None)


def _variance(cell: _Cell, wins: Floats) -> float | None:
    """Of the mean of means of independent questions: that of each data set over its questions, over the squared number of sets."""
    from kgeval.stats.power import spread

    parts = [wins[rows] for rows in cell.strata]
    if any(len(part) < 2 for part in parts):
        return None
    return sum(spread(part, scale=1.0) ** 2 / len(part) for part in parts) / len(parts) ** 2


def _power(n: int, variance: float | None, difference: float, alpha: float) -> dict[str, object]:
    """What this sample would have found with 80 % power, and the questions that the difference seen needs. None without any spread."""
    from kgeval.stats.power import needed

    if variance is None:
        return {}
    sd = (variance * n) ** 0.5  # one question's spread in a sample of this make-up
    least = sd * _detectable(n, alpha)
    questions = needed(difference, sd, alpha=alpha)
    return {
        "detectable": least if least <= 1 and not is_zero(least) else None,
        "needed": questions.n, "needed_above": questions.above,
    }


@cache
def _detectable(n: int, alpha: float) -> float:
    """What n questions find, in standard deviations: the same for all cells of n questions, and slow to find."""
    from kgeval.stats.power import detectable

    return detectable(1.0, n, alpha=alpha) or 0.0
