"""When a comparison stops: what it decides, when, and that looking often costs nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgeval.comparison.simulate.proof import stopped
from kgeval.comparison.simulate.world import SimulationSettings
from kgeval.comparison.stopping import Stopping

NAMES = {"a": 1, "b": -1, "equal": 2, None: 0}


def test_a_system_that_always_wins_is_better_as_soon_as_anything_may_be_said() -> None:
    stop = Stopping()
    assert [stop.add(1.0) for _ in range(20)] == [None] * 19 + ["a"]
    assert stop.questions == 20 and stop.low > 0.1 and stop.high == 1.0


def test_a_system_that_always_loses_is_worse() -> None:
    stop = Stopping(least=1)
    assert stop.add([-1.0] * 50) == "b"
    assert stop.questions < 20 and stop.high < -0.1


def test_ties_all_the_way_are_equal_in_the_end_but_not_at_once() -> None:
    stop = Stopping()
    assert stop.add([0.0] * 40) is None
    assert stop.add([0.0] * 60) == "equal"
    assert -0.1 < stop.low < 0 < stop.high < 0.1


def test_one_question_decides_nothing_whatever_it_says() -> None:
    stop = Stopping(least=1)
    assert stop.add([1.0]) is None
    assert (stop.questions, stop.decision) == (1, None)


@pytest.mark.slow
def test_a_small_difference_is_open_with_a_tie_region_and_decided_without_one() -> None:
    values = ([1.0, 1.0, -1.0, 0.0] * 60)[:240]  # 0.25, well above 0, not surely above 0.2
    assert Stopping(tie_region=0.2).add(values) is None
    assert Stopping(tie_region=0).add(values) == "a"


def test_questions_without_a_result_are_passed_over() -> None:
    stop = Stopping()
    stop.add([None, 1.0, math.nan, 0.5, None])
    assert stop.questions == 2


def test_a_decision_is_final_and_says_where_it_fell() -> None:
    stop = Stopping()
    stop.add([1.0] * 20)
    low = stop.low
    assert stop.add([-1.0] * 500) == "a" and stop.questions == 20 and stop.low == low


@settings(deadline=None, max_examples=15)
@given(st.lists(st.sampled_from([-1.0, 0.0, 1 / 3, 1.0, None]), max_size=60), st.integers(0, 60))
def test_how_questions_are_cut_into_calls_changes_nothing(values: list[float | None], cut: int) -> None:
    one, other = Stopping(), Stopping()
    one.add(values)
    other.add(values[:cut])
    other.add(values[cut:])
    assert (one.decision, one.questions, one.interval) == (other.decision, other.questions, other.interval)


@pytest.mark.slow
def test_many_runs_at_once_stop_where_each_would_have_stopped_by_itself() -> None:
    rng = np.random.default_rng(4)
    lean = np.linspace(-0.75, 0.75, 12)[:, None, None]
    wins = np.sign(np.where(rng.random((12, 90, 3)) < 0.2, 0.0, rng.random((12, 90, 3)) * 2 - 1 + lean))
    wins[6] = 0.0
    wins[rng.random(wins.shape) < 0.1] = np.nan
    wins[5, :10] = np.nan
    calls = np.full(wins.shape, 4)
    found = stopped(wins, calls, SimulationSettings(), truth=0.0)
    for run in range(12):
        stop = Stopping()
        used = 0
        for row in wins[run]:
            used += 1
            known = row[~np.isnan(row)]
            if stop.add(float(known.mean()) if len(known) else None):
                break
        assert (NAMES[stop.decision], used, used * 12) == (found.decision[run], found.questions[run], found.calls[run])
    assert set(found.decision.tolist()) == {0, 1, -1, 2}


@pytest.mark.parametrize("wrong", [{"tie_region": 1}, {"tie_region": -0.1}, {"tie_region": math.nan}, {"least": 0}, {"confidence": 1.0}])
def test_settings_that_cannot_be_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError):
        Stopping(**wrong)


def test_a_value_outside_is_refused() -> None:
    with pytest.raises(ValueError, match=r"-1\.\.1"):
        Stopping().add([0.2, 1.2])
