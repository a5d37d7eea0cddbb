"""Intervals of shares, against scipy and by brute force."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from kgeval.stats.intervals import needed, quantile, unvaried, wilson

Z = quantile()


@pytest.mark.parametrize(("right", "n"), [(0, 10), (10, 10), (1, 7), (85, 100), (999, 1000), (1, 1)])
def test_wilson_is_that_of_scipy(right: int, n: int) -> None:
    found = wilson(right / n, n, quantile=Z)
    given_there = stats.binomtest(right, n).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((given_there.low, given_there.high), abs=1e-12)


@settings(max_examples=50)
@given(st.floats(0, 1), st.floats(0.5, 1e6))
def test_wilson_holds_the_share_and_stays_inside(share: float, n: float) -> None:
    found = wilson(share, n, quantile=Z)
    assert 0 <= found.low <= share <= found.high <= 1
    assert found.high > found.low


def test_with_everything_known_the_interval_is_one_point() -> None:
    assert wilson(0.3, inf, quantile=Z) == wilson(0.3, inf, quantile=9)
    assert (wilson(0.3, inf, quantile=Z).low, wilson(0.3, inf, quantile=Z).high) == (0.3, 0.3)


@pytest.mark.parametrize(("share", "n"), [(1.2, 10), (-0.1, 10), (0.5, 0)])
def test_an_impossible_share_is_refused(share: float, n: float) -> None:
    with pytest.raises(ValueError, match="no Wilson interval"):
        wilson(share, n, quantile=Z)


@pytest.mark.parametrize("df", [1, 2, 9, 39, 1000])
def test_quantiles_are_those_of_scipy(df: int) -> None:
    assert quantile(df=df) == pytest.approx(stats.t.ppf(0.975, df), rel=1e-9)
    assert quantile(0.9) == pytest.approx(stats.norm.ppf(0.95), rel=1e-12)


def test_a_t_quantile_needs_a_degree_of_freedom() -> None:
    with pytest.raises(ValueError, match="degree of freedom"):
        quantile(df=0)


@settings(max_examples=60)
@given(st.floats(0, 1), st.sampled_from([0.3, 0.1, 0.05, 0.02]))
def test_the_needed_size_is_the_smallest_that_gives_the_half_width(share: float, half: float) -> None:
    n = needed(share, half)

    def width(size: int) -> float:
        return Z * (share * (1 - share) / size + Z**2 / (4 * size**2)) ** 0.5 / (1 + Z**2 / size)

    assert width(n) <= half * (1 + 1e-6)
    assert n <= 1 or width(n - 1) > half * (1 - 1e-6)


def test_the_needed_size_grows_with_the_design_effect_and_is_never_more_than_all() -> None:
    assert needed(0.85, 0.05, design_effect=2) == pytest.approx(2 * needed(0.85, 0.05), abs=1)
    assert needed(0.85, 0.02, population=500) < needed(0.85, 0.02, population=50_000) < needed(0.85, 0.02)
    assert needed(0.5, 0.001, population=20) == 20
    assert needed(0.5, 0.1, population=0) == 0
    with pytest.raises(ValueError, match="half-width"):
        needed(0.5, 0.5)


def test_values_that_were_all_the_same_leave_room_for_others() -> None:
    """e solves (1 - e)^n = 0.025: scipy's exact binomial limit for none of n."""
    for n in (2, 3, 10, 100):
        others = stats.binomtest(0, n).proportion_ci(0.95, method="exact").high
        one_sided, middle = unvaried(1.0, n, low=-1, high=1), unvaried(0.0, n, low=-1, high=1)
        assert (one_sided.low, one_sided.high) == (pytest.approx(1 - 2 * others), 1.0)
        assert (middle.low, middle.high) == (pytest.approx(-others), pytest.approx(others))
    with pytest.raises(ValueError, match="inside its range"):
        unvaried(2.0, 3, low=-1, high=1)
