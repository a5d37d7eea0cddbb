"""Length and style: against statsmodels, by hand, against a known truth, and where there must be no numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from kgeval.stats import logit
from kgeval.stats.clustered import clustered_mean
from kgeval.stats.covariates import Controlled, controlled, linear_slope


def judged(
    questions: int, trials: int, seed: int, *, better: float = 0.0, longer: float = 1.0, bias: float = 1.0, ties: float = 0.1,
) -> tuple[np.ndarray, np.ndarray]:
    """Outcomes and gaps in words: A is better by `better` (log odds), longer by some 50 words, and the judge likes length by `bias`."""
    rng = np.random.default_rng(seed)
    gaps = np.round(rng.normal(50 * longer, 60, (questions, trials)))
    chance = 1 / (1 + np.exp(-(better + bias * np.tanh(gaps / 80) + rng.normal(0, 0.3, (questions, 1)))))
    wins = np.where(rng.random(gaps.shape) < ties, 0.0, np.where(rng.random(gaps.shape) < chance, 1.0, -1.0))
    return wins, gaps


def rate(beta: float) -> float:
    return 2 / (1 + math.exp(-beta)) - 1


def theirs(wins: np.ndarray, gaps: list[np.ndarray], weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """statsmodels: coefficients and errors by question."""
    import statsmodels.api as sm

    groups = np.repeat(np.arange(len(wins)), wins.shape[1])
    bent = [np.tanh(gap / math.sqrt((gap**2).mean())).ravel() for gap in gaps]
    model = sm.GLM((1 + wins.ravel()) / 2, sm.add_constant(np.column_stack(bent)), family=sm.families.Binomial())
    done = model.fit(cov_type="cluster", cov_kwds={"groups": groups}, tol=1e-14, maxiter=200)
    return done.params, done.bse


@pytest.mark.long
@pytest.mark.parametrize(("questions", "trials"), [(40, 1), (60, 5), (300, 2)])
def test_the_length_controlled_rate_is_statsmodels_regression_at_a_gap_of_zero(questions: int, trials: int) -> None:
    wins, gaps = judged(questions, trials, seed=questions)
    found = controlled(wins, {"words": gaps}, seed=0)
    beta, errors = theirs(wins, [gaps])
    t = stats.t.ppf(0.975, questions - 1)
    assert found.controlled == pytest.approx(rate(beta[0]), abs=1e-9)
    assert (found.low, found.high) == pytest.approx((rate(beta[0] - t * errors[0]), rate(beta[0] + t * errors[0])), abs=1e-9)
    slope = found.slopes[0]
    assert (slope.slope, slope.low, slope.high) == pytest.approx((beta[1], beta[1] - t * errors[1], beta[1] + t * errors[1]), abs=1e-8)
    assert slope.scale == pytest.approx(math.sqrt((gaps**2).mean()), rel=1e-12)


@pytest.mark.slow
def test_style_is_regressed_together_with_length() -> None:
    wins, words = judged(80, 3, seed=1)
    rng = np.random.default_rng(2)
    headings, bold = rng.integers(-3, 4, words.shape).astype(float), rng.poisson(2, words.shape) - 1.0
    found = controlled(wins, {"words": words, "headings": headings, "bold": bold}, seed=0)
    beta, errors = theirs(wins, [words, headings, bold])
    t = stats.t.ppf(0.975, 79)
    assert [one.slope for one in found.slopes] == pytest.approx(list(beta[1:]), abs=1e-8)
    assert [one.high for one in found.slopes] == pytest.approx(list(beta[1:] + t * errors[1:]), abs=1e-8)
    assert found.controlled == pytest.approx(rate(beta[0]), abs=1e-9)


def test_questions_with_fewer_trials_weigh_the_same_as_statsmodels_weights_say() -> None:
    import statsmodels.api as sm
    from statsmodels.tools.sm_exceptions import SpecificationWarning

    wins, gaps = judged(50, 4, seed=3)
    wins[:20, 1:] = np.nan
    gaps[30:, 0] = np.nan
    found = controlled(wins, {"words": gaps}, seed=0)
    known = ~np.isnan(wins) & ~np.isnan(gaps)
    weights = (known / known.sum(axis=1, keepdims=True))[known]
    scale = math.sqrt(np.average(gaps[known] ** 2, weights=weights))
    groups = np.repeat(np.arange(50)[:, None], 4, axis=1)[known]
    model = sm.GLM(
        (1 + wins[known]) / 2, sm.add_constant(np.tanh(gaps[known] / scale)), family=sm.families.Binomial(), var_weights=weights,
    )
    with pytest.warns(SpecificationWarning, match="not fully supported"):
        done = model.fit(cov_type="cluster", cov_kwds={"groups": groups}, tol=1e-14, maxiter=200)
    assert found.controlled == pytest.approx(rate(done.params[0]), abs=1e-9)
    t = stats.t.ppf(0.975, 49)
    assert found.low == pytest.approx(rate(done.params[0] - t * done.bse[0]), abs=1e-9)
    assert (found.n, found.n_values) == (50, int(known.sum()))


def test_the_raw_rate_is_the_mean_over_the_same_rows() -> None:
    wins, gaps = judged(30, 2, seed=4)
    gaps[:5] = np.nan
    found, plain = controlled(wins, {"words": gaps}, seed=7), clustered_mean(wins[5:], seed=7)
    assert (found.raw, found.raw_low, found.raw_high, found.n) == (plain.mean, plain.low, plain.high, 25)


def test_a_longer_system_that_is_no_better_wins_by_length_alone() -> None:
    wins, gaps = judged(400, 3, seed=5, better=0.0, bias=1.5)
    found = controlled(wins, {"words": gaps}, seed=0)
    assert found.raw_low is not None and found.raw_low > 0.15
    assert found.low is not None and found.high is not None and found.low < 0 < found.high


@pytest.mark.long
def test_intervals_of_the_controlled_rate_cover_the_truth() -> None:
    held = 0
    for run in range(120):
        wins, gaps = judged(60, 3, seed=run, bias=1.2)
        found = controlled(wins, {"words": gaps}, seed=0)
        held += found.low is not None and found.high is not None and found.low <= 0 <= found.high
    assert 0.915 <= held / 120 <= 0.985


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.floats(-1, 1), st.floats(-1, 1))
def test_b_against_a_is_the_mirror_of_a_against_b(seed: int, better: float, longer: float) -> None:
    wins, gaps = judged(30, 2, seed=seed, better=better, longer=longer)
    one, other = controlled(wins, {"words": gaps}, seed=0), controlled(-wins, {"words": -gaps}, seed=0)
    assert one.controlled is not None and other.controlled is not None
    assert other.controlled == pytest.approx(-one.controlled, abs=1e-9)
    assert (other.low, other.high) == pytest.approx((-(one.high or 0), -(one.low or 0)), abs=1e-9)
    assert other.slopes[0].slope == pytest.approx(one.slopes[0].slope, abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.01, 100))
def test_neither_the_order_of_questions_nor_the_unit_of_length_changes_the_rate(seed: int, unit: float) -> None:
    wins, gaps = judged(30, 2, seed=seed)
    mixed = np.random.default_rng(seed).permutation(30)
    one, other = controlled(wins, {"words": gaps}, seed=0), controlled(wins[mixed], {"words": gaps[mixed] * unit}, seed=0)
    assert (one.controlled, one.low, one.high) == pytest.approx((other.controlled, other.low, other.high), abs=1e-8)


def numbers(found: Controlled) -> list[float | None]:
    return [found.controlled, found.low, found.high, *(one.slope for one in found.slopes)]


@pytest.mark.parametrize(("side", "sign"), [("A", 1.0), ("B", -1.0)])
def test_one_side_that_wins_all_has_no_controlled_rate(side: str, sign: float) -> None:
    _, gaps = judged(30, 2, seed=0)
    found = controlled(np.full((30, 2), sign), {"words": gaps}, seed=0)
    assert found.raw == sign and found.reason == f"{side} wins every time: form has nothing to explain"
    assert numbers(found) == [None] * 4


def test_a_judge_who_only_counts_words_is_told_and_gives_no_numbers() -> None:
    _, gaps = judged(40, 2, seed=1)
    gaps[gaps == 0] = 1
    found = controlled(np.sign(gaps), {"words": gaps}, seed=0)
    assert "words: tells winners from losers without fault" in (found.reason or "")
    assert numbers(found) == [None] * 4 and found.raw is not None


def test_gaps_that_only_together_tell_the_winner_give_no_numbers() -> None:
    rng = np.random.default_rng(0)
    words, lists = rng.normal(0, 50, (60, 1)), rng.normal(0, 2, (60, 1))
    both = np.tanh(words / math.sqrt((words**2).mean())) + np.tanh(lists / math.sqrt((lists**2).mean()))
    found = controlled(np.sign(both), {"words": words, "lists": lists}, seed=0)
    assert found.reason == "the gaps together tell winners from losers without fault"
    assert numbers(found) == [None] * 5


def test_all_ties_are_a_controlled_rate_of_zero() -> None:
    _, gaps = judged(30, 2, seed=2)
    found = controlled(np.zeros((30, 2)), {"words": gaps}, seed=0)
    assert (found.controlled, found.low, found.high) == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)


@pytest.mark.parametrize("questions", [0, 1, 9])
def test_one_question_or_a_few_are_too_few(questions: int) -> None:
    wins, gaps = judged(questions, 3, seed=0)
    found = controlled(wins, {"words": gaps}, seed=0)
    assert found.controlled is None
    assert ("too few" if questions else "no outcome is known") in (found.reason or "")
    assert linear_slope(wins, gaps).slope is None


def test_four_gaps_need_more_questions_than_one() -> None:
    wins, words = judged(24, 1, seed=0)
    rng = np.random.default_rng(0)
    gaps = {name: rng.normal(0, 1, words.shape) for name in ("words", "headings", "bold", "lists")}
    assert controlled(wins, gaps, seed=0).reason == "24 questions: too few for a regression"


def test_equal_lengths_everywhere_leave_the_raw_rate() -> None:
    wins, _ = judged(40, 2, seed=3)
    found = controlled(wins, {"words": np.zeros((40, 2))}, seed=0)
    assert (found.controlled, found.low, found.high) == (found.raw, found.raw_low, found.raw_high)
    assert found.slopes[0].reason == "never differs" and found.notes


def test_a_gap_that_is_always_the_same_cannot_be_told_from_winning() -> None:
    wins, words = judged(40, 2, seed=3)
    alone = controlled(wins, {"words": np.full((40, 2), 10.0)}, seed=0)
    assert alone.controlled is None and alone.reason == "nothing to control by: words: always differs by the same"
    beside = controlled(wins, {"words": words, "headings": np.full((40, 2), 2.0)}, seed=0)
    assert beside.controlled is None and "never changes" in (beside.reason or "")
    assert beside.slopes[0].slope is not None, "the slope on length is still known"


def test_a_style_that_is_rare_or_repeats_another_is_left_out_with_its_reason() -> None:
    wins, words = judged(60, 2, seed=6)
    rare, none = np.zeros(words.shape), np.zeros(words.shape)
    rare[3, 0] = rare[7, 1] = 2.0
    found = controlled(wins, {"words": words, "same": words * 3, "rare": rare, "none": none}, seed=0)
    assert [one.reason for one in found.slopes] == [None, "goes with the others exactly", "differs in 2 questions only", "never differs"]
    plain = controlled(wins, {"words": words}, seed=0)
    assert found.controlled == pytest.approx(plain.controlled, abs=1e-12)


def test_a_style_that_only_winners_have_is_left_out_and_the_rest_stays() -> None:
    wins, words = judged(60, 1, seed=7)
    bold = np.where(wins > 0, 1.0, 0.0) * (np.arange(60)[:, None] % 2)
    found = controlled(wins, {"words": words, "bold": bold}, seed=0)
    assert "without fault" in (found.slopes[1].reason or "") and found.slopes[0].slope is not None


def test_there_is_no_rate_beyond_what_was_seen() -> None:
    wins, gaps = judged(60, 2, seed=8)
    found = controlled(wins, {"words": np.abs(gaps) + 5}, seed=0)
    assert found.controlled is None and found.reason == "A always has more words, so that equality lies outside of what was seen"


@pytest.mark.parametrize(("wins", "gap"), [
    (np.zeros((10, 2)), np.zeros((10, 3))), (np.full((10, 2), 2.0), np.zeros((10, 2))), (np.zeros((10, 2)), np.full((10, 2), math.inf)),
])
def test_impossible_values_are_refused(wins: np.ndarray, gap: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"same shape|between -1 and 1"):
        controlled(wins, {"words": gap}, seed=0)


def test_the_linear_slope_is_statsmodels_least_squares_with_errors_by_question() -> None:
    import statsmodels.api as sm

    wins, gaps = judged(70, 3, seed=9)
    found = linear_slope(wins, gaps)
    done = sm.OLS(wins.ravel(), sm.add_constant(gaps.ravel() / 100)).fit(
        cov_type="cluster", cov_kwds={"groups": np.repeat(np.arange(70), 3)},
    )
    reach = stats.t.ppf(0.975, 69) * done.bse[1]
    assert found.slope == pytest.approx(done.params[1], abs=1e-9)
    assert (found.low, found.high) == pytest.approx((done.params[1] - reach, done.params[1] + reach), abs=1e-9)
    assert found.scale == 100.0


def test_a_slope_of_no_gap_has_a_reason() -> None:
    wins, _ = judged(30, 1, seed=0)
    assert linear_slope(wins, np.zeros((30, 1))).reason == "never differs"
    assert linear_slope(wins, np.full((30, 1), 3.0)).reason == "always differs by the same"
    assert linear_slope(wins, np.linspace(-3, 3, 30)[:, None]).reason == "the gaps span 6 words: too few for a slope over 100"


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.sampled_from([0.0, 0.5, 1.0])), min_size=2, max_size=10))
def test_separation_of_one_gap_is_an_empty_overlap(rows: list[tuple[int, float]]) -> None:
    """By hand: no finite slope fits best where all wins lie on one side of all losses (a common value may be shared)."""
    design = np.array([[1.0, gap] for gap, _ in rows])
    outcome = np.array([y for _, y in rows])
    if len(set(design[:, 1])) < 2:
        return
    won, lost = design[outcome > 0, 1], design[outcome < 1, 1]
    apart = not len(won) or not len(lost) or won.min() >= lost.max() or lost.min() >= won.max()
    assert logit.separated(design, outcome) == logit.separates_alone(design[:, 1], outcome) == apart
