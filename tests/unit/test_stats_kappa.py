"""Agreement beyond chance: by hand, against scikit-learn and the library evalica, and the intervals by simulation."""

from __future__ import annotations

from itertools import permutations

import evalica
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgeval.stats.agreement import agreement
from kgeval.stats.kappa import Scale, Weights, _alphas, _coincidences, agreed, alpha, majority
from kgeval.stats.resampling import numbered, resampled

LAW = settings(deadline=None, max_examples=40)
FIRST, SECOND = [0, 0, 1, 1, 2, 2, 2, 0, 1, 2], [0, 1, 1, 1, 2, 1, 2, 0, 0, 2]
LABELS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=40)
# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", data C: four observers, twelve units, some labels missing
PRINTED = [
    "1 2 3 3 2 1 4 1 2 . . .", "1 2 3 3 2 2 4 1 2 5 . 3", ". 3 3 3 2 3 4 2 2 5 1 .", "1 2 3 3 2 4 4 1 2 5 1 .",
]
PUBLISHED: dict[Scale, float] = {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849}


def printed() -> np.ndarray:
    rows = [[np.nan if cell == "." else float(cell) - 1 for cell in row.split()] for row in PRINTED]
    return np.array(rows).T


def kappa(first: list[int], second: list[int], weights: Weights, *, categories: int) -> float | None:
    figures = agreed(first, second, categories=categories, seed=0)
    return {"nominal": figures.kappa, "linear": figures.linear, "quadratic": figures.quadratic}[weights].value


def test_kappa_by_hand() -> None:
    """Two labellers, ten items: 7 equal; margins 3 3 4 and 3 4 3 give 9 + 12 + 12 = 33 of 100 by chance."""
    assert kappa(FIRST, SECOND, "nominal", categories=3) == pytest.approx((0.7 - 0.33) / 0.67)
    # steps: 3 of distance 1 seen; expected (sum over cells of margin * margin * distance) / 10 = 88 / 10
    assert kappa(FIRST, SECOND, "linear", categories=3) == pytest.approx(1 - 3 / (88 / 10))


@pytest.mark.long
@LAW
@given(LABELS)
def test_kappa_is_what_scikit_learn_computes(pairs: list[tuple[int, int]]) -> None:
    from sklearn.metrics import cohen_kappa_score

    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    for ours, theirs in (("nominal", None), ("linear", "linear"), ("quadratic", "quadratic")):
        weights: Weights = ours  # type: ignore[assignment]
        mine = kappa(first, second, weights, categories=5)
        if mine is None:
            assert len(set(first)) == len(set(second)) == 1
        else:
            assert mine == pytest.approx(cohen_kappa_score(first, second, labels=range(5), weights=theirs), abs=1e-9)


@pytest.mark.slow
@LAW
@given(LABELS)
def test_without_weights_it_is_the_kappa_of_texts(pairs: list[tuple[int, int]]) -> None:
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    expected = agreement(list(map(str, first)), list(map(str, second)))
    found = agreed(first, second, categories=5, seed=0)
    assert found.raw.value == pytest.approx(expected.raw)
    assert found.kappa.value == (None if expected.kappa is None else pytest.approx(expected.kappa))


def test_one_label_throughout_says_nothing() -> None:
    found = agreed([1, 1, 1, 1], [1, 1, 1, 1], categories=3, seed=0)
    assert (found.raw.value, found.kappa.value, found.linear.value) == (1, None, None)
    assert agreed([], [], categories=3, seed=0).raw.value is None
    assert alpha(np.array([[1.0, 1], [1, 1]]), categories=3, scale="ordinal", seed=0).value is None


def test_within_one_counts_neighbours() -> None:
    found = agreed([0, 1, 2, 4], [0, 2, 0, 4], categories=5, seed=0)
    assert (found.raw.value, found.within_one.value) == (0.5, 0.75)


@pytest.mark.parametrize("scale", PUBLISHED)
def test_alpha_of_the_published_example(scale: Scale) -> None:
    found = alpha(printed(), categories=5, scale=scale, seed=0)
    assert found.value == pytest.approx(PUBLISHED[scale], abs=0.0006)
    assert found.low is not None and found.high is not None and found.low < found.value < found.high


@LAW
@given(st.lists(st.lists(st.sampled_from([np.nan, 0.0, 1.0, 2.0, 3.0]), min_size=3, max_size=3), min_size=3, max_size=30))
def test_the_coincidences_of_the_resamples_give_the_library_s_alpha(rows: list[list[float]]) -> None:
    table = np.array(rows)
    counts = np.stack([(table == label).sum(axis=1) for label in range(4)], axis=1).astype(float)
    kept = counts[counts.sum(axis=1) >= 2]
    if len(kept) and (kept.sum(axis=0) > 0).sum() >= 2:
        for scale in ("nominal", "ordinal", "interval"):
            level: Scale = scale  # type: ignore[assignment]
            mine = _alphas(_coincidences(kept).sum(axis=0)[None, :], 4, level)[0]
            theirs = evalica.alpha(pd.DataFrame(table.T), distance=level).alpha
            assert mine == pytest.approx(theirs, abs=1e-9)


def test_alpha_with_two_labellers_is_the_mean_disagreement_by_hand() -> None:
    """Four items, labels 0 0 / 0 1 / 1 1 / 1 1: 1 - (8 - 1) * 2 / (2 * 3 * 5) of nominal alpha."""
    found = alpha(np.array([[0.0, 0], [0, 1], [1, 1], [1, 1]]), categories=2, scale="nominal", seed=0)
    assert found.value == pytest.approx(1 - 7 * 2 / 30)


def test_labels_of_one_question_are_drawn_together() -> None:
    """The same items three times over are no more than the items: with their unit the interval stays as it was."""
    once = agreed(FIRST, SECOND, categories=3, seed=1)
    thrice = agreed(FIRST * 3, SECOND * 3, categories=3, seed=1, units=list(range(10)) * 3)
    alone = agreed(FIRST * 3, SECOND * 3, categories=3, seed=1)
    assert (thrice.raw.low, thrice.raw.high) == (pytest.approx(once.raw.low), pytest.approx(once.raw.high))
    assert alone.raw.high - alone.raw.low < thrice.raw.high - thrice.raw.low


@pytest.mark.slow
def test_the_interval_of_a_share_covers_the_truth() -> None:
    """Raw agreement of 60 items with truth 0.7, 300 runs: BCa's 95 % interval holds the truth in about 95 of 100 runs."""
    rng = np.random.default_rng(5)
    covered = 0
    for run in range(300):
        same = (rng.random(60) < 0.7).astype(float)
        found = resampled(lambda w, same=same: w @ same / w.sum(axis=1), numbered(None, 60), seed=run, resamples=500)
        covered += found is not None and found.low <= 0.7 <= found.high
    assert 0.91 <= covered / 300 <= 0.985


def test_too_few_units_have_no_interval() -> None:
    assert resampled(lambda w: w.sum(axis=1), numbered(None, 2), seed=0) is None
    assert resampled(lambda w: w.sum(axis=1), numbered(["q"] * 9, 9), seed=0) is None
    with pytest.raises(ValueError, match="confidence"):
        resampled(lambda w: w.sum(axis=1), numbered(None, 9), seed=0, confidence=95)
    with pytest.raises(ValueError, match="rows"):
        numbered(["a"], 2)


def test_a_figure_that_is_mostly_undefined_has_no_interval() -> None:
    """One of nine items differs: without it there is no disagreement to expect, in a third of all resamples."""
    found = agreed([0] * 8 + [1], [0] * 8 + [1], categories=2, seed=0)
    assert (found.kappa.value, found.kappa.low) == (1, None)


def test_the_majority_and_its_ties() -> None:
    for order in permutations(["a", "a", "b"]):
        assert majority(order).label == "a"
    tie = majority([1, 2, 1, 2, 3])
    assert (tie.label, tie.tied) == (None, (1, 2))
    assert (majority([]).label, majority([]).tied) == (None, ())


@pytest.mark.parametrize(("first", "second", "what"), [([0], [0, 1], "same items"), ([0], [3], "from 0 to 2")])
def test_wrong_labels_are_refused(first: list[int], second: list[int], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        agreed(first, second, categories=3, seed=0)
