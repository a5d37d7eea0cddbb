"""Bootstrap intervals: against scipy, against what they promise, and where they must not guess."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from kgeval.stats.bootstrap import BootstrapShape, _expanded, _shape, bootstrap_difference, bootstrap_mean

SKEWED = {
    "mostly right": lambda rng, n: rng.beta(5, 1, n),
    "right or wrong": lambda rng, n: (rng.random(n) < 0.8).astype(float),
    "many zeros": lambda rng, n: np.where(rng.random(n) < 0.4, 0.0, rng.beta(2, 2, n)),
}


def error_of(values: np.ndarray) -> float:
    return float(values.std() / math.sqrt(len(values)))


@pytest.mark.slow
@pytest.mark.parametrize("name", SKEWED)
@pytest.mark.parametrize("n", [8, 60, 400])
def test_the_interval_is_scipys_but_for_the_noise_of_drawing(name: str, n: int) -> None:
    values = SKEWED[name](np.random.default_rng(n), n)
    ours = bootstrap_mean(values, seed=1, resamples=20_000)
    theirs = stats.bootstrap((values,), np.mean, method="BCa", n_resamples=20_000, random_state=np.random.default_rng(2), batch=2000)
    ends = theirs.confidence_interval
    lattice = 1.01 / n if name == "right or wrong" else 0.0  # one step of what a mean of zeros and ones can be
    near = 0.12 * error_of(values) + lattice
    assert ours is not None
    assert ours.low == pytest.approx(ends.low, abs=near)
    assert ours.high == pytest.approx(ends.high, abs=near)


@pytest.mark.slow
@pytest.mark.parametrize("name", SKEWED)
def test_the_expansion_for_many_values_is_what_drawing_gives(name: str) -> None:
    values = SKEWED[name](np.random.default_rng(5), 600)
    fast, drawn = bootstrap_mean(values, seed=1), bootstrap_mean(values, seed=1, resamples=60_000)
    assert fast is not None and drawn is not None
    near = 0.04 * error_of(values) + (1.01 / 600 if name == "right or wrong" else 0.0)
    assert (fast.low, fast.high) == pytest.approx((drawn.low, drawn.high), abs=near)


def test_a_difference_of_two_groups_is_scipys() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.beta(5, 1, 40), rng.beta(2, 2, 90)

    def difference(x: np.ndarray, y: np.ndarray, axis: int = -1) -> np.ndarray:
        return np.asarray(x.mean(axis=axis) - y.mean(axis=axis))

    theirs = stats.bootstrap((a, b), difference, method="BCa", n_resamples=20_000, random_state=rng, batch=2000).confidence_interval
    ours = bootstrap_difference(a, b, seed=4)
    assert ours is not None
    error = math.hypot(error_of(a), error_of(b))
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.12 * error)
    turned = bootstrap_difference(b, a, seed=4)
    assert turned is not None
    assert (turned.low, turned.high) == pytest.approx((-ours.high, -ours.low), abs=0.12 * error)


@pytest.mark.long
@pytest.mark.parametrize("name", SKEWED)
@pytest.mark.parametrize("n", [30, 100])
def test_intervals_of_95_percent_cover_the_truth_in_92_to_98_of_100(name: str, n: int) -> None:
    rng = np.random.default_rng(20)
    truth = float(SKEWED[name](np.random.default_rng(0), 1_000_000).mean())
    runs = 600
    held = 0
    for seed in range(runs):
        ends = bootstrap_mean(SKEWED[name](rng, n), seed=seed, resamples=800)
        held += ends is not None and ends.low <= truth <= ends.high
    assert 0.92 <= held / runs <= 0.98


def test_one_value_has_no_interval_and_equal_values_have_no_width() -> None:
    assert bootstrap_mean([], seed=0) is None
    assert bootstrap_mean([0.4], seed=0) is None
    ends = bootstrap_mean([0.4, 0.4, 0.4], seed=0)
    assert ends is not None and (ends.low, ends.high) == (0.4, 0.4)
    assert bootstrap_difference([0.4, 0.5], [0.3], seed=0) is None
    apart = bootstrap_difference([0.5, 0.5], [0.25, 0.25, 0.25], seed=0)
    assert apart is not None and (apart.low, apart.high) == (0.25, 0.25)


def test_values_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="not finite"):
        bootstrap_mean([0.1, math.nan, 0.3], seed=0)
    with pytest.raises(ValueError, match="confidence"):
        bootstrap_mean([0.1, 0.3], seed=0, confidence=95)


def test_a_hundred_thousand_rare_hits_get_an_interval_that_leans_to_the_right() -> None:
    values = np.zeros(100_000)
    values[:12] = 1.0
    ends = bootstrap_mean(values, seed=0)
    assert ends is not None
    assert 0 < ends.low < 12e-5 < ends.high
    assert ends.high - 12e-5 > 12e-5 - ends.low


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=30), st.integers(0, 2**32))
def test_the_mean_is_inside_and_neither_order_nor_a_second_time_changes_anything(values: list[float], seed: int) -> None:
    ends = bootstrap_mean(values, seed=seed, resamples=400)
    assert ends is not None
    assert min(values) - 1e-9 <= ends.low <= math.fsum(values) / len(values) + 1e-9
    assert math.fsum(values) / len(values) - 1e-9 <= ends.high <= max(values) + 1e-9
    mixed = random.Random(seed).sample(values, len(values))
    assert bootstrap_mean(mixed, seed=seed, resamples=400) == ends


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=12), st.floats(0.1, 0.5), st.floats(0, 0.5))
def test_scaling_and_moving_the_values_scales_and_moves_the_interval(values: list[float], factor: float, by: float) -> None:
    plain = bootstrap_mean(values, seed=7, resamples=500)
    moved = bootstrap_mean([value * factor + by for value in values], seed=7, resamples=500)
    assert plain is not None and moved is not None
    assert (moved.low, moved.high) == pytest.approx((plain.low * factor + by, plain.high * factor + by), abs=1e-6)


@pytest.mark.parametrize("z", [-1.96, -1.0, 0.5, 1.96, 2.5])
def test_the_expansion_gives_the_quantiles_of_a_known_skewed_distribution(z: float) -> None:
    """Means of n draws of an exponential are a gamma distribution: cumulants 1/n, 2/n^2, 6/n^3 after the first."""
    n = 40
    exact = float(stats.gamma.ppf(stats.norm.cdf(z), n, scale=1 / n))
    assert _expanded(BootstrapShape(n, 1.0, 1 / n, 2 / n**2, 6 / n**3), z) == pytest.approx(exact, abs=2e-4)


def test_the_skewness_of_a_difference_is_that_of_the_first_group_minus_that_of_the_second() -> None:
    rare, often = np.array([0.0] * 36 + [1.0] * 4), np.array([1.0] * 36 + [0.0] * 4)
    found = bootstrap_difference(rare, often, seed=0)
    theirs = stats.bootstrap((rare, often), lambda a, b, axis: a.mean(axis) - b.mean(axis), method="BCa", n_resamples=10_000, rng=1)
    assert found is not None
    assert (found.low, found.high) == pytest.approx(theirs.confidence_interval, abs=0.026)
    assert _shape((rare, often), (1, -1)).k3 == pytest.approx(2 * _shape((rare,), (1,)).k3) and _shape((rare, rare), (1, -1)).k3 == 0
    same = bootstrap_difference(rare, rare, seed=0)
    assert same is not None and same.low == pytest.approx(-same.high, abs=0.026), "equal skewness cancels"
