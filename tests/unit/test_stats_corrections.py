"""A judge corrected by few labels: PPI++ and Rogan-Gladen, against the papers' formulas and on simulated judges."""

from __future__ import annotations

import numpy as np
import pytest

from kgeval.stats.clusters import Clusters, ratio
from kgeval.stats.corrections import ppi, rogan_gladen, selection


def alone(n: int) -> Clusters:
    """Every item a cluster of its own, of a population without end."""
    return Clusters(np.arange(n), np.zeros(n, dtype=np.int64), np.array([1e12]))


def paper(people: np.ndarray, said: np.ndarray, others: np.ndarray) -> tuple[float, float, float]:
    """PPI++ for a mean, straight from the paper: lambda, estimate and variance for n labelled and N other items."""
    n, big = len(people), len(others)
    every = np.concatenate([said, others])
    power = np.cov(people, said)[0, 1] / ((1 + n / big) * every.var(ddof=1))
    power = min(1.0, max(0.0, power))
    value = power * others.mean() + (people - power * said).mean()
    return power, value, power**2 * others.var(ddof=1) / big + (people - power * said).var(ddof=1) / n


@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.95, 0.7), (0.8, 0.9), (0.5, 0.5), (1.0, 1.0)])
def test_with_independent_items_ppi_is_the_papers(sensitivity: float, specificity: float) -> None:
    rng = np.random.default_rng(1)
    people = (rng.random(3000) < 0.8).astype(float)
    judge = np.where(people > 0, rng.random(3000) < sensitivity, rng.random(3000) >= specificity).astype(float)
    labelled = np.arange(3000) < 600
    power, value, variance = paper(people[labelled], judge[labelled], judge[~labelled])
    found = ppi(people, judge, labelled, alone(3000))
    # lambda by the covariance of the estimates: the same but for terms of 1/n
    assert found.power == pytest.approx(power, abs=0.03)
    assert found.value == pytest.approx(value, abs=0.002)
    assert found.variance == pytest.approx(variance, rel=0.02)
    assert found.low < found.value < found.high


def test_a_judge_without_worth_leaves_the_mean_of_the_people() -> None:
    rng = np.random.default_rng(2)
    people, judge = (rng.random((2, 2000)) < 0.7).astype(float)
    labelled = np.arange(2000) < 300
    found = ppi(people, judge, labelled, alone(2000))
    assert found.power < 0.15
    assert found.value == pytest.approx(people[labelled].mean(), abs=0.01)


def test_a_perfect_judge_makes_every_item_count() -> None:
    rng = np.random.default_rng(3)
    people = (rng.random(2000) < 0.7).astype(float)
    labelled = np.arange(2000) < 200
    found = ppi(people, people, labelled, alone(2000))
    assert found.power == pytest.approx(0.9, abs=0.02)  # N / (n + N): both parts weigh by their items
    assert found.value == pytest.approx(people.mean(), abs=1e-3)
    few = ratio(people[labelled], np.ones(200), alone(200))
    assert found.high - found.low < 0.4 * (few.high - few.low)


@pytest.mark.parametrize(("labelled", "why"), [(0, "no item has a label"), (50, "every judged item has a label")])
def test_without_labels_or_without_unlabelled_items_ppi_is_not_defined(labelled: int, why: str) -> None:
    found = ppi(np.ones(50), np.ones(50), np.arange(50) < labelled, alone(50))
    assert found.value is None
    assert why in found.reason


def test_rogan_gladen_is_its_formula() -> None:
    """20 labelled right (18 seen), 10 labelled wrong (2 seen as right); of all 100 items 62 are called right."""
    people = np.array([1.0] * 20 + [0.0] * 10 + [0.0] * 70)
    judge = np.array([1.0] * 18 + [0.0] * 2 + [1.0] * 2 + [0.0] * 8 + [1.0] * 42 + [0.0] * 28)
    found = rogan_gladen(people, judge, np.arange(100) < 30, alone(100))
    assert (found.sensitivity, found.specificity) == (pytest.approx(0.9), pytest.approx(0.8))
    assert found.value == pytest.approx((0.62 + 0.8 - 1) / (0.9 + 0.8 - 1))
    assert found.low < found.value < found.high


@pytest.mark.parametrize(
    ("people", "judge", "why"),
    [
        ([1, 1, 1], [1, 0, 1], "no labelled item is wrong"),
        ([0, 0, 0], [1, 0, 1], "no labelled item is right"),
        ([1, 0, 1, 0], [1, 1, 0, 0], "no better than chance"),
        ([1, 0], [0, 1], "no better than chance"),
    ],
)
def test_where_rogan_gladen_is_not_defined_it_says_why(people, judge, why: str) -> None:
    n = len(people)
    found = rogan_gladen(np.array([*people, 0.0]), np.array([*judge, 1.0], dtype=float), np.arange(n + 1) < n, alone(n + 1))
    assert found.value is None
    assert why in found.reason


def test_labels_in_two_clusters_give_a_value_without_an_interval() -> None:
    clusters = Clusters(np.array([0, 0, 1, 1, 2, 2, 3, 3]), np.zeros(4, dtype=np.int64), np.array([100.0]))
    people, judge = np.array([1.0, 0, 1, 1, 0, 0, 0, 0]), np.array([1.0, 1, 1, 1, 0, 1, 1, 1])
    found = ppi(people, judge, np.arange(8) < 4, clusters)
    assert found.value is not None
    assert (found.low, found.high) == (None, None)
    assert "fewer than 3 clusters" in found.reason


def test_strata_that_were_drawn_thinly_weigh_more() -> None:
    """Two strata of 40 items each drawn, of 40 and of 120 clusters; the judge says one thing only, so people alone decide."""
    people = np.array([1.0, 0.0] * 10 + [1.0] * 20 + [0.0] * 20 + [0.0, 0.0] * 10)
    clusters = Clusters(np.arange(80), np.repeat([0, 1], 40), np.array([40.0, 120.0]))
    labelled = np.tile(np.arange(40) < 20, 2)
    found = ppi(people, np.ones(80), labelled, clusters)
    assert found.power == 0.0
    assert found.value == pytest.approx((1 * 0.5 + 3 * 0.0) / 4)


# --- simulated judges on a population in clusters, with known truth

RUNS = 500


def test_random_labels_are_seldom_suspected_and_picked_ones_are() -> None:
    rng = np.random.default_rng(21)
    alarms = 0
    for _ in range(RUNS):
        truth, clusters = drawn(rng, 0.8, 120)
        alarms += selection(truth, clusters.of_item < 30, clusters) < 0.05
    assert alarms / RUNS < 0.08  # clusters are alike inside: a test that ignores them would cry twice as often
    picked = (truth == 0) & (rng.random(len(truth)) < 0.5) | (rng.random(len(truth)) < 0.1)
    assert selection(truth, picked, clusters) < 0.001
    assert selection(truth, clusters.of_item < 2, clusters) is None
    constant = np.ones_like(truth)
    assert selection(constant, clusters.of_item < 30, clusters) == 1.0


def drawn(rng: np.random.Generator, share: float, clusters: int, *, alike: float = 0.2) -> tuple[np.ndarray, Clusters]:
    """Truth of items in clusters of 1 to 5, alike within clusters (intraclass correlation `alike`); the expected share is `share`."""
    sizes = rng.integers(1, 6, clusters)
    spread = (1 - alike) / alike
    chances = rng.beta(share * spread, (1 - share) * spread, clusters)
    truth = (rng.random(sizes.sum()) < np.repeat(chances, sizes)).astype(float)
    return truth, Clusters(np.repeat(np.arange(clusters), sizes), np.zeros(clusters, dtype=np.int64), np.array([1e12]))


@pytest.mark.slow
@pytest.mark.parametrize("alike", [0.5, 0.7])
def test_ppi_covers_the_truth_near_one_where_few_clusters_of_labels_show_an_error(alike: float) -> None:
    """A share of 0.96, labels in 50 clusters: with the design effect as it is seen, 92 and 89 % are covered."""
    rng = np.random.default_rng(5)
    hits = []
    for _ in range(RUNS):
        truth, clusters = drawn(rng, 0.96, 150, alike=alike)
        judge = np.where(truth > 0, rng.random(len(truth)) < 0.97, rng.random(len(truth)) >= 0.7).astype(float)
        found = ppi(truth, judge, clusters.of_item < 50, clusters)
        hits += [found.low <= 0.96 <= found.high] if found.low is not None else []
    assert len(hits) > 400
    assert 0.94 <= np.mean(hits) <= 0.98


def simulated(share: float, sensitivity: float, specificity: float, *, labelled: int) -> dict[str, list]:
    """Runs of 250 clusters judged, the first of them labelled: values and whether the interval held the truth."""
    rng = np.random.default_rng(11)
    out: dict[str, list] = {name: [] for name in ("ppi", "ppi_hit", "rogan", "rogan_hit", "judge", "judge_hit", "width", "people_width")}
    for _ in range(RUNS):
        truth, clusters = drawn(rng, share, 250)
        chance = rng.random(len(truth))
        judge = np.where(truth > 0, chance < sensitivity, chance >= specificity).astype(float)
        mask = clusters.of_item < labelled
        one, two = ppi(truth, judge, mask, clusters), rogan_gladen(truth, judge, mask, clusters)
        plain = ratio(judge, np.ones_like(judge), clusters)
        own = Clusters(clusters.of_item[mask], clusters.stratum[:labelled], clusters.population)
        people = ratio(truth[mask], np.ones(mask.sum()), own)
        out["ppi"].append(one.value)
        out["ppi_hit"].append(one.low <= share <= one.high)
        out["judge"].append(plain.value)
        out["judge_hit"].append(plain.low <= share <= plain.high)
        out["width"].append(one.high - one.low)
        out["people_width"].append(people.high - people.low)
        if two.low is not None:
            out["rogan"].append(two.value)
            out["rogan_hit"].append(two.low <= share <= two.high)
    return out


@pytest.mark.long
@pytest.mark.parametrize(("share", "sensitivity", "specificity"), [(0.85, 0.97, 0.6), (0.85, 0.8, 0.8), (0.7, 0.95, 0.8)])
def test_with_a_biased_judge_the_corrections_are_right_where_the_judge_alone_is_off(share, sensitivity, specificity) -> None:
    found = simulated(share, sensitivity, specificity, labelled=66)
    assert np.mean(found["ppi"]) == pytest.approx(share, abs=0.005)
    assert np.mean(found["rogan"]) == pytest.approx(share, abs=0.01)
    assert abs(np.mean(found["judge"]) - share) > 0.03 or np.mean(found["judge_hit"]) < 0.9
    assert 0.93 <= np.mean(found["ppi_hit"]) <= 0.97
    assert 0.93 <= np.mean(found["rogan_hit"]) <= 0.985  # on the safe side
    assert np.mean(found["judge_hit"]) < 0.9
    assert np.mean(found["width"]) < np.mean(found["people_width"])
