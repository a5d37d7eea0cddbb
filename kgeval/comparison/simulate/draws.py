"""Draws comparisons: qualities, lengths, alignment, and the points that a judge gives. Many runs at once, as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from kgeval.comparison.simulate.world import Aligning, Judge, Scenario, Systems
from kgeval.comparison.table import OVERALL, PairQuestion, PairTable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Reals = npt.NDArray[np.float32]
    Truths = npt.NDArray[np.bool_]

ASPECTS = ("comprehensiveness", "relevance", "empowerment", "directness")
HIGHEST = 5.0
POSITIONS = 2


@dataclass(frozen=True)
class Size:
    """How much is drawn at once: runs, questions of a run, trials (M) and repeats a position (N)."""

    runs: int
    questions: int
    trials: int
    repeats: int


@dataclass(frozen=True)
class Draw:
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
            PairQuestion(one.question_id, discarded=frozenset(trials)) if trials else one
            for one, trials in zip(_asked(len(lost)), lost, strict=True)
        )
        return PairTable("a", "b", asked, ASPECTS, self.points[run].astype(float), self.words[run].astype(float))

    def _biased(self, run: int) -> PairTable:
        """A winner of the judge's own choice is points of 1 and 0 in one aspect called overall."""
        import numpy as np

        chosen = self.chosen[run].astype(float)
        points = np.stack([(1 + chosen) / 2, (1 - chosen) / 2], axis=-1)[:, None, None, None, None, :]
        return PairTable("a", "b", _asked(len(chosen)), (OVERALL,), points, self.free_words[run, :, :1].astype(float), procedure="biased")


@cache
def _asked(questions: int) -> tuple[PairQuestion, ...]:
    return tuple(PairQuestion(f"q{at}") for at in range(1, questions + 1))


def draw(scenario: Scenario, size: Size, rng: np.random.Generator) -> Draw:
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
    return Draw(points, words, free, discarded, chosen)


def _normal(rng: np.random.Generator, sd: float, *shape: int) -> Reals:
    import numpy as np

    drawn = rng.standard_normal(shape, dtype=np.float32)
    drawn *= np.float32(sd)
    return drawn


def _lengths(systems: Systems, size: Size, rng: np.random.Generator) -> Reals:
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


def _perceived(scenario: Scenario, words: Reals, size: Size, rng: np.random.Generator) -> Reals:
    """What the judge feels before he writes points down; (runs, questions, trials, positions, repeats, aspects, 2)."""
    import numpy as np

    systems, judge = scenario.systems, scenario.judge
    per_question = (size.runs, size.questions, 1, 1)
    half = (np.float32(systems.difference) + _normal(rng, systems.spread, *per_question)) / 2
    quality = np.float32(systems.level) + _normal(rng, systems.difficulty, *per_question) + half * np.array([1, -1], dtype=np.float32)
    quality = quality + _normal(rng, systems.trial, size.runs, size.questions, size.trials, 2)
    quality += np.float32(judge.length / 100) * (words - words.mean(axis=-1, keepdims=True))
    calls = (size.runs, size.questions, size.trials, POSITIONS, size.repeats)
    first = np.array([[1, -1], [-1, 1]], dtype=np.float32)[:, None, None, :] * np.float32(judge.position / 2)
    of_call = quality[:, :, :, None, None, None, :] + first + _normal(rng, judge.halo, *calls, 1, 2)
    seen = _normal(rng, judge.noise, *calls, len(ASPECTS), 2)
    seen += of_call
    return seen


def _points(seen: Reals, judge: Judge) -> Reals:
    """Points as they are written: equal ones where the answers are felt to be equal, in steps, 0..5. Changes `seen`."""
    import numpy as np

    apart = np.abs(np.subtract(seen[..., 0], seen[..., 1]).mean(axis=-1))
    same = apart < judge.tie
    seen[same] = seen[same].mean(axis=-1, keepdims=True)
    seen /= np.float32(judge.step)
    np.rint(seen, out=seen)
    seen *= np.float32(judge.step)
    return np.clip(seen, 0, np.float32(HIGHEST), out=seen)


def _chosen(seen: Reals, free: Reals, words: Reals, judge: Judge) -> Reals:
    """The baseline: first trial, A first, once, answers as they were written, and no ties."""
    import numpy as np

    gap = np.subtract(seen[:, :, 0, 0, 0, :, 0], seen[:, :, 0, 0, 0, :, 1]).mean(axis=-1)
    longer = (free - words)[:, :, 0, 0] - (free - words)[:, :, 0, 1]
    return np.where(gap + np.float32(judge.length / 100) * longer >= 0, np.float32(1), np.float32(-1))
