"""Parts that hang on one entity, against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgeval.auditing.steps.bridge_only_access import hanging_parts
from kgeval.graph.algorithms import Adjacency


def neighbours(graph: nx.Graph) -> Adjacency:
    joined = sorted(n for n in graph if graph.degree(n))
    place = {node: at for at, node in enumerate(joined)}
    others = [sorted(place[other] for other in graph[n]) for n in joined]
    starts = np.cumsum([0, *map(len, others)], dtype=np.int64)
    return Adjacency(np.array(joined, dtype=np.int64), starts, np.array([other for row in others for other in row], dtype=np.int64))


def entities_in_parts(graph: nx.Graph, min_part: int) -> set[int]:
    """By definition: for every entity, remove it and look at all pieces smaller than half."""
    found: set[int] = set()
    for gate in graph:
        whole = nx.node_connected_component(graph, gate)
        pieces = list(nx.connected_components(graph.subgraph(whole - {gate})))
        found.update(*(p for p in pieces if min_part <= len(p) < len(whole) / 2))
    return found


graphs = st.builds(
    lambda edges: nx.Graph([(a, b) for a, b in edges if a != b]),
    st.lists(st.tuples(st.integers(0, 25), st.integers(0, 25)), max_size=40),
)


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(graphs, st.integers(1, 6))
def test_the_parts_together_hold_what_removing_each_entity_cuts_off(graph, min_part):
    parts = hanging_parts(neighbours(graph), min_part)
    expected = entities_in_parts(graph, min_part)
    assert sum(part.size for part in parts) == len(expected)
    assert all(part.gate in graph and part.entry in graph[part.gate] for part in parts)


@pytest.mark.slow
def test_a_long_chain_does_not_recurse():
    chain = nx.path_graph(50_000)
    parts = hanging_parts(neighbours(chain), 10)
    assert [part.size for part in parts] == [24_999, 24_999]


def test_a_path_of_nine_has_two_ends_of_three_or_more():
    parts = hanging_parts(neighbours(nx.path_graph(9)), 3)
    assert [(part.size, part.single) for part in parts] == [(4, True), (4, True)]


def test_two_triangles_sharing_an_entity_hang_on_it_without_a_bridge():
    bow = nx.Graph([(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 0)])
    parts = hanging_parts(neighbours(bow), 2)
    assert [(part.gate, part.size, part.single) for part in parts] == [(0, 2, False), (0, 2, False)]
