"""From what a run found to its report: pairs, ranking, checks, drill-down, thresholds, cautions; and very many pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from comparison_sample import NAN, RUN, check, drawn, found, sample, stopped, tabled

from kgeval.comparison.results import build as building
from kgeval.comparison.results.build import build_report, cautions, most_telling
from kgeval.comparison.results.inputs import ComparisonInputs, PairThreshold
from kgeval.comparison.results.pair import is_first, pair_results
from kgeval.records import ComparisonReport, JudgeReport, PairResult
from kgeval.reports.views.pairs import scored
from kgeval.stats.thresholds import Threshold


@pytest.fixture(scope="module")
def two() -> ComparisonReport:
    return sample()


@pytest.fixture(scope="module")
def three() -> ComparisonReport:
    return sample(3)


@pytest.mark.slow
def test_the_pairs_are_those_of_the_tables_and_a_second_run_is_a_check_not_a_pair(two: ComparisonReport) -> None:
    assert {(one.system_a, one.system_b) for one in two.pairs} == {("rag-1", "rag-2")}
    expected = pair_results(drawn(("rag-1", "rag-2"), 0.9, 0), seed=7)
    assert two.pairs == expected
    (again,) = two.self_checks
    assert (again.system, again.n) == ("rag-1", 22) and again.relative.low is not None and again.relative.high is not None
    assert again.passed == (again.relative.low <= 0 <= again.relative.high)


@pytest.mark.slow
def test_other_procedures_have_the_same_figures_beside_them(two: ComparisonReport) -> None:
    assert set(two.contrast) == {"biased"} == set(two.contrast_judge)
    assert len(two.contrast["biased"]) == len(two.pairs)
    biased, fair = two.contrast["biased"][0].relative.value, two.pairs[0].relative.value
    assert biased is not None and fair is not None and biased > fair
    assert two.contrast_judge["biased"][0].ba_win is None


@pytest.mark.long
def test_two_systems_have_no_ranking_and_three_have_one_over_all_pairs(two: ComparisonReport, three: ComparisonReport) -> None:
    assert two.ranking is None and three.ranking is not None and three.ranking.rankable
    assert [one.system for one in three.ranking.systems] == ["rag-1", "rag-2", "rag-3"]
    assert [one.rank for one in three.ranking.systems] == [1, 2, 3]
    first = {(one.system_a, one.system_b): one.relative.value for one in three.pairs if is_first(one)}
    shares = [(1 + (first["rag-1", other] or 0)) / 2 for other in ("rag-2", "rag-3")]
    assert three.ranking.systems[0].average_win_rate == pytest.approx(np.mean(shares))


def test_systems_that_always_win_are_not_ranked_and_that_is_said() -> None:
    tables = [tabled(np.ones((6, 1)), names=pair) for pair in (("x", "y"), ("x", "z"), ("y", "z"))]
    ranking = build_report(found(tables)).ranking
    assert ranking is not None and not ranking.rankable and ranking.reason
    assert [(one.system, one.average_win_rate) for one in ranking.systems] == [("x", 1), ("y", 0.5), ("z", 0)]
    assert all(one.strength.value is None and one.rank is None for one in ranking.systems)


@pytest.mark.slow
def test_the_judge_of_several_pairs_is_told_over_all_and_by_pair(two: ComparisonReport, three: ComparisonReport) -> None:
    assert [one.system_a for one in two.judge] == ["rag-1"]
    assert [one.system_a for one in three.judge] == [None, "rag-1", "rag-1", "rag-2"]
    assert three.judge[0].calls == sum(one.calls for one in three.judge[1:])
    assert two.judge[0].style and {one.name for one in two.judge[0].style} == {"headings", "bold", "list items"}


def test_the_drill_down_opens_the_most_telling_questions_and_counts_the_rest(two: ComparisonReport) -> None:
    assert len(two.drill) == 3 and two.drill_left_out == 22 - 3
    one = two.drill[0]
    assert one.question == f"What is told of {one.question_id}?" and one.answer_a is not None and "# About" in one.answer_a
    assert abs(one.relative) == max(abs(other.relative) for other in two.drill)
    forth, back = one.calls
    assert forth.points == back.points == {"comprehensiveness": (4, 3), "relevance": (2, 2)} and (forth.winner, back.winner) == ("a", "a")
    assert (forth.first, back.first) == ("rag-1", "rag-2") and back.reasons["relevance"] == ("rag-1 names all", "half")


def test_clear_questions_and_disputed_ones_come_by_turns() -> None:
    wins = np.array([[0, 0, 0], [1, -1, 0], [-1, -1, -1], [1, 1, 0], [NAN, NAN, NAN], [1, 1, 1]])
    assert most_telling(wins) == [2, 1, 5, 3, 0]


def test_nothing_is_opened_where_nothing_is_asked_for_or_at_hand() -> None:
    table = tabled([[1], [0]])
    none = build_report(found([table], drill=0))
    assert none.drill == [] and none.drill_left_out == 2
    bare = build_report(ComparisonInputs(run=RUN, signature="s", tables=lambda: iter([table])))
    assert [one.answer_a for one in bare.drill] == [None, None] and bare.drill[0].words_a is None and bare.drill[0].calls == []


def test_thresholds_are_held_against_every_pair_that_they_fit(two: ComparisonReport) -> None:
    loose, strict = two.gates
    assert (loose.met, strict.met, strict.name, strict.limit) == (True, False, "low", ">= 0.999")
    assert strict.value == two.pairs[0].relative.low
    tables = [tabled([[1], [1], [0], [-1]] * 3, names=("x", "y"))]
    asked = (
        PairThreshold(Threshold("relative", ">=", -0.3), system_a="y", system_b="x"),
        PairThreshold(Threshold("win", "<=", 0.3), system_a="y"),
        PairThreshold(Threshold("gap", ">=", 0.0, at="quality")), PairThreshold(Threshold("tie", ">=", 0.25), system_a="z"),
    )
    *gates, of_none = build_report(found(tables, thresholds=asked)).gates
    assert (of_none.name, of_none.met, of_none.reason) == ("tie", None, "no pair that it is about was compared")
    assert [(gate.of, gate.value) for gate in gates] == [("y vs x", -0.25), ("y vs x", 0.25), ("x vs y", 0.25)]
    assert all(gate.met for gate in gates)
    cut = build_report(found(tables, thresholds=asked[:1], complete=False)).gates
    assert [(gate.value, gate.met, gate.reason) for gate in cut] == [(-0.25, None, "the run was stopped before its end")]


def test_very_many_pairs_have_tests_of_the_first_question_only(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"s{at}" for at in range(4)]
    tables = [drawn(pair, 0.3, at, questions=9, trials=2) for at, pair in enumerate(combinations(names, 2))]
    monkeypatch.setattr(building, "MANY_PAIRS", 5)
    report = build_report(found(tables, drill=2))
    tested = [one for one in report.pairs if one.p is not None]
    assert len(tested) == 6 and all(map(is_first, tested)) and all(one.relative.low is not None for one in tested)
    assert len(report.pairs) == 6 * (7 + 2) and all(one.rates is not None for one in report.pairs)
    assert [one.system_a for one in report.judge] == [None] and any("6 pairs: intervals and tests" in note for note in report.notes)


@pytest.mark.slow
def test_very_many_systems_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"s{at:02d}" for at in range(11)]
    gaps = {pair: [[float((int(pair[1][1:]) + at) % 3 - 1)] for at in range(4)] for pair in combinations(names, 2)}
    report = build_report(found([tabled(gap, names=pair) for pair, gap in gaps.items()], drill=2))
    assert sum(map(is_first, report.pairs)) == 55 and len(report.pairs) == 110 and len(report.judge) == 1
    assert len(report.drill) == 110 and report.drill_left_out == 110
    monkeypatch.setattr(building, "MANY_PAIRS", 5)
    monkeypatch.setattr(building, "MOST_OPENED", 9)
    none = build_report(found([tabled(gap, names=pair) for pair, gap in list(gaps.items())[:10]], drill=2))
    assert none.drill == [] and none.drill_left_out == 40, "a question of each pair would be more than a page holds"


def test_tables_without_a_single_result_are_a_report_of_nulls() -> None:
    report = build_report(found([tabled(np.full((3, 2), NAN), failures={(0, 0): "timeout: x"})]))
    assert report.pairs[0].n_scored == 0 and report.drill == [] and "no pair has a single result" in report.notes
    nothing = build_report(found([]))
    assert nothing.pairs == [] and nothing.judge == [] and nothing.notes == ["no pair has a single result"]


def _with(report: ComparisonReport, **more: object) -> list[str]:
    return cautions(report.model_copy(update=more))


def test_cautions_name_what_makes_figures_unsure(two: ComparisonReport) -> None:
    assert any("under 100 questions" in note and "22 questions" in note for note in two.notes)
    assert two.notes[-1] == "answers were read from two files"
    first = PairResult(system_a="x", system_b="y", n=200, n_scored=100, discarded=60, failures={"timeout": 40})
    told = " ".join(_with(two, pairs=[first]))
    assert "60 of 200 questions were discarded" in told and "40 of 200 questions failed" in told and "under 100" not in told
    assert any("it says nothing of other questions" in note for note in _with(two, pairs=[first.model_copy(update={"n_scored": 1})]))
    assert any("its confidence sequence" in note for note in _with(two, stopped=[stopped()]))
    assert not any("their number" in note for note in _with(two, stopped=[stopped()]))
    assert any("nothing is corrected for their number" in note for note in _with(two, stopped=[stopped(), stopped()]))


def test_a_stopped_run_and_lost_trials_are_told_first_and_more_than_may_fail_is_not_complete() -> None:
    """4 questions x 4 trials, 4 of 16 lost, though every question has a result."""
    gaps = np.ones((4, 4))
    gaps[:, 3] = NAN
    tables = [tabled(gaps, failures={(at, 3): "timeout: x" for at in range(4)})]
    report = build_report(found(tables, max_error_rate=0.25))
    pair = report.pairs[0]
    assert (pair.n_scored, pair.results, pair.lost, pair.failures) == (4, 12, 4, {}) and report.complete
    assert scored(pair) == "4 of 4, in 12 of 16 trials, too few"
    assert any("4 of 16 question-trials were lost" in note and "may not stand for all" in note for note in report.notes)
    failing = build_report(found(tables, max_error_rate=0.24))
    assert not failing.complete and failing.notes[0] == building.TOO_MANY
    (contrast,) = [build_report(found([tabled([[1.0]])], contrast={"single": lambda: iter(tables)}, max_error_rate=0.24))]
    assert not contrast.complete and contrast.notes[0].startswith("single: more question-trials")
    assert build_report(found(tables, complete=False)).notes[0] == building.STOPPED


def test_a_check_that_fails_and_a_judge_that_turns_are_told(two: ComparisonReport) -> None:
    assert any("differs from a second run of itself" in note for note in _with(two, self_checks=[check(0.4, 0.1, 0.7)]))
    assert not any("second run" in note for note in _with(two, self_checks=[check(0.1, -0.1, 0.3), check(0.1, None, None)]))
    judge = JudgeReport(calls=4, flips=0.5, notes=["verdict flips when the order is swapped, in 50 % of the question-trials"])
    assert any(note.startswith("verdict flips") for note in _with(two, judge=[judge]))
    turning = [JudgeReport(system_a=f"s{at}", system_b="t", calls=1, notes=["the length of the answers decides: ..."]) for at in range(5)]
    (note,) = [note for note in _with(two, judge=[JudgeReport(calls=5), *turning]) if "equal lengths" in note]
    assert note.endswith("s2 and t and 2 more pairs")


@pytest.mark.slow
def test_two_reports_of_the_same_tables_are_the_same(two: ComparisonReport) -> None:
    assert sample() == two
