"""Several systems in one order: Bradley-Terry strengths with ties, intervals over questions, and the average win rate beside them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from kgeval.format import first_of
from kgeval.rounding import REST
from kgeval.stats import pairmodel
from kgeval.stats.ranks import ranks

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from scipy.sparse import csr_array

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

# Outcomes of pairs of systems as matrices of wins and ties, for all questions or for resamples of them.

CHUNK = 400_000  # cells of matrices in memory at a time


@dataclass(frozen=True)
class OutcomeTally:
    """One row a pair and question: shares of `win` of `first`, `tie` and `loss` over its trials, adding up to 1; (rows,) each.

    `first` < `second` < `systems`; `question` < `questions`. `drawn`: what each question was drawn with, (questions,): resamples draw
    these; None: each question by itself.
    """

    systems: int
    questions: int
    first: Ints
    second: Ints
    question: Ints
    win: Floats
    tie: Floats
    loss: Floats
    drawn: Ints | None = None

    @cached_property
    def cells(self) -> csr_array:
        """(questions, 2 * systems^2): wins by (winner, loser), then ties by (first, second), each question's in its row."""
        import numpy as np
        from scipy.sparse import csr_array

        n = self.systems
        places = (self.first * n + self.second, self.second * n + self.first, n * n + self.first * n + self.second)
        columns, values = np.concatenate(places), np.concatenate((self.win, self.loss, self.tie))
        return csr_array((values, (np.tile(self.question, 3), columns)), shape=(self.questions, 2 * n * n))

    def matrices(self, weights: Floats) -> tuple[Floats, Floats]:
        """Wins and ties, (times, systems, systems) each, with each question weighing `weights` (times, questions). Ties are symmetric."""
        import numpy as np

        n = self.systems
        flat = np.asarray((self.cells.T @ weights.T).T).reshape(len(weights), 2, n, n)
        return np.ascontiguousarray(flat[:, 0]), flat[:, 1] + np.swapaxes(flat[:, 1], 1, 2)

    def resampled(self, times: int, rng: np.random.Generator) -> Iterator[tuple[Floats, Floats]]:
        """`matrices` of `times` resamples of the questions that have an outcome (of what they were drawn with), a part at a time."""
        import numpy as np

        held = np.unique(self.question)
        _, group = np.unique(held if self.drawn is None else self.drawn[held], return_inverse=True)
        groups = int(group.max()) + 1 if len(group) else 0
        # A resample holds its matrices and a weight for each question.
        step = max(1, CHUNK // max(2 * self.systems**2, self.questions))
        for start in range(0, times, step):
            part = min(step, times - start)
            weights = np.zeros((part, self.questions))
            weights[:, held] = rng.multinomial(groups, np.full(groups, 1 / groups), size=part)[:, group]
            yield self.matrices(weights)


def tally(first: Ints, second: Ints, question: Ints, wins: Floats, *, systems: int, questions: int) -> OutcomeTally:
    """Single outcomes, (rows,) each, as an OutcomeTally; those of one pair and question weigh together as one.

    `wins`: 1 first, 0 tie, -1 second; in between (1 + w) / 2 of a win, the rest a loss. Raises: ValueError for a w outside -1..1, a system
    against itself, or a place outside.
    """
    import numpy as np

    if len(wins) and not (np.abs(wins) <= 1).all():
        raise ValueError("an outcome lies between -1 and 1")
    if (first == second).any():
        raise ValueError("a system is not compared with itself")
    if len(first) and (min(first.min(), second.min()) < 0 or max(first.max(), second.max()) >= systems):
        raise ValueError("an outcome names a system that is not in the list")
    turned = np.where(first < second, wins, -wins)
    low, high = np.minimum(first, second), np.maximum(first, second)
    key, row, times = np.unique((low * systems + high) * max(questions, 1) + question, return_inverse=True, return_counts=True)
    tied = turned == 0
    # A tie is no half win here: the model has a place of its own for ties.
    win = np.where(tied, 0.0, (1 + turned) / 2)
    shares = [np.bincount(row, weights=part, minlength=len(key)) / times for part in (win, tied * 1.0, np.where(tied, 0.0, 1 - win))]
    pair = key // max(questions, 1)
    won, drawn, lost = shares
    return OutcomeTally(systems, questions, pair // systems, pair % systems, key % max(questions, 1), won, drawn, lost)


def joined(parts: list[OutcomeTally], *, systems: int, questions: int) -> OutcomeTally:
    """Tallies of different pairs as one."""
    import numpy as np

    names, whole, shares = ("first", "second", "question"), np.empty(0, dtype=np.int64), np.empty(0)
    ids = [np.concatenate([whole, *(getattr(part, name) for part in parts)]) for name in names]
    counts = [np.concatenate([shares, *(getattr(part, name) for part in parts)]) for name in ("win", "tie", "loss")]
    return OutcomeTally(systems, questions, ids[0], ids[1], ids[2], counts[0], counts[1], counts[2])


def average_win_rates(wins: Floats, ties: Floats) -> Floats:
    """Each system's mean over the opponents that it met of its win rate against them, ties half; NaN where it met nobody.

    `wins`, `ties`: (..., systems, systems); (..., systems), 0..1. Each opponent weighs the same, however many questions they share.
    """
    import numpy as np

    won = wins + ties / 2
    met = wins + np.swapaxes(wins, -1, -2) + ties
    rates = np.where(met > 0, won / np.where(met > 0, met, 1.0), 0.0)
    opponents = (met > 0).sum(axis=-1)
    return np.where(opponents > 0, rates.sum(axis=-1) / np.maximum(opponents, 1), np.nan)


# Why systems cannot be put in one order with finite strengths, in words that name them.

NAMED = 5  # systems named in a list


def not_rankable(wins: Floats, ties: Floats, systems: Sequence[str]) -> str | None:
    """What separates which systems from which; None where finite strengths exist (`pairmodel.exists`).

    `wins`, `ties`: (systems, systems), ties symmetric.
    """
    if len(systems) < 2:
        return "fewer than 2 systems"
    if not (wins.any() or ties.any()):
        return "no comparison has a result"
    if (apart := _never_met(wins + ties, systems)) is not None:
        return apart
    if not wins.any():
        return "every comparison is a tie: nothing tells the systems apart"
    if not pairmodel.connected((wins + ties)[None])[0]:
        return _one_sided(wins + ties, systems)
    if ties.any() and not pairmodel.turns_round(wins, ties):
        return _only_ties_against(wins, systems)
    return None


def _never_met(met: Floats, systems: Sequence[str]) -> str | None:
    groups = pairmodel.components(met, strong=False)
    if not groups.any():
        return None
    parts = [_of(systems, groups == group) for group in range(min(int(groups.max()) + 1, NAMED))]
    more = "" if int(groups.max()) < NAMED else " | ..."
    return f"never compared with one another, not even through others: {' | '.join(parts)}{more}"


def _one_sided(beaten: Floats, systems: Sequence[str]) -> str:
    """A group within which results go round, that nobody outside beats or ties: there is one, where not all systems are one group."""
    groups = pairmodel.components(beaten)
    for group in range(int(groups.max()) + 1):
        inside = groups == group
        met = (beaten[inside] > 0).any(axis=0) & ~inside
        if met.any() and not beaten[~inside][:, inside].any():
            who, others = _of(systems, inside), _of(systems, met)
            return f"{who} won every comparison with {others}: nothing says by how much, so there are no finite strengths"
    return "the systems fall into groups that never lose to one another: there are no finite strengths"


def _only_ties_against(wins: Floats, systems: Sequence[str]) -> str:
    """Wins go one way only: those that win and never lose stand on top."""
    import numpy as np

    tops = np.logical_and((wins > 0).any(axis=1), ~(wins > 0).any(axis=0))
    return f"{_of(systems, tops)} never lost, and only ties link the winners with those that lost: there are no finite strengths"


def _of(systems: Sequence[str], chosen: npt.NDArray[np.bool_]) -> str:
    return first_of([name for name, taken in zip(systems, chosen.tolist(), strict=True) if taken], NAMED)


Ties = Literal["model", "half"]
RESAMPLES = 1_000
DRAWS = 200_000_000  # questions drawn in all, at most: from 200,000 questions on there are fewer resamples, never under LEAST
LEAST = 200
UNRANKED = 0.01  # share of resamples without an answer above which there are no intervals: their ends would lean on what was left out


@dataclass(frozen=True)
class Strength:
    """One system. `average_win_rate` (0..1, ties half): the mean over its opponents of its win rate against each; None: it met nobody.

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

    numbers = {question: number for number, question in enumerate(dict.fromkeys(outcome[2] for outcome in outcomes))}
    i, j, number = (np.array(list(column), dtype=np.int64) for column in (
        (outcome[0] for outcome in outcomes), (outcome[1] for outcome in outcomes), (numbers[outcome[2]] for outcome in outcomes),
    ))
    wins = np.array([outcome[3] for outcome in outcomes], dtype=np.float64)
    counted = tally(i, j, number, wins, systems=len(systems), questions=len(numbers))
    return _strengths(counted, tuple(systems), _ResamplingPlan(seed, confidence, resamples, ties))


def strengths_of_trials(
    pairs: Iterable[tuple[int, int, Sequence[Hashable], Floats]], systems: Sequence[str], *, seed: int, confidence: float = 0.95,
    resamples: int = RESAMPLES, ties: Ties = "model", drawn_with: Mapping[Hashable, str] | None = None,
) -> Strengths:
    """As `strengths`, from tables, one pair at a time and each pair once: (i, j, question ids, wins); wins (questions, trials) of 1, 0, -1,
    NaN = lacking. `drawn_with`: question id -> what it was drawn with, which resamples draw as a whole. Memory: one row a pair and
    question."""
    import numpy as np

    numbers: dict[Hashable, int] = {}
    parts: list[OutcomeTally] = []
    for i, j, ids, wins in pairs:
        table = np.asarray(wins, dtype=np.float64).reshape(len(ids), -1)
        row, trial = np.nonzero(~np.isnan(table))
        places = np.array([numbers.setdefault(question, len(numbers)) for question in ids], dtype=np.int64)
        i_s, j_s = np.full(len(row), i, dtype=np.int64), np.full(len(row), j, dtype=np.int64)
        parts.append(tally(i_s, j_s, places[row], table[row, trial], systems=len(systems), questions=len(numbers)))
    counted = joined(parts, systems=len(systems), questions=len(numbers))
    if drawn_with:
        groups: dict[Hashable, int] = {}
        names = ((drawn_with[question],) if question in drawn_with else question for question in numbers)
        counted = replace(counted, drawn=np.array([groups.setdefault(name, len(groups)) for name in names], dtype=np.int64))
    return _strengths(counted, tuple(systems), _ResamplingPlan(seed, confidence, resamples, ties))


@dataclass(frozen=True)
class _ResamplingPlan:
    seed: int
    confidence: float
    resamples: int
    ties: Ties

    def times(self, questions: int) -> int:
        return self.resamples if questions * self.resamples <= DRAWS else max(LEAST, DRAWS // questions)


def _strengths(counted: OutcomeTally, systems: tuple[str, ...], plan: _ResamplingPlan) -> Strengths:
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
    few = "fewer than 2 questions: no intervals" if questions < 2 else None
    if fitted is None:
        return Strengths(plain, rankable=False, reason=reason, interval_reason=few, questions=questions)
    theta, eta = fitted.theta[0], float(fitted.eta[0])
    equal = math.exp(eta)
    result = Strengths(
        _ranked(plain, theta), rankable=True, interval_reason=few, tie_share=None if plan.ties == "half" else equal / (2 + equal),
        questions=questions,
    )
    if few:
        return result
    times = plan.times(questions)
    return _with_intervals(replace(result, resamples=times), _drawn(counted, plan, times, theta, eta), plan.confidence)


def _modelled(wins: Floats, ties: Floats, plan: _ResamplingPlan) -> tuple[Floats, Floats]:
    return (wins, ties) if plan.ties == "model" else (wins + ties / 2, 0 * ties)


def _drawn(counted: OutcomeTally, plan: _ResamplingPlan, times: int, theta: Floats, eta: float) -> Floats:
    """Log strengths of the resamples that have an answer (some, systems)."""
    import numpy as np

    thetas = []
    for plain_wins, plain_ties in counted.resampled(times, np.random.default_rng(plan.seed)):
        wins, ties = _modelled(plain_wins, plain_ties, plan)
        kept = pairmodel.exists(wins, ties)
        if kept.any():
            # Resamples lie around the strengths of all questions, so Newton's method starts there and needs a few steps.
            fitted = pairmodel.fit(wins[kept], ties[kept], theta, eta)
            thetas.append(fitted.theta[fitted.converged])
    return np.concatenate(thetas) if thetas else np.empty((0, counted.systems))


def _ranked(plain: tuple[Strength, ...], theta: Floats) -> tuple[Strength, ...]:
    strengths = theta.tolist()
    return tuple(
        replace(system, strength=own, rank=rank) for system, own, rank in zip(plain, strengths, ranks(strengths), strict=True)
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
    for index, system in enumerate(found.systems):
        low, high = np.quantile(theta - theta[:, [index]], _levels(confidence), axis=0)  # the others minus this one
        stronger, weaker = int((low > REST).sum()), int((high < -REST).sum())
        systems.append(replace(
            system, low=float(lows[index]), high=float(highs[index]), rank_low=1 + stronger, rank_high=len(found.systems) - weaker,
        ))
    return replace(found, unranked=unranked, systems=tuple(systems))


def _levels(confidence: float) -> tuple[float, float]:
    return (1 - confidence) / 2, (1 + confidence) / 2
