"""How many runs the stability of communities takes: two that agree say nearly as much as five, on known graphs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from statistics import fmean
from typing import Any

import networkx as nx
import numpy as np
import pytest

from kgeval.auditing import communities
from kgeval.graph.algorithms import Partition
from kgeval.graph.aura.view import shuffled
from kgeval.stats.graphs import adjusted_rand_index

MANY = 30
KNOWN = {
    "karate": nx.karate_club_graph, "miserables": nx.les_miserables_graph, "women": nx.davis_southern_women_graph,
    "caves": lambda: nx.connected_caveman_graph(8, 8), "random": lambda: nx.gnm_random_graph(200, 600, seed=1),
    "hubs": lambda: nx.barabasi_albert_graph(300, 3, seed=1),
    **{f"planted {out}": lambda out=out: nx.planted_partition_graph(6, 30, 0.3, out, seed=1) for out in (0.01, 0.06, 0.1, 0.2)},
}


@cache
def partitions(name: str) -> list[Partition]:
    """Louvain's partitions of a known graph, as networkx finds them with many seeds."""
    graph = nx.convert_node_labels_to_integers(KNOWN[name]())
    made = []
    for seed in range(MANY):
        group = {node: at for at, nodes in enumerate(nx.community.louvain_communities(graph, weight=None, seed=seed)) for node in nodes}
        made.append(Partition(np.arange(len(group)), np.array([group[node] for node in range(len(group))])))
    return made


class Runs:
    """As much of a View as the stability asks: further runs, one after the other."""

    nodes = 0

    def __init__(self, others: list[Partition]) -> None:
        self._others: Iterator[Partition] = iter(others)

    def again(self, *_: Any) -> Partition:
        return next(self._others)


def measured(base: Partition, others: list[Partition]) -> tuple[float, int]:
    view: Any = Runs(others)
    found = communities.stability(view, base, seed=0, timeout=3600)
    return float(found["community_stability"]), int(found["community_stability_runs"])


@pytest.mark.long
@pytest.mark.parametrize("name", KNOWN)
def test_two_runs_that_agree_are_hardly_farther_from_the_mean_of_many_than_five_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found, chance = partitions(name), np.random.default_rng(0)
    errors: dict[str, list[float]] = {"stopped": [], "five": []}
    for at, base in enumerate(found):
        others = [other for place, other in enumerate(found) if place != at]
        mean = fmean(adjusted_rand_index(base.groups, other.groups) for other in others)
        for _ in range(5):
            drawn = [others[place] for place in chance.permutation(len(others))[:5]]
            errors["stopped"].append(abs(measured(base, drawn)[0] - mean))
            with monkeypatch.context() as patch:
                patch.setattr(communities, "AGREEING", -1.0)
                errors["five"].append(abs(measured(base, drawn)[0] - mean))
    assert fmean(errors["stopped"]) <= fmean(errors["five"]) + 0.015
    assert np.quantile(errors["stopped"], 0.95) <= np.quantile(errors["five"], 0.95) + 0.05


def test_two_that_agree_are_enough_and_two_that_do_not_are_followed_by_three() -> None:
    base, other = Partition(np.arange(6), np.array([0, 0, 0, 1, 1, 1])), Partition(np.arange(6), np.array([0, 0, 1, 1, 2, 2]))
    assert measured(base, [base] * 5) == (1.0, 2)
    rand = adjusted_rand_index(base.groups, other.groups)
    assert measured(base, [base, other, base, other, base]) == (pytest.approx((3 + 2 * rand) / 5), 5)


def test_copies_for_further_runs_have_their_nodes_in_other_orders_those_with_many_edges_rather_first() -> None:
    edges = np.array([sorted(edge) for edge in nx.convert_node_labels_to_integers(KNOWN["hubs"]()).edges()])
    places = []
    for seed in range(MANY):
        order = shuffled(edges, seed)
        assert sorted(order.tolist()) == list(range(300))
        places.append(np.argsort(order))
    ranks = np.corrcoef(places)[np.triu_indices(MANY, 1)]
    assert abs(ranks).max() < 0.6 and 0.1 < ranks.mean() < 0.4  # by degree alike, else by lot
    degrees = np.bincount(edges.ravel())
    assert np.mean(places, axis=0)[degrees.argmax()] < 40 and np.mean(places, axis=0)[degrees == 3].mean() > 150
