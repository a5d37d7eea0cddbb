"""Laws and second computations for the pure figures."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from kgeval.stats import graphs
from kgeval.stats.graphs import adjusted_rand_index, diameter, quantile, share_above, sizes

HISTOGRAMS = st.dictionaries(st.integers(1, 50), st.integers(1, 9), min_size=1, max_size=12)


def flat(histogram: dict[int, int]) -> list[int]:
    return [value for value, n in histogram.items() for _ in range(n)]


@pytest.mark.slow
@given(HISTOGRAMS, st.floats(0, 1))
def test_a_quantile_of_a_histogram_is_numpys_of_the_flat_values(histogram: dict[int, int], q: float) -> None:
    assert quantile(histogram, q) == pytest.approx(np.quantile(flat(histogram), q), abs=1e-9)


@pytest.mark.slow
@given(HISTOGRAMS)
def test_sizes_are_scipys(histogram: dict[int, int]) -> None:
    mine, values = sizes(histogram), flat(histogram)
    assert mine.geometric == pytest.approx(stats.gmean(values))
    assert mine.harmonic == pytest.approx(len(values) / sum(1 / v for v in values))
    assert mine.median == pytest.approx(np.median(values))
    assert (mine.harmonic or 0) <= (mine.geometric or 0) + 1e-9 <= (mine.mean or 0) + 2e-9


def test_no_sizes_give_nothing_and_an_empty_histogram_has_no_quantile() -> None:
    assert sizes({}).mean is None
    assert share_above({}, 1) is None
    with pytest.raises(ValueError, match="empty"):
        quantile({}, 0.5)


@pytest.mark.parametrize("at_once", [graphs.MOST_AT_ONCE, 0])  # all searches at once, and one after the other from the second step on
@pytest.mark.parametrize("drawn", [
    *(nx.gnm_random_graph(40, 60, seed=seed) for seed in range(5)), nx.path_graph(70), nx.cycle_graph(33), nx.complete_graph(9),
    nx.lollipop_graph(12, 60), nx.star_graph(20),
])
def test_the_diameter_is_networkxs(drawn: nx.Graph, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "MOST_AT_ONCE", at_once)
    giant = drawn.subgraph(max(nx.connected_components(drawn), key=len))
    assert diameter([(a * 1000, b * 1000) for a, b in giant.edges]) == nx.diameter(giant)


@pytest.mark.parametrize("at_once", [graphs.MOST_AT_ONCE, 0])
def test_a_graph_in_two_parts_has_no_diameter_and_none_at_all_has_zero(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "MOST_AT_ONCE", at_once)
    with pytest.raises(ValueError, match="not connected"):
        diameter([(0, 1), (2, 3)])
    assert diameter([]) == 0


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=40))
def test_the_rand_index_is_scikit_learns(pairs: list[tuple[int, int]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    assert adjusted_rand_index(left, right) == pytest.approx(metrics.adjusted_rand_score(left, right), abs=1e-9)


def test_renaming_the_groups_changes_nothing() -> None:
    assert adjusted_rand_index([0, 0, 1, 1], [7, 7, 3, 3]) == 1.0
    with pytest.raises(ValueError, match="4 and 2"):
        adjusted_rand_index([0, 0, 1, 1], [0, 1])
