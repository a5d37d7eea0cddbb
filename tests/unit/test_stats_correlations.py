"""Correlations with intervals: against scipy, under weights, by simulation, and where there is none."""

from __future__ import annotations

from math import atanh, sqrt, tanh

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from kgeval.stats.correlations import KINDS, Kind, correlate, statistic
from kgeval.stats.intervals import Interval, quantile

LAW = settings(deadline=None, max_examples=40)
COLUMNS = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(0, 3)), min_size=4, max_size=30)
SCIPY = {"spearman": stats.spearmanr, "kendall": stats.kendalltau, "pearson": stats.pearsonr}


def fisher(value: float, n: int, kind: Kind = "pearson", *, confidence: float = 0.95) -> Interval | None:
    """The interval by Fisher's z, for rows that are independent of each other: a second way beside the bootstrap.

    Standard errors: Pearson 1 / sqrt(n - 3); Spearman sqrt((1 + r^2 / 2) / (n - 3)) (Bonett & Wright 2000); Kendall sqrt(0.437 / (n - 4))
    (Fieller, Hartley & Pearson 1957). None for |value| = 1 and too few rows.
    """
    if n < 5 or abs(value) >= 1:
        return None
    error = {"pearson": sqrt(1 / (n - 3)), "spearman": sqrt((1 + value * value / 2) / (n - 3)), "kendall": sqrt(0.437 / (n - 4))}[kind]
    half = quantile(confidence) * error
    return Interval(tanh(atanh(value) - half), tanh(atanh(value) + half))


@LAW
@given(COLUMNS)
def test_a_row_with_weight_two_stands_twice(rows: list[tuple[int, int, int]]) -> None:
    """The weighted figures are scipy's of the rows written out: ties, tau-b and middle ranks too."""
    x, y, w = (np.array([row[at] for row in rows], dtype=float) for at in range(3))
    out = np.repeat(np.arange(len(x)), w.astype(int))
    for kind in KINDS:
        found = float(statistic(x, y, kind)(w[None, :])[0])
        if len(out) < 2 or len(set(x[out])) < 2 or len(set(y[out])) < 2:
            assert np.isnan(found)
        else:
            assert found == pytest.approx(float(SCIPY[kind](x[out], y[out]).statistic), abs=1e-6 if kind == "kendall" else 1e-9)


def test_by_hand() -> None:
    """Ranks 1 2 3 4 against 1 3 2 4: rho = 1 - 6 * 2 / (4 * 15) = 0.8; of 6 pairs 5 agree, 1 does not: tau = 4/6."""
    found = correlate([1, 2, 3, 4], [10, 30, 20, 40], seed=0)
    assert (found.values["spearman"].value, found.values["kendall"].value) == (pytest.approx(0.8), pytest.approx(4 / 6))


@pytest.mark.parametrize(("first", "second", "constant"), [([1, 1, 1, 1], [1, 2, 3, 4], "first"), ([1, 2, 3], [5, 5, 5], "second"),
                                                           ([0, 0, 0], [1, 1, 1], "both")])
def test_a_constant_side_is_named_and_has_no_value(first: list[float], second: list[float], constant: str) -> None:
    found = correlate(first, second, seed=0)
    assert found.constant == constant and all(one.value is None for one in found.values.values())


def test_too_few_rows_have_no_value_and_faulty_columns_are_refused() -> None:
    assert correlate([1, 2], [2, 1], seed=0).values["pearson"].value is None
    assert correlate([], [], seed=0).n == 0
    with pytest.raises(ValueError, match="same rows"):
        correlate([1, 2, 3], [1, 2], seed=0)
    with pytest.raises(ValueError, match="finite"):
        correlate([1, 2, float("nan")], [1, 2, 3], seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_bootstrap_is_near_fisher_where_rows_are_independent(kind: Kind) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=400)
    y = 0.6 * x + rng.normal(size=400)
    one = correlate(x, y, seed=0, kinds=[kind]).values[kind]
    assert one.value is not None and one.low is not None and one.high is not None
    other = fisher(one.value, 400, kind)
    assert other is not None
    assert (one.low, one.high) == (pytest.approx(other.low, abs=0.02), pytest.approx(other.high, abs=0.02))


def test_fisher_is_scipy_s_interval_of_pearson() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=50)
    y = x + rng.normal(size=50)
    theirs = stats.pearsonr(x, y)
    mine = fisher(float(theirs.statistic), 50)
    assert mine is not None
    between = theirs.confidence_interval(0.95)
    assert (mine.low, mine.high) == (pytest.approx(between.low, abs=1e-9), pytest.approx(between.high, abs=1e-9))
    assert fisher(1.0, 50) is None and fisher(0.5, 4) is None


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_cover_the_truth(kind: Kind) -> None:
    """Normal pairs with r = 0.5, 50 rows, 200 runs: rho = 6/pi asin(r/2), tau = 2/pi asin(r)."""
    truth = {"pearson": 0.5, "spearman": 6 / np.pi * np.arcsin(0.25), "kendall": 2 / np.pi * np.arcsin(0.5)}[kind]
    rng = np.random.default_rng(11)
    covered = 0
    for run in range(200):
        x = rng.normal(size=50)
        y = 0.5 * x + np.sqrt(0.75) * rng.normal(size=50)
        one = correlate(x, y, seed=run, kinds=[kind], resamples=200).values[kind]
        covered += one.low is not None and one.high is not None and one.low <= truth <= one.high
    assert 0.91 <= covered / 200 <= 0.985


@pytest.mark.parametrize("kind", KINDS)
def test_the_unit_of_a_column_changes_nothing(kind: Kind) -> None:
    rng = np.random.default_rng(6)
    x, y = rng.integers(0, 9, 30).astype(float), rng.integers(0, 9, 30).astype(float)
    plain, tiny = (correlate(x * unit, y, seed=1, kinds=[kind], resamples=300).values[kind] for unit in (1.0, 2.0**-30))
    assert plain.low is not None and (plain.value, plain.low, plain.high) == pytest.approx((tiny.value, tiny.low, tiny.high), abs=1e-9)


def test_rows_of_one_question_are_drawn_together() -> None:
    """Every row twice adds nothing: with the question as unit the interval stays, without it is too narrow."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=40)
    y = x + rng.normal(size=40)
    once = correlate(x, y, seed=4, kinds=["spearman"]).values["spearman"]
    units = list(range(40)) * 2
    twice = correlate(np.tile(x, 2), np.tile(y, 2), seed=4, kinds=["spearman"], units=units)
    alone = correlate(np.tile(x, 2), np.tile(y, 2), seed=4, kinds=["spearman"]).values["spearman"]
    assert (twice.n, twice.units) == (80, 40)
    width = {name: (one.high or 0) - (one.low or 0) for name, one in
             (("once", once), ("twice", twice.values["spearman"]), ("alone", alone))}
    assert width["twice"] == pytest.approx(width["once"], rel=0.1) and width["alone"] < 0.85 * width["once"]


@pytest.mark.long
def test_many_rows_are_drawn_one_by_one_for_tau() -> None:
    rng = np.random.default_rng(9)
    x = rng.normal(size=1600)
    y = x + rng.normal(size=1600)
    one = correlate(x, y, seed=0, kinds=["kendall"]).values["kendall"]
    assert one.value is not None and one.low is not None and one.high is not None and 0.02 < one.high - one.low < 0.08


def test_the_seed_decides() -> None:
    x, y = [1, 2, 3, 4, 5, 6, 7], [2, 1, 4, 3, 7, 5, 6]
    assert correlate(x, y, seed=1) == correlate(x, y, seed=1) != correlate(x, y, seed=2)
