"""Several systems in one order: Bradley-Terry strengths with ties, intervals over questions, and the average win rate beside them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from kgeval.stats import pairmodel
from kgeval.stats.separated import not_rankable
from kgeval.stats.tally import Tally, average_win_rates, joined, tally

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

Ties = Literal["model", "half"]
RESAMPLES = 1_000
DRAWS = 200_000_000  # questions drawn in all, at most: from 200,000 questions on there are fewer resamples, never under LEAST
LEAST = 200
UNRANKED = 0.01  # share of resamples without an answer above which there are no intervals: their ends would lean on what was left out
EQUAL = 1e-9  # log strengths nearer than this are equal


@dataclass(frozen=True)
class Strength:
    """One system. `average_win_rate` (0..1, ties half): the mean over its opponents of its win rate against each; null: it met nobody.

    `strength`: natural log, mean 0 over systems: a difference of d means odds of exp(d) to win where somebody wins; `low`, `high`: its
    interval. `rank` from 1 (equal strengths share the better one). `rank_low` = 1 + systems that are surely stronger, `rank_high` = systems
    - those that are surely weaker: the interval of the difference is on one side of 0 (each pair by itself, not corrected for many).
    """

    system: str
    average_win_rate: float | None
    strength: float | None = None
    low: float | None = None
    high: float | None = None
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    average_low: float | None = None
    average_high: float | None = None


@dataclass(frozen=True)
class Strengths:
    """All systems, in the order they were given. `rankable` false: no finite strengths exist, `reason` says what separates whom, and only
    average win rates are given. `interval_reason`: why strengths have no intervals. `tie_share`: the model's share of ties between two
    equal systems, 0..1. `questions`: distinct ones with an outcome; `unranked`: share of their resamples without finite strengths."""

    systems: tuple[Strength, ...]
    rankable: bool
    reason: str | None = None
    interval_reason: str | None = None
    tie_share: float | None = None
    questions: int = 0
    resamples: int = 0
    unranked: float | None = None


def strengths(
    outcomes: Sequence[tuple[int, int, Hashable, float]], systems: Sequence[str], *, seed: int, confidence: float = 0.95,
    resamples: int = RESAMPLES, ties: Ties = "model",
) -> Strengths:
    """Strengths of systems by Bradley-Terry with ties (pairmodel: evalica's `newman`, taken to the last digits by Newton's method).

    `outcomes`: (i, j, question, w), i and j places in `systems`, w = 1: i won, 0: tie, -1: j won. Several of one pair and question are
    its trials and weigh together as one. A w in between counts as (1 + w) / 2 of a win and the rest of a loss: give trials singly where
    you have them (or use `strengths_of_trials`), else their ties are taken for halves. `ties`: `half` leaves the ties out of the model
    and counts each as half a win for both (plain Bradley-Terry).

    Intervals: percentiles over resamples of questions, each with all its pairs and trials (cluster bootstrap). Where a resample has no
    finite strengths it is left out; where those are more than 1 % there are no intervals. Raises: ValueError for a w outside -1..1, a
    system against itself, or a place that is not in `systems`.
    """
    import numpy as np

    numbers = {question: at for at, question in enumerate(dict.fromkeys(outcome[2] for outcome in outcomes))}
    i, j, at = (np.array(list(column), dtype=np.int64) for column in (
        (outcome[0] for outcome in outcomes), (outcome[1] for outcome in outcomes), (numbers[outcome[2]] for outcome in outcomes),
    ))
    wins = np.array([outcome[3] for outcome in outcomes], dtype=np.float64)
    counted = tally(i, j, at, wins, systems=len(systems), questions=len(numbers))
    return _strengths(counted, tuple(systems), _Plan(seed, confidence, resamples, ties))


def strengths_of_trials(
    pairs: Iterable[tuple[int, int, Sequence[Hashable], Floats]], systems: Sequence[str], *, seed: int, confidence: float = 0.95,
    resamples: int = RESAMPLES, ties: Ties = "model",
) -> Strengths:
    """As `strengths`, from tables, one pair at a time and each pair once: (i, j, question ids, wins); wins (questions, trials) of 1, 0, -1,
    NaN = lacking. Memory: one row a pair and question."""
    import numpy as np

    numbers: dict[Hashable, int] = {}
    parts: list[Tally] = []
    for i, j, ids, wins in pairs:
        table = np.asarray(wins, dtype=np.float64).reshape(len(ids), -1)
        at, trial = np.nonzero(~np.isnan(table))
        places = np.array([numbers.setdefault(one, len(numbers)) for one in ids], dtype=np.int64)
        i_s, j_s = np.full(len(at), i, dtype=np.int64), np.full(len(at), j, dtype=np.int64)
        parts.append(tally(i_s, j_s, places[at], table[at, trial], systems=len(systems), questions=len(numbers)))
    counted = joined(parts, systems=len(systems), questions=len(numbers))
    return _strengths(counted, tuple(systems), _Plan(seed, confidence, resamples, ties))


def bradley_terry(outcomes: Sequence[tuple[int, int, Hashable, float]], systems: Sequence[str], *, seed: int) -> Strengths:
    """Plain Bradley-Terry: `strengths` with each tie as half a win for both."""
    return strengths(outcomes, systems, seed=seed, ties="half")


@dataclass(frozen=True)
class _Plan:
    seed: int
    confidence: float
    resamples: int
    ties: Ties

    def times(self, questions: int) -> int:
        return self.resamples if questions * self.resamples <= DRAWS else max(LEAST, DRAWS // questions)


@dataclass(frozen=True)
class _Drawn:
    """Resamples: average win rates (all, systems), log strengths of those with an answer (some, systems)."""

    averages: Floats
    theta: Floats


def _strengths(counted: Tally, systems: tuple[str, ...], plan: _Plan) -> Strengths:
    import numpy as np

    questions = len(np.unique(counted.question))
    wins, ties = (part[0] for part in counted.matrices(np.ones((1, counted.questions))))
    averages = average_win_rates(wins, ties)
    plain = tuple(Strength(name, None if np.isnan(rate) else float(rate)) for name, rate in zip(systems, averages, strict=True))
    wins, ties = _modelled(wins, ties, plan)
    reason = not_rankable(wins, ties, systems)
    started = None if reason is not None else pairmodel.started(wins, ties)
    fitted = None if started is None else pairmodel.fit(wins[None], ties[None], *started)
    if fitted is not None and not fitted.converged[0]:
        reason, fitted = "the strengths run away: the results are too nearly one-sided", None
    found = Strengths(plain, fitted is not None, reason, questions=questions)
    theta = None if fitted is None else fitted.theta[0]
    if fitted is not None and theta is not None:
        equal = float(np.exp(fitted.eta[0]))
        found = replace(found, systems=_ranked(plain, theta), tie_share=None if plan.ties == "half" else equal / (2 + equal))
    if questions < 2:
        return replace(found, interval_reason="fewer than 2 questions: no intervals")
    times = plan.times(questions)
    drawn = _drawn(counted, plan, times, theta, float(fitted.eta[0]) if fitted is not None else 0.0)
    found = replace(found, resamples=times, systems=_with_averages(found.systems, drawn.averages, plan.confidence))
    return found if theta is None else _with_intervals(found, drawn.theta, plan.confidence)


def _modelled(wins: Floats, ties: Floats, plan: _Plan) -> tuple[Floats, Floats]:
    return (wins, ties) if plan.ties == "model" else (wins + ties / 2, 0 * ties)


def _drawn(counted: Tally, plan: _Plan, times: int, theta: Floats | None, eta: float) -> _Drawn:
    import numpy as np

    averages, thetas = [], []
    for plain_wins, plain_ties in counted.resampled(times, np.random.default_rng(plan.seed)):
        averages.append(average_win_rates(plain_wins, plain_ties))
        if theta is None:
            continue
        wins, ties = _modelled(plain_wins, plain_ties, plan)
        kept = pairmodel.exists(wins, ties)
        if kept.any():
            fitted = pairmodel.fit(wins[kept], ties[kept], theta, eta)
            thetas.append(fitted.theta[fitted.converged])
    return _Drawn(np.concatenate(averages), np.concatenate(thetas) if thetas else np.empty((0, counted.systems)))


def _ranked(plain: tuple[Strength, ...], theta: Floats) -> tuple[Strength, ...]:
    return tuple(
        replace(one, strength=float(own), rank=1 + int((theta > own + EQUAL).sum())) for one, own in zip(plain, theta, strict=True)
    )


def _with_averages(systems: tuple[Strength, ...], averages: Floats, confidence: float) -> tuple[Strength, ...]:
    """An interval only where each resample has the figure."""
    import numpy as np

    ends = np.quantile(averages, _levels(confidence), axis=0)  # NaN where one is
    return tuple(
        one if np.isnan(low) or one.average_win_rate is None
        else replace(one, average_low=min(float(low), one.average_win_rate), average_high=max(float(high), one.average_win_rate))
        for one, low, high in zip(systems, ends[0], ends[1], strict=True)
    )


def _with_intervals(found: Strengths, theta: Floats, confidence: float) -> Strengths:
    import numpy as np

    unranked = 1 - len(theta) / found.resamples
    if unranked > UNRANKED:
        lost = found.resamples - len(theta)
        why = f"{lost:,} of {found.resamples:,} resamples of questions give no finite strengths: no intervals"
        return replace(found, unranked=unranked, interval_reason=why)
    lows, highs = np.quantile(theta, _levels(confidence), axis=0)
    systems = []
    for at, one in enumerate(found.systems):
        low, high = np.quantile(theta - theta[:, [at]], _levels(confidence), axis=0)  # the others minus this one
        stronger, weaker = int((low > EQUAL).sum()), int((high < -EQUAL).sum())
        systems.append(replace(
            one, low=float(lows[at]), high=float(highs[at]), rank_low=1 + stronger, rank_high=len(found.systems) - weaker,
        ))
    return replace(found, unranked=unranked, systems=tuple(systems))


def _levels(confidence: float) -> tuple[float, float]:
    return (1 - confidence) / 2, (1 + confidence) / 2
