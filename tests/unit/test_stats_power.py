"""What a sample can show: against statsmodels, against drawing, and the tiers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from statsmodels.stats.power import TTestPower

from kgeval.stats.power import Needed, detectable, needed, spread, tier

THEIRS = TTestPower()


def their_power(effect: float, n: int, alpha: float) -> float:
    """Of two sides; where scipy's series for the tail on the wrong side does not settle, of one: that tail is then under 1e-9."""
    both = float(THEIRS.power(effect, n, alpha))
    return float(THEIRS.power(effect, n, alpha / 2, alternative="larger")) if math.isnan(both) and effect * math.sqrt(n) > 6 else both


@pytest.mark.parametrize("n", [5, 20, 100, 500, 5000])
@pytest.mark.parametrize(("power", "alpha"), [(0.8, 0.05), (0.95, 0.01)])
def test_the_smallest_difference_is_the_one_where_statsmodels_has_this_power(n: int, power: float, alpha: float) -> None:
    found = detectable(0.8, n, power=power, alpha=alpha)
    assert found is not None
    assert their_power(found / 0.8, n, alpha) == pytest.approx(power, abs=1e-9)


@pytest.mark.parametrize("n", [2, 3])
def test_with_two_or_three_questions_the_power_is_that_of_an_integral_over_the_spread(n: int) -> None:
    """statsmodels has no number here: P(|Z + nc| > edge * S), S^2 chi-squared over its n - 1 degrees of freedom."""
    found = detectable(1.0, n)
    edge, df = stats.t.isf(0.025, n - 1), n - 1
    assert found is not None
    nc = found * math.sqrt(n)

    def beyond(s: float) -> float:
        density = stats.chi2.pdf(df * s * s, df) * 2 * df * s
        return float(density * (stats.norm.sf(edge * s - nc) + stats.norm.cdf(-edge * s - nc)))

    power = integrate.quad(beyond, 0, 6, epsabs=1e-12, epsrel=1e-12, limit=400)[0]
    assert power == pytest.approx(0.8, abs=1e-9)


@pytest.mark.parametrize("n", [20, 100, 500])
def test_the_smallest_difference_is_statsmodels_solution(n: int) -> None:
    assert detectable(1.0, n) == pytest.approx(float(THEIRS.solve_power(nobs=n, alpha=0.05, power=0.8)), rel=1e-5)


def test_the_normal_one_is_its_formula_and_a_little_smaller() -> None:
    by_hand = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * 0.5 / math.sqrt(64)
    normal, t = detectable(0.5, 64, method="normal"), detectable(0.5, 64)
    assert normal == pytest.approx(by_hand, abs=1e-12)
    assert t is not None and normal is not None and normal < t < 1.05 * normal


@pytest.mark.parametrize("effect", [0.05, 0.2, 0.5, 1.5, 6.0])
def test_the_needed_questions_are_the_first_number_at_which_statsmodels_has_the_power(effect: float) -> None:
    n = needed(effect * 0.7, 0.7).n
    assert n is not None and their_power(effect, n, 0.05) >= 0.8 - 1e-12
    assert n == 2 or their_power(effect, n - 1, 0.05) < 0.8


def test_cohens_table_for_a_paired_test_with_a_medium_effect_says_34() -> None:
    assert needed(0.5, 1.0) == Needed(34)
    assert needed(-0.5, 1.0) == Needed(34)
    assert needed(0.5, 1.0, method="normal") == Needed(32)


def test_no_difference_and_no_spread_have_no_answer() -> None:
    assert needed(0.0, 1.0) == needed(0.3, 0.0) == needed(5e-324, 1e300) == Needed()
    assert needed(0.1 + 0.2 - 0.3, 0.2) == Needed(), "a rest of rounding is no difference"
    assert detectable(0.0, 50) is None
    assert detectable(1.0, 1) is None


def test_of_a_tiny_difference_it_is_only_told_that_it_needs_very_many_questions() -> None:
    assert needed(1e-6, 1.0) == needed(0.0088, 1.0) == Needed(above=100_000)
    assert needed(0.0089, 1.0) == Needed(99_092)
    assert detectable(1.0, 10**9) == pytest.approx(2.8015855 / math.sqrt(1e9), rel=1e-6)


@pytest.mark.parametrize("bad", [{"sd": -1.0}, {"sd": math.nan}, {"sd": math.inf}, {"power": 1.0}, {"alpha": 0.0}, {"power": 0.04}])
def test_what_is_not_possible_is_refused(bad: dict[str, float]) -> None:
    asked = {"sd": 1.0, "power": 0.8, "alpha": 0.05, **bad}
    with pytest.raises(ValueError, match=r"standard deviation|lie between"):
        detectable(asked["sd"], 50, power=asked["power"], alpha=asked["alpha"])


def test_the_power_is_what_drawing_gives() -> None:
    """100 questions, wins and losses: the t test finds the detectable rate in about 80 of 100 samples."""
    rng = np.random.default_rng(4)
    rate = 0.27
    sd = math.sqrt(1 - rate**2)
    assert needed(rate, sd).n == pytest.approx(102, abs=2)
    draws = rng.choice([1.0, -1.0], (1000, 102), p=[(1 + rate) / 2, (1 - rate) / 2])
    found = int((stats.ttest_1samp(draws, 0, axis=1).pvalue <= 0.05).sum())
    assert 0.76 <= found / 1000 <= 0.84


def test_values_that_are_equal_but_for_the_last_digit_have_no_spread() -> None:
    assert spread([0.3, 0.1 + 0.2]) == 0.0


@settings(max_examples=40, deadline=None)
@given(st.floats(0.05, 3), st.integers(2, 2000))
def test_more_questions_find_smaller_differences_and_the_two_functions_undo_each_other(sd: float, n: int) -> None:
    here, more = detectable(sd, n), detectable(sd, n + 1)
    assert here is not None and more is not None and more < here
    assert needed(here * (1 + 1e-9), sd) == Needed(n)


def test_the_tiers_and_what_lies_between() -> None:
    names = {1: "too few", 19: "too few", 20: "quick", 50: "quick", 51: "quick", 99: "quick", 100: "standard", 200: "standard",
             201: "standard", 499: "standard", 500: "comprehensive", 10_000: "comprehensive"}
    assert {n: tier(n).name for n in names} == names
    assert all((tier(n).caution is None) == (n >= 100) for n in names)
    assert (tier(1).caution or "").startswith("1 question:")
    assert tier(0).name == "too few"
    with pytest.raises(ValueError, match="fewer than 0"):
        tier(-1)
