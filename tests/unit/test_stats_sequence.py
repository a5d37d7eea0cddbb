"""Confidence sequences: against a slow plain one, against what they promise at every time, and where they must not guess."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgeval.stats import sequence
from kgeval.stats.sequence import ConfidenceSequence, log_wealth, threshold

LAW = settings(deadline=None, max_examples=20)
VALUES = st.lists(st.sampled_from([-1.0, -0.6, -1 / 3, 0.0, 0.2, 1 / 3, 0.5, 1.0]), min_size=1, max_size=15)
DRAWN = {
    "ties": lambda rng, shape: rng.choice([-1.0, 0.0, 1.0], p=[0.2, 0.6, 0.2], size=shape),
    "clear": lambda rng, shape: rng.choice([-1.0, 0.0, 1.0], p=[0.1, 0.2, 0.7], size=shape),
    "nearly always": lambda rng, shape: rng.choice([-1.0, 1.0], p=[0.03, 0.97], size=shape),
    "means of trials": lambda rng, shape: np.clip(np.round(rng.normal(0.1, 0.6, shape) * 3) / 3, -1, 1),
}


def plain_interval(values: list[float], alpha: float) -> tuple[float, float]:
    """By the definition, in plain Python: each share of the arcsine law bets for itself; which means on a grid of 2,001 are not ruined?"""
    count = 20
    shares = [math.sin(math.pi * (at + 0.5) / (2 * count)) ** 2 for at in range(count)]

    def wealth(signed: list[float], mean: float) -> float:
        total = 0.0
        for share in shares:
            have = 1.0
            for value in signed:
                have = have * (1 - share) + have * share * (1 + value) / (1 + mean)
            total += have
        return total / count

    grid = [at / 1000 for at in range(-999, 1000)]
    turned = [-value for value in values]
    left = [mean for mean in grid if wealth(values, mean) < 2 / alpha and wealth(turned, -mean) < 2 / alpha]
    return left[0], left[-1]


@pytest.mark.long
@pytest.mark.parametrize("name", DRAWN)
def test_the_ends_are_those_of_a_plain_implementation_on_a_grid(name: str) -> None:
    values = DRAWN[name](np.random.default_rng(3), 30).tolist()
    made = ConfidenceSequence(0.9)
    made.add(values)
    low, high = plain_interval(values, 0.1)
    now = made.at_once()
    assert low - 0.001 <= now.low <= low or now.low < -0.999
    assert high <= now.high <= high + 0.001 or now.high > 0.999


def test_after_one_value_the_ends_can_be_written_down() -> None:
    """The mean share is a half, so the wealth is (1 + 2 / (1 + m)) / 2; it is 40 where 1 + m = 2 / 79."""
    made = ConfidenceSequence(0.95)
    made.add([1.0])
    assert made.interval.low == pytest.approx(2 / 79 - 1, abs=1e-9)
    assert made.interval.high == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWN)
def test_the_truth_is_missed_at_any_of_150_looks_in_less_than_5_of_100_sequences(name: str) -> None:
    rng = np.random.default_rng(7)
    truth = float(DRAWN[name](rng, 1_000_000).mean())
    values = DRAWN[name](rng, (1000, 150))
    ruined = (log_wealth(values, truth) >= threshold(0.95)) | (log_wealth(-values, -truth) >= threshold(0.95))
    assert ruined.any(axis=1).mean() <= 0.05
    n = np.arange(1, 151)
    half = 1.96 * values.std() / np.sqrt(n)
    peeked = np.abs(np.cumsum(values, axis=1) / n - truth)[:, 9:] > half[9:]
    assert peeked.any(axis=1).mean() > 0.15, "an ordinary interval looked at each time does not hold that"


@pytest.mark.slow
@LAW
@given(VALUES)
def test_it_holds_the_running_mean_and_the_running_one_only_narrows(values: list[float]) -> None:
    made = ConfidenceSequence()
    before = made.interval
    for at, value in enumerate(values, 1):
        made.add([value])
        now, mean = made.at_once(), sum(values[:at]) / at
        assert now.low <= mean + 1e-12 and mean - 1e-12 <= now.high
        assert before.low <= made.interval.low <= made.interval.high <= before.high
        before = made.interval


@pytest.mark.slow
@LAW
@given(VALUES)
def test_turning_the_systems_round_turns_the_interval_round(values: list[float]) -> None:
    one, other = ConfidenceSequence(), ConfidenceSequence()
    one.add(values)
    other.add([-value for value in values])
    assert (one.interval.low, one.interval.high) == (-other.interval.high, -other.interval.low)


@pytest.mark.slow
@LAW
@given(VALUES, st.integers(0, 25))
def test_how_values_are_cut_into_calls_changes_nothing(values: list[float], cut: int) -> None:
    one, other = ConfidenceSequence(), ConfidenceSequence()
    one.add(values)
    other.add(values[:cut])
    other.add(values[cut:])
    assert one.interval == other.interval and one.n == other.n == len(values)


@pytest.mark.slow
@LAW
@given(VALUES)
def test_more_confidence_is_a_wider_interval(values: list[float]) -> None:
    narrow, wide = ConfidenceSequence(0.8), ConfidenceSequence(0.99)
    narrow.add(values)
    wide.add(values)
    a, b = narrow.at_once(), wide.at_once()
    assert b.low <= a.low and a.high <= b.high


@pytest.mark.slow
def test_the_wealth_of_many_sequences_reaches_the_threshold_exactly_where_the_interval_leaves_a_mean() -> None:
    values = DRAWN["clear"](np.random.default_rng(1), (3, 50))
    for mean in (-0.1, 0.0, 0.3):
        crossed = np.maximum.accumulate(log_wealth(values, mean), axis=1) >= threshold(0.95)
        for run, row in enumerate(values):
            made = ConfidenceSequence()
            assert [made.add([value]).low > mean for value in row] == crossed[run].tolist()


def test_a_lacking_value_leaves_the_wealth_as_it_was() -> None:
    values = np.array([1.0, np.nan, 0.5])
    found = log_wealth(values, 0.0)
    assert found[0] == found[1] and found[2] == pytest.approx(log_wealth(np.array([1.0, 0.5]), 0.0)[1])


@pytest.mark.slow
def test_ten_times_as_many_shares_move_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, drawn in DRAWN.items():
        values = drawn(np.random.default_rng(2), 40)
        few, many = ConfidenceSequence(), ConfidenceSequence()
        few.add(values)
        with monkeypatch.context() as patch:
            patch.setattr(sequence, "SHARES", 200)
            many.add(values)
        assert (few.interval.low, few.interval.high) == pytest.approx((many.interval.low, many.interval.high), abs=1e-5), name


@pytest.mark.slow
def test_with_a_hundred_values_it_is_at_most_twice_as_wide_as_the_interval_of_one_look() -> None:
    for name in ("ties", "clear", "means of trials"):
        values = DRAWN[name](np.random.default_rng(11), 100)
        made = ConfidenceSequence()
        made.add(values)
        assert made.interval.high - made.interval.low < 2 * (2 * 1.96 * values.std() / 10), name


def test_nothing_known_is_everything_possible_and_what_contradicts_itself_changes_nothing_more() -> None:
    made = ConfidenceSequence()
    assert (made.interval.low, made.interval.high, made.mean) == (-1.0, 1.0, None)
    made.add([1.0] * 60)
    high = made.interval
    made.add([-1.0] * 150)
    assert made.interval.low == high.low and made.interval.low <= made.interval.high, "60 wins, then 150 losses: no random order"
    assert made.mean == pytest.approx(-90 / 210)


@pytest.mark.parametrize("values", [[0.2, 1.5], [-1.01], [math.nan], [math.inf]])
def test_values_outside_are_refused_and_none_is_taken(values: list[float]) -> None:
    made = ConfidenceSequence()
    with pytest.raises(ValueError, match=r"-1\.\.1"):
        made.add(values)
    assert made.n == 0


@pytest.mark.parametrize("confidence", [0, 1, -0.1, 1.2, math.nan])
def test_a_confidence_lies_between_0_and_1(confidence: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        ConfidenceSequence(confidence)
