"""What the product's own functions make of drawn comparisons: intervals, tests, and where a sequential comparison would have stopped."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgeval.comparison.simulate.draws import POSITIONS, Size, draw
from kgeval.comparison.simulate.world import Scenario, SimulationSettings
from kgeval.comparison.stopping import LEAST
from kgeval.stats.bootstrap import bootstrap_mean
from kgeval.stats.clustered import question_means
from kgeval.stats.paired import sign_flip
from kgeval.stats.sequence import log_wealth, threshold

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

CELLS = 4_000_000  # points in memory at a time
LOOKS_FROM = 10  # questions after which somebody who peeks looks for the first time
OPEN, A, B, EQUAL = 0, 1, -1, 2


@dataclass(frozen=True)
class Outcomes:
    """One procedure in each run: estimate, interval and p; (runs,). NaN: the run has none."""

    mean: Floats
    low: Floats
    high: Floats
    p: Floats


@dataclass(frozen=True)
class Stops:
    """A sequential comparison in each run: `decision` (OPEN, A, B, EQUAL), questions and judge calls used; (runs,). `missed`: the
    confidence sequence excluded the truth at some time; `peeked`: an ordinary interval did, looked at after every question."""

    decision: Ints
    questions: Ints
    calls: Ints
    missed: npt.NDArray[np.bool_]
    peeked: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Played:
    """All runs of a scenario. `kept`: share of question-trials that were not discarded; `calls`: judge calls of the whole run; (runs,)."""

    unbiased: Outcomes = field(repr=False)
    biased: Outcomes = field(repr=False)
    stops: Stops = field(repr=False)
    kept: float
    calls: Ints = field(repr=False)


def play(scenario: Scenario, settings: SimulationSettings, *, truth: float, stream: int) -> Played:
    """`settings.runs` comparisons in this world. `stream`: number of the scenario, so that each has draws of its own."""
    import numpy as np

    questions = scenario.questions(settings.questions)
    cells = questions * settings.trials * settings.repeats * POSITIONS * 8
    step = max(1, CELLS // cells)
    ours, theirs, wins, judged = [], [], [], []
    for start in range(0, settings.runs, step):
        rng = np.random.default_rng([settings.seed, 2, stream, start])
        drawn = draw(scenario, Size(min(step, settings.runs - start), questions, settings.trials, settings.repeats), rng)
        judged.append(~drawn.discarded)
        for run, (unbiased, biased) in enumerate(drawn.tables(), start):
            wins.append(unbiased.wins())
            ours.append(_outcome(wins[-1], settings, run))
            theirs.append(_outcome(biased.wins(), settings, run))
    made = np.concatenate(judged) * (POSITIONS * settings.repeats)
    stops = stopped(np.array(wins)[:, :, : settings.stop_trials], made[:, :, : settings.stop_trials], settings, truth=truth)
    return Played(_outcomes(ours), _outcomes(theirs), stops, float((made > 0).mean()), made.sum(axis=(1, 2)))


def _outcome(wins: Floats, settings: SimulationSettings, run: int) -> tuple[float, float, float, float]:
    """What `clustered_mean` and `sign_flip` say of (questions, trials), with the resamples of the settings."""
    import numpy as np

    means = question_means(wins)
    means = means[~np.isnan(means)]
    interval = bootstrap_mean(means, seed=run, confidence=settings.confidence, resamples=settings.resamples)
    p = sign_flip(means, seed=run, resamples=settings.resamples)
    if interval is None or p is None:
        return (float(means.mean()) if len(means) else np.nan, np.nan, np.nan, np.nan)
    return float(means.mean()), interval.low, interval.high, p


def _outcomes(rows: list[tuple[float, float, float, float]]) -> Outcomes:
    import numpy as np

    return Outcomes(*np.array(rows).T)


def stopped(wins: Floats, calls: Ints, settings: SimulationSettings, *, truth: float) -> Stops:
    """Where `Stopping` would have stopped, for many runs at once: it decides where the wealth against an end of the tie region reaches the
    threshold. `wins`, `calls`: (runs, questions, trials), questions in random order (they are drawn independently)."""
    import numpy as np

    runs, questions = wins.shape[:2]
    values = question_means(wins.reshape(runs * questions, -1)).reshape(runs, questions)
    seen = np.cumsum(~np.isnan(values), axis=1)
    limit, region = threshold(settings.confidence), settings.tie_region

    def above(mean: float) -> npt.NDArray[np.bool_]:
        return np.maximum.accumulate(log_wealth(values, mean), axis=1) >= limit

    def below(mean: float) -> npt.NDArray[np.bool_]:
        return np.maximum.accumulate(log_wealth(-values, -mean), axis=1) >= limit

    sure_a, sure_b = above(region), below(-region)
    decided = np.select([seen < LEAST, sure_a, sure_b, above(-region) & below(region)], [OPEN, A, B, EQUAL], OPEN)
    ended = decided != OPEN
    last = np.where(ended.any(axis=1), ended.argmax(axis=1), questions - 1)
    at = np.arange(runs)
    used = np.cumsum(calls.sum(axis=2), axis=1)[at, last]
    missed = (above(truth) | below(truth))[:, -1]
    return Stops(decided[at, last], last + 1, used, missed, _peeked(values, truth, settings.confidence))


def _peeked(values: Floats, truth: float, confidence: float) -> npt.NDArray[np.bool_]:
    """Would mean -+ t standard errors, looked at after each question from the tenth on, have excluded the truth at some time?"""
    import numpy as np
    from scipy import special

    known = ~np.isnan(values)
    n = np.maximum(np.cumsum(known, axis=1), 2)
    filled = np.where(known, values, 0.0)
    mean = np.cumsum(filled, axis=1) / n
    variance = np.maximum(0.0, np.cumsum(filled**2, axis=1) - n * mean**2) / (n - 1)
    half = special.stdtrit(n - 1, 0.5 + confidence / 2) * np.sqrt(variance / n)
    out: npt.NDArray[np.bool_] = ((np.abs(mean - truth) > half) & (n >= LOOKS_FROM)).any(axis=1)
    return out
