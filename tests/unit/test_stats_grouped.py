"""Means of values in groups: against the matrix form of CR2, and by simulation."""

import numpy as np
import pytest
from scipy import linalg

from kgeval.stats.grouped import LEAST_GROUPS, are_grouped, group_sums, grouped_mean


def by_matrices(values, groups):
    """CR2's variance of a mean and Bell-McCaffrey's degrees of freedom as the papers write them, with whole matrices."""
    n = len(values)
    ones = np.ones((n, 1))
    hat = ones @ ones.T / n
    residuals = values - values.mean()
    vectors, variance = [], 0.0
    for group in np.unique(groups):
        own = groups == group
        inside = np.eye(own.sum()) - hat[np.ix_(own, own)]
        adjusted = np.real(linalg.fractional_matrix_power(inside, -0.5))
        weight = ones[own].T @ adjusted / n
        variance += float((weight @ residuals[own])[0] ** 2)
        vectors.append(((np.eye(n) - hat)[own].T @ weight.T).ravel())
    gram = np.array(vectors) @ np.array(vectors).T
    return variance, np.trace(gram) ** 2 / np.trace(gram @ gram)


@pytest.mark.parametrize("sizes", [(5, 5, 5, 5, 5, 5), (1, 2, 9, 4, 30, 3, 7, 1), (1, 1, 1, 1, 1, 1, 1, 2)])
def test_variance_and_degrees_of_freedom_are_those_of_the_papers(sizes):
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    values = rng.normal(size=len(groups)) + rng.normal(size=len(sizes))[groups]
    variance, df = by_matrices(values, groups)
    found = grouped_mean([(values, groups)])
    assert found.variance == pytest.approx(variance, rel=1e-9)
    from scipy import stats

    half = stats.t.ppf(0.975, max(1.0, df)) * variance**0.5
    assert (found.interval.low, found.interval.high) == pytest.approx((values.mean() - half, values.mean() + half), rel=1e-6)
    assert found.groups == len(sizes)
    assert 0 < found.effective <= len(values)


def test_groups_of_one_value_each_are_the_plain_variance():
    values = np.random.default_rng(1).random(40)
    found = grouped_mean([(values, np.arange(40))], low=0.0, high=1.0)
    assert found.variance == pytest.approx(values.var(ddof=1) / 40)
    assert found.effective == pytest.approx(40)
    assert not are_grouped(np.arange(40))
    assert are_grouped(np.zeros(2, dtype=int))


def test_fewer_than_six_groups_have_no_interval_and_equal_values_that_of_the_groups():
    values = np.tile([0.0, 1.0], 25)
    assert grouped_mean([(values, np.arange(50) % (LEAST_GROUPS - 1))], low=0.0, high=1.0).interval is None
    assert grouped_mean([(values, np.arange(50) % LEAST_GROUPS)], low=0.0, high=1.0).interval is not None
    same = grouped_mean([(np.ones(60), np.arange(60) // 10)], low=0.0, high=1.0)
    assert same.interval.low == pytest.approx(0.025 ** (1 / 6))  # six documents, not sixty questions
    assert same.interval.high == 1.0


def test_strata_weigh_the_same_and_their_groups_are_their_own():
    rng = np.random.default_rng(5)
    parts = [(rng.random(40), np.arange(40) // 4), (rng.random(10) / 2, np.arange(10) // 2)]
    alone = [grouped_mean([part], low=0.0, high=1.0) for part in parts]
    both = grouped_mean(parts, low=0.0, high=1.0)
    assert both.mean == pytest.approx(sum(one.mean for one in alone) / 2)
    assert both.variance == pytest.approx(sum(one.variance for one in alone) / 4)
    assert both.groups == 15


def test_sums_of_groups():
    assert group_sums(np.array([1.0, 2.0, -4.0]), np.array([7, 7, 9])).tolist() == [3.0, -4.0]


@pytest.mark.parametrize(("documents", "kind"), [(6, "wins"), (12, "wins"), (40, "wins"), (12, "shares"), (12, "graded")])
def test_intervals_hold_the_truth_where_documents_differ(documents, kind):
    rng = np.random.default_rng(documents)
    held, times = 0, 300
    large = rng.normal(size=400_000)
    form = {
        "wins": lambda z: np.where(z > 0.5, 1.0, np.where(z < -0.5, -1.0, 0.0)), "shares": lambda z: (z > -1.2).astype(float),
        "graded": lambda z: 1 / (1 + np.exp(-1.5 * z - 1)),
    }[kind]
    truth = form(large).mean()
    for _ in range(times):
        sizes = rng.integers(1, 20, documents)
        groups = np.repeat(np.arange(documents), sizes)
        drawn = rng.normal(size=documents)[groups] * 0.3**0.5 + rng.normal(size=len(groups)) * 0.7**0.5
        found = grouped_mean([(form(drawn), groups)], low=-1.0 if kind == "wins" else 0.0, high=1.0).interval
        held += found.low <= truth <= found.high
    assert 0.91 <= held / times <= 0.99  # 95 %, give or take three standard errors of 300 runs
