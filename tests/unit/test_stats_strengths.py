"""Strengths of several systems: against evalica, scipy's optimiser and a linear programme, and where there must be none."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import evalica
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from kgeval.stats import pairmodel
from kgeval.stats import strengths as module
from kgeval.stats.strengths import Strengths, average_win_rates, strengths, strengths_of_trials

Outcome = tuple[int, int, object, float]
WINNER = {1.0: evalica.Winner.X, 0.0: evalica.Winner.Draw, -1.0: evalica.Winner.Y}


def drawn(n: int, questions: int, seed: int, *, ties: float = 0.2, spread: float = 0.7) -> list[Outcome]:
    """Each pair on each question once, by the model without ties, and ties at random."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(0, spread, n)
    made = []
    for (i, j), q in itertools.product(itertools.combinations(range(n), 2), range(questions)):
        w = 0.0 if rng.random() < ties else 1.0 if rng.random() < 1 / (1 + math.exp(theta[j] - theta[i])) else -1.0
        made.append((i, j, q, w))
    return made


def names(n: int) -> list[str]:
    return [f"s{at}" for at in range(n)]


def values(found: Strengths) -> list[float]:
    return [math.nan if one.strength is None else one.strength for one in found.systems]


def theirs(outcomes: Sequence[Outcome], n: int, method: str) -> tuple[list[float], float]:
    xs, ys, winners = zip(*[(i, j, WINNER[w]) for i, j, _, w in outcomes], strict=True)
    found = getattr(evalica, method)(xs, ys, winners, index=pd.Index(range(n)), tolerance=1e-13, limit=100_000)
    logs = np.log(found.scores.reindex(range(n)).to_numpy())
    return list(logs - logs.mean()), float(getattr(found, "v", 0.0))


@pytest.mark.parametrize(("n", "ties"), [(2, 0.3), (4, 0.0), (4, 0.3), (9, 0.1)])
def test_strengths_with_ties_are_evalicas_newman(n: int, ties: float) -> None:
    outcomes = drawn(n, 60, seed=n, ties=ties)
    found = strengths(outcomes, names(n), seed=0, resamples=20)
    logs, v = theirs(outcomes, n, "newman")
    assert values(found) == pytest.approx(logs, abs=1e-9)
    if n > 2:  # of two systems evalica's scores settle in one step, and v has not moved yet
        assert found.tie_share == pytest.approx(v / (1 + v), abs=1e-9)


def test_two_systems_have_the_shares_that_were_seen() -> None:
    """5 wins, 3 ties, 2 losses: as many figures as the model has. t = log(5/2), and 2 v = 3 / sqrt(5 * 2)."""
    found = strengths([(0, 1, q, w) for q, w in enumerate([1.0] * 5 + [0.0] * 3 + [-1.0] * 2)], ["a", "b"], seed=0)
    assert values(found)[0] == pytest.approx(math.log(5 / 2) / 2, abs=1e-9)
    tie = 3 / math.sqrt(10)
    assert found.tie_share == pytest.approx(tie / (2 + tie), abs=1e-9)


@pytest.mark.parametrize("n", [2, 5])
def test_strengths_with_ties_as_halves_are_evalicas_bradley_terry(n: int) -> None:
    outcomes = drawn(n, 60, seed=n)
    found = strengths(outcomes, names(n), seed=0, ties="half")
    assert values(found) == pytest.approx(theirs(outcomes, n, "bradley_terry")[0], abs=1e-9)
    assert found.tie_share is None


@pytest.mark.slow
def test_the_strengths_are_those_of_greatest_likelihood() -> None:
    outcomes, n = drawn(4, 40, seed=3), 4
    found = strengths(outcomes, names(n), seed=0, resamples=20)

    def unlikely(p: np.ndarray) -> float:
        total = 0.0
        for i, j, _, w in outcomes:
            one, other, tie = p[i], p[j], (p[i] + p[j]) / 2 + p[n]
            total -= {1.0: one, -1.0: other, 0.0: tie}[w] - np.logaddexp(np.logaddexp(one, other), tie)
        return float(total) + float(p[:n].sum()) ** 2

    best = optimize.minimize(unlikely, np.zeros(n + 1), method="BFGS", options={"gtol": 1e-7})
    assert values(found) == pytest.approx(list(best.x[:n]), abs=1e-5)
    assert found.tie_share == pytest.approx(math.exp(best.x[n]) / (2 + math.exp(best.x[n])), abs=1e-5)


def test_two_systems_without_ties_differ_by_the_log_of_their_odds() -> None:
    found = strengths([(0, 1, q, 1.0 if q < 30 else -1.0) for q in range(40)], ["a", "b"], seed=0)
    assert values(found) == pytest.approx([math.log(3) / 2, -math.log(3) / 2], abs=1e-12)
    assert found.tie_share == 0.0
    assert [(one.rank, one.rank_low, one.rank_high) for one in found.systems] == [(1, 1, 1), (2, 2, 2)]
    a = found.systems[0]
    assert a.low is not None and a.high is not None and a.low < math.log(3) / 2 < a.high
    assert (a.average_win_rate, found.questions) == (0.75, 40)


def test_trials_of_a_question_weigh_together_as_one() -> None:
    once = drawn(3, 30, seed=5)
    many = [outcome for outcome in once for _ in range(5)]
    one, five = strengths(once, names(3), seed=1), strengths(many, names(3), seed=1)
    assert values(one) == pytest.approx(values(five), abs=1e-9)
    assert [s.low for s in one.systems] == pytest.approx([s.low for s in five.systems], abs=1e-9)


def test_a_question_with_more_trials_weighs_no_more() -> None:
    outcomes = [(0, 1, "often", 1.0)] * 9 + [(0, 1, "once", -1.0)]
    assert values(strengths(outcomes, ["a", "b"], seed=0)) == pytest.approx([0.0, 0.0], abs=1e-12)


def test_what_one_question_says_of_several_pairs_is_drawn_together() -> None:
    """A beats both or loses to both on a question. As 60 questions that is less sure than as 120 results of their own."""
    signs = [1.0] * 38 + [-1.0] * 22
    third = [(1, 2, q, 1.0 - 2 * (q % 2)) for q in range(60)]
    together = [(0, j, q, w) for q, w in enumerate(signs) for j in (1, 2)]
    apart = [(0, j, f"{q} {j}", w) for q, w in enumerate(signs) for j in (1, 2)]
    one, other = (strengths([*some, *third], names(3), seed=0).systems[0] for some in (together, apart))
    assert one.strength == pytest.approx(other.strength, abs=1e-9)
    width = [(of.high or 0) - (of.low or 0) for of in (one, other)]
    assert width[0] > 1.25 * width[1] > 0


def test_tables_give_what_single_outcomes_give() -> None:
    rng = np.random.default_rng(2)
    tables = {pair: rng.choice([1.0, 0.0, -1.0, np.nan], (25, 4)) for pair in itertools.combinations(range(3), 2)}
    ids = [f"q{at}" for at in range(25)]
    single = [(i, j, q, float(w)) for (i, j), t in tables.items() for q, row in zip(ids, t, strict=True) for w in row if not np.isnan(w)]
    one = strengths(single, names(3), seed=4)
    other = strengths_of_trials([(i, j, ids, t) for (i, j), t in tables.items()], names(3), seed=4)
    assert values(one) == pytest.approx(values(other), abs=1e-10)
    assert [s.average_win_rate for s in one.systems] == pytest.approx([s.average_win_rate for s in other.systems], abs=1e-12)


def test_an_outcome_in_between_is_so_much_of_a_win_and_the_rest_of_a_loss() -> None:
    found = strengths([(0, 1, q, 0.5) for q in range(20)], ["a", "b"], seed=0)
    assert values(found)[0] == pytest.approx(math.log(3) / 2, abs=1e-12)


def test_the_average_win_rate_is_evalicas() -> None:
    outcomes = drawn(6, 25, seed=6)
    xs, ys, winners = zip(*[(i, j, WINNER[w]) for i, j, _, w in outcomes], strict=True)
    mean = evalica.average_win_rate(xs, ys, winners, index=pd.Index(range(6)), tie_weight=0.5).scores.reindex(range(6))
    found = strengths(outcomes, names(6), seed=0, resamples=20)
    assert [one.average_win_rate for one in found.systems] == pytest.approx(mean.tolist(), abs=1e-12)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 5), st.randoms(use_true_random=False))
def test_neither_the_order_of_outcomes_nor_of_sides_changes_a_strength(seed: int, n: int, rng: object) -> None:
    outcomes = drawn(n, 15, seed=seed)
    mixed = [(j, i, q, -w) for i, j, q, w in outcomes]
    rng.shuffle(mixed)  # type: ignore[attr-defined]
    one, other = (strengths(some, names(n), seed=0, resamples=10) for some in (outcomes, mixed))
    assert one.rankable == other.rankable
    assert values(one) == pytest.approx(values(other), abs=1e-9, nan_ok=True)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.permutations(range(4)))
def test_the_names_of_systems_carry_their_strengths_with_them(seed: int, order: list[int]) -> None:
    outcomes = drawn(4, 20, seed=seed)
    moved = [(order[i], order[j], q, w) for i, j, q, w in outcomes]
    plain, turned = (values(strengths(some, names(4), seed=0, resamples=10)) for some in (outcomes, moved))
    assert [turned[order[at]] for at in range(4)] == pytest.approx(plain, abs=1e-9, nan_ok=True)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.integers(2, 4).flatmap(lambda n: st.tuples(
    st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.sampled_from([1.0, 0.0])), min_size=1, max_size=8),
)))
def test_finite_strengths_exist_exactly_where_no_direction_separates_the_outcomes(drawn_: tuple[int, list[tuple[int, int, float]]]) -> None:
    """A linear programme over (t, log v): each outcome must be at least as likely a choice as the two others, one of them strictly."""
    n, listed = drawn_
    wins, ties = np.zeros((n, n)), np.zeros((n, n))
    sides = []
    for i, j, w in listed:
        if i == j:
            continue
        one, other = np.eye(n + 1)[i], np.eye(n + 1)[j]
        tie = (one + other) / 2 + np.eye(n + 1)[n]
        seen, rest = (one, (other, tie)) if w else (tie, (one, other))
        sides += [seen - r for r in rest]
        if w:
            wins[i, j] += 1
        else:
            ties[i, j] += 1
            ties[j, i] += 1
    if not sides:
        return
    # without ties log v may run to minus infinity: that is v = 0, and no fault
    rows = np.array(sides) if ties.any() else np.array(sides)[::2][:, :n]
    margin = -optimize.linprog(-rows.sum(axis=0), A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1)).fun
    determined = np.linalg.matrix_rank(rows) == rows.shape[1] - 1  # all t can be moved together
    assert bool(pairmodel.exists(wins[None], ties[None])[0]) == bool(margin < 1e-7 and determined)


@pytest.mark.parametrize(("outcomes", "reason"), [
    ([], "no comparison has a result"),
    ([(0, 1, q, 1.0) for q in range(5)] + [(1, 2, q, 0.0) for q in range(5)], "a won every comparison with b"),
    ([(0, 1, q, -1.0) for q in range(5)] + [(0, 2, q, 1.0) for q in range(5)], "b won every comparison with a"),
    ([(i, j, q, 0.0) for i, j in ((0, 1), (1, 2)) for q in range(5)], "every comparison is a tie"),
    ([(0, 1, q, 1.0 - 2 * (q % 2)) for q in range(6)], "never compared with one another, not even through others: a, b | c"),
    ([(0, 1, 0, 1.0), (0, 1, 1, 0.0), (1, 2, 0, 1.0), (1, 2, 1, 0.0)], "a never lost, and only ties link"),
])
def test_what_cannot_be_ranked_has_a_reason_and_no_numbers(outcomes: list[Outcome], reason: str) -> None:
    found = strengths(outcomes, ["a", "b", "c"], seed=0)
    assert not found.rankable
    assert reason in (found.reason or "")
    assert all(one.strength is one.low is one.rank is one.rank_low is None for one in found.systems)


def test_one_system_that_always_wins_is_named_and_the_average_win_rates_stay() -> None:
    outcomes = [(0, j, q, 1.0) for j in (1, 2) for q in range(10)] + [(1, 2, q, 1.0 - 2 * (q % 2)) for q in range(10)]
    found = strengths(outcomes, ["best", "x", "y"], seed=0)
    assert found.reason == "best won every comparison with x, y: nothing says by how much, so there are no finite strengths"
    assert [one.average_win_rate for one in found.systems] == [1.0, 0.25, 0.25]


def test_long_lists_of_systems_are_cut_in_a_reason() -> None:
    found = strengths([(0, j, 0, 1.0) for j in range(1, 9)], names(9), seed=0)
    assert "s1, s2, s3, s4, s5 and 3 more" in (found.reason or "")


def test_a_system_that_met_nobody_has_no_average() -> None:
    found = strengths([(0, 1, q, 1.0 - 2 * (q % 2)) for q in range(6)], ["a", "b", "c"], seed=0)
    assert [one.average_win_rate for one in found.systems] == [0.5, 0.5, None]


def test_one_question_gives_strengths_and_no_intervals() -> None:
    found = strengths([(0, 1, 0, 1.0), (0, 1, 0, 1.0), (0, 1, 0, -1.0)], ["a", "b"], seed=0)
    assert found.rankable and found.interval_reason == "fewer than 2 questions: no intervals"
    assert values(found)[0] == pytest.approx(math.log(2) / 2)
    assert found.systems[0].low is None


def test_a_single_system_is_not_ranked() -> None:
    assert strengths([], ["a"], seed=0).reason == "fewer than 2 systems"


def test_where_resamples_often_have_no_strengths_there_are_no_intervals() -> None:
    """2 of 12 questions go the other way: (10/12)^12 = 11 % of the resamples lack both."""
    found = strengths([(0, 1, q, 1.0 if q < 10 else -1.0) for q in range(12)], ["a", "b"], seed=0)
    assert found.rankable and found.unranked == pytest.approx((10 / 12) ** 12, abs=0.04)
    assert found.systems[0].low is None and found.systems[0].rank_low is None
    assert "resamples of questions give no finite strengths" in (found.interval_reason or "")


@pytest.mark.long
def test_intervals_cover_the_true_strengths() -> None:
    """Two systems, 60 questions, no ties: 95 % intervals hold half the log odds in 90 to 99 of 100 runs."""
    held, truth = 0, 0.4
    for run in range(150):
        rng = np.random.default_rng(run)
        a_wins = rng.random(60) < 1 / (1 + math.exp(-2 * truth))
        found = strengths([(0, 1, q, 1.0 if w else -1.0) for q, w in enumerate(a_wins)], ["a", "b"], seed=run, resamples=200)
        a = found.systems[0]
        held += a.low is not None and a.high is not None and a.low <= truth <= a.high
    assert 0.9 <= held / 150 <= 0.99


def test_equal_systems_share_a_rank_and_leave_all_places_open() -> None:
    outcomes = [(i, j, q, 1.0 - 2 * (q % 2)) for i, j in itertools.combinations(range(3), 2) for q in range(40)]
    found = strengths(outcomes, names(3), seed=0)
    assert [(one.rank, one.rank_low, one.rank_high) for one in found.systems] == [(1, 1, 3)] * 3


def test_fifty_systems_are_ranked() -> None:
    rng = np.random.default_rng(0)
    theta = np.linspace(1, -1, 50)
    pairs = []
    for i, j in itertools.combinations(range(50), 2):
        p = 1 / (1 + math.exp(theta[j] - theta[i]))
        pairs.append((i, j, range(30), np.where(rng.random((30, 2)) < 0.1, 0.0, np.where(rng.random((30, 2)) < p, 1.0, -1.0))))
    found = strengths_of_trials(pairs, names(50), seed=0, resamples=100)
    assert found.rankable and found.unranked == 0.0
    assert np.corrcoef(values(found), theta)[0, 1] > 0.99
    assert all((one.rank_low or 0) <= (one.rank or 0) <= (one.rank_high or 0) for one in found.systems)


@pytest.mark.parametrize("outcomes", [[(0, 1, 0, 1.5)], [(0, 1, 0, math.nan)], [(0, 0, 0, 1.0)], [(0, 2, 0, 1.0)], [(-1, 1, 0, 1.0)]])
def test_impossible_outcomes_are_refused(outcomes: list[Outcome]) -> None:
    with pytest.raises(ValueError, match=r"between -1 and 1|with itself|not in the list"):
        strengths(outcomes, ["a", "b"], seed=0)


def test_average_win_rates_by_hand() -> None:
    wins = np.array([[0, 3.0, 0], [1, 0, 0], [0, 0, 0]])
    ties = np.array([[0, 0, 2.0], [0, 0, 0], [2, 0, 0]])
    assert list(average_win_rates(wins, ties)) == pytest.approx([(0.75 + 0.5) / 2, 0.25, 0.5])


def test_very_many_questions_are_resampled_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DRAWS", 100)
    found = strengths(drawn(2, 30, seed=1), ["a", "b"], seed=0)
    assert found.resamples == module.LEAST
