"""What came of one pair of systems: rates, boxes over trials, intervals, tests, effect sizes; by aspect and group of questions. Pure.

The unit is the question [design: statistics]: what its trials say is one mean, and only then are questions summed up, each with the same
weight. Intervals resample questions (BCa); the p-value flips the signs of the questions' means; Wilcoxon and Cohen's d look at points.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from kgeval.comparison.table import EQUAL, OVERALL, PairTable
from kgeval.records import Box, ComparedBy, Estimated, PairResult, Rates, TrialRates

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

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

    @property
    def mean_of_datasets(self) -> bool:
        """The figures are means over data sets, each of the same weight."""
        return bool(self.strata)


@dataclass(frozen=True)
class QuestionCounts:
    """What became of the questions of a group in one aspect: `scored` have a result in one trial at least; `results`: question-trials."""

    n: int
    scored: int
    results: int
    discarded: int
    failures: dict[str, int]
    lost: int


def groups_of(table: PairTable, by: Iterable[ComparedBy]) -> Iterator[PairGroup]:
    """All questions; then, for two or more data sets, their mean and each of them; then each of two or more levels.

    A data set or level that is the only one would only repeat the figures of `all`. Questions without one are in `all` alone.
    """
    wanted = set(by)
    everything = tuple(range(len(table.questions)))
    datasets = _placed([one.dataset for one in table.questions])
    if "all" in wanted:
        yield PairGroup("all", None, everything)
    if "dataset" in wanted and len(datasets) > 1:
        yield PairGroup("all", None, tuple(at for places in datasets.values() for at in places), tuple(datasets.values()))
        yield from (PairGroup("dataset", name, places) for name, places in datasets.items())
    levels = _placed([one.level for one in table.questions])
    if "level" in wanted and len(levels) > 1:
        yield from (PairGroup("level", name, places) for name, places in levels.items())


def _placed(names: Sequence[str | None]) -> dict[str, tuple[int, ...]]:
    """Name -> its places, in the order of first sight."""
    found: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        if name is not None:
            found.setdefault(name, []).append(at)
    return {name: tuple(places) for name, places in found.items()}


def counted(table: PairTable, wins: Floats, places: Sequence[int]) -> QuestionCounts:
    """Every question is in one count: scored, discarded, or failed by the cause before the colon of its first failed trial. `lost`:
    question-trials without a result that were not discarded, those of scored questions among them."""
    import numpy as np

    known = (~np.isnan(wins[list(places)])).sum(axis=1)
    lacking = [at for at, results in zip(places, known.tolist(), strict=True) if not results]
    failures: dict[str, int] = {}
    discarded = 0
    for at in lacking:
        cause = _cause(table, at)
        if cause is None:
            discarded += 1
        else:
            failures[cause] = failures.get(cause, 0) + 1
    asked = sum(wins.shape[1] - len(table.questions[at].discarded) for at in places)
    return QuestionCounts(len(places), len(places) - len(lacking), int(known.sum()), discarded, failures, asked - int(known.sum()))


def _cause(table: PairTable, at: int) -> str | None:
    """Why a question has no result; null: its lengths could not be brought together."""
    trials = table.points.shape[1]
    cause = next((table.failures[at, trial] for trial in range(trials) if (at, trial) in table.failures), None)
    if cause is not None:
        return cause.partition(":")[0].strip() or NOT_JUDGED
    return None if table.questions[at].discarded else NOT_JUDGED


BY: tuple[ComparedBy, ...] = ("all", "dataset", "level")
FINE = 40  # draws a test of the family: the smallest corrected p is 1 / 40
NEAR_FLOOR = 20  # of 10,000 draws


def pair_results(
    table: PairTable, *, seed: int, by: Sequence[ComparedBy] = BY, aspects: Sequence[str] | None = None, tested: bool = True,
    pairs: int = 1, confidence: float = 0.95,
) -> list[PairResult]:
    """The figures of one pair: by aspect (`overall` first), in each by group (all questions, mean of data sets, data sets, levels).

    `aspects`: which (null: overall and all of the table). `tested` false: means and counts only, without intervals, tests and trials: for
    heat maps of very many pairs. `pairs`: how many pairs will be printed together: a p-value that is to stand a correction for many tests
    is drawn more finely. `confidence`: of the intervals; the rest to 1 is the error of `detectable` and `needed`. `p_holm` is over what is
    returned (`with_holm`): over several pairs, call that again on all of them.
    Where nothing has a result, `n_scored` is 0 and every figure is null. Turning the pair round turns every figure's sign exactly.
    Raises: KeyError for an aspect that the table lacks.
    """
    wanted = aspects if aspects is not None else (OVERALL, *(one for one in table.aspects if one != OVERALL))
    groups = tuple(groups_of(table, by))
    plan = _TestPlan(seed, tested, pairs, pairs * len(wanted) * len(groups), table.system_a > table.system_b, confidence)
    return with_holm(result for aspect in wanted for result in _of_aspect(table, aspect, groups, plan))


def with_holm(results: Iterable[PairResult]) -> list[PairResult]:
    """The results with `p_holm`, corrected in two families, named before anything is seen.

    The first question of a comparison is who is better overall on all questions: those p-values, over all pairs given, are one family.
    All others (aspects, data sets, their mean, levels) are looked at beside them: they are corrected over everything given.
    """
    from kgeval.stats.adjust import holm

    given = list(results)
    first = [at for at, one in enumerate(given) if is_first(one)]
    among_first = dict(zip(first, holm([given[at].p for at in first]), strict=True))
    among_all = holm([one.p for one in given])
    return [
        one.model_copy(update={"p_holm": among_first[at] if at in among_first else among_all[at]}) for at, one in enumerate(given)
    ]


def is_first(result: PairResult) -> bool:
    """Overall, on all questions: what the verdict of a comparison is about."""
    return result.aspect == OVERALL and result.by == "all" and not result.mean_of_datasets


@dataclass(frozen=True)
class _TestPlan:
    """`family`, `first`: how many p-values are corrected together, of all and of the first question of a comparison. `turned`: computed the
    other way round, so that (A, B) and (B, A) draw the same resamples."""

    seed: int
    tested: bool
    first: int
    family: int
    turned: bool
    confidence: float


@dataclass(frozen=True)
class _Cell:
    """One aspect on one group: wins and gaps of its scored questions, (questions, trials), and the weight of each question (mean 1).
    `strata`: the rows of each data set; one slice of all rows where data sets do not count."""

    wins: Floats
    gaps: Floats
    weights: Floats
    strata: tuple[slice, ...]


def _of_aspect(table: PairTable, aspect: str, groups: Sequence[PairGroup], plan: _TestPlan) -> Iterator[PairResult]:
    wins, gaps = table.wins(aspect), table.gaps(aspect)
    for group in groups:
        count = counted(table, wins, group.places)
        base = PairResult(
            system_a=table.system_a, system_b=table.system_b, aspect=aspect, by=group.by, value=group.value,
            mean_of_datasets=group.mean_of_datasets, n=count.n, n_scored=count.scored, results=count.results,
            discarded=count.discarded, failures=count.failures, trials=table.points.shape[1], lost=count.lost,
        )
        cell = _cell(wins, gaps, group)
        if cell is None:
            yield base
            continue
        figures = _described(cell)
        if plan.tested:
            figures |= _over_trials(cell) | _tested(cell, plan, plan.first if is_first(base) else plan.family)
        yield base.model_copy(update=figures)


def _cell(wins: Floats, gaps: Floats, group: PairGroup) -> _Cell | None:
    """The scored questions of a group; null where there is none, or where a data set of a mean over data sets has none."""
    import numpy as np

    scored = np.count_nonzero(~np.isnan(wins), axis=1).tolist()
    strata = [[at for at in places if scored[at]] for places in group.strata or (group.places,)]
    if not all(strata):
        return None
    rows = [at for places in strata for at in places]
    sizes = [len(places) for places in strata]
    weights = np.repeat([len(rows) / len(strata) / size for size in sizes], sizes)
    slices = tuple(slice(low, high) for low, high in pairwise(accumulate(sizes, initial=0)))
    return _Cell(wins[rows], gaps[rows], weights, slices)


def _described(cell: _Cell) -> dict[str, object]:
    """Means over questions, without intervals."""
    import numpy as np

    known = (~np.isnan(cell.wins)).sum(axis=1)
    win, tie, loss = (float(((cell.wins == sign).sum(axis=1) / known * cell.weights).mean()) for sign in (1, 0, -1))
    relative, gap = (Estimated(value=float((np.nanmean(of, axis=1) * cell.weights).mean())) for of in (cell.wins, cell.gaps))
    return {"rates": Rates(win=win, tie=tie, loss=loss), "relative": relative, "gap": gap}


def _over_trials(cell: _Cell) -> dict[str, object]:
    """The rates of each trial, and boxes over them."""
    per_trial = [one for trial in range(cell.wins.shape[1]) if (one := _trial(cell, trial)) is not None]
    return {
        "per_trial": per_trial, "box_win": box([one.rates.win for one in per_trial]),
        "box_loss": box([one.rates.loss for one in per_trial]), "box_relative": box([one.relative for one in per_trial]),
    }


def _trial(cell: _Cell, trial: int) -> TrialRates | None:
    """The rates of one trial, over the questions that have a result in it; null where a data set has none."""
    import numpy as np

    said = cell.wins[:, trial]
    known = ~np.isnan(said)
    numbers = [int(known[rows].sum()) for rows in cell.strata]
    if not all(numbers):
        return None
    shares = [[(said[rows] == sign).sum() / n for rows, n in zip(cell.strata, numbers, strict=True)] for sign in (1, 0, -1)]
    win, tie, loss = (float(sum(parts) / len(parts)) for parts in shares)
    return TrialRates(trial=trial + 1, n=sum(numbers), rates=Rates(win=win, tie=tie, loss=loss), relative=win - loss)


def box(values: Sequence[float]) -> Box | None:
    """Tukey's box of one value a trial; null without trials."""
    from kgeval.stats import trials

    found = trials.box(values)
    return None if found is None else Box.model_validate({**asdict(found), "outliers": list(found.outliers)})


def _tested(cell: _Cell, plan: _TestPlan, family: int) -> dict[str, object]:
    """Intervals, tests, effect sizes."""
    import numpy as np

    from kgeval.stats import paired

    sign = -1.0 if plan.turned else 1.0
    wins, gaps = np.nanmean(cell.wins, axis=1), np.nanmean(cell.gaps, axis=1)
    relative = _settled(cell, wins, plan) or _estimated(cell, wins, plan, sign)
    figures: dict[str, object] = {
        "relative": relative, "gap": _estimated(cell, gaps, plan, sign), "p": _chance(sign * wins * cell.weights, plan.seed, family),
        "superiority": float(np.mean([paired.superiority(wins[rows]) for rows in cell.strata])),
        **_power(cell, wins, relative.value or 0.0, 1 - plan.confidence),
    }
    if len(cell.strata) == 1:  # ranks and a paired d have no weighted form in use
        figures |= {"wilcoxon_p": paired.wilcoxon(sign * gaps), "effect": paired.cohens_d(gaps)}
    return figures


def _chance(values: Floats, seed: int, family: int) -> float | None:
    """p by sign flips. Drawn p-values have a floor, 1 / (draws + 1): of many tests, none could stand Holm's correction. So one that lies
    near the floor is drawn anew, by as many signs as the family needs (the second draw replaces the first: still a valid p)."""
    from kgeval.stats import paired

    p = paired.sign_flip(values, seed=seed)
    if p is None or len(values) <= paired.EXACT or p * paired.RESAMPLES > NEAR_FLOOR or FINE * family <= paired.RESAMPLES:
        return p
    return paired.sign_flip(values, seed=seed + 1, resamples=FINE * family)


def _settled(cell: _Cell, wins: Floats, plan: _TestPlan) -> Estimated | None:
    """The relative win rate where every question came out the same: resampling them would show no spread at all, so that three of three
    would be as sure as three hundred. Null where they differ."""
    from kgeval.stats.intervals import unvaried

    if len(wins) < 2 or wins.max() - wins.min() > EQUAL:
        return None
    value = min(1.0, max(-1.0, float(wins[0])))
    n = min(len(wins[rows]) for rows in cell.strata)
    ends = unvaried(value, n, low=-1.0, high=1.0, confidence=plan.confidence)
    return Estimated(value=value, low=ends.low, high=ends.high)


def _estimated(cell: _Cell, values: Floats, plan: _TestPlan, sign: float) -> Estimated:
    """The mean over questions (of data sets: the mean of their means) with its interval over questions."""
    from kgeval.stats.bootstrap import bootstrap_sum

    mean = float((values * cell.weights).mean())
    parts = [sign * values[rows] / len(cell.strata) for rows in cell.strata]
    found = bootstrap_sum(parts, seed=plan.seed, confidence=plan.confidence)  # of one stratum: bootstrap_mean
    if found is None:
        return Estimated(value=mean)
    low, high = sorted((sign * found.low, sign * found.high))
    return Estimated(value=mean, low=min(low, mean), high=max(high, mean))


def _power(cell: _Cell, wins: Floats, difference: float, alpha: float) -> dict[str, object]:
    """What this sample would have found with 80 % power, and the questions that the difference seen needs. Null without any spread."""
    from kgeval.stats.power import needed, spread

    n = len(wins)
    parts = [wins[rows] for rows in cell.strata]
    if any(len(part) < 2 for part in parts):
        return {}
    variance = sum(spread(part) ** 2 / len(part) for part in parts) / len(parts) ** 2  # of the figure
    sd = (variance * n) ** 0.5  # one question's spread in a sample of this make-up
    least = sd * _detectable(n, alpha)
    return {"detectable": least if 0 < least <= 1 else None, "needed": needed(difference, sd, alpha=alpha)}


@cache
def _detectable(n: int, alpha: float) -> float:
    """What n questions find, in standard deviations: the same for all cells of n questions, and slow to find."""
    from kgeval.stats.power import detectable

    return detectable(1.0, n, alpha=alpha) or 0.0
