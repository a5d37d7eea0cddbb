"""Equal values share a place, and none of them is called first, best or nearest: one rule for all reports."""

from __future__ import annotations

import pytest
from comparison_sample import RUN
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata
from score_report_sample import outcome, told, two
from test_comparison_verdict import OPEN, pairs_of, ranked, several
from test_report_scores_verdict import lead

from kgeval.metrics.summary.build import leaderboard
from kgeval.records import LEVELS_OF_X, Nearest, Sensitivity, SensitivityReport
from kgeval.reports.views import agreement, sensitivity
from kgeval.stats.ranks import leaders, ranks


@given(st.lists(st.integers(-3, 3)))
def test_ranks_are_those_of_scipy_and_leaders_have_the_first(values: list[int]) -> None:
    expected = [int(rank) for rank in rankdata([-value for value in values], method="min")]
    assert ranks(values) == expected
    assert leaders(values) == [at for at, value in enumerate(values) if value == max(values)]
    assert ranks([value + at * 1e-12 for at, value in enumerate(values)]) == expected, "the last digits decide nothing"


def test_a_score_report_does_not_call_two_systems_with_the_same_mean_equal() -> None:
    value, shown = told(0.5, 0.4, 0.6), "0.500 (95% CI [0.400, 0.600], 40 of 40 scored)"
    same = "A and B have the same mean, which does not show that they are equal"
    assert lead(two(value, value)) == f"No difference found by m: {same}: A {shown}; B {shown}."
    assert lead(two(value, value, better="lower")).startswith(f"No difference found by m (lower is better): {same}: ")
    for third, outcomes, text in (
        (told(0.45, 0.3, 0.6), (), ", not shown to be better than C: A"),
        (told(0.1, 0.05, 0.15), (outcome("a better", systems=("A", "C")),), ": A"),
    ):
        report = two(value, value, outcome("no difference found", value=0.0), *outcomes)
        other = report.summaries[0].model_copy(update={"system": "C", "overall": third})
        line = lead(report.model_copy(update={"summaries": [*report.summaries, other]}))
        assert line.startswith(f"No difference found by m: {same}{text} 0.500"), line
        assert ("C 0.450" in line) is ("C" in text)


def test_a_leaderboard_gives_equal_averages_one_rank_and_parts_come_last() -> None:
    whole = dict.fromkeys(LEVELS_OF_X, 0.5)
    rows = leaderboard({
        ("a", None): dict.fromkeys(LEVELS_OF_X, 0.7), ("b", None): whole, ("c", None): dict(whole), ("d", None): {LEVELS_OF_X[0]: 0.9},
        ("e", None): {LEVELS_OF_X[1]: 0.9},
    }, metric="answer_accuracy")
    assert [(row.system, row.rank) for row in rows] == [("a", 1), ("b", 2), ("c", 2), ("d", 4), ("e", 4)]


def test_a_comparison_names_all_systems_of_the_highest_strength() -> None:
    order = ranked("A", "B", "C")
    order = order.model_copy(update={
        "systems": [one.model_copy(update={"rank": rank}) for one, rank in zip(order.systems, (1, 1, 3), strict=True)],
    })
    lead_text = "3 systems, 3 pairs: A and B have equal strength, the highest"
    assert several(*pairs_of(OPEN, {}), ranking=order) == f"{lead_text}."
    assert several(*pairs_of(OPEN, OPEN), ranking=order) == f"{lead_text}, but A is not found to be better than C."


@pytest.mark.parametrize(("rho", "rank", "text"), [
    (0.6, 1, "nearest to people are, equally, m and n (Spearman 0.60, n 9)."),
    (0.5, 2, "nearest to people is m (Spearman 0.60, n 9; not told apart from it: n)."),
])
def test_the_metric_nearest_to_people_is_one_of_several_where_they_are_equal(rho: float, rank: int, text: str) -> None:
    near = [
        Nearest(aspect="overall", rank=1, predictor="m", n=9, spearman=0.6),
        Nearest(aspect="overall", rank=rank, predictor="n", n=9, spearman=rho, told_apart=False),
    ]
    assert agreement._nearest_of(near) == text


def test_metrics_that_tell_right_from_wrong_alike_are_named_together() -> None:
    def result(metric: str, auc: float) -> Sensitivity:
        return Sensitivity(metric=metric, system=None, auc_reference=auc, conditions=[])

    report = SensitivityReport.model_construct(results=[result("a", 1.0), result("b", 1.0), result("c", 0.5)], run=RUN)
    assert "told from wrong answers: best a and b (AUC 1), worst c (AUC" in next(sensitivity._verdict(report))
    same = SensitivityReport.model_construct(results=[result("a", 1.0), result("b", 1.0)], run=RUN)
    assert "wrong answers: AUC 1. 1 is perfect" in next(sensitivity._verdict(same))
