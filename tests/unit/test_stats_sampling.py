"""Samples that can be drawn again, and give every unit the same chance."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgeval.stats.sampling import allocate, deal, draw, groups_needed, keys_of, large_strata, random_number

SIZES = st.dictionaries(st.text(min_size=1, max_size=3), st.integers(0, 500), min_size=1, max_size=8)


def test_a_random_number_depends_on_seed_and_name_and_on_nothing_else() -> None:
    assert random_number(7, "a", "bc") == random_number(7, "a", "bc")
    assert len({random_number(7, "a", "bc"), random_number(8, "a", "bc"), random_number(7, "ab", "c"), random_number(7, "abc")}) == 4


def test_a_missing_part_of_a_name_is_not_an_empty_one() -> None:
    assert random_number(0, *keys_of(["a", None])) != random_number(0, *keys_of(["a", ""]))


@settings(max_examples=50)
@given(st.lists(st.integers(0, 2**64 - 1), max_size=60, unique=True), st.integers(0, 80), st.randoms(use_true_random=False))
def test_the_order_of_the_units_does_not_matter_and_a_smaller_sample_is_part_of_a_larger(numbers, wanted, rng: random.Random) -> None:
    shuffled = list(numbers)
    rng.shuffle(shuffled)
    chosen = [numbers[at] for at in draw(numbers, wanted).chosen]
    assert chosen == [shuffled[at] for at in draw(shuffled, wanted).chosen]
    assert chosen[: wanted // 2] == [numbers[at] for at in draw(numbers, wanted // 2).chosen]
    assert len(chosen) == min(wanted, len(numbers)) == len(set(chosen))


@settings(max_examples=50)
@given(st.integers(1, 300), st.integers(1, 20))
def test_a_cluster_is_dealt_into_groups_that_differ_by_one_at_most_and_keep_every_item(size: int, most: int) -> None:
    groups = deal([random_number(1, str(at)) for at in range(size)], groups_needed(size, most))
    sizes = [len(group) for group in groups]
    assert sorted(at for group in groups for at in group) == list(range(size))
    assert max(sizes) <= most
    assert max(sizes) - min(sizes) <= 1


@settings(max_examples=50)
@given(SIZES, st.integers(0, 400), st.integers(0, 400))
def test_allocation_stays_within_each_stratum_and_never_shrinks_as_the_sample_grows(sizes, a: int, b: int) -> None:
    small, large = allocate(sizes, min(a, b)), allocate(sizes, max(a, b))
    assert small.keys() == large.keys() == {name for name, size in sizes.items() if size}
    assert all(min(sizes[name], 1) <= small[name] <= large[name] <= sizes[name] for name in small)


@settings(max_examples=50)
@given(SIZES, st.integers(0, 400))
def test_allocation_adds_up_to_what_is_wanted_but_for_rounding(sizes, wanted: int) -> None:
    found, total = allocate(sizes, wanted), sum(sizes.values())
    assert sum(found.values()) <= wanted + 1.5 * len(found)
    assert sum(found.values()) >= min(wanted, total) - 0.5 * len(found)


def test_strata_of_five_percent_and_more_stand_alone() -> None:
    assert large_strata({"a": 91, "b": 5, "c": 4}) == {"a", "b"}
    assert large_strata({}) == set()


def test_every_item_has_the_same_chance_whatever_the_size_of_its_passage() -> None:
    """Passages of 1, 4 and 13 items, groups of at most 5, 3 of the 5 groups drawn: each item comes in 3 samples of 5."""
    passages = {"one": 1, "four": 4, "thirteen": 13}
    counts: Counter[tuple[str, int]] = Counter()
    seeds = 1500
    for seed in range(seeds):
        units = [
            [(name, at) for at in group]
            for name, size in passages.items()
            for group in deal([random_number(seed, "item", name, str(at)) for at in range(size)], groups_needed(size, 5))
        ]
        chosen = draw([random_number(seed, "unit", str(at)) for at in range(len(units))], 3).chosen
        counts.update(item for at in chosen for item in units[at])
    assert len(counts) == 18
    expected = seeds * 3 / 5
    assert all(abs(n - expected) < 5 * (expected * 0.4) ** 0.5 for n in counts.values()), counts


def test_the_random_numbers_are_spread_evenly() -> None:
    shares = np.sort([random_number(3, "unit", str(at)) / 2**64 for at in range(5000)])
    gaps = np.abs(shares - np.arange(5000) / 5000)  # Kolmogorov-Smirnov: 1.95 is passed once in a thousand
    assert gaps.max() * 5000**0.5 < 1.95


def test_a_negative_size_draws_nothing() -> None:
    assert draw([3, 1, 2], -1).chosen == ()
    assert draw([3, 1, 2], 2).chosen == (1, 2)
    with pytest.raises(ZeroDivisionError):
        groups_needed(3, 0)
