"""Which names are compared with which."""

from __future__ import annotations

import numpy as np

from kgeval.auditing.blocking import Blocks, affordable, pairs, split


def test_entities_that_share_much_are_one_group_and_cost_the_budget_once() -> None:
    parts = split([[1, 2, 3, 9]], lambda number: range(200) if number < 9 else (), most=40)
    assert parts == [(1, 2, 3)]
    assert affordable(map(len, parts), budget=10) == 1


def test_groups_that_share_different_things_stay_apart_and_smaller_ones_come_first() -> None:
    shared = {1: (10, 20), 2: (10,), 3: (10, 20), 4: (30,)}
    assert split([[1, 2, 3, 4]], lambda number: shared[number], most=40) == [(1, 3), (1, 2, 3)]
    assert split([[1, 2, 3, 4]], lambda number: shared[number], most=2) == [(1, 3)]


def test_without_a_crowd_nothing_is_kept_of_what_is_too_large() -> None:
    for crowd, kept in ((0, []), (2, [[0, 1]]), (9, [[0, 1, 2]])):
        blocks = Blocks(most=2, crowd=crowd)
        blocks.add(np.array([3, 2]), np.array([0, 1, 2, 3, 4]))
        assert [list(block) for block in blocks.large() if len(block)] == kept
        assert [list(block) for block in blocks.small()] == [[3, 4]]


def test_a_pair_of_several_blocks_is_given_once() -> None:
    found = list(pairs([[1, 2], [1, 2, 3]], lambda a, b: "like" if a == 1 else None, budget=100))
    assert found == [(1, 2, "like"), (1, 3, "like")]
