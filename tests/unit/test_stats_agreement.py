"""Agreement, calibration and partitions, against published figures, tables of counts and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgeval.stats.agreement import agreement, calibration_error, reliability
from kgeval.stats.partitions import PrecisionRecall, b_cubed, joined, pairwise

LABELS = st.sampled_from(["entailed", "contradicted", "not_stated"])


@settings(max_examples=50)
@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=40))
def test_kappa_is_that_of_the_table_of_counts(pairs) -> None:
    """Observed and expected agreement from the matrix of both labels, margins multiplied."""
    names = ["entailed", "contradicted", "not_stated"]
    table = np.zeros((3, 3))
    for a, b in pairs:
        table[names.index(a), names.index(b)] += 1 / len(pairs)
    found = agreement([a for a, _ in pairs], [b for _, b in pairs])
    assert found.raw == pytest.approx(np.trace(table))
    expected = float(table.sum(axis=1) @ table.sum(axis=0))
    if np.isclose(expected, 1):
        assert found.kappa is None
    else:
        assert found.kappa == pytest.approx((np.trace(table) - expected) / (1 - expected), abs=1e-12)


def test_kappa_of_published_tables() -> None:
    """Fleiss, Levin and Paik 2003, table 18.1 (kappa 0.68); and the table of Feinstein and Cicchetti 1990 with its paradox (0.32)."""
    def kappa(table: list[list[int]]) -> float:
        cells = [(str(i), str(j)) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
        return agreement([a for a, _ in cells], [b for _, b in cells]).kappa

    assert kappa([[75, 1, 4], [5, 4, 1], [0, 0, 10]]) == pytest.approx(0.676, abs=5e-4)
    assert kappa([[80, 10], [5, 5]]) == pytest.approx(0.32, abs=5e-3)


def test_nothing_labelled_gives_no_agreement() -> None:
    assert (agreement([], []).raw, agreement([], []).kappa) == (None, None)
    with pytest.raises(ValueError, match="same items"):
        agreement(["a"], [])


@settings(max_examples=50)
@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from([0.0, 1.0])), min_size=1, max_size=50))
def test_every_item_falls_into_one_bin_and_the_error_is_a_share(pairs) -> None:
    bins = reliability([c for c, _ in pairs], [r for _, r in pairs])
    assert sum(b.n for b in bins) == len(pairs)
    assert 0 <= calibration_error(bins) <= 1
    for c, _ in pairs:
        assert sum(b.low <= c < b.high or (c == 1.0 and b.high == 1.0) for b in bins) == 1


def test_calibration_can_be_counted_by_hand() -> None:
    bins = reliability([0.95, 0.95, 0.55, 1.0], [1, 0, 1, 1])
    assert [(b.low, b.n, b.accuracy) for b in bins if b.n] == [(0.5, 1, 1.0), (0.9, 3, pytest.approx(2 / 3))]
    assert calibration_error(bins) == pytest.approx((3 * abs(2 / 3 - 2.9 / 3) + 1 * 0.45) / 4)
    assert calibration_error(reliability([], [])) is None
    with pytest.raises(ValueError, match="between 0 and 1"):
        reliability([3.0], [1])


@settings(max_examples=50)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_pairwise_precision_and_recall_are_those_of_the_four_counts(pairs) -> None:
    found = pairwise([s for s, _ in pairs], [t for _, t in pairs])
    both, false_alarms, missed = (pairs.count(kind) for kind in ((True, True), (True, False), (False, True)))
    assert found.precision == (both / (both + false_alarms) if both + false_alarms else None)
    assert found.recall == (both / (both + missed) if both + missed else None)
    if found.f1 is not None:
        assert found.f1 == pytest.approx(2 * both / (2 * both + false_alarms + missed))


GROUPS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=15)


@settings(max_examples=50)
@given(GROUPS)
def test_b_cubed_is_its_definition_record_by_record(groups) -> None:
    said, true = ({at: pair[side] for at, pair in enumerate(groups)} for side in (0, 1))
    found = b_cubed(said, true)

    def mean(own, other) -> float:
        shares = []
        for record in own:
            mates = [r for r in own if own[r] == own[record]]
            shares.append(sum(other[r] == other[record] for r in mates) / len(mates))
        return sum(shares) / len(shares)

    assert (found.precision, found.recall) == (pytest.approx(mean(said, true)), pytest.approx(mean(true, said)))
    swapped = b_cubed(true, said)
    assert (swapped.precision, swapped.recall) == (found.recall, found.precision)


def test_a_grouping_is_perfect_against_itself() -> None:
    groups = joined("abcde", [("a", "b"), ("b", "c")])
    assert groups["a"] == groups["b"] == groups["c"] != groups["d"]
    assert b_cubed(groups, groups) == PrecisionRecall(1.0, 1.0)
    alone = joined("abcde", [])
    assert b_cubed(alone, groups) == PrecisionRecall(1.0, pytest.approx((3 * 1 / 3 + 2) / 5))
    assert b_cubed({}, {}) == PrecisionRecall(None, None)
    with pytest.raises(ValueError, match="same records"):
        b_cubed({"a": 1}, {"b": 1})
