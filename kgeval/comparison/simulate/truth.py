"""The truth of a simulated world: what a fair judge would say on endlessly many questions."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from kgeval.comparison.simulate.draws import ASPECTS, Size, draw
from kgeval.comparison.simulate.world import Scenario
from kgeval.comparison.table import PairTable

DRAWN = 400_000  # questions; the error of the truth is then 0.0015 at most, a fortieth of a run's
PART = 20_000


def true_rate(scenario: Scenario, *, seed: int, repeats: int = 2, questions: int = DRAWN) -> float:
    """The relative win rate (-1..1) that a comparison of these systems is about; 0 for equal systems, by symmetry.

    It is P(A wins) - P(B wins) for a question drawn from the population, answers made once, and a verdict by the same procedure
    (both positions, `repeats` calls a position, the sum of all aspects, equal = tie) of the same judge without his two preferences,
    on answers of one length, with no call failed and no pair discarded. His noise, his steps and what he feels to be equal are part of the
    procedure: more noise makes every relative win rate smaller, and no repetition of it can tell. By drawing, from a stream of its own.
    """
    if scenario.equal:
        return 0.0
    systems = replace(scenario.systems, words_a=200.0, words_b=200.0, words_spread=0.0, words_trial=0.0)
    return _drawn(Scenario("", "", systems, scenario.judge.fair()), seed, repeats, questions)


@cache
def _drawn(fair: Scenario, seed: int, repeats: int, questions: int) -> float:
    """Worlds that differ in what is not true (lengths, preferences) have one truth."""
    import numpy as np

    rng = np.random.default_rng([seed, 1])
    drawn = (draw(fair, Size(1, PART, 1, repeats), rng) for _ in range(max(1, questions // PART)))
    parts = [PairTable("a", "b", (), ASPECTS, one.points[0].astype(float), one.words[0].astype(float)).wins().mean() for one in drawn]
    return float(np.mean(parts))
