"""The one report: what is taken from the reports, rubric, what to fix first, and the diff against a baseline."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from overview_world import audited, example, finding, gate, manifest, mean, scored, whole, wrote

from kgeval.overview.diff import changes_of
from kgeval.overview.kinds import KINDS
from kgeval.overview.rubric import COVERAGE, FACETS, FAILED, WRONG, Bands, rubrics_of
from kgeval.records import (
    AuditJoin,
    ComparisonReport,
    Drift,
    Estimated,
    InputFile,
    ModelRef,
    ModelUse,
    OverviewFigure,
    OverviewReport,
    PairResult,
    SelfCheck,
)
from kgeval.reports.write import rendered
from kgeval.stats.intervals import Interval, newcombe, quantile, wilson
from kgeval.stats.recovered import recovered


def verdicts(report: OverviewReport) -> dict[tuple[str | None, str], str]:
    assert report.diff is not None
    return {(one.of, one.name): one.verdict for one in report.diff.changes}


# --- what is taken ---


def test_every_figure_has_n_interval_and_signature_of_its_source() -> None:
    report = whole(*(example(kind) for kind in KINDS))
    assert {one.kind for one in report.sources} == set(KINDS)
    found = {(one.name, one.of): one for one in report.figures}
    faithful = found["faithfulness", "graph"]
    assert (round(faithful.value or 0, 4), faithful.n_scored, faithful.part) == (0.7054, 14, "grounding")
    assert faithful.signature and (faithful.low, faithful.high) == (0.607143, 0.776786)
    coverage = found["entity_coverage", None]
    assert (coverage.value, coverage.n, coverage.low, coverage.note) == (0.285714, 7, 0.082219, "against gold, normalised level")
    pair = found["relative_win_rate", "rag-1 - rag-2"]
    assert (pair.n, pair.n_scored, pair.signature, pair.note) == (24, 22, "compare|scores|1x2x3|judge-x|5f2a", "p < 0.001 (Holm)")
    assert found["false_answers", "closed-book"].n == 2 and found["closed_book_accuracy", "closed-book"].n_scored == 8
    assert all(one.n is not None for one in report.figures if one.low is not None and one.name not in ("strength", "known_minus_unknown"))


def test_a_report_with_nothing_but_an_audit_judges_the_graph_alone(tmp_path: Path) -> None:
    report = whole(wrote(tmp_path, audit=audited(finding("empty-name", 3), finding("rare-type", 9, severity="warning"))))
    (rubric,) = report.rubrics
    assert (rubric.system, rubric.measured, rubric.scores[0].score, rubric.mean, rubric.passed) == (None, 1, 2.0, 2.0, None)
    assert [one.score for one in rubric.scores[1:]] == [None] * 4 and all(one.reason for one in rubric.scores[1:])
    assert [one.title.split("(")[-1] for one in report.priorities] == ["empty-name)", "rare-type)"]
    assert "Scores: no report of it here" in report.not_measured and report.complete


def test_a_report_with_nothing_but_a_comparison_has_its_verdict_and_no_rubric() -> None:
    report = whole(example("comparison"))
    assert report.rubrics == [] and any("rag-1 is better than rag-2" in line for line in report.verdict)
    assert {one.met for one in report.gates} == {True, False} and "Gates: 1 met, 1 missed." in report.verdict


def test_an_incomplete_source_makes_the_whole_incomplete_and_says_why(tmp_path: Path) -> None:
    cut = scored({("a", "token_f1"): mean(0.5, 0.4, 0.6)}, complete=False)
    open_end = audited(finding("empty-name", None, status="incomplete"))
    report = whole(wrote(tmp_path, scores=cut, audit=open_end))
    assert not report.complete
    assert {one.kind: one.reason for one in report.sources} == {
        "scores": "it was stopped before its end", "audit": "1 check did not finish: empty-name",
    }


def test_costs_are_the_sum_over_all_manifests_by_stage_and_model(tmp_path: Path) -> None:
    use = [ModelUse(stage="claims", model="m", calls=3, input_tokens=100, cost=0.5), ModelUse(stage="verdicts", model="n", calls=2)]
    one = scored({("a", "token_f1"): mean(0.5)}, run=manifest(model_use=use))
    report = whole(wrote(tmp_path, scores=one, audit=audited(run=manifest("audit", model_use=use[:1]))))
    assert sorted((row.kind, row.use.stage, row.use.calls, row.use.cost) for row in report.cost) == [
        ("audit", "claims", 3, 0.5), ("scores", "claims", 3, 0.5), ("scores", "verdicts", 2, None),
    ]
    text = rendered(report, "md")
    assert re.search(r"\| In all \|.*\| 8 \| 0 \| 200 \| 0 \| \$1.00 and what has no known price \|", text)


# --- the rubric ---


def test_the_bands_of_coverage_are_those_of_the_methodology_page() -> None:
    shares = (0.0, 0.49, 0.5, 0.699, 0.7, 0.849, 0.85, 0.949, 0.95, 1.0)
    assert [COVERAGE.score(value) for value in shares] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert "[M]" in COVERAGE.by and COVERAGE.words == "1 below 50 %, 2 from 50 %, 3 from 70 %, 4 from 85 %, 5 from 95 %"
    assert [WRONG.score(value) for value in (0.3, 0.2, 0.1, 0.05, 0.02, 0.0)] == [1, 2, 3, 4, 5, 5]
    assert [FAILED.score(value) for value in (0.06, 0.05, 0.0001, 0.0)] == [1, 2, 4, 5]


@given(st.sampled_from([facet.bands for facets in FACETS.values() for facet in facets]), st.floats(0, 1), st.floats(0, 1))
def test_a_better_value_never_has_a_worse_score(bands: Bands, one: float, other: float) -> None:
    worse, better = sorted((one, other), reverse=bands.lower)
    assert 1 <= bands.score(worse) <= bands.score(better) <= 5


def figure(name: str, value: float, *, of: str | None = "a", part: str = "answers", **more: object) -> OverviewFigure:
    return OverviewFigure.model_validate({"part": part, "name": name, "title": name, "of": of, "value": value, "source": "s", **more})


def test_a_dimension_is_the_mean_of_its_figures_and_shows_what_the_interval_leaves_open() -> None:
    figures = [
        figure("answer_accuracy", 0.8, low=0.7, high=0.92, n=50, n_scored=50), figure("answer_completeness", 0.3), figure("token_f1", 0.1),
    ]
    (rubric,) = rubrics_of(figures, [])
    answers = rubric.scores[2]
    assert [(one.figure, one.score, one.score_low, one.score_high) for one in answers.figures] == [
        ("answer_accuracy", 4, 3, 5), ("answer_completeness", 1, None, None),
    ]  # token_f1 says the same less well
    assert answers.score == 2.5 and rubric.measured == 1 and rubric.passed is None


@pytest.mark.parametrize(
    ("values", "passed"), [((5, 5, 5), None), ((1, 1, 1), False), ((5, 5, 5, 5), True), ((3, 3, 3, 3, 3), True), ((3, 3, 3, 3, 2), False)],
)
def test_what_is_not_measured_leaves_the_outcome_open_where_it_could_turn_it(values: tuple[int, ...], passed: bool | None) -> None:
    """Three of five dimensions at 5 and two at 1 have a mean of 3.4: passed whatever comes."""
    at = {1: 0.1, 2: 0.5, 3: 0.7, 4: 0.8, 5: 1.0}
    names = ("evidence_recall", "token_f1", "kg_grounding", "stepwise_accuracy", "entity_coverage")
    coverage = {1: 0.1, 2: 0.6, 3: 0.75, 4: 0.9, 5: 1.0}
    figures = [figure(name, at[value]) for name, value in zip(names, values, strict=False) if name != "entity_coverage"]
    figures += [figure("entity_coverage", coverage[values[4]], of=None, part="graph")] if len(values) == 5 else []
    (rubric,) = rubrics_of(figures, [])
    low = (sum(values) + (5 - len(values))) / 5
    assert rubric.passed is (True if low >= 3 else passed)


def test_a_figure_over_few_things_gives_no_score_and_the_reason_says_how_few() -> None:
    figures = [figure("answer_accuracy", 1.0, n=9, n_scored=9), figure("evidence_recall", 1.0, n=10, n_scored=10)]
    (rubric,) = rubrics_of(figures, [])
    assert rubric.measured == 1 and [one.score for one in rubric.scores[1:3]] == [5, None]
    assert rubric.scores[2].reason == "not measured: too few for a score (10 needed; answer_accuracy: 9)"


# --- what to fix first ---


def test_a_check_whose_things_go_with_worse_answers_comes_before_one_that_is_only_larger(tmp_path: Path) -> None:
    join = AuditJoin(
        system="a", metric="token_f1", rule="rare", touched=mean(0.4, n=30), untouched=mean(0.7, n=30), difference=-0.3, low=-0.4,
        high=-0.2,
    )
    report = whole(wrote(
        tmp_path, audit=audited(finding("large", 50), finding("rare", 1), finding("hint", 99, severity="info")),
        scores=scored({("a", "token_f1"): mean(0.7, 0.6, 0.8)}, joined=[join]),
    ))
    rows = [one for one in report.priorities if one.title.startswith("title of")]
    assert [one.title for one in rows] == ["title of rare (rare)", "title of large (large)"]
    assert rows[0].why == "Questions that touch it have a lower token_f1: -0.300 [-0.400, -0.200], n 30 against 30 (a)."


def test_a_weak_baseline_is_not_to_be_mended_while_another_system_is_good(tmp_path: Path) -> None:
    values = {("closed-book", "token_f1"): mean(0.1, 0.05, 0.2), ("graph", "token_f1"): mean(0.8, 0.7, 0.9)}
    assert whole(wrote(tmp_path / "one", scores=scored(values))).priorities == []
    report = whole(wrote(tmp_path / "two", scores=scored({**values, ("graph", "token_f1"): mean(0.5, 0.4, 0.6)})))
    (row,) = report.priorities
    assert row.severity == "warning" and row.evidence.startswith("graph 50.0 % [40.0 %, 60.0 %], n 100; closed-book 10.0 %")


def test_a_judge_that_finds_a_difference_in_a_system_against_itself_is_an_error_of_the_measurement(tmp_path: Path) -> None:
    check = SelfCheck(system="a", relative=Estimated(value=0.3, low=0.1, high=0.5), n=40, passed=False)
    report = whole(wrote(tmp_path, compare=ComparisonReport(run=manifest("compare"), signature="s", pairs=[], self_checks=[check])))
    assert report.priorities[0].title == "a wins against itself" and report.priorities[0].severity == "error"


def test_the_gates_of_a_report_are_those_of_its_sources(tmp_path: Path) -> None:
    report = whole(wrote(
        tmp_path,
        scores=scored({("a", "token_f1"): mean(0.5)}, gates=[gate("a", "token_f1", 0.6, 0.5, False), gate("a", "mrr", 0.1, None, None)]),
    ))
    assert [(row.name, row.met) for row in report.gates] == [("token_f1", False), ("mrr", None)]
    assert report.verdict[0] == "Gates: 1 missed, 1 not answered."


# --- the diff ---


def run_of(folder: Path, value: float, *, low: float | None = None, high: float | None = None, bad: int = 3, **more: object) -> Path:
    ends = (value - 0.05 if low is None else low, value + 0.05 if high is None else high)
    report = scored({("a", "token_f1"): mean(value, *ends), ("a", "hallucination"): mean(1 - value, 1 - ends[1], 1 - ends[0])}, **more)
    return wrote(folder, scores=report, audit=audited(finding("empty-name", bad), finding("self-loop", 2, severity="warning")))


def test_a_run_against_itself_has_nothing_better_or_worse() -> None:
    files = [example(kind) for kind in KINDS]
    same = changes_of(whole(*files).figures, whole(*files).figures)
    assert same and {one.verdict for one in same} <= {"same", "not_comparable"}
    assert all(one.before is None for one in same if one.verdict == "not_comparable")


def test_better_and_worse_go_by_the_interval_and_by_which_side_is_better(tmp_path: Path) -> None:
    before, after = run_of(tmp_path / "old", 0.5), run_of(tmp_path / "new", 0.7, bad=6)
    found = verdicts(whole(after, baseline=before))
    assert found["a", "token_f1"] == "better" and found["a", "hallucination"] == "better"
    assert found[None, "empty-name"] == "worse" and found[None, "self-loop"] == "same"  # counted, so any change is one
    back = verdicts(whole(before, baseline=after))
    assert back["a", "token_f1"] == "worse" and back["a", "hallucination"] == "worse" and back[None, "empty-name"] == "better"
    near = verdicts(whole(run_of(tmp_path / "near", 0.55), baseline=before))
    assert near["a", "token_f1"] == near["a", "hallucination"] == "noise"


def test_other_signatures_few_questions_and_one_sided_figures_are_not_judged(tmp_path: Path) -> None:
    before = run_of(tmp_path / "old", 0.5)
    assert verdicts(whole(run_of(tmp_path / "sig", 0.9, signature="2"), baseline=before))["a", "token_f1"] == "not_comparable"
    few = wrote(tmp_path / "few", scores=scored({("a", "token_f1"): mean(0.9, 0.85, 0.95, n=9), ("b", "mrr"): mean(0.9, 0.8, 1.0)}))
    found = verdicts(whole(few, baseline=before))
    assert found["a", "token_f1"] == "few" and found["b", "mrr"] == "new" and found["a", "hallucination"] == "gone"


def test_an_interval_without_width_is_widened_by_the_rule_of_three() -> None:
    """10 of 10 right against 9 of 10: without it, one question would count as an improvement."""
    now = figure("token_f1", 1.0, low=1.0, high=1.0, n=10, n_scored=10, better="higher")
    then = figure("token_f1", 0.9, low=0.9, high=0.9, n=10, n_scored=10, better="higher")
    (one,) = changes_of([now], [then])
    assert one.verdict == "noise" and one.low == pytest.approx(0.1 - (0.3**2 + 0.3**2) ** 0.5)


@given(st.integers(0, 30), st.integers(0, 40))
def test_the_interval_of_a_difference_of_shares_is_newcombes(hits: int, others: int) -> None:
    z = quantile()
    one, other = (hits / 30, wilson(hits / 30, 30, quantile=z)), (others / 40, wilson(others / 40, 40, quantile=z))
    got, wanted = recovered(one, other), newcombe((hits / 30, 30), (others / 40, 40), quantile=z)
    assert (max(-1, got.low), min(1, got.high)) == pytest.approx((wanted.low, wanted.high), abs=1e-12)
    back = recovered(other, one)
    assert (-back.high, -back.low) == pytest.approx((got.low, got.high))
    assert recovered((0.5, Interval(0.4, 0.6)), (0.5, Interval(0.4, 0.6))).low == pytest.approx(-(0.02**0.5))


def test_another_version_another_question_file_and_another_model_are_noted(tmp_path: Path) -> None:
    def made(folder: Path, kgeval: str, sha: str, model: str) -> Path:
        run = manifest(
            kgeval=kgeval, inputs=[InputFile(path=f"{folder.name}/questions.jsonl", sha256=sha * 64, bytes=1)],
            models=[ModelRef(role="judge", name=model)],
        )
        return run_of(folder, 0.5, run=run)

    notes = whole(made(tmp_path / "new", "2.0", "b", "large"), baseline=made(tmp_path / "old", "1.0", "a", "small")).diff
    assert notes is not None and len(notes.notes) == 3
    assert "other versions of kgeval: 1.0 then, 1.0, 2.0 now" in notes.notes[0]
    assert notes.notes[1].startswith("another file is called questions.jsonl now")
    assert notes.notes[2] == "another judge: small then, large now"


def compared(folder: Path, outcomes: dict[str, list[int]] | None, *, judge: str = "j") -> Path:
    drift = None
    if outcomes is not None:
        drift = Drift(anchors=len(outcomes), n_scored=len(outcomes), outcomes=outcomes, marks=dict.fromkeys(outcomes, "m"))
    pair = PairResult(system_a="a", system_b="b", n=50, n_scored=50, relative=Estimated(value=0.2, low=0.1, high=0.3))
    run = manifest("compare", models=[ModelRef(role="judge", name=judge)])
    return wrote(folder, compare=ComparisonReport(run=run, signature="s", pairs=[pair], drift=drift))


def test_the_judge_comes_first_and_a_judge_that_moved_voids_the_comparison(tmp_path: Path) -> None:
    steady = {f"q{at}": [1, 1, 1, 1] for at in range(20)}
    turned = {name: [-1, -1, -1, -1] for name in steady}
    old = compared(tmp_path / "old", steady)
    moved = whole(compared(tmp_path / "new", turned), baseline=old)
    assert moved.diff is not None and moved.diff.judge[0].moved is True and moved.diff.judge[0].compared == 20
    assert moved.verdict[0].startswith("The judge is not the one of the baseline (another verdict on 100 % of 20 anchors")
    same = whole(compared(tmp_path / "same", steady), baseline=old)
    assert same.diff is not None and same.diff.judge[0].moved is False
    other = whole(compared(tmp_path / "other", steady, judge="k"), baseline=old)
    assert other.diff is not None and other.diff.judge[0].why == "another judge: j then, k now"
    none = whole(compared(tmp_path / "none", None), baseline=old)
    assert none.diff is not None and none.diff.judge[0].moved is None and "--anchors" in none.diff.judge[0].why


def test_an_earlier_report_of_this_kind_can_be_the_baseline(tmp_path: Path) -> None:
    before, after = run_of(tmp_path / "old", 0.5), run_of(tmp_path / "new", 0.7)
    wrote(tmp_path / "kept", report=whole(before))
    assert verdicts(whole(after, baseline=tmp_path / "kept")) == verdicts(whole(after, baseline=before))


def test_checks_that_are_new_or_gone_are_named(tmp_path: Path) -> None:
    old = wrote(tmp_path / "old", audit=audited(finding("empty-name", 1), finding("self-loop", 0)))
    new = wrote(tmp_path / "new", audit=audited(finding("empty-name", 0), finding("self-loop", 4)))
    diff = whole(new, baseline=old).diff
    assert diff is not None
    assert diff.findings_new == ["title of self-loop (self-loop, error)"]
    assert diff.findings_gone == ["title of empty-name (empty-name, error)"]
