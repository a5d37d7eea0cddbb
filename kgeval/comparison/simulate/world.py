"""What a simulation is made of: systems whose difference is known, judges whose faults are known, how much of each is drawn, and the draws:
qualities, lengths, alignment, and the points that a judge gives. Many runs at once, as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from kgeval.comparison.align.rule import AlignmentRule
from kgeval.comparison.stopping import TIE_REGION, TRIALS
from kgeval.comparison.table import OVERALL, PairQuestion, PairTable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Reals = npt.NDArray[np.float32]
    Truths = npt.NDArray[np.bool_]

ASPECTS = ("comprehensiveness", "relevance", "empowerment", "directness")
HIGHEST = 5.0
POSITIONS = 2
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
    was asked for; `forced`: share of what is still apart that forced alignment fixes. The rest is discarded."""

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
        faults += [f"an effect of {effect} points is not in -3..3" for effect in self.effects if not -3 <= effect <= 3]
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


@dataclass(frozen=True)
class DrawSize:
    """How much is drawn at once: runs, questions of a run, trials (M) and repeats a position (N)."""

    runs: int
    questions: int
    trials: int
    repeats: int


@dataclass(frozen=True)
class SimulatedDraw:
    """Comparisons that were drawn. `points`: (runs, questions, trials, positions, repeats, aspects, 2), NaN where a call failed or the
    pair was discarded; `words`, `free_words`: (runs, questions, trials, 2), aligned and as first written; `discarded`: (runs, questions,
    trials); `chosen`: (runs, questions), the winner that the same judge names in the first call of all, shown the free answers, A first:
    1 for A, -1 for B, NaN where that call failed."""

    points: Reals = field(repr=False)
    words: Reals = field(repr=False)
    free_words: Reals = field(repr=False)
    discarded: Truths = field(repr=False)
    chosen: Reals = field(repr=False)

    def tables(self) -> Iterator[tuple[PairTable, PairTable]]:
        """Each run as the product sees it: by the unbiased procedure, and by the biased baseline on the same draws."""
        for run in range(len(self.points)):
            yield self._unbiased(run), self._biased(run)

    def _unbiased(self, run: int) -> PairTable:
        import numpy as np

        lost: list[list[int]] = [[] for _ in range(self.discarded.shape[1])]
        for question, trial in np.argwhere(self.discarded[run]).tolist():
            lost[question].append(trial + 1)
        asked = tuple(
            PairQuestion(question.question_id, discarded=frozenset(trials)) if trials else question
            for question, trials in zip(_questions(len(lost)), lost, strict=True)
        )
        return PairTable("a", "b", asked, ASPECTS, self.points[run].astype(float), self.words[run].astype(float))

    def _biased(self, run: int) -> PairTable:
        """A winner of the judge's own choice is points of 1 and 0 in one aspect called overall."""
        import numpy as np

        chosen = self.chosen[run].astype(float)
        points = np.stack([(1 + chosen) / 2, (1 - chosen) / 2], axis=-1)[:, None, None, None, None, :]
        words = self.free_words[run, :, :1].astype(float)
        return PairTable("a", "b", _questions(len(chosen)), (OVERALL,), points, words, procedure="biased")


@cache
def _questions(questions: int) -> tuple[PairQuestion, ...]:
    return tuple(PairQuestion(f"q{number}") for number in range(1, questions + 1))


def draw(scenario: Scenario, size: DrawSize, rng: np.random.Generator) -> SimulatedDraw:
    """`size.runs` comparisons in this world, each with questions of its own from the population."""
    import numpy as np

    free = _lengths(scenario.systems, size, rng)
    words, discarded = _aligned(free, scenario.aligning, rng)
    seen = _perceived(scenario, words, size, rng)
    failed = rng.random(seen.shape[:5], dtype=np.float32) < scenario.judge.failed
    chosen = _chosen(seen, free, words, scenario.judge)
    chosen[failed[:, :, 0, 0, 0]] = np.nan
    points = _points(seen, scenario.judge)
    points[failed | discarded[..., None, None]] = np.nan
    return SimulatedDraw(points, words, free, discarded, chosen)


def _normal(rng: np.random.Generator, sd: float, *shape: int) -> Reals:
    import numpy as np

    drawn = rng.standard_normal(shape, dtype=np.float32)
    drawn *= np.float32(sd)
    return drawn


def _lengths(systems: SimulatedSystems, size: DrawSize, rng: np.random.Generator) -> Reals:
    """Words of free answers, at least 5; (runs, questions, trials, 2)."""
    import numpy as np

    shape = (size.runs, size.questions, size.trials, 2)
    of_question = _normal(rng, systems.words_spread, size.runs, size.questions, 1, 1)
    means = np.array([systems.words_a, systems.words_b], dtype=np.float32)
    words: Reals = np.maximum(np.float32(5), np.rint(means + of_question + _normal(rng, systems.words_trial, *shape)))
    return words


def _aligned(free: Reals, how: Aligning, rng: np.random.Generator) -> tuple[Reals, Truths]:
    """The shorter answer is asked for again with the longer one's length, up to `attempts` times; then words are added; then discarded.

    Lengths as they are judged, like `free`, and (runs, questions, trials) what is discarded.
    """
    import numpy as np

    rule = how.rule
    gap = free[..., 0] - free[..., 1]
    misses = np.rint(_normal(rng, how.misses, rule.attempts + 1, *gap.shape))
    misses[-1] = rng.integers(-rule.tolerance, rule.tolerance + 1, gap.shape)  # forced alignment comes within the tolerance
    near = np.abs(misses) <= rule.tolerance
    near[-1] = rng.random(gap.shape, dtype=np.float32) < how.forced if rule.force else False
    miss = np.take_along_axis(misses, near.argmax(axis=0)[None], axis=0)[0]
    apart = np.abs(gap) > rule.tolerance
    longest = free.max(axis=-1)
    shorter = np.stack([gap < 0, gap > 0], axis=-1) & apart[..., None]
    words = np.where(shorter, (longest + miss)[..., None], free)
    return words, apart & ~near.any(axis=0)


def _perceived(scenario: Scenario, words: Reals, size: DrawSize, rng: np.random.Generator) -> Reals:
    """What the judge feels before it writes points down; (runs, questions, trials, positions, repeats, aspects, 2)."""
    import numpy as np

    systems, judge = scenario.systems, scenario.judge
    per_question = (size.runs, size.questions, 1, 1)
    half = (np.float32(systems.difference) + _normal(rng, systems.spread, *per_question)) / 2
    quality = np.float32(systems.level) + _normal(rng, systems.difficulty, *per_question) + half * np.array([1, -1], dtype=np.float32)
    quality = quality + _normal(rng, systems.trial, size.runs, size.questions, size.trials, 2)
    # against the mean of both: a preference for length moves the difference and not the level
    quality += np.float32(judge.length / 100) * (words - words.mean(axis=-1, keepdims=True))
    calls = (size.runs, size.questions, size.trials, POSITIONS, size.repeats)
    first = np.array([[1, -1], [-1, 1]], dtype=np.float32)[:, None, None, :] * np.float32(judge.position / 2)
    of_call = quality[:, :, :, None, None, None, :] + first + _normal(rng, judge.halo, *calls, 1, 2)
    seen = _normal(rng, judge.noise, *calls, len(ASPECTS), 2)
    seen += of_call
    return seen


def _points(seen: Reals, judge: SimulatedJudge) -> Reals:
    """Points as they are written: equal ones where the answers are felt to be equal, in steps, 0..5. Changes `seen`."""
    import numpy as np

    apart = np.abs(np.subtract(seen[..., 0], seen[..., 1]).mean(axis=-1))
    same = apart < judge.tie
    seen[same] = seen[same].mean(axis=-1, keepdims=True)
    seen /= np.float32(judge.step)
    np.rint(seen, out=seen)
    seen *= np.float32(judge.step)
    return np.clip(seen, 0, np.float32(HIGHEST), out=seen)


def _chosen(seen: Reals, free: Reals, words: Reals, judge: SimulatedJudge) -> Reals:
    """The baseline: first trial, A first, once, answers as they were written, and no ties."""
    import numpy as np

    gap = np.subtract(seen[:, :, 0, 0, 0, :, 0], seen[:, :, 0, 0, 0, :, 1]).mean(axis=-1)
    longer = (free - words)[:, :, 0, 0] - (free - words)[:, :, 0, 1]
    return np.where(gap + np.float32(judge.length / 100) * longer >= 0, np.float32(1), np.float32(-1))
