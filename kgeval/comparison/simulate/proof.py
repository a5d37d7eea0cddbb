"""The simulation as a whole: every scenario played, its figures, and whether they hold what the procedure promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from kgeval.comparison.simulate.runs import EQUAL, OPEN, A, B, Outcomes, Played, play
from kgeval.comparison.simulate.truth import true_rate
from kgeval.comparison.simulate.world import Scenario, SimulationSettings
from kgeval.records import SimulatedProcedure, SimulatedStop

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

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
    """A promise: `figure` of `scenario` must lie in low..high (null: no bound on that side)."""

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


def _procedure(found: Outcomes, truth: float) -> SimulatedProcedure:
    import numpy as np

    scored = ~np.isnan(found.low)
    known = found.mean[~np.isnan(found.mean)]
    mean = float(known.mean()) if len(known) else None
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
    said = np.where(stops.decision == EQUAL, OPEN, stops.decision)
    share = stops.calls / np.maximum(1, played.calls)
    return SimulatedStop(
        a=_of(stops.decision == A), b=_of(stops.decision == B), equal=_of(stops.decision == EQUAL), open=_of(stops.decision == OPEN),
        same=_of(said == whole), wrong=_of(_wrong(stops.decision, settings.tie_region, truth)), missed=_of(stops.missed),
        peeking=_of(stops.peeked), questions=float(stops.questions.mean()), calls=float(stops.calls.mean()),
        calls_share=float(share.mean()), calls_most=float(share.max()),
    )


def _wrong(decision: npt.NDArray[np.int64], region: float, truth: float) -> npt.NDArray[np.bool_]:
    """a while the truth is no more than the region, b likewise, equal while it is outside."""
    wrong: npt.NDArray[np.bool_] = (
        ((decision == A) & (truth <= region)) | ((decision == B) & (truth >= -region)) | ((decision == EQUAL) & (abs(truth) > region))
    )
    return wrong


def _of(flags: npt.NDArray[np.bool_]) -> float:
    return float(flags.mean())


def _bounds(result: ScenarioResult, settings: SimulationSettings) -> Iterator[Bound]:
    name, sure = result.scenario.name, settings.confidence
    wider = max(1.0, sqrt(NOISE_OF / settings.runs))
    alarms = ALPHA + ALARMS_OFF * wider
    errors = 1 - sure + ALARMS_OFF * wider
    least, most = sure - COVERAGE_OFF * wider, min(1.0, sure + COVERAGE_OFF * wider)
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
