"""Means over questions and groups, and box plots over trials: by hand, against scipy and matplotlib."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import cbook
from scipy import stats

from kgeval.stats.bootstrap import bootstrap_mean
from kgeval.stats.clustered import clustered_mean, question_means, stratified_mean
from kgeval.stats.trials import box

NAN = math.nan
VALUES = st.lists(st.floats(-100, 100, allow_subnormal=False), min_size=1, max_size=30)


def test_each_question_weighs_the_same_however_many_trials_it_has() -> None:
    found = clustered_mean([[1, 1, 1, 1], [0, NAN, NAN, NAN], [NAN, NAN, NAN, NAN]], seed=0)
    assert (found.mean, found.n, found.n_values) == (0.5, 2, 5)


def test_the_interval_is_that_of_the_questions_means() -> None:
    values = np.random.default_rng(0).normal(0.2, 1, (60, 5))
    ends = bootstrap_mean(values.mean(axis=1), seed=3)
    found = clustered_mean(values, seed=3)
    assert ends is not None and (found.low, found.high) == (ends.low, ends.high)


def test_the_same_trial_twice_makes_nothing_surer() -> None:
    once = np.random.default_rng(1).choice([-1.0, 0.0, 1.0], (40, 1))
    one, many = clustered_mean(once, seed=1), clustered_mean(np.tile(once, (1, 25)), seed=1)
    assert (one.low, one.high) == pytest.approx((many.low, many.high), abs=1e-9)


def test_a_row_of_numbers_is_one_trial_a_question() -> None:
    assert clustered_mean([1.0, 0.0, NAN, 1.0], seed=0).mean == pytest.approx(2 / 3)
    assert list(question_means([[1.0, NAN], [0.0, 1.0]])) == [1.0, 0.5]


def test_one_question_has_a_mean_and_no_interval_and_none_has_nothing() -> None:
    one = clustered_mean([[1.0, 0.0]], seed=0)
    assert (one.mean, one.low, one.high, one.n, one.n_values) == (0.5, None, None, 1, 2)
    none = clustered_mean([[NAN]], seed=0)
    assert (none.mean, none.low, none.high, none.n, none.n_values) == (None, None, None, 0, 0)
    assert clustered_mean([], seed=0).mean is None


def test_all_ties_are_a_point() -> None:
    found = clustered_mean(np.zeros((30, 3)), seed=0)
    assert (found.mean, found.low, found.high) == (0.0, 0.0, 0.0)


@pytest.mark.long
def test_the_interval_of_nested_trials_covers_the_truth_where_one_of_single_values_does_not() -> None:
    """Questions differ (sd 1) more than trials (sd 0.3): 200 values of 40 questions are not 200 questions."""
    rng = np.random.default_rng(9)
    clustered = flat = 0
    for run in range(200):
        values = rng.normal(0, 1, (40, 1)) + rng.normal(0, 0.3, (40, 5))
        found = clustered_mean(values, seed=run)
        naive = bootstrap_mean(values.ravel(), seed=run, resamples=500)
        assert found.low is not None and found.high is not None and naive is not None
        clustered += found.low <= 0 <= found.high
        flat += naive.low <= 0 <= naive.high
    assert 0.915 <= clustered / 200 <= 0.98
    assert flat / 200 < 0.75


def test_the_mean_over_data_sets_weighs_each_the_same() -> None:
    found = stratified_mean({"large": [1.0] * 90, "small": [0.0] * 10}, seed=0)
    assert (found.mean, found.low, found.high, found.n, found.groups) == (0.5, 0.5, 0.5, 100, 2)


def test_a_data_set_without_a_value_is_named() -> None:
    found = stratified_mean({"a": [[1.0], [0.0]], "b": [[NAN]]}, seed=0)
    assert (found.mean, found.groups, found.empty) == (0.5, 1, ("b",))
    nothing = stratified_mean({"b": [[NAN]]}, seed=0)
    assert (nothing.mean, nothing.empty) == (None, ("b",))


def test_a_data_set_with_one_question_leaves_no_interval() -> None:
    found = stratified_mean({"a": [1.0, 0.0, 0.5], "b": [1.0]}, seed=0)
    assert (found.mean, found.low, found.high) == (0.75, None, None)


def test_one_data_set_is_the_plain_mean_with_its_interval() -> None:
    values = np.random.default_rng(2).normal(0, 1, 50)
    one, plain = stratified_mean({"only": values}, seed=4), clustered_mean(values, seed=4)
    assert (one.mean, one.low, one.high) == pytest.approx((plain.mean, plain.low, plain.high), abs=1e-12)


def test_the_interval_over_data_sets_is_scipys_but_for_the_noise_of_drawing() -> None:
    rng = np.random.default_rng(3)
    a, b, c = rng.normal(0.5, 1, 40), rng.normal(0, 0.3, 120), rng.exponential(0.5, 80)

    def mean(x: np.ndarray, y: np.ndarray, z: np.ndarray, axis: int = -1) -> np.ndarray:
        return np.asarray(x.mean(axis=axis) + y.mean(axis=axis) + z.mean(axis=axis)) / 3

    theirs = stats.bootstrap((a, b, c), mean, method="BCa", n_resamples=10_000, rng=1).confidence_interval
    ours = stratified_mean({"a": a, "b": b, "c": c}, seed=1)
    error = math.sqrt(sum(x.var() / len(x) for x in (a, b, c))) / 3
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.12 * error)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(VALUES)
def test_a_box_is_matplotlibs(values: list[float]) -> None:
    ours, theirs = box(values), cbook.boxplot_stats(values)[0]
    assert ours is not None
    expected = [theirs[name] for name in ("whislo", "q1", "med", "q3", "whishi")]
    assert [ours.low, ours.q25, ours.median, ours.q75, ours.high] == pytest.approx([float(x) for x in expected], abs=1e-9)
    assert list(ours.outliers) == pytest.approx(sorted(float(x) for x in theirs["fliers"]), abs=1e-9)


def test_a_box_by_hand() -> None:
    found = box([0.0, 1.0, 2.0, 3.0, 4.0, 20.0, NAN])
    assert found is not None
    assert (found.n, found.low, found.q25, found.median, found.q75, found.high, found.outliers) == (6, 0.0, 1.25, 2.5, 3.75, 4.0, (20.0,))


def test_one_trial_is_a_box_of_one_point_and_none_is_no_box() -> None:
    one = box([0.4])
    assert one is not None and (one.n, one.low, one.high, one.outliers) == (1, 0.4, 0.4, ())
    assert box([]) is None
    assert box([NAN]) is None
    with pytest.raises(ValueError, match="finite"):
        box([math.inf, 0.0])
