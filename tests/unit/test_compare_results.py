"""One pair of systems: every figure by hand or by a second computation; the judge's own habits."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from comparison_sample import ASPECTS, NAN, drawn, tabled
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.cbook import boxplot_stats
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from kgeval.comparison.forms import counts, with_forms
from kgeval.comparison.results.judge import judge_report, whole_report
from kgeval.comparison.results.pair import box, is_first, pair_results, with_holm
from kgeval.comparison.results.tally import JudgeTally, length_bins, tally
from kgeval.comparison.table import PairQuestion, PairTable
from kgeval.records import PairResult
from kgeval.reports.views.pairs import swap_sides

WINS = [[1, 1], [0, -1], [-1, -1], [2, NAN]]  # means of win - loss: 1, -1/2, -1, 1


def overall(table: PairTable) -> PairResult:
    (one,) = pair_results(table, seed=1, by=("all",), aspects=("overall",))
    return one


def test_a_question_weighs_the_same_however_many_trials_it_has() -> None:
    one = overall(tabled(WINS))
    assert one.rates is not None and (one.rates.win, one.rates.tie, one.rates.loss) == (0.5, 0.125, 0.375)
    assert one.relative.value == 0.125 and one.gap.value == pytest.approx((1 - 0.5 - 1 + 2) / 4)
    assert (one.n, one.n_scored, one.results, one.trials) == (4, 4, 7, 2)
    assert [(trial.n, trial.rates.win, trial.rates.tie, trial.rates.loss) for trial in one.per_trial] == [
        (4, 0.5, 0.25, 0.25), (3, pytest.approx(1 / 3), 0, pytest.approx(2 / 3)),
    ]
    assert [trial.relative for trial in one.per_trial] == [0.25, pytest.approx(-1 / 3)]


@pytest.mark.long
def test_tests_and_effects_agree_with_a_second_computation() -> None:
    rng = np.random.default_rng(3)
    gaps = np.round(rng.normal(0.6, 1.5, (12, 3)))
    one = overall(tabled(gaps))
    wins, points = np.sign(gaps).mean(axis=1), gaps.mean(axis=1)
    patterns = [abs(float(np.dot(signs, wins))) for signs in itertools.product((1, -1), repeat=12)]
    assert one.p == pytest.approx(np.mean([value >= abs(wins.sum()) - 1e-9 for value in patterns]))
    exact = stats.wilcoxon(points, zero_method="pratt", method=stats.PermutationMethod())
    assert one.wilcoxon_p == pytest.approx(exact.pvalue)
    assert one.effect == pytest.approx(points.mean() / points.std(ddof=1))
    assert one.superiority == pytest.approx(((np.sign(gaps) == 1) + (np.sign(gaps) == 0) / 2).mean())
    sd = wins.std(ddof=1)
    assert one.detectable == pytest.approx(sd * TTestPower().solve_power(nobs=12, alpha=0.05, power=0.8), rel=1e-6)
    assert one.needed == math.ceil(TTestPower().solve_power(effect_size=abs(wins.mean()) / sd, alpha=0.05, power=0.8))


def test_the_interval_is_that_of_scipys_bca_bootstrap_over_questions() -> None:
    gaps = np.random.default_rng(5).normal(0.3, 1.0, (80, 4))
    one = overall(tabled(gaps))
    wins = np.sign(gaps).mean(axis=1)
    theirs = stats.bootstrap((wins,), np.mean, n_resamples=20_000, rng=np.random.default_rng(1)).confidence_interval
    assert (one.relative.low, one.relative.high) == (pytest.approx(theirs.low, abs=0.012), pytest.approx(theirs.high, abs=0.012))


def test_more_trials_of_the_same_questions_do_not_make_the_interval_narrower() -> None:
    few = np.random.default_rng(6).normal(0.2, 1.0, (60, 1))
    one, many = overall(tabled(few)), overall(tabled(np.repeat(few, 25, axis=1)))
    assert (one.relative, one.p) == (many.relative, many.p)


def test_a_preference_for_a_position_cancels_exactly() -> None:
    gaps = np.round(np.random.default_rng(7).normal(0.3, 1.0, (20, 3)))
    fair, swayed = pair_results(tabled(gaps), seed=1), pair_results(tabled(gaps, bias=1.75), seed=1)
    assert fair == swayed
    one_order = overall(tabled(gaps, bias=1.75, positions=1))
    assert one_order.rates is not None and fair[0].rates is not None and one_order.rates.win > fair[0].rates.win + 0.2


@pytest.mark.long
@settings(max_examples=12, deadline=None)
@given(
    gaps=st.lists(st.lists(st.sampled_from([-2.0, -1.0, 0.0, 1.0, 3.0, NAN]), min_size=2, max_size=2), min_size=1, max_size=24),
    cut=st.integers(0, 24),
)
def test_turning_a_pair_round_turns_every_figure(gaps: list[list[float]], cut: int) -> None:
    asked = [PairQuestion(f"q{at}", "x" if at < cut else "y", "deep" if at % 2 else "flat") for at in range(len(gaps))]
    forth = pair_results(tabled(gaps, asked=asked), seed=4)
    back = pair_results(tabled(-np.asarray(gaps), asked=asked, names=("B", "A")), seed=4)
    for one, other in zip(forth, map(swap_sides, back), strict=True):
        mine, theirs = ({**found.model_dump(exclude={"rates", "per_trial", "superiority"})} for found in (one, other))
        assert _rounded(mine) == _rounded(theirs)
        assert (one.rates is None) == (other.rates is None)
        if one.rates is not None and other.rates is not None:
            assert one.rates.win == pytest.approx(other.rates.win) and one.superiority == pytest.approx(other.superiority)


def _rounded(value: object) -> object:
    if isinstance(value, float):
        return round(value, 9) + 0.0
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    return [_rounded(inner) for inner in value] if isinstance(value, list) else value


def test_a_table_without_a_result_has_nulls_and_no_zeros() -> None:
    asked = [PairQuestion("q0", discarded=frozenset({0, 1})), PairQuestion("q1"), PairQuestion("q2")]
    table = tabled(np.full((3, 2), NAN), asked=asked, failures={(1, 0): "timeout: no reply", (1, 1): "cut: long"})
    one = overall(table)
    assert (one.n, one.n_scored, one.results, one.discarded, one.failures) == (3, 0, 0, 1, {"timeout": 1, "not judged": 1})
    assert one.lost == 4
    counts = {"n", "n_scored", "results", "lost", "discarded", "failures", "trials", "mean_of_datasets", "always_valid"}
    told = one.model_dump(exclude=counts)
    assert {key for key, value in told.items() if value not in (None, [], {"value": None, "low": None, "high": None})} == {
        "system_a", "system_b", "aspect", "by",
    }


@pytest.mark.slow
def test_every_question_is_counted_once() -> None:
    for one in pair_results(drawn(("A", "B"), 0.5, 1), seed=1):
        assert one.n == one.n_scored + one.discarded + sum(one.failures.values())
    whole = overall(drawn(("A", "B"), 0.5, 1))
    assert (whole.n, whole.n_scored, whole.discarded, whole.failures, whole.results) == (24, 22, 1, {"timeout": 1}, 65)


def test_half_an_exchange_of_positions_is_no_result() -> None:
    table = tabled([[1, 1], [1, 1]])
    table.points[0, 0, 1] = NAN
    one = overall(table)
    assert (one.n_scored, one.results) == (2, 3) and [trial.n for trial in one.per_trial] == [1, 2]


def test_one_question_has_no_interval_and_no_test() -> None:
    one = overall(tabled([[1, 1, -1]]))
    assert one.relative.value == pytest.approx(1 / 3) and one.relative.low is None and one.relative.high is None
    assert (one.p, one.p_holm, one.wilcoxon_p, one.effect, one.detectable) == (None, None, None, None, None)


def test_all_ties_are_no_difference() -> None:
    one = overall(tabled(np.zeros((30, 2))))
    assert one.rates is not None and one.rates.tie == 1 and one.relative.value == 0
    assert one.relative.high == pytest.approx(1 - 0.025 ** (1 / 30)) and one.relative.low == pytest.approx(-(one.relative.high or 0))
    assert (one.p, one.p_holm, one.superiority, one.effect, one.detectable, one.needed) == (1, 1, 0.5, None, None, None)


def test_a_system_that_always_wins_has_a_rate_of_one_and_a_finite_p() -> None:
    one = overall(tabled(np.ones((30, 2))))
    assert one.rates is not None and one.rates.win == 1 and one.relative.value == 1 and one.superiority == 1
    assert one.p is not None and 0 < one.p < 0.001 and one.effect is None, "without spread there is no unit for d"


def test_a_judge_that_always_says_five_finds_only_ties_and_is_named() -> None:
    table = tabled(np.zeros((12, 2)), repeats=2)
    table.points[:] = 5
    one, judge = overall(table), judge_report(table, seed=1)
    assert one.rates is not None and one.rates.tie == 1 and (judge.ties, judge.flips, judge.self_agreement) == (1, 0, 1)
    assert judge.notes[0].startswith("the judge gave one and the same score (5) everywhere") and judge.first_wins.value == 0.5


def test_groups_are_all_data_sets_their_mean_and_levels() -> None:
    gaps = [[1], [1], [1], [-1], [1], [0]]
    asked = [PairQuestion(f"q{at}", "big" if at < 4 else "small", "deep" if at % 2 else "flat") for at in range(6)]
    results = pair_results(tabled(gaps, asked=asked), seed=1, aspects=("overall",))
    found = {(one.by, one.value, one.mean_of_datasets): one for one in results}
    assert list(found) == [
        ("all", None, False), ("all", None, True), ("dataset", "big", False), ("dataset", "small", False), ("level", "flat", False),
        ("level", "deep", False),
    ]
    mean = found["all", None, True]
    assert found["all", None, False].relative.value == pytest.approx(3 / 6) and mean.relative.value == pytest.approx((2 / 4 + 1 / 2) / 2)
    assert mean.rates is not None and mean.rates.win == pytest.approx((3 / 4 + 1 / 2) / 2) and mean.n_scored == 6
    assert [trial.relative for trial in mean.per_trial] == [pytest.approx(0.5)]
    assert mean.superiority == pytest.approx(0.75) and mean.wilcoxon_p is None
    only = pair_results(tabled(gaps, asked=[PairQuestion(f"q{at}", "one", "flat") for at in range(6)]), seed=1, aspects=("overall",))
    assert [one.by for one in only] == ["all"], "a single data set would only repeat the figures"


@pytest.mark.slow
def test_the_interval_of_a_mean_of_data_sets_resamples_each_by_itself() -> None:
    rng = np.random.default_rng(8)
    gaps = np.concatenate([rng.normal(1.0, 1, (60, 1)), rng.normal(-0.5, 1, (20, 1))])
    asked = [PairQuestion(f"q{at}", "x" if at < 60 else "y") for at in range(80)]
    mean = next(one for one in pair_results(tabled(gaps, asked=asked), seed=1, aspects=("overall",)) if one.mean_of_datasets)
    wins = np.sign(gaps[:, 0])
    drawn_means = [(rng.choice(wins[:60], 60).mean() + rng.choice(wins[60:], 20).mean()) / 2 for _ in range(4_000)]
    low, high = np.quantile(drawn_means, (0.025, 0.975))
    assert mean.relative.low == pytest.approx(low, abs=0.03) and mean.relative.high == pytest.approx(high, abs=0.03)


def test_a_data_set_without_a_result_leaves_no_mean_over_data_sets() -> None:
    asked = [PairQuestion(f"q{at}", "x" if at < 2 else "y") for at in range(4)]
    found = pair_results(tabled([[1], [0], [NAN], [NAN]], asked=asked), seed=1, aspects=("overall",))
    mean = next(one for one in found if one.mean_of_datasets)
    assert mean.n_scored == 2 and mean.relative.value is None and mean.rates is None


@pytest.mark.long
def test_holm_has_the_pairs_as_one_family_and_everything_as_the_other() -> None:
    tables = [drawn(("A", "B"), 0.5, 1), drawn(("A", "C"), 0.2, 2), drawn(("B", "C"), 1.0, 3)]
    found = with_holm(one for table in tables for one in pair_results(table, seed=1))
    first = [one for one in found if is_first(one)]
    assert len(first) == 3 and len(found) == 3 * 3 * 7
    assert [one.p_holm for one in first] == pytest.approx(list(multipletests([one.p for one in first], method="holm")[1]))
    among_all = multipletests([one.p for one in found], method="holm")[1]
    others = [(one.p_holm, corrected) for one, corrected in zip(found, among_all, strict=True) if not is_first(one)]
    assert [mine for mine, _ in others] == pytest.approx([theirs for _, theirs in others])


def test_a_clear_difference_can_stand_a_correction_for_a_thousand_pairs() -> None:
    table = tabled(np.ones((40, 1)))
    (coarse,) = pair_results(table, seed=1, by=("all",), aspects=("overall",))
    (fine,) = pair_results(table, seed=1, by=("all",), aspects=("overall",), pairs=1_225)
    # no drawn pattern is as far out: the bound that holds then does not depend on how many were drawn
    assert coarse.p is not None and coarse.p == fine.p and coarse.p * 1_225 < 0.05


def test_a_box_is_tukeys() -> None:
    rng = np.random.default_rng(9)
    for values in (rng.normal(0, 1, 25), np.array([0.0, 0, 0, 0, 9]), np.array([0.3]), np.linspace(0, 1, 8)):
        made, theirs = box(values.tolist()), boxplot_stats(values)[0]
        assert made is not None and made.n == len(values)
        ends = (made.low, made.q25, made.median, made.q75, made.high)
        assert ends == pytest.approx([theirs[name] for name in ("whislo", "q1", "med", "q3", "whishi")])
        assert made.outliers == pytest.approx(sorted(theirs["fliers"].tolist()))
    assert box([]) is None


def test_untested_figures_are_the_same_means_without_intervals() -> None:
    full, light = (pair_results(drawn(("A", "B"), 0.5, 1), seed=1, tested=tested) for tested in (True, False))
    for one, other in zip(full, light, strict=True):
        assert (one.rates, one.relative.value, one.gap.value, one.n_scored) == (
            other.rates, other.relative.value, other.gap.value, other.n_scored,
        )
        assert other.p is None and other.relative.low is None and other.box_win is None and other.per_trial == []


# The judge.


def test_position_figures_are_counted_by_hand() -> None:
    table = tabled([[0], [0], [1], [4]], bias=1.0)  # A first: 1, 1, 2, 5 points ahead; B first: -1, -1, 0, 3
    judge = judge_report(table, seed=1)
    assert judge.calls == 8 and judge.ab_win == 1.0 and judge.ba_win == pytest.approx((0 + 0 + 0.5 + 1) / 4)
    assert judge.first_wins.value == pytest.approx((1 + 1 - 0.375) / 2) and judge.flips == pytest.approx(2 / 4)
    assert judge.ties == pytest.approx(2 / 4)
    assert judge.first_wins.value == pytest.approx((judge.ab_win + 1 - judge.ba_win) / 2)
    assert any("the answer that stands first is preferred" in note for note in judge.notes)


def test_half_an_exchange_says_nothing_of_positions() -> None:
    table = tabled([[0], [0]], bias=1.0)
    table.points[0, 0, 1] = NAN
    counted = tally(table)
    assert counted.calls == 3 and counted.first.numbers == {"q1": 1}


def test_one_order_has_a_win_rate_and_no_position_figure() -> None:
    judge = judge_report(tabled([[0], [0], [-3]], bias=1.0, positions=1, procedure="biased"), seed=1)
    assert judge.first_wins.value is None and judge.flips is None and judge.ba_win is None
    assert judge.ab_win == pytest.approx(2 / 3) and "in one order only" in judge.notes[0]


def test_repeats_agree_where_they_name_the_same_winner() -> None:
    table = tabled([[1, 1], [1, 1]], repeats=3)
    table.points[0, 0, 0, 2] = table.points[0, 0, 0, 2, :, ::-1]  # one of three repeats of one order says the opposite
    assert judge_report(table, seed=1).self_agreement == pytest.approx(((1 + 3 + 3 + 3) / 12 + 1) / 2)
    again = judge_report(table, seed=1, trial_kind="rejudge").self_agreement  # the trials are repeats of the same answers
    assert again == pytest.approx(((10 + 15) / 30 + 1) / 2), "of six calls of one order, one says the opposite: 10 of 15 pairs agree"


def test_length_bins_count_who_wins_where_one_is_longer() -> None:
    words = [[[100, 90]], [[90, 100]], [[100, 89]], [[500, 100]], [[70, 70]]]
    made = length_bins(tally(tabled([[1], [1], [0], [-1], [1]], words=words)))
    assert [(bin_.low, bin_.high, bin_.n) for bin_ in made] == [(1, 10, 2), (11, 25, 1), (201, 400, 1)]
    assert [(bin_.longer_wins, bin_.shorter_wins, bin_.ties) for bin_ in made] == [(0.5, 0.5, 0), (0, 0, 1), (0, 1, 0)]


def test_a_win_by_length_alone_is_told() -> None:
    rng = np.random.default_rng(11)
    longer = np.where(np.arange(200) < 150, rng.integers(20, 200, 200), -rng.integers(20, 200, 200)).astype(float)
    gaps = np.where(rng.random(200) < 1 / (1 + np.exp(-(longer / 30 - 1.4))), 1.0, -1.0)
    words = np.stack([200 + longer, np.full(200, 200.0)], axis=-1)[:, None]
    judge = judge_report(tabled(gaps[:, None], words=words), seed=1)
    assert judge.raw.value is not None and judge.length_controlled.value is not None and judge.length_slope.value is not None
    assert judge.raw.value > 0 > judge.length_controlled.value and judge.length_slope.value > 0
    assert any("the length of the answers decides" in note for note in judge.notes)


def test_nothing_is_said_of_lengths_outside_of_those_that_were_seen() -> None:
    """A judge without a taste for length: A wins four of five, and is always longer; then by 3 words at most."""
    rng = np.random.default_rng(3)
    gaps = np.where(rng.random(80) < 0.8, 1.0, -1.0)[:, None]
    longer = rng.integers(20, 200, 80).astype(float)
    judge = judge_report(tabled(gaps, words=np.stack([200 + longer, np.full(80, 200.0)], axis=-1)[:, None]), seed=1)
    assert judge.raw.value is not None and judge.raw.low is not None and judge.raw.low > 0
    assert judge.length_controlled.value is None and not any("decides" in note for note in judge.notes)
    assert any("A always has more words, so that equality lies outside" in note for note in judge.notes)
    near = rng.integers(-3, 4, 80).astype(float)
    judge = judge_report(tabled(gaps, words=np.stack([200 + near, np.full(80, 200.0)], axis=-1)[:, None]), seed=1)
    assert judge.length_slope.value is None, "six words say nothing of a hundred"
    assert judge.length_controlled.value is not None and not any("decides" in note for note in judge.notes)


def test_several_pairs_are_one_cluster_a_question() -> None:
    whole, parts = JudgeTally(), [tally(tabled([[0], [4]], bias=1.0)), tally(tabled([[0], [4]], bias=1.0, names=("A", "C")))]
    for part in parts:
        whole.join(part)
    judge = whole_report(whole, seed=1)
    assert judge.calls == 8 and judge.system_a is None and judge.ab_win is None and len(whole.first.values) == 2
    assert judge.first_wins.value == pytest.approx(0.75)


def test_forms_are_headings_bold_and_list_items() -> None:
    text = "# One\r\n\r\nTwo\n===\n\n**bold** and __too__\n- a\n  * b\n1. c\n2) d\n2024 was a year\na*b*c #no"
    assert counts(text) == (2, 2, 4) and counts("") == (0, 0, 0) and counts("snake__case__name") == (0, 0, 0)


def test_forms_stand_in_the_table_where_texts_are_known() -> None:
    asked_for = []

    def texts(a: str, b: str, question: str, trial: int) -> tuple[str, str] | None:
        asked_for.append((question, trial))
        return None if question == "q1" else ("# h\n- i", "**b**")

    table = with_forms(tabled([[1, NAN], [1, 1]]), texts)
    assert table.forms is not None and table.forms[0, 0].tolist() == [[1, 0, 1], [0, 1, 0]] and np.isnan(table.forms[1]).all()
    assert asked_for == [("q0", 1), ("q1", 1), ("q1", 2)], "nothing is read of a trial without a result"
    same = with_forms(tabled([[NAN, 1, 1]]), texts, same=True)
    assert same.forms is not None and same.forms[0, 1:].tolist() == [[[1, 0, 1], [0, 1, 0]]] * 2 and np.isnan(same.forms[0, 0]).all()


def test_an_aspect_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        pair_results(drawn(("A", "B"), 0.5, 1), seed=1, aspects=("beauty",))
    assert {one.aspect for one in pair_results(drawn(("A", "B"), 0.5, 1), seed=1)} == {"overall", *ASPECTS}
