"""The proof by simulation: what a comparison says in worlds whose truth is known."""

from __future__ import annotations

from pydantic import Field

from kgeval.records.base import Public, Record
from kgeval.records.manifest import RunReport


class SimulatedProcedure(Record):
    """One procedure over all runs of a scenario. `mean`: of the estimated relative win rates (-1..1); `off`: that minus the truth.

    `covered`: share of runs whose interval holds the truth; `alarms`: share that declare a difference (p < 0.05); `width`: mean width of
    the intervals. `n_scored`: runs with an interval; the others count as not covered, and as no alarm.
    """

    n_scored: int
    mean: float | None = None
    off: float | None = None
    covered: float
    alarms: float
    width: float | None = None


class SimulatedStop(Record):
    """Stopping when sure, over all runs. `a`, `b`, `equal`, `open`: shares of what was decided; `same`: share that concludes what all
    trials conclude (a or b where p < 0.05, else neither); `wrong`: share of decisions that are not true.

    `missed`: share of runs whose confidence sequence excludes the truth at any time; `peeking`: the same of an ordinary interval, looked at
    after every question. `questions`, `calls`: means; `calls_share`, `calls_most`: calls as a share of those of all trials, mean and most.
    """

    a: float
    b: float
    equal: float
    open: float
    same: float
    wrong: float
    missed: float
    peeking: float
    questions: float
    calls: float
    calls_share: float
    calls_most: float


class SimulatedScenario(Record):
    """One world. `truth`: relative win rate by a fair judge; `judge`, `systems`: what they were made of (points of an aspect, words).

    `kept`: share of question-trials whose lengths could be brought together; `calls`: mean judge calls of all trials. `unbiased`: the
    procedure; `biased`: one order, one trial, free lengths, no ties, on the same draws.
    """

    name: Public
    about: Public
    truth: float
    questions: int
    judge: dict[Public, float] = Field(default_factory=dict)
    systems: dict[Public, float] = Field(default_factory=dict)
    kept: float
    calls: float
    unbiased: SimulatedProcedure
    biased: SimulatedProcedure
    sequential: SimulatedStop


class SimulationBound(Record):
    """What must be true of a scenario: `figure` in low..high; null: no bound on that side."""

    scenario: Public
    what: Public
    figure: float
    low: float | None = None
    high: float | None = None
    held: bool


class SimulationReport(RunReport):
    """`kgeval compare --simulate`: figures of every scenario, and whether they hold the bounds.

    `trials` (M), `repeats` (N a position): of each comparison; `stop_trials`: trials a question where it may stop; `resamples`: of each
    interval and test. `passed`: every bound is held.
    """

    runs: int
    seed: int
    trials: int
    repeats: int
    confidence: float
    tie_region: float
    stop_trials: int
    resamples: int
    passed: bool
    scenarios: list[SimulatedScenario] = Field(default_factory=list)
    bounds: list[SimulationBound] = Field(default_factory=list)
