"""The simulation as a whole: every scenario played, its figures, and whether they hold what the procedure promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from math import sqrt
from typing import TYPE_CHECKING

from kgeval.comparison.simulate.world import ASPECTS, POSITIONS, DrawSize, Scenario, SimulationSettings, draw
from kgeval.comparison.stopping import LEAST
from kgeval.comparison.table import PairTable
from kgeval.records import SimulatedProcedure, SimulatedStop
from kgeval.stats.bootstrap import bootstrap_mean
from kgeval.stats.clustered import question_means
from kgeval.stats.paired import sign_flip
from kgeval.stats.sequence import log_wealth, threshold

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

# The truth of a simulated world: what a fair judge would say on endlessly many questions.

DRAWN = 400_000  # questions; the error of the truth is then 0.0015 at most, a fortieth of a run's
PART = 20_000


def true_rate(scenario: Scenario, *, seed: int, repeats: int = 2, questions: int = DRAWN) -> float:
    """The relative win rate (-1..1) that a comparison of these systems is about; 0 for equal systems, by symmetry.

    It is P(A wins) - P(B wins) for a question drawn from the population, answers made once, and a verdict by the same procedure (both
    positions, `repeats` calls a position, the sum of all aspects, a tie within the noise between orders) of the same judge without its two
    preferences, on answers of one length, with no call failed and no pair discarded. Its noise, its steps and what it feels to be equal
    are part of the procedure: more noise makes every relative win rate smaller, and no repetition of it can tell. By drawing, from a
    stream of its own.
    """
    if scenario.equal:
        return 0.0
    # one length, so that a preference for length has nothing to prefer
    systems = replace(scenario.systems, words_a=200.0, words_b=200.0, words_spread=0.0, words_trial=0.0)
    return _drawn(Scenario("", "", systems, scenario.judge.fair()), seed, repeats, questions)


@cache
def _drawn(fair: Scenario, seed: int, repeats: int, questions: int) -> float:
    """Worlds that differ in what is not true (lengths, preferences) have one truth."""
    import numpy as np

    rng = np.random.default_rng([seed, 1])
    drawn = (draw(fair, DrawSize(1, PART, 1, repeats), rng) for _ in range(max(1, questions // PART)))
    parts = [PairTable("a", "b", (), ASPECTS, part.points[0].astype(float), part.words[0].astype(float)).wins().mean() for part in drawn]
    return float(np.mean(parts))


# What the product's own functions make of drawn comparisons: intervals, tests, and where a sequential comparison
# would have stopped.

CELLS = 4_000_000  # points in memory at a time
LOOKS_FROM = 10  # questions after which somebody who peeks looks for the first time
OPEN, A, B, EQUAL = 0, 1, -1, 2


@dataclass(frozen=True)
class SimulatedOutcomes:
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

    unbiased: SimulatedOutcomes = field(repr=False)
    biased: SimulatedOutcomes = field(repr=False)
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
        drawn = draw(scenario, DrawSize(min(step, settings.runs - start), questions, settings.trials, settings.repeats), rng)
        judged.append(~drawn.discarded)
        for run, (unbiased, biased) in enumerate(drawn.tables(), start):
            wins.append(unbiased.wins())
            ours.append(_outcome(wins[-1], settings, run))
            theirs.append(_outcome(biased.wins(), settings, run))
    calls = np.concatenate(judged) * (POSITIONS * settings.repeats)
    stops = stopped(np.array(wins)[:, :, : settings.stop_trials], calls[:, :, : settings.stop_trials], settings, truth=truth)
    outcomes = [SimulatedOutcomes(*np.array(rows).T) for rows in (ours, theirs)]
    return Played(outcomes[0], outcomes[1], stops, float((calls > 0).mean()), calls.sum(axis=(1, 2)))


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
    each = np.arange(runs)
    used = np.cumsum(calls.sum(axis=2), axis=1)[each, last]
    missed = (above(truth) | below(truth))[:, -1]
    return Stops(decided[each, last], last + 1, used, missed, _peeked(values, truth, settings.confidence))


def _peeked(values: Floats, truth: float, confidence: float) -> npt.NDArray[np.bool_]:
    """Would mean -+ t standard errors, looked at after each question from the tenth on, have excluded the truth at some time?"""
    import numpy as np
    from scipy import special

    scored = ~np.isnan(values)
    n = np.maximum(np.cumsum(scored, axis=1), 2)
    filled = np.where(scored, values, 0.0)
    mean = np.cumsum(filled, axis=1) / n
    variance = np.maximum(0.0, np.cumsum(filled**2, axis=1) - n * mean**2) / (n - 1)
    half = special.stdtrit(n - 1, 0.5 + confidence / 2) * np.sqrt(variance / n)
    out: npt.NDArray[np.bool_] = ((np.abs(mean - truth) > half) & (n >= LOOKS_FROM)).any(axis=1)
    return out


ALPHA = 0.05
COVERAGE_OFF, ALARMS_OFF = 0.02, 0.015  # what the noise of 1,000 runs may add: 93..97 % cover, 6.5 % alarm
NOISE_OF = 1_000
CLEAR = 0.4  # a relative win rate from which sequential stopping must come to the same conclusion
ENOUGH = 100  # questions that it may ask for that
SAME, FEWER = 0.95, 0.2


@dataclass(frozen=True)
class ScenarioResult:
    """What came of a scenario. `truth`: relative win rate; `kept`: share of question-trials whose lengths could be brought together."""

    scenario: Scenario
    truth: float
    questions: int
    kept: float
    calls: float
    unbiased: SimulatedProcedure
    biased: SimulatedProcedure
    sequential: SimulatedStop


@dataclass(frozen=True)
class Bound:
    """A promise: `figure` of `scenario` must lie in low..high (None: no bound on that side)."""

    scenario: str
    what: str
    figure: float
    low: float | None
    high: float | None

    @property
    def held(self) -> bool:
        """True if it does."""
        return (self.low is None or self.figure >= self.low) and (self.high is None or self.figure <= self.high)


@dataclass(frozen=True)
class Simulation:
    """Figures of every scenario, and the bounds they must hold."""

    settings: SimulationSettings
    results: tuple[ScenarioResult, ...]
    bounds: tuple[Bound, ...]

    @property
    def passed(self) -> bool:
        """True if every bound is held."""
        return all(bound.held for bound in self.bounds)


def simulate(settings: SimulationSettings, *, done: Callable[[str], None] | None = None) -> Simulation:
    """Plays every scenario. The same settings give the same figures. `done`: told each scenario's name when it is finished.

    Bounds are those of 1,000 runs; with fewer runs they are wider by sqrt(1000 / runs), as the noise is.
    """
    results = []
    for stream, scenario in enumerate(settings.worlds):
        truth = true_rate(scenario, seed=settings.seed, repeats=settings.repeats)
        played = play(scenario, settings, truth=truth, stream=stream)
        results.append(_result(scenario, settings, played, truth))
        if done:
            done(scenario.name)
    return Simulation(settings, tuple(results), tuple(bound for result in results for bound in _bounds(result, settings)))


def _result(scenario: Scenario, settings: SimulationSettings, played: Played, truth: float) -> ScenarioResult:
    return ScenarioResult(
        scenario=scenario, truth=truth, questions=scenario.questions(settings.questions), kept=played.kept,
        calls=float(played.calls.mean()), unbiased=_procedure(played.unbiased, truth), biased=_procedure(played.biased, truth),
        sequential=_sequential(played, settings, truth),
    )


def _procedure(found: SimulatedOutcomes, truth: float) -> SimulatedProcedure:
    import numpy as np

    scored = ~np.isnan(found.low)
    means = found.mean[~np.isnan(found.mean)]
    mean = float(means.mean()) if len(means) else None
    with np.errstate(invalid="ignore"):
        covered = float(((found.low <= truth) & (truth <= found.high)).mean())
        alarms = float((found.p < ALPHA).mean())
    return SimulatedProcedure(
        n_scored=int(scored.sum()), mean=mean, off=None if mean is None else mean - truth, covered=covered, alarms=alarms,
        width=float((found.high - found.low)[scored].mean()) if scored.any() else None,
    )


def _sequential(played: Played, settings: SimulationSettings, truth: float) -> SimulatedStop:
    import numpy as np

    stops, full = played.stops, played.unbiased
    with np.errstate(invalid="ignore"):
        whole = np.where(full.p < ALPHA, np.sign(full.mean), OPEN)
    decision, region = stops.decision, settings.tie_region
    winner = np.where(decision == EQUAL, OPEN, decision)
    # a while the truth is no more than the region, b likewise, equal while it is outside
    wrong = ((decision == A) & (truth <= region)) | ((decision == B) & (truth >= -region)) | ((decision == EQUAL) & (abs(truth) > region))
    share = stops.calls / np.maximum(1, played.calls)
    shares = {
        "a": decision == A, "b": decision == B, "equal": decision == EQUAL, "open": decision == OPEN, "same": winner == whole,
        "wrong": wrong, "missed": stops.missed, "peeking": stops.peeked,
    }
    return SimulatedStop(
        **{name: float(flags.mean()) for name, flags in shares.items()}, questions=float(stops.questions.mean()),
        calls=float(stops.calls.mean()), calls_share=float(share.mean()), calls_most=float(share.max()),
    )


def _bounds(result: ScenarioResult, settings: SimulationSettings) -> Iterator[Bound]:
    name, confidence = result.scenario.name, settings.confidence
    # fewer runs have more noise: the bounds grow with its standard error
    wider = max(1.0, sqrt(NOISE_OF / settings.runs))
    alarms = ALPHA + ALARMS_OFF * wider
    errors = 1 - confidence + ALARMS_OFF * wider
    least, most = confidence - COVERAGE_OFF * wider, min(1.0, confidence + COVERAGE_OFF * wider)
    yield Bound(name, "intervals that hold the truth", result.unbiased.covered, least, most)
    if result.scenario.equal:
        yield Bound(name, "false alarms", result.unbiased.alarms, None, alarms)
        yield Bound(name, "false alarms of the biased baseline", result.biased.alarms, alarms, None)
    else:
        yield Bound(name, "intervals of the biased baseline that hold the truth", result.biased.covered, None, least)
    yield Bound(name, "wrong decisions at any time", result.sequential.wrong, None, errors)
    yield Bound(name, "confidence sequences that ever miss the truth", result.sequential.missed, None, errors)
    if abs(result.truth) >= CLEAR and result.questions >= ENOUGH:
        yield Bound(name, "same conclusion as all trials", result.sequential.same, SAME, None)
    if abs(result.truth) >= CLEAR and result.questions >= ENOUGH and settings.stop_trials <= FEWER * settings.trials:
        yield Bound(name, "judge calls of all trials' calls, most", result.sequential.calls_most, None, FEWER)
