"""The parts of sampling that need no server: whose turn it is, walks without loops, paths listed one by one, pairs numbered through."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from kgeval.graph.algorithms import node_number
from kgeval.questions.sampling.links import GraphLink
from kgeval.questions.sampling.ordered import OrderedRelations
from kgeval.questions.sampling.paths import PathWalk, listed
from kgeval.questions.sampling.random_walks import as_pair, enough, in_order, without_loops
from kgeval.questions.sampling.sampled_graph import in_seeded_order
from kgeval.questions.sampling.strata import bucket
from kgeval.questions.sampling.turns import PATIENCE, Lane, Seed, Turns
from kgeval.questions.sampling.uniform import _PairLane

WALKS = st.lists(st.sampled_from("abcdef"), max_size=30).map("".join).map(list)


def lane(items: list[int], *, again: bool = False) -> Lane:
    return Lane(np.array(items, dtype=np.int64), np.random.default_rng(0), again=again)


def test_strata_take_turns_and_a_seed_that_gave_nothing_gives_its_turn_back() -> None:
    turns = Turns({"a": lane([1, 2, 3]), "b": lane([4, 5, 6])})
    first = turns.take(2)
    assert first == [Seed(1, "a"), Seed(4, "b")]
    turns.came_back([(first[0], False), (first[1], True)])
    assert turns.take(1) == [Seed(2, "a")]


def test_every_seed_is_taken_once_and_small_strata_run_out_first() -> None:
    turns = Turns({"small": lane([1]), "large": lane([2, 3, 4])})
    taken = turns.take(10)
    assert [seed.at for seed in taken] == [1, 2, 3, 4]
    turns.came_back((seed, True) for seed in taken)
    assert turns.take(10) == []


def test_seeds_that_may_give_more_come_again_until_they_give_nothing_new_for_long() -> None:
    turns = Turns({None: lane([1, 2], again=True)})
    first = turns.take(5)
    assert sorted(seed.at for seed in first) == [1, 2]  # the second round waits for what is under way
    turns.came_back([(first[0], True), (first[1], False)])
    more = 0
    while seeds := turns.take(5):
        turns.came_back((seed, False) for seed in seeds)
        more += len(seeds)
    assert more == PATIENCE


@pytest.mark.slow
@given(WALKS, st.integers(1, 6))
def test_a_walk_without_loops_is_a_simple_path_over_steps_of_the_walk(walk: list[str], length: int) -> None:
    path = without_loops(walk, length)
    assert len(set(path)) == len(path) <= length + 1
    steps = {as_pair(*step) for step in pairwise(walk)}
    assert all(as_pair(*step) in steps for step in pairwise(path))
    assert path[:1] == walk[:1]


def test_a_loop_is_taken_out_as_it_closes() -> None:
    assert without_loops(list("abcbd"), 9) == list("abd")
    assert without_loops(list("abcad"), 9) == list("ad")
    assert without_loops(list("abcad"), 2) == list("abc")  # it was long enough before the loop closed


@pytest.mark.slow
@given(WALKS, st.integers(1, 8))
def test_the_beginning_that_is_enough_has_so_many_pairs_or_is_the_whole_walk(walk: list[str], least: int) -> None:
    begin = enough(walk, least)
    assert begin == walk[: len(begin)]
    assert begin == walk or len({as_pair(*step) for step in pairwise(begin)}) == least


def around_of(edges: list[tuple[str, str]]) -> dict[str, list[GraphLink]]:
    around: dict[str, list[GraphLink]] = {}
    for at, (source, target) in enumerate(edges):
        for end in (source, target):
            around.setdefault(end, []).append(GraphLink(f"r{at}", source, target))
    return around


EDGES = st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from("abcde")).filter(lambda ends: ends[0] != ends[1]), max_size=9)


@pytest.mark.slow
@given(EDGES, st.integers(1, 4))
def test_all_simple_paths_are_listed_once_as_networkx_finds_them(edges: list[tuple[str, str]], hops: int) -> None:
    found = [frozenset(link.relation for link in links) for _, links in listed(around_of(edges), hops, 10_000)[0]]
    graph = nx.MultiGraph()
    for at, (a, b) in enumerate(edges):
        graph.add_edge(a, b, key=f"r{at}")
    expected = {
        frozenset(step[2] for step in path)
        for a, b in combinations(graph.nodes, 2) for path in nx.all_simple_edge_paths(graph, a, b, cutoff=hops) if len(path) == hops
    }
    assert len(found) == len(set(found))
    assert set(found) == expected


def test_listing_stops_at_its_limit() -> None:
    around = around_of([(a, b) for a, b in combinations("abcdefgh", 2)])
    found, complete = listed(around, 3, 7)
    assert (len(found), complete) == (7, False)


def test_a_way_never_comes_back_to_where_it_was() -> None:
    way = PathWalk(Seed(0, None), ["a"])
    assert way.go_on([GraphLink("r1", "b", "a")])
    assert not way.go_on([GraphLink("r2", "a", "b"), GraphLink("r1", "b", "a")])
    assert way.go_on([GraphLink("r2", "a", "b"), GraphLink("r3", "b", "c")])
    assert way.nodes == ["a", "b", "c"]


@given(st.lists(st.integers(2, 7), min_size=1, max_size=4), st.integers(0, 99))
def test_every_pair_of_every_group_comes_once(sizes: list[int], seed: int) -> None:
    first = np.concatenate(([0], np.cumsum(sizes)))
    groups = [np.arange(a, b) for a, b in pairwise(first)]
    drawn = _PairLane(groups, np.random.default_rng(seed))
    got = []
    while (pair := drawn.take()) is not None:
        got.append(frozenset(pair))
    assert len(got) == len(set(got))
    assert set(got) == {frozenset(int(at) for at in pair) for group in groups for pair in combinations(group, 2)}


def row(name: str | None, key: str, number: int, degree: int = 1) -> dict[str, object]:
    return {"element_id": f"4:x:{number}", "key": key, "name": name, "type": "T", "degree": degree}


def test_the_order_of_entities_does_not_depend_on_element_ids_or_on_the_order_of_rows() -> None:
    names = [f"n{at}" for at in range(50)]
    rows = [row(name, name, at, at) for at, name in enumerate(names)]
    rebuilt = [row(name, name, 900 - at, at) for at, name in reversed(list(enumerate(names)))]
    assert list(in_seeded_order(rows, 7).degrees) == list(in_seeded_order(rebuilt, 7).degrees)
    assert list(in_seeded_order(rows, 7).degrees) != list(in_seeded_order(rows, 8).degrees)


def test_buckets_of_degrees_double() -> None:
    assert [bucket(degree) for degree in (0, 1, 2, 3, 4, 7, 8, 100)] == ["0", "1", "2-3", "2-3", "4-7", "4-7", "8-15", "64-127"]


def test_nodes_stand_in_the_order_of_the_walk() -> None:
    links = [GraphLink("r1", "b", "a"), GraphLink("r2", "b", "c"), GraphLink("r1", "b", "a")]
    assert in_order("a", links) == ("a", "b", "c")


def test_the_number_of_a_node_is_the_end_of_its_element_id() -> None:
    assert node_number("4:1dc7498c-759e-4e78-8ef5-470d23e1298d:17") == 17


@pytest.mark.long
def test_listing_paths_ends_where_a_dense_graph_has_no_end_of_beginnings() -> None:
    around = around_of(list(combinations("abcdefghijklmnopqrstuvwxyz", 2)))
    assert listed(around, 26, 10) == ([], True)  # 26 entities have no path of 26 relations
    found, complete = listed(around, 25, 10, steps=1_000)
    assert len(found) <= 10
    assert not complete
    row = around_of([(str(at), str(at + 1)) for at in range(1_200)])
    assert [len(path[1]) for path in listed(row, 1_200, 10)[0]] == [1_200]


def test_what_else_leads_along_a_step_is_drawn_alike_however_much_there_is() -> None:
    """One whole of 40 parts, which is a part of another: 7 of the other 39 stand beside a way, each as often as the others."""
    parts = {f"p{number}": GraphLink(f"r{number}", f"p{number}", "whole") for number in range(40)}
    top = GraphLink("top", "whole", "all")
    up = {**{name: [("whole", link)] for name, link in parts.items()}, "whole": [("all", top)]}
    relations = OrderedRelations(up, {"whole": [*parts.items()], "all": [("whole", top)]}, {}, whole=True)
    rng, counts = np.random.default_rng(0), Counter[str]()
    for _ in range(2_000):
        first, second = relations.widened("p0", [("whole", parts["p0"]), ("all", top)], 9, rng)
        assert (first[0], second, len(first), len(set(first))) == (parts["p0"], [top], 8, 8)
        counts.update(link.relation for link in first[1:])
    assert len(counts) == 39 and chisquare([*counts.values()]).pvalue > 0.001
    assert relations.widened("p0", [("whole", parts["p0"]), ("all", top)], 2, rng) == [[parts["p0"]], [top]]
