"""Paired comparisons: against scipy, statsmodels and counting by hand, and the laws that they keep."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar
from statsmodels.stats.multitest import multipletests

from kgeval.stats import paired
from kgeval.stats.adjust import holm
from kgeval.stats.paired import cohens_d, mcnemar, sign_flip, superiority, wilcoxon

POINTS = st.integers(-8, 8).map(lambda n: n / 4)
P_VALUES = st.one_of(st.none(), st.floats(0, 1))


def test_three_differences_of_one_sign_have_two_of_eight_patterns_as_far_out() -> None:
    assert sign_flip([1.0, 2.0, 3.0], seed=0) == 2 / 8


@pytest.mark.parametrize("n", [2, 5, 9])
def test_the_exact_sign_flip_is_scipys_permutation_test(n: int) -> None:
    values = np.random.default_rng(n).normal(0.4, 1, n)
    theirs = stats.permutation_test((values,), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert sign_flip(values, seed=0) == pytest.approx(theirs.pvalue, abs=1e-9)


@pytest.mark.parametrize(("up", "down"), [(40, 20), (90, 65)])
def test_many_equal_differences_are_a_binomial_test_but_for_the_noise_of_drawing(up: int, down: int) -> None:
    values = [1.0] * up + [-1.0] * down + [0.0] * 40
    exact = stats.binomtest(up, up + down).pvalue
    drawn = sign_flip(values, seed=3, resamples=40_000)
    assert drawn == pytest.approx(exact, abs=4 * math.sqrt(exact / 40_000))


@pytest.mark.parametrize("n", [60, 200])  # signs looked up in tables, and drawn by size
def test_a_drawn_p_is_one_above_the_count(n: int) -> None:
    p = sign_flip([1.0] * (n // 2 + 8) + [-1.0] * (n // 2 - 8), seed=0, resamples=999)
    assert p is not None and p >= 2 / 1000 and p * 1000 == pytest.approx(round(p * 1000))


@pytest.mark.parametrize("differences", [[1.0] * 60, [1.0] * 200, [0.5 + at / 400 for at in range(200)]])
def test_where_no_drawn_pattern_is_as_far_out_p_is_hoeffdings_bound_between_the_exact_one_and_that_of_the_draws(
    differences: list[float],
) -> None:
    p, drawn = (sign_flip(differences, seed=0, resamples=resamples) for resamples in (999, 99))
    exact = 2 * 0.5 ** len(differences)  # all have the same sign: only they and their mirror image are as far out
    assert p is not None and exact < p < 1e-6 and p == drawn
    squares = sum(one * one for one in differences)
    assert p == pytest.approx(2 * math.exp(-(sum(differences) ** 2) / (2 * squares)), rel=1e-6)


def test_the_drawn_p_is_the_exact_one_but_for_the_noise_of_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(1).normal(0.35, 1, 13)
    exact = sign_flip(values, seed=0)
    monkeypatch.setattr(paired, "EXACT", 5)
    monkeypatch.setattr(paired, "CHUNK", 1000)
    drawn = sign_flip(values, seed=0, resamples=40_000)
    assert exact is not None and drawn == pytest.approx(exact, abs=4 * math.sqrt(exact / 40_000))


def test_with_very_many_questions_fewer_patterns_are_drawn_but_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(2).normal(0, 1, 60_000)
    near = sign_flip(values, seed=0, resamples=2_000)
    assert near == pytest.approx(stats.ttest_1samp(values, 0).pvalue, abs=1e-3)
    monkeypatch.setattr(paired, "SMOOTH", 0.0)  # as where a few values weigh more than all others
    p = sign_flip(values, seed=0, resamples=2_000)
    assert p is not None and round(p * 1001) == pytest.approx(p * 1001, abs=1e-6)
    assert p == pytest.approx(near, abs=0.06)


def test_where_nothing_differs_every_p_is_one() -> None:
    for n in (2, 14, 40):
        assert sign_flip([0.0] * n, seed=0) == 1.0
        assert wilcoxon([0.0] * n) == 1.0
    assert mcnemar(0, 0) == mcnemar(0, 0, mid_p=True) == 1.0


def test_one_question_or_none_has_no_p_and_no_effect() -> None:
    for values in ([], [0.7], [0.7, math.nan]):
        assert sign_flip(values, seed=0) is None
        assert wilcoxon(values) is None
        assert cohens_d(values) is None
    assert superiority([]) is None
    assert superiority([0.5, math.nan]) == 0.75


def test_an_infinite_difference_is_refused() -> None:
    with pytest.raises(ValueError, match="infinite"):
        sign_flip([math.inf, 1.0], seed=0)


@settings(max_examples=30, deadline=None)
@given(st.lists(POINTS, min_size=2, max_size=20), st.integers(0, 2**32), st.randoms(use_true_random=False))
def test_neither_the_order_nor_whose_side_is_called_a_changes_a_p(values: list[float], seed: int, rng: object) -> None:
    mixed = list(values)
    rng.shuffle(mixed)  # type: ignore[attr-defined]
    turned = [-value for value in values]
    assert sign_flip(mixed, seed=seed, resamples=300) == sign_flip(values, seed=seed, resamples=300)
    assert wilcoxon(turned) == pytest.approx(wilcoxon(values), abs=1e-12)
    assert wilcoxon(mixed) == pytest.approx(wilcoxon(values), abs=1e-12)
    assert sign_flip(turned, seed=seed, resamples=300) == sign_flip(values, seed=seed, resamples=300)


@settings(max_examples=60, deadline=None)
@given(st.lists(POINTS, min_size=2, max_size=8))
def test_the_exact_sign_flip_counts_all_patterns(values: list[float]) -> None:
    sums = [abs(sum(s * v for s, v in zip(signs, values, strict=True))) for signs in itertools.product((-1, 1), repeat=len(values))]
    assert sign_flip(values, seed=0) == sum(one >= abs(sum(values)) for one in sums) / len(sums)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-6, 6), min_size=2, max_size=7).filter(any))
def test_wilcoxon_of_few_values_counts_the_rank_sums_of_all_patterns(values: list[int]) -> None:
    """Pratt: zeros have ranks, and never speak."""
    ranks = stats.rankdata(np.abs(values))
    moving = [rank for rank, value in zip(ranks, values, strict=True) if value]
    seen = sum(rank for rank, value in zip(ranks, values, strict=True) if value > 0)
    sums = [sum(rank for rank, up in zip(moving, ups, strict=True) if up) for ups in itertools.product((0, 1), repeat=len(moving))]
    low, high = (np.mean([one <= seen for one in sums]), np.mean([one >= seen for one in sums]))
    assert wilcoxon(values) == pytest.approx(min(1.0, 2 * min(low, high)), abs=1e-9)


@pytest.mark.parametrize("values", [[3, 1, 1, 0, -2, 4, -1], [1.5, 1.5, -1.5, 0, 0, 2, 3, -4]])
def test_wilcoxon_of_few_values_with_zeros_and_equal_sizes_is_scipys_permutation_test(values: list[float]) -> None:
    theirs = stats.wilcoxon(values, zero_method="pratt", method=stats.PermutationMethod())
    assert wilcoxon(values) == pytest.approx(theirs.pvalue, abs=1e-9)


@pytest.mark.parametrize(("n", "method"), [(8, "exact"), (30, "exact"), (50, "exact"), (51, "asymptotic"), (400, "asymptotic")])
def test_wilcoxon_is_scipys(n: int, method: str) -> None:
    values = np.random.default_rng(n).normal(0.2, 1, n)
    assert wilcoxon(values) == pytest.approx(stats.wilcoxon(values, method=method, zero_method="pratt").pvalue, abs=1e-9)


def test_a_few_differences_among_many_ties_are_no_surer_than_by_themselves() -> None:
    """5 questions of 100 differ, all for A: 2 of 32 patterns are as far out. The normal approximation would say p = 0.025."""
    values = [1.0] * 5 + [0.0] * 95
    assert sign_flip(values, seed=0) == 2 / 32
    assert wilcoxon(values) == pytest.approx(2 / 32, abs=1e-12)
    assert stats.wilcoxon(values, zero_method="pratt", method="asymptotic").pvalue < 0.03


def test_wilcoxon_of_thirty_values_with_equal_sizes_is_what_many_patterns_of_signs_say() -> None:
    rng = np.random.default_rng(4)
    values = np.append(rng.integers(-3, 5, 40), np.zeros(30))
    ranks = stats.rankdata(np.abs(values))
    signs = rng.choice([-1, 1], (40_000, len(values)))
    sums, seen = signs[:, values != 0] @ ranks[values != 0], float(np.sign(values) @ ranks)
    share = float((np.abs(sums) >= abs(seen) - 1e-9).mean())
    assert wilcoxon(values) == pytest.approx(share, abs=4 * math.sqrt(share / 40_000))


def test_wilcoxon_of_many_values_with_zeros_ranks_them_as_pratt_does() -> None:
    values = np.random.default_rng(0).integers(-2, 4, 90)
    theirs, dropping = (stats.wilcoxon(values, zero_method=how, method="asymptotic").pvalue for how in ("pratt", "wilcox"))
    assert wilcoxon(values) == pytest.approx(theirs, abs=1e-9)
    assert abs(theirs - dropping) > 1e-6


def test_wilcoxon_sees_means_of_the_same_points_as_equal() -> None:
    clean = [0.3] * 10 + [-0.3] * 5
    assert wilcoxon([*[0.1 + 0.2] * 10, *[-0.3] * 5]) == wilcoxon(clean)


@pytest.mark.parametrize(("only_a", "only_b"), [(0, 1), (3, 9), (9, 3), (7, 7), (40, 61), (1000, 1100)])
def test_mcnemar_is_statsmodels_exact_test(only_a: int, only_b: int) -> None:
    theirs = their_mcnemar([[5, only_a], [only_b, 5]], exact=True).pvalue
    assert mcnemar(only_a, only_b) == pytest.approx(theirs, abs=1e-9)
    n, fewer = only_a + only_b, min(only_a, only_b)
    counted = 2 * sum(math.comb(n, k) for k in range(fewer)) + math.comb(n, fewer)
    assert mcnemar(only_a, only_b, mid_p=True) == pytest.approx(counted / 2**n, abs=1e-9)


def test_mcnemar_refuses_counts_below_zero() -> None:
    with pytest.raises(ValueError, match="negative"):
        mcnemar(-1, 3)


@settings(max_examples=60)
@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_same_from_both_sides_and_mid_p_is_never_larger(a: int, b: int) -> None:
    assert mcnemar(a, b) == mcnemar(b, a)
    assert 0 <= mcnemar(a, b, mid_p=True) <= mcnemar(a, b) <= 1


def test_cohens_d_is_mean_over_spread() -> None:
    assert cohens_d([1.0, 2.0, 3.0]) == 2.0
    values = np.random.default_rng(5).normal(0.3, 1, 80)
    assert cohens_d(values) == pytest.approx(stats.ttest_1samp(values, 0).statistic / math.sqrt(80), abs=1e-9)


@pytest.mark.parametrize("values", [[0.0, 0.0], [0.4] * 7, [0.1 + 0.2, 0.3]])
def test_without_spread_there_is_no_cohens_d(values: list[float]) -> None:
    assert cohens_d(values) is None


def test_superiority_counts_ties_half() -> None:
    assert superiority([1, 1, 0, -1]) == (2 + 0.5) / 4
    with pytest.raises(ValueError, match="between -1 and 1"):
        superiority([2.0])


def test_superiority_is_mann_whitneys_share_for_one_pair_a_question() -> None:
    gaps = np.random.default_rng(8).integers(-2, 3, 50)
    better, tied = (gaps > 0).mean(), (gaps == 0).mean()
    assert superiority(np.sign(gaps)) == pytest.approx(better + tied / 2, abs=1e-12)


def test_the_false_alarms_of_the_sign_flip_are_as_many_as_said() -> None:
    """Skewed sizes, random signs, 30 questions: p <= 0.05 in about 5 of 100."""
    rng = np.random.default_rng(11)
    alarms = sum((sign_flip(rng.choice([-1, 1], 30) * rng.exponential(1, 30), seed=run, resamples=199) or 0) <= 0.05 for run in range(1000))
    assert 30 <= alarms <= 70


@pytest.mark.slow
@settings(max_examples=10, deadline=None)  # each call of multipletests looks through all of the suite's memory for garbage
@given(st.lists(P_VALUES, max_size=6))
def test_holm_is_statsmodels_and_passes_over_what_is_not_known(ps: list[float | None]) -> None:
    known = [p for p in ps if p is not None]
    corrected = holm(ps)
    assert [p is None for p in corrected] == [p is None for p in ps]
    if known:
        theirs = multipletests(known, method="holm")[1]
        assert [p for p in corrected if p is not None] == pytest.approx(list(theirs), abs=1e-12)


@settings(max_examples=80)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_keeps_the_order_and_never_makes_a_p_smaller(ps: list[float]) -> None:
    corrected = [p for p in holm(ps) if p is not None]
    assert all(p <= q <= 1 for p, q in zip(ps, corrected, strict=True))
    assert all(corrected[i] <= corrected[j] for i in range(len(ps)) for j in range(len(ps)) if ps[i] < ps[j])
    assert max(corrected) <= min(1.0, len(ps) * max(ps)) + 1e-12


@settings(max_examples=40)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.integers(0, 7))
def test_one_more_test_never_makes_another_surer(ps: list[float], at: int) -> None:
    assume(at < len(ps))
    fewer = holm(ps[:at] + ps[at + 1 :])
    more = holm(ps)
    assert all((p or 0) <= (q or 0) + 1e-15 for p, q in zip(fewer, more[:at] + more[at + 1 :], strict=True))


def test_holm_refuses_what_is_no_p() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([0.2, 1.2])
    assert holm([]) == []
    assert holm([0.01, None, 0.04]) == [0.02, None, 0.04]
