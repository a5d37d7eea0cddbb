"""What a simulation is made of: systems whose difference is known, judges whose faults are known, and how much of each is drawn."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kgeval.comparison.align.rule import AlignmentRule
from kgeval.comparison.stopping import TIE_REGION, TRIALS

RUNS = 1_000
RESAMPLES = 2_000  # of an interval and of a test: a run of the product draws 10,000; docs/simulation.md says what the difference is


@dataclass(frozen=True)
class SimulatedJudge:
    """How a judge gives points (0..5) to two answers side by side. All in points of one aspect.

    `position`: by how much what stands first is put above the other. `length`: by how much 100 words more are. `noise`: standard
    deviation by aspect, answer and call; `halo`: by answer and call, the same in all aspects. `tie`: two answers whose points differ by
    less on the mean of the aspects get the same points. `step`: points are rounded to it (1, 0.5). `failed`: share of calls without a
    usable reply.
    """

    position: float = 0.5
    length: float = 0.5
    noise: float = 0.3
    halo: float = 0.15
    tie: float = 0.3
    step: float = 0.5
    failed: float = 0.005

    def fair(self) -> SimulatedJudge:
        """The same judge without a preference for a place or for length, who always replies."""
        return replace(self, position=0.0, length=0.0, failed=0.0)


@dataclass(frozen=True)
class SimulatedSystems:
    """Two systems. `difference`: A's quality minus B's, in points of an aspect, mean over the population of questions; `spread`: its
    standard deviation from question to question. `level`, `difficulty`: mean and standard deviation of what both can do. `trial`:
    standard deviation of an answer's quality when it is made again. `words_a`, `words_b`: mean lengths of free answers; `words_spread`
    from question to question (both alike), `words_trial` from answer to answer.
    """

    difference: float = 0.0
    spread: float = 0.5
    level: float = 2.8
    difficulty: float = 0.4
    trial: float = 0.3
    words_a: float = 200.0
    words_b: float = 200.0
    words_spread: float = 40.0
    words_trial: float = 15.0


@dataclass(frozen=True)
class Aligning:
    """How lengths are brought together: `rule` as in a real run; `misses`: standard deviation in words of what comes back from what
    was asked for; `forced`: share of what is still apart that forced alignment mends. The rest is discarded."""

    rule: AlignmentRule = field(default_factory=AlignmentRule)
    misses: float = 25.0
    forced: float = 0.4


@dataclass(frozen=True)
class Scenario:
    """One world: name, what it is there for, and its parts. `share`: of the settings' questions that it is asked, at least 2."""

    name: str
    about: str
    systems: SimulatedSystems = SimulatedSystems()
    judge: SimulatedJudge = SimulatedJudge()
    aligning: Aligning = Aligning()
    share: float = 1.0

    @property
    def equal(self) -> bool:
        """True where a declared difference is a false alarm."""
        return self.systems.difference == 0

    def questions(self, of: int) -> int:
        """How many questions that is."""
        return max(2, round(self.share * of))


@dataclass(frozen=True)
class SimulationSettings:
    """How much is drawn. `questions`, `trials` (M), `repeats` (N a position): the design of each comparison; `effects`: true differences
    in points of an aspect, two scenarios each; `stop_trials`: trials a question under sequential stopping, or all if there are fewer.
    `scenarios`: other worlds than `standard`'s. Raises: ValueError naming every value that cannot be."""

    runs: int = RUNS
    seed: int = 0
    questions: int = 100
    trials: int = 25
    repeats: int = 2
    effects: tuple[float, ...] = (0.2, 0.5)
    confidence: float = 0.95
    tie_region: float = TIE_REGION
    stop_trials: int = TRIALS
    resamples: int = RESAMPLES
    scenarios: tuple[Scenario, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        least = {"runs": 1, "questions": 2, "trials": 1, "repeats": 1, "stop_trials": 1, "resamples": 100}
        faults = [f"{name} is {getattr(self, name)}, at least {low} is needed" for name, low in least.items() if getattr(self, name) < low]
        faults += [f"an effect of {one} points is not in -3..3" for one in self.effects if not -3 <= one <= 3]
        if not 0 < self.confidence < 1:
            faults.append(f"a confidence of {self.confidence} is not between 0 and 1")
        if not 0 <= self.tie_region < 1:
            faults.append(f"a tie region of {self.tie_region} is not in 0..1")
        if faults:
            raise ValueError("; ".join(faults))

    @property
    def worlds(self) -> tuple[Scenario, ...]:
        """The scenarios that are run."""
        return self.scenarios or standard(self.effects)


def standard(effects: tuple[float, ...]) -> tuple[Scenario, ...]:
    """The scenarios of the proof: nothing to find, nothing to find but length, each effect with both biases for it and against it."""
    made = [
        Scenario("one system twice", "A/A: nothing to find; the judge prefers what stands first"),
        Scenario("longer, not better", "equal systems, A writes 60 words more", SimulatedSystems(words_a=260)),
    ]
    for effect in effects:
        size = f"{effect:g} points"
        if effect == 0:
            continue
        made += [
            Scenario(f"{size}, flattered", f"A is {size} better and 60 words longer", SimulatedSystems(difference=effect, words_a=260)),
            Scenario(f"{size}, hidden", f"A is {size} better, B is 120 words longer", SimulatedSystems(difference=effect, words_b=320)),
        ]
    noisy = SimulatedJudge(position=1.0, noise=1.0, halo=0.6, tie=0.25, step=1.0, failed=0.02)
    uneven = SimulatedSystems(difference=0.3, spread=1.0, trial=0.7, words_a=260)
    return (*made, Scenario("uneven and noisy", "half of the questions; strong biases, much noise, whole points", uneven, noisy, share=0.5))
