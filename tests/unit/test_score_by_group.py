"""When does a graph pay: paired differences by level and hops, against scipy and statsmodels, and what is said of them."""

from __future__ import annotations

import csv
import io
import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from test_score_summary import info, report, row, score

from kgeval.overview import group_verdict as verdict
from kgeval.overview.score_verdict import ScoreTables
from kgeval.records import LEVELS_OF_X, GroupGain, Row, Score, ScoreReport
from kgeval.reports.write import rendered
from kgeval.stats import paired
from kgeval.stats.paired import discordant, sign_flip

LEVELS = LEVELS_OF_X[:2]
METRIC = "answer_accuracy"
GRAPH = {"retrieved_nodes": ["n1"], "retrieved_relations": []}


def questions(n: int, **more: Any) -> list[dict[str, Any]]:
    """Half of them of each level, hops 1, 2, 3 in turn."""
    return [{"id": f"q{at:03}", "level": LEVELS[at % 2], "hops": at % 3 + 1, **more} for at in range(n)]


def world(
    graph: Sequence[float | None], vector: Sequence[float | None], *, metric: str = METRIC, asked: Sequence[dict[str, Any]] = (),
) -> tuple[list[Score], list[Row]]:
    """Scores and rows of two systems: `graph` retrieves nodes and takes 3 x the tokens and 2 x the seconds of `a-vector`."""
    asked = asked or questions(len(graph))
    scores, rows = [], []
    for at, (question, own, other) in enumerate(zip(asked, graph, vector, strict=True)):
        scores += [score(question["id"], value, metric=metric, system=name) for name, value in (("graph", own), ("a-vector", other))]
        took = {"input_tokens": 100 + at, "latency_s": 0.5 + at / 10}
        rows.append(row(2 * at, question, "a-vector", **took, extra={"context_tokens": 50 + at}))
        more = {"input_tokens": 3 * took["input_tokens"], "latency_s": 2 * took["latency_s"], "extra": {"context_tokens": 200}}
        rows.append(row(2 * at + 1, question, "graph", **GRAPH, **more))
    return scores, rows


def drawn(seed: int, n: int, shifts: Sequence[float]) -> tuple[list[float], list[float]]:
    """Scores of two systems; at each level the first is better by so much."""
    rng = np.random.default_rng(seed)
    vector = rng.uniform(0.2, 0.6, n)
    graph = np.clip(vector + rng.normal(0, 0.1, n) + np.resize(shifts, n), 0, 1)
    return list(map(float, graph)), list(map(float, vector))


def places(row_: GroupGain, n: int) -> list[int]:
    """The questions of a group, by counting."""
    asked = questions(n)
    if row_.by == "level":
        return [at for at in range(n) if asked[at]["level"] == row_.value]
    return [at for at in range(n) if str(asked[at]["hops"]) == row_.value.rstrip("+")]


def said(found: ScoreReport) -> str:
    return " ".join(verdict.paragraphs(ScoreTables.of(found)))


@pytest.mark.long
@pytest.mark.parametrize(("n", "seed"), [(22, 0), (120, 1)])
def test_every_figure_is_what_scipy_and_statsmodels_have(n: int, seed: int) -> None:
    graph, vector = drawn(seed, n, (0.12, 0.0))
    found = report(*world(graph, vector)).gains_by_group
    assert [(one.by, one.value) for one in found] == [*(("level", level) for level in LEVELS), ("hops", "1"), ("hops", "2"), ("hops", "3+")]
    for one in found:
        own, other = (np.array([side[at] for at in places(one, n)]) for side in (graph, vector))
        assert (one.system, one.baseline, one.n) == ("graph", "a-vector", len(own))
        assert one.mean == pytest.approx((own - other).mean())
        assert one.sd == pytest.approx((own - other).std(ddof=1)) and one.effect == pytest.approx(one.mean / one.sd)
        exact = len(own) < 12
        flips = stats.permutation_test(
            (own - other,), np.sum, permutation_type="samples", n_resamples=np.inf if exact else 20_000, rng=np.random.default_rng(0),
        )
        assert one.p == pytest.approx(flips.pvalue, abs=1e-9 if exact else 4 * math.sqrt(max(flips.pvalue, 1e-3) / 10_000))
        if not exact:
            assert one.p == pytest.approx(stats.ttest_rel(own, other).pvalue, abs=0.03)
        ends = stats.bootstrap((own - other,), np.mean, n_resamples=9999, rng=np.random.default_rng(1)).confidence_interval
        assert one.low == pytest.approx(ends.low, abs=0.02) and one.high == pytest.approx(ends.high, abs=0.02)
        size = TTestPower().solve_power(nobs=one.n, alpha=0.05 / len(found), power=0.8)
        assert one.detectable == pytest.approx(size * one.sd, rel=1e-4)
        assert one.mcnemar_p is None
    corrected = multipletests([one.p for one in found], method="holm")[1]
    assert [one.p_holm for one in found] == pytest.approx(list(corrected))


def test_right_or_wrong_answers_have_mcnemars_test_over_all_and_by_group() -> None:
    rng = random.Random(4)
    graph, vector = ([float(rng.random() < share) for _ in range(60)] for share in (0.8, 0.45))
    found = report(*world(graph, vector, metric="binary_accuracy"))
    for one, chosen in [(found.gains[0], range(60)), *((one, places(one, 60)) for one in found.gains_by_group)]:
        own = sum(graph[at] > vector[at] for at in chosen)
        other = sum(graph[at] < vector[at] for at in chosen)
        sign = 1 if one.system == "graph" else -1
        assert (one.only_system, one.only_baseline)[::sign] == (own, other)
        assert one.mcnemar_p == pytest.approx(stats.binomtest(own, own + other).pvalue)
        assert one.differ == own + other


def test_repetitions_are_averaged_by_question_first_and_have_no_mcnemar() -> None:
    scores, rows = world([1.0] * 20, [0.0] * 20)
    again = [one.model_copy(update={"trial": 1, "value": 0.5}) for one in scores if one.system == "graph"]
    found = report([*scores, *again], rows).gains_by_group[0]
    assert (found.n, found.mean, found.mcnemar_p) == (10, 0.75, None)


@pytest.mark.slow
def test_over_all_questions_holm_is_over_the_pairs_of_the_headline_and_apart_over_all_others() -> None:
    graph, vector = drawn(3, 40, (0.05,))
    scores = [one for metric in (METRIC, "token_f1") for one in world(graph, vector, metric=metric)[0]]
    scores += [score(f"q{at:03}", value / 2, metric=METRIC, system="third") for at, value in enumerate(vector)]
    found = report(scores, world(graph, vector)[1]).gains
    assert [(one.metric, one.n) for one in found] == [(METRIC, 40)] * 3 + [("token_f1", 40), ("token_f1", 0), ("token_f1", 0)]
    for metric in (METRIC, "token_f1"):
        family = [one for one in found if one.metric == metric and one.p is not None]
        assert [one.p_holm for one in family] == pytest.approx(list(multipletests([one.p for one in family], method="holm")[1]))
    assert [one.p_holm for one in found if not one.n] == [None, None]


def test_a_question_without_a_value_of_both_is_in_no_difference_and_a_group_without_meaning_has_no_row() -> None:
    graph = [None if at % 2 else 0.5 + at / 100 for at in range(24)]
    vector: list[Any] = [0.25 + at / 200 for at in range(24)]
    vector[0] = "timeout: 60 s"
    found = report(*world(graph, vector)).gains_by_group
    assert [(one.by, one.value, one.n) for one in found] == [
        ("level", LEVELS[0], 11), ("hops", "1", 3), ("hops", "2", 4), ("hops", "3+", 4),
    ]


def test_what_answers_took_is_of_the_questions_that_both_tell_of() -> None:
    scores, rows = world([0.5] * 12, [0.5] * 12)
    relevance = [score(f"q{at:03}", at / 12, metric="context_relevance", system=name) for at in range(12) for name in ("graph", "a-vector")]
    changes: dict[int, dict[str, Any]] = {1: {"input_tokens": None}, 4: {"error": "late"}}
    changed = [one.model_copy(update={"answer": one.answer.model_copy(update=changes.get(one.n, {}))}) for one in rows]
    costs = report([*scores, *relevance], changed).costs_by_group
    first = costs[0]
    told = [at for at in range(0, 12, 2) if at not in (0, 2)]
    assert (first.system, first.value) == ("graph", LEVELS[0]) and first.prompt_tokens and first.seconds and first.context_tokens
    assert first.prompt_tokens.n == len(told) and first.seconds.n == len(told) + 1
    assert first.prompt_tokens.baseline == pytest.approx(np.mean([100 + at for at in told]))
    assert first.prompt_tokens.system == pytest.approx(3 * first.prompt_tokens.baseline)
    assert first.context_tokens.system == 200 and first.context_tokens.baseline == pytest.approx(np.mean([50, *(50 + at for at in told)]))
    assert first.relevance and first.relevance.n == 6
    assert first.relevance.system == pytest.approx(np.mean([at / 12 for at in range(0, 12, 2)]))


@pytest.mark.slow
def test_the_graph_stands_first_without_a_baseline_and_where_it_was_put_with_one() -> None:
    scores, rows = world(*drawn(0, 24, (0.1,)))
    assert {(one.system, one.baseline) for one in report(scores, rows).gains_by_group} == {("graph", "a-vector")}
    turned = report(scores, rows, against="graph")
    assert {(one.system, one.baseline) for one in turned.gains_by_group} == {("a-vector", "graph")}
    assert {(one.system, one.graph) for one in turned.systems} == {("graph", True), ("a-vector", False)}
    assert verdict.heading(ScoreTables.of(turned)) == "Differences by question type and hops"
    plain = [one.model_copy(update={"answer": one.answer.model_copy(update={"retrieved_nodes": None})}) for one in rows]
    neutral = report(scores, plain)
    assert {(one.system, one.baseline) for one in neutral.gains_by_group} == {("a-vector", "graph")}
    assert "comes from a graph" not in said(neutral) and "the graph" not in said(neutral).replace("graph against", "").lower()


@pytest.mark.slow
def test_several_datasets_have_groups_of_their_own_in_the_same_family() -> None:
    asked = [one | {"dataset": "novel" if at < 40 else "medical"} for at, one in enumerate(questions(80))]
    found = report(*world(*drawn(5, 80, (0.15, 0.0)), asked=asked))
    names = (None, "novel", "medical")
    assert {(one.dataset, one.by) for one in found.gains_by_group} == {(name, by) for name in names for by in ("level", "hops")}
    assert sum(one.n for one in found.gains_by_group if one.dataset == "novel" and one.by == "level") == 40
    corrected = multipletests([one.p for one in found.gains_by_group], method="holm")[1]
    assert [one.p_holm for one in found.gains_by_group] == pytest.approx(list(corrected))
    assert "In novel alone, the graph wins at fact retrieval" in said(found)
    many = [one | {"dataset": f"d{at % 9}"} for at, one in enumerate(questions(80))]
    lumped = report(*world(*drawn(5, 80, (0.15, 0.0)), asked=many))
    assert {one.dataset for one in lumped.gains_by_group} == {None}
    assert "differences by level and hops are of all datasets together: there are more than 8" in lumped.notes


def test_one_level_alone_is_the_whole_and_has_no_rows() -> None:
    asked = [{"id": f"q{at:03}", "level": LEVELS[0]} for at in range(20)]
    found = report(*world(*drawn(5, 20, (0.15,)), asked=asked))
    assert (found.gains_by_group, found.costs_by_group) == ([], [])
    assert said(found) == "" and "does the graph pay" not in rendered(found, "text")


@pytest.mark.slow
def test_the_order_of_scores_and_rows_changes_nothing() -> None:
    scores, rows = world(*drawn(7, 50, (0.1, -0.1)))
    mixed = report(random.Random(1).sample(scores, len(scores)), random.Random(2).sample(rows, len(rows)))
    straight = report(scores, rows)
    assert (mixed.gains, mixed.gains_by_group, mixed.costs_by_group) == (straight.gains, straight.gains_by_group, straight.costs_by_group)


@pytest.mark.slow
def test_the_paragraph_names_where_the_graph_wins_and_loses_at_what_cost_and_why_nothing_can_be_said() -> None:
    found = report(*world(*drawn(11, 120, (0.15, -0.2))))
    text = said(found)
    assert text.startswith(
        "graph (its answers come from a graph) against a-vector by answer_accuracy, question by question, by Holm's correction for 5 tests."
    )
    assert "The graph wins at fact retrieval (+0." in text and "The graph loses at complex reasoning (-0." in text
    assert "for 3.0 x the prompt tokens and 2.0 x the seconds)" in text
    assert "Nothing can be said at 3 of 3 depths. 1 hop: " in text and "the interval holds 0, and only a difference of 0." in text
    assert text.endswith("Over these questions the graph takes 3.0 x the prompt tokens and 2.0 x the seconds of a-vector.")
    assert "no difference" not in text.replace("only a difference", "")
    short = verdict.short_lines(ScoreTables.of(found))
    assert short == [
        "By answer_accuracy against a-vector, the graph (graph): wins at fact retrieval; loses at complex reasoning.",
    ]
    for form in ("text", "md", "html"):
        assert "When does the graph pay?" in rendered(found, form)


def test_where_lower_is_better_a_fall_is_a_win() -> None:
    graph, vector = drawn(11, 60, (-0.15, -0.15))
    found = report(*world(graph, vector, metric="extrinsic_hallucination"), infos=[info("extrinsic_hallucination", "lower")])
    assert "where lower is better" in said(found) and "The graph wins at fact retrieval (-0." in said(found) and "loses" not in said(found)


def test_a_small_p_is_no_win_where_it_does_not_stand_after_the_correction() -> None:
    row_ = GroupGain(
        system="graph", baseline="v", metric=METRIC, n=40, differ=40, mean=0.05, low=0.01, high=0.09, p=0.02, p_holm=0.1, sd=0.1,
        by="level", value=LEVELS[0], detectable=0.07,
    )
    base = report(*world(*drawn(1, 40, (0.0,))))
    found = base.model_copy(update={"gains_by_group": [row_, row_.model_copy(update={"value": LEVELS[1], "p": None, "p_holm": None})]})
    text = said(found)
    assert "wins" not in text and "p 0.020 is 0.100 after the correction for 1 test, and only a difference of 0.070" in text


@pytest.mark.parametrize(("change", "reason"), [
    (
        {"differ": 0, "mean": 0.0, "low": -0.1, "high": 0.1},
        "both have the same score for all 40 questions, which does not show that they are equal",
    ),
    ({"because": ["there are 40 questions of 3 documents"], "conclusion": "not decidable"}, "there are 40 questions of 3 documents"),
    (
        {"low": -0.02, "sd": 0.2},
        "+0.050, 95% CI [-0.020, +0.090], n 40: the interval holds 0, and no difference within the scale would be found",
    ),
    ({"p_holm": 0.09, "sd": 0.0}, "+0.050, 95% CI [+0.010, +0.090], n 40: p 0.010 is 0.090 after the correction for 3 tests"),
])
def test_that_nothing_can_be_said_has_its_reason(change: dict[str, Any], reason: str) -> None:
    row_ = GroupGain(
        system="graph", baseline="v", metric=METRIC, n=40, differ=40, mean=0.05, low=0.01, high=0.09, p=0.01, p_holm=0.01, by="level",
        value=LEVELS[0],
    ).model_copy(update=change)
    assert verdict.reason(row_, 3) == reason


def test_of_groups_of_few_questions_nothing_is_said() -> None:
    text = said(report(*world(*drawn(1, 10, (0.3,)))))
    assert "Nothing can be said at 2 of 2 question types. Fact retrieval: only 5 questions have a result, and fewer than 10 decide" in text


@pytest.mark.slow
def test_unknown_costs_are_said_to_be_unknown() -> None:
    scores, rows = world(*drawn(11, 60, (0.15, -0.2)))
    bare = [row(one.n, one.question.model_dump(), one.answer.system) for one in rows]
    assert "What it costs in tokens and time is not known" in said(report(scores, bare))
    assert report(scores, bare).costs_by_group == []


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(4, 60), st.floats(-0.3, 0.3), st.floats(-0.3, 0.3))
def test_nothing_is_called_a_win_or_a_loss_outside_the_correction(seed: int, n: int, first: float, second: float) -> None:
    found = report(*world(*drawn(seed, n, (first, second))))
    for pair in verdict.pairs_of(ScoreTables.of(found), METRIC):
        for one in pair.rows:
            outcome = pair.outcome(one)
            if outcome != "open":
                assert one.p_holm is not None and one.p_holm <= 0.05 and one.mean is not None
                assert (one.mean > 0) == (outcome == "wins") and one.low is not None and one.high is not None
                assert one.low > 0 or one.high < 0


@pytest.mark.long
def test_without_any_difference_a_false_win_in_a_whole_report_is_as_rare_as_the_correction_says() -> None:
    """Of 200 reports of two equal systems at most 5 % may name one group; 3 standard errors are left to chance."""
    named = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        pair = [list(map(float, rng.uniform(0, 1, 36))) for _ in range(2)]
        found = report(*world(*pair))
        (groups,) = verdict.pairs_of(ScoreTables.of(found), METRIC)
        named += any(groups.outcome(one) != "open" for one in groups.rows)
    assert named / 200 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 200)


def test_the_csv_has_a_row_a_difference_with_what_both_took() -> None:
    found = report(*world(*drawn(11, 40, (0.15, -0.2))))
    rows = list(csv.DictReader(io.StringIO(rendered(found, "csv"))))
    assert [(one["by"], one["value"]) for one in rows] == [("all", "")] + [(one.by, one.value) for one in found.gains_by_group]
    first, cost = found.gains_by_group[0], found.costs_by_group[0]
    assert float(rows[1]["p_holm"]) == first.p_holm and float(rows[1]["detectable"]) == first.detectable
    assert cost.prompt_tokens and float(rows[1]["baseline_prompt_tokens"]) == cost.prompt_tokens.baseline
    assert rows[0]["prompt_tokens"] == "" and rows[1]["relevance"] == ""


def test_a_report_of_before_is_read_and_says_nothing_of_groups() -> None:
    found = report(*world(*drawn(11, 40, (0.15, -0.2)))).model_dump(mode="json")
    for name in ("gains_by_group", "costs_by_group"):
        del found[name]
    for one in found["systems"]:
        del one["graph"]
    for one in found["gains"]:
        for name in ("p", "p_holm", "effect", "sd", "mcnemar_p", "only_system", "only_baseline"):
            del one[name]
    old = ScoreReport.model_validate(found)
    assert old.gains[0].p is None and said(old) == "" and verdict.short_lines(ScoreTables.of(old)) == []
    assert "p Holm" not in rendered(old, "text").split("Differences between systems")[1].splitlines()[3]


def test_of_very_many_questions_the_normal_limit_is_what_many_drawn_signs_say_and_can_be_small(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(2).normal(0.02, 1, 6_000)
    near = sign_flip(values, seed=0)
    assert near == pytest.approx(stats.ttest_1samp(values, 0).pvalue, abs=2e-3)
    monkeypatch.setattr(paired, "SMOOTH", 0.0)
    many = sign_flip(values, seed=0)
    assert near is not None and near == pytest.approx(many, abs=4 * math.sqrt(near / 8_000))
    monkeypatch.undo()
    sure = sign_flip(values + 0.1, seed=0)
    assert sure is not None and 0 < sure < 1e-12


def test_where_one_value_weighs_more_than_all_others_signs_are_drawn_all_the_same() -> None:
    """|50 + the rest| is exceeded by half of the patterns; the normal limit would say 1 in 3."""
    values = np.append(np.random.default_rng(3).normal(0, 0.001, 6_000), 50.0)
    values[:-1] -= values[:-1].mean()
    p = sign_flip(values, seed=0)
    assert p == pytest.approx(0.5, abs=0.03) and p is not None and round(p * 8332) == pytest.approx(p * 8332, abs=1e-6)


@pytest.mark.parametrize("values", [((0.0, 1.0, 0.5), (1.0, 1.0, 0.0)), ((0.0, 1.0, 1.0), (0.25, 1.0, 0.0))])
def test_only_zeros_and_ones_are_right_or_wrong(values: tuple[Sequence[float], Sequence[float]]) -> None:
    assert discordant(np.array(values[0]), np.array(values[1])) is None
    assert discordant(np.array([1.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])) == (2, 1)
