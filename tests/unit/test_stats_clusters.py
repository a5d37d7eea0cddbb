"""The cluster estimate: against the formulas of the textbook, over all samples of a small population, and by coverage."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgeval.stats.clusters import Clusters, arranged, ratio, total_variance
from kgeval.stats.intervals import quantile


def sampled(groups: list[list[float]], of: int) -> tuple[np.ndarray, Clusters]:
    """Clusters drawn from `of` in one stratum."""
    values = np.array([value for group in groups for value in group], dtype=float)
    code = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return values, Clusters(code, np.zeros(len(groups), dtype=np.int64), np.array([float(of)]))


def estimate(groups: list[list[float]], of: int):
    values, clusters = sampled(groups, of)
    return ratio(values, np.ones_like(values), clusters)


def test_items_alone_in_their_clusters_are_a_simple_random_sample() -> None:
    found = estimate([[1.0]] * 30 + [[0.0]] * 10, of=400)
    assert found.value == 0.75
    assert found.variance == pytest.approx((1 - 40 / 400) * 0.75 * 0.25 / 39)  # Cochran 3.2
    assert found.design_effect == pytest.approx(40 / 39)
    assert (found.n, found.clusters, found.df) == (40, 40, 39)


@pytest.mark.slow
@settings(max_examples=50)
@given(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=5), min_size=2, max_size=12), st.integers(0, 30))
def test_value_and_variance_are_cochrans_for_clusters_of_unequal_size(groups: list[list[int]], more: int) -> None:
    """Cochran 9A.4: R = sum a / sum m; v = (1-f) / (n mbar^2) * sum (a - R m)^2 / (n - 1), written out with loops."""
    n, of = len(groups), len(groups) + more
    found = estimate([[float(v) for v in group] for group in groups], of)
    a, m = [sum(group) for group in groups], [len(group) for group in groups]
    share = sum(a) / sum(m)
    spread = sum((ai - share * mi) ** 2 for ai, mi in zip(a, m, strict=True)) / (n - 1)
    assert found.value == pytest.approx(share)
    assert found.variance == pytest.approx((1 - n / of) * spread / (n * (sum(m) / n) ** 2), abs=1e-12)
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_over_all_samples_of_a_small_population_value_and_variance_are_unbiased() -> None:
    """Six clusters of two items, three drawn: the mean of all 20 estimates is the truth, the mean variance the true one."""
    population = [[1, 1], [1, 0], [0, 0], [1, 1], [0, 1], [1, 1]]
    found = [estimate([[float(v) for v in population[at]] for at in chosen], 6) for chosen in combinations(range(6), 3)]
    values = np.array([one.value for one in found])
    assert values.mean() == pytest.approx(np.mean(population))
    assert np.mean([one.variance for one in found]) == pytest.approx(values.var())


def test_over_all_stratified_samples_value_and_variance_are_unbiased() -> None:
    first, second = [[1.0], [0.0], [1.0], [1.0]], [[0.0], [0.0], [1.0], [0.0], [0.0], [1.0]]
    values, variances = [], []
    for a in combinations(range(4), 2):
        for b in combinations(range(6), 3):
            y = np.array([first[at][0] for at in a] + [second[at][0] for at in b])
            clusters = Clusters(np.arange(5), np.array([0, 0, 1, 1, 1]), np.array([4.0, 6.0]))
            one = ratio(y, np.ones(5), clusters)
            values.append(one.value)
            variances.append(one.variance)
    assert np.mean(values) == pytest.approx((3 + 2) / 10)
    # linearised around each sample's own share, but residuals of a stratum are centred on their mean: exact here
    assert np.mean(variances) == pytest.approx(np.var(values))


def test_a_census_leaves_no_doubt() -> None:
    found = estimate([[1.0, 0.0], [1.0, 1.0]], of=2)
    assert (found.value, found.low, found.high, found.variance) == (0.75, 0.75, 0.75, 0.0)
    everything_right = estimate([[1.0, 1.0]], of=1)
    assert (everything_right.low, everything_right.high) == (1.0, 1.0)


def test_one_cluster_of_many_gives_a_share_without_an_interval() -> None:
    found = estimate([[1.0, 0.0, 1.0]], of=50)
    assert (found.value, found.low, found.high, found.df) == (pytest.approx(2 / 3), None, None, 0)


def test_without_variation_items_of_a_cluster_count_as_half_alike() -> None:
    from kgeval.stats.intervals import wilson

    found = estimate([[1.0] * 5] * 20, of=10**9)
    assert found.design_effect is None
    assert found.high == 1.0
    assert found.low == pytest.approx(wilson(1.0, 100 / 3, quantile=quantile(df=19)).low, abs=1e-6)


def test_without_items_there_is_no_share() -> None:
    values, clusters = sampled([[1.0], [0.0]], 10)
    assert ratio(values * 0, np.zeros(2), clusters) is None


def test_a_domain_is_estimated_from_all_drawn_clusters() -> None:
    y = np.array([1.0, 0.0, 1.0, 1.0])
    inside = np.array([1.0, 0.0, 1.0, 0.0])
    clusters = Clusters(np.array([0, 0, 1, 2]), np.zeros(3, dtype=np.int64), np.array([30.0]))
    found = ratio(y * inside, inside, clusters)
    assert (found.value, found.n, found.clusters) == (1.0, 2, 2)


def test_a_stratum_with_one_drawn_cluster_still_adds_to_the_variance() -> None:
    clusters = Clusters(np.arange(3), np.array([0, 1, 1]), np.array([5.0, 5.0]))
    assert total_variance(np.array([1.0, 0.0, 0.0]), clusters) > 0


def test_names_become_codes() -> None:
    found = arranged(["x", "z", "x"], {"x": "a", "y": "a", "z": "b"}, {"a": 4, "b": 3})
    assert found.of_item.tolist() == [0, 2, 0]
    assert found.stratum.tolist() == [0, 0, 1]
    assert found.weights.tolist() == [2.0, 2.0, 3.0]


def population(rng: np.random.Generator, size: int, share: float, alike: float) -> list[np.ndarray]:
    """Clusters of 1 to 5 items that are right with a probability of their own (beta, intraclass correlation `alike`)."""
    chances = rng.beta(share * (1 - alike) / alike, (1 - share) * (1 - alike) / alike, size)
    return [(rng.random(rng.integers(1, 6)) < chance).astype(float) for chance in chances]


CASES = [(0.85, 0.2, 66), (0.7, 0.5, 30), (0.95, 0.3, 66), (0.95, 0.6, 66), (0.98, 0.3, 66), (0.85, 0.2, 500)]


@pytest.mark.long
@pytest.mark.parametrize(("share", "alike", "drawn"), CASES)
def test_the_95_percent_interval_covers_the_truth_in_93_to_97_percent_of_samples(share: float, alike: float, drawn: int) -> None:
    rng = np.random.default_rng(4)
    everything = population(rng, 1500, share, alike)
    sizes, truth = np.array(list(map(len, everything))), np.concatenate(everything).mean()
    hits, values = 0, []
    for _ in range(1000):
        chosen = rng.permutation(1500)[:drawn]
        y = np.concatenate([everything[at] for at in chosen])
        code = np.repeat(np.arange(drawn), sizes[chosen])
        found = ratio(y, np.ones_like(y), Clusters(code, np.zeros(drawn, dtype=np.int64), np.array([1500.0])))
        hits += found.low <= truth <= found.high
        values.append(found.value)
    assert 0.93 <= hits / 1000 <= 0.97
    assert np.mean(values) == pytest.approx(truth, abs=0.004)


@pytest.mark.slow
def test_what_has_no_label_counts_as_not_drawn() -> None:
    """45 of 50 clusters drawn, but only 3 of 5 items labelled: the correction for a finite population must shrink with that."""
    rng = np.random.default_rng(6)
    hits = {"told": 0, "not told": 0}
    for _ in range(300):
        everything = population(rng, 50, 0.85, 0.4)
        truth = np.concatenate(everything).mean()
        groups = [everything[at] for at in rng.permutation(50)[:45]]
        labelled = [group[rng.random(len(group)) < 0.6] for group in groups]
        held = [at for at, group in enumerate(labelled) if len(group)]
        values, clusters = sampled([labelled[at].tolist() for at in held], 50)
        answered = len(values) / sum(len(groups[at]) for at in held)
        for name, share in (("told", answered), ("not told", 1.0)):
            found = ratio(values, np.ones_like(values), clusters, answered=share)
            hits[name] += found.low <= truth <= found.high
    assert hits["told"] / 300 > 0.94
    assert hits["not told"] / 300 < 0.92


def test_ignoring_the_clusters_would_cover_too_little() -> None:
    """The control: with items of a passage alike, an interval for independent items misses far more often than 5 %."""
    rng = np.random.default_rng(5)
    everything = population(rng, 1500, 0.7, 0.7)
    truth = np.concatenate(everything).mean()
    from kgeval.stats.intervals import wilson

    hits = 0
    for _ in range(500):
        y = np.concatenate([everything[at] for at in rng.permutation(1500)[:50]])
        plain = wilson(float(y.mean()), len(y), quantile=quantile())
        hits += plain.low <= truth <= plain.high
    assert hits / 500 < 0.85
