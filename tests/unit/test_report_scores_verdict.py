"""What the verdict on scores says: a system is best only where that is certain."""

from __future__ import annotations

import re

import pytest
from score_report_sample import empty, one_row, outcome, sample, told, two

from kgeval.overview import score_verdict as verdict
from kgeval.records import (
    SEVERITIES,
    AuditJoin,
    By,
    Conclusion,
    Gate,
    GroupSummary,
    LeaderRow,
    Mean,
    OverviewPriority,
    PairedGain,
    ReasoningSummary,
    ScoreReport,
    Survived,
    WorstRow,
)
from kgeval.reports.write import rendered
from kgeval.workflows.result import gate_lines


def lead(report: ScoreReport) -> str:
    return verdict.verdict(verdict.ScoreTables.of(report))[0]


FIRST, SECOND = told(0.8, 0.6, 0.9), told(0.7, 0.5, 0.8)


def test_a_system_is_called_best_only_where_the_report_concludes_it() -> None:
    assert lead(two(FIRST, SECOND, outcome())).startswith("Best by m: A 0.800 (95% CI [0.600, 0.900], 40 of 40 scored); next B 0.700")
    apart = told(0.8, 0.7, 0.9), told(0.5, 0.4, 0.6)
    assert lead(two(*apart)).startswith("No difference found by m: A 0.800"), "nobody concluded anything"
    assert lead(two(*apart, outcome("no difference found"))).startswith("No difference found by m: A 0.800")
    lines = verdict.verdict(verdict.ScoreTables.of(two(*apart, outcome("not decidable", "answer metrics disagree: so"))))
    assert lines[0].startswith("Not decidable by m: A 0.800") and lines[1] == "Not decidable: answer metrics disagree: so."


def test_the_table_says_what_the_verdict_says() -> None:
    for conclusion, words in (("a better", "better"), ("no difference found", "no difference found"), ("not decidable", "not decidable")):
        gain = PairedGain.model_validate({
            "system": "A", "baseline": "B", "metric": "m", "n": 40, "differ": 40, "mean": 0.1, "low": 0.02, "high": 0.18, "p": 0.109,
            "p_holm": 0.328, "conclusion": conclusion,
        })
        report = two(FIRST, SECOND, outcome(conclusion), gains=(gain,))
        row = next(line for line in rendered(report, "md").splitlines() if line.startswith("| m | A | B |"))
        assert words in row
        assert lead(report).startswith("Best by m") is (conclusion == "a better")


def test_the_best_mean_is_not_best_where_another_is_better_on_the_questions_that_both_have() -> None:
    line = lead(two(FIRST, SECOND, outcome("b better")))
    assert line.startswith("A has the best mean by m, but B is better on the questions that both have: A 0.800")


def test_pairs_in_a_circle_are_no_order() -> None:
    def gain(one: str, other: str) -> PairedGain:
        return PairedGain(system=one, baseline=other, metric="m", n=40, differ=40, mean=0.1, low=0.02, high=0.18, conclusion="a better")

    report = two(FIRST, SECOND, outcome("a better"), gains=(gain("A", "B"), gain("B", "C"), gain("C", "A")))
    third = report.summaries[0].model_copy(update={"system": "C", "overall": SECOND})
    lines = verdict.verdict(verdict.ScoreTables.of(report.model_copy(update={"summaries": [*report.summaries, third]})))
    circle = next(line for line in lines if line.startswith("No order by m: "))
    assert all(f"{one} is better than {other}" in circle for one, other in ("AB", "BC", "CA"))


def test_equal_means_are_not_called_equal() -> None:
    line = lead(two(FIRST, FIRST, outcome("no difference found", value=0.0)))
    assert line.startswith("No difference found by m: A and B have the same mean, which does not show that they are equal: A 0.800")


def test_each_system_against_the_baseline_that_was_named() -> None:
    report = two(FIRST, SECOND, outcome("a better", systems=("A", "C")), outcome("b better", systems=("B", "C"), value=-0.2))
    third = report.summaries[0].model_copy(update={"system": "C", "overall": told(0.75, 0.6, 0.8)})
    line = lead(report.model_copy(update={"summaries": [*report.summaries, third]}))
    assert line.startswith("Against C 0.750 (95% CI [0.600, 0.800], 40 of 40 scored) by m: A better (+0.100, 95% CI ")
    assert "); B worse (-0.200" in line


def test_of_few_groups_it_is_said_why_there_is_no_interval_and_of_many_as_how_many_they_count() -> None:
    few = Mean(n=16, n_scored=16, mean=0.8, groups=3, effective=4.2)
    report = two(few, few, outcome("not decidable", "there are 16 questions of 3 documents, and fewer than 6 do not tell")).model_copy(
        update={"drawn": "document"},
    )
    lines = verdict.verdict(verdict.ScoreTables.of(report))
    assert "No interval: too few documents; --cluster question takes each question as drawn alone." in lines
    many = few.model_copy(update={"groups": 12, "low": 0.7, "high": 0.9})
    lines = verdict.verdict(verdict.ScoreTables.of(two(many, many).model_copy(update={"drawn": "document"})))
    assert "Intervals are over 12 documents: 16 questions count as 4 (A) and 4 (B) that stand alone." in lines


def test_how_often_a_system_gave_no_answer_is_in_the_verdict() -> None:
    report = two(FIRST, SECOND, outcome())
    silent = report.systems[0].model_copy(update={"empty": 24})
    lines = verdict.verdict(verdict.ScoreTables.of(report.model_copy(update={"systems": [silent, report.systems[1]]})))
    assert "Answers that are errors or empty: A 24 of 40." in lines


def test_what_the_best_system_survives_is_named() -> None:
    checks = [
        Survived(system="A", other="B", check="answer metrics", passed=True, because="x"),
        Survived(system="A", other="B", check="groups", passed=True, because="x"),
        Survived(system="A", other="B", check="missing claims", passed=None, because="x"),
        Survived(system="A", other="B", check="failed rows", passed=False, because="y"),
    ]
    lines = verdict.verdict(verdict.ScoreTables.of(two(FIRST, SECOND, outcome()).model_copy(update={"survived": checks})))
    assert lines[1] == (
        "A stands across answer metrics and by documents; does not stand with failed rows at their worst; "
        "not tried: with missing claims neutral."
    )


def test_where_lower_is_better_the_lowest_is_best_and_that_is_said() -> None:
    worse, best = told(0.8, 0.7, 0.9), told(0.1, 0.05, 0.2)
    assert lead(two(worse, best, outcome(systems=("B", "A")), better="lower")).startswith("Best by m (lower is better): B 0.100")


def test_only_one_system_has_a_figure_and_no_rival() -> None:
    assert lead(one_row()) == "exact_match: only 0.500 (1 of 1 scored). Only 1 question: a hint, no proof."
    assert lead(empty()) == "Nothing was scored."
    lost = Mean(n=4, n_scored=0, failures={"timeout": 4})
    assert lead(two(lost, lost)) == "No score could be computed."
    assert lead(two(told(0.8, 0.7, 0.9), lost)) == "m: A 0.800 (95% CI [0.700, 0.900], 40 of 40 scored)."


def test_the_verdict_speaks_of_the_leaderboards_metric_where_it_has_values() -> None:
    board = LeaderRow(rank=1, system="graph-rag", metric="evidence_coverage", average=0.7, levels={})
    line = "graph-rag is first by evidence_coverage, but not shown to be"
    assert lead(sample().model_copy(update={"leaderboard": [board]})).startswith(line)
    assert lead(sample().model_copy(update={"leaderboard": []})).startswith("Best by answer_accuracy")


def test_gates_are_counted_and_those_not_met_are_named_a_few_at_most() -> None:
    gates = [Gate(name="m", of="A", limit=">= 0.5" if at % 2 == 0 else "<= 0.5", value=0.4, met=False) for at in range(5)]
    line = verdict.gates_line([*gates, Gate(name="m", of="B", limit=">= 0.5")])
    assert line.startswith("Gates: 0 met, 5 missed (A: m >= 0.5: 0.400; A: m <= 0.5: 0.400; ") and " and 2 more)" in line
    assert line.endswith("1 not answered (B: m >= 0.5: no value).") and verdict.gates_line([]) == ""


def test_a_long_name_takes_no_limit_out_of_a_sentence_about_a_gate() -> None:
    long = Gate(name="intrinsic_hallucination", of="graphrag-local-search-v2 " * 3, limit="<= 0.05", value=0.2, met=False)
    assert "… (75 characters): intrinsic_hallucination <= 0.05: 0.200)" in verdict.gates_line([long])
    steered = long.model_copy(update={"of": "a\n\x1b[2J::error::b"})
    assert gate_lines([steered]) == ["gate missed: a [U+001B][2J::error::b: intrinsic_hallucination <= 0.05 (0.2)"]


def test_three_systems_are_apart_only_if_the_first_is_apart_from_both() -> None:
    report = sample()
    place = verdict.standing(verdict.ScoreTables.of(report), "answer_accuracy")
    assert place is not None and [name for name, _ in place.order] == ["graph-rag", "vector-rag", "closed-book"] and place.clear
    open_: Conclusion = "no difference found"
    near = [gain.model_copy(update={"conclusion": open_}) if gain.baseline == "closed-book" else gain for gain in report.gains]
    place = verdict.standing(verdict.ScoreTables.of(report.model_copy(update={"gains": near})), "answer_accuracy")
    assert place is not None and not place.clear
    line = lead(report.model_copy(update={"gains": near}))
    assert line.startswith("graph-rag is first by answer_accuracy, but not shown to be better than closed-book: graph-rag 0.733 (")
    assert "vector-rag" not in line, "it is apart from the first"


def test_the_lead_names_every_system_that_the_first_is_not_apart_from() -> None:
    few = told(0.5, 0.1, 0.9, n=8, n_scored=8)
    report = two(told(0.9, 0.85, 0.95), told(0.6, 0.55, 0.65), outcome())
    third = report.summaries[0].model_copy(update={"system": "C", "overall": few})
    assert lead(report.model_copy(update={"summaries": [*report.summaries, third]})) == (
        "A is first by m, but not shown to be better than C: A 0.900 (95% CI [0.850, 0.950], 40 of 40 scored); "
        "C 0.500 (95% CI [0.100, 0.900], 8 of 8 scored). Only 8 questions: a hint, no proof."
    )
    others = [third.model_copy(update={"system": name, "overall": told(0.85, 0.7, 0.9)}) for name in "CDEFG"]
    line = lead(report.model_copy(update={"summaries": [*report.summaries, *others]}))
    assert "not shown to be better than C, D, E and 2 more: A 0.900" in line and "B 0.600" not in line


def fixes(report: ScoreReport) -> dict[str, OverviewPriority]:
    return {one.title: one for one in verdict.to_fix(verdict.ScoreTables.of(report))}


def test_what_to_fix_stands_with_what_it_costs_the_most_pressing_first() -> None:
    rows = fixes(sample())
    assert [one.severity for one in rows.values()] == sorted((one.severity for one in rows.values()), key=SEVERITIES.index)
    missed = rows["Gate missed: answer_accuracy >= 0.6"]
    assert missed.evidence == "0.5694, wanted >= 0.6" and missed.where == "vector-rag"
    assert "closed-book: context_relevance >= 0.5" in rows["Gates without an answer"].why
    assert rows["Answers that are errors or empty"].evidence == "3 of 100 answers"
    assert rows["Questions without an answer"].evidence == "4 questions"
    lost = rows["Questions that could not be scored: factual_correctness"]
    assert lost.evidence == "4 of 100 questions" and "[0.536, 0.576]" in lost.why and "3 other means" in lost.why
    fault = rows["The graph's fault duplicate-name goes along with worse answers"]
    assert fault.evidence == "14 of 100 questions" and "answer_accuracy: 0.526 where a question touches it, else 0.742" in fault.why
    assert rows["Wrong answers after a wrong step"].evidence == "9 of 12 questions with a wrong step"
    assert all(one.advice[0].isupper() and one.advice[-1] in ".?!" for one in rows.values())


def test_a_report_without_a_fault_asks_for_nothing_and_a_stopped_one_for_the_rest() -> None:
    report = two(told(0.8, 0.7, 0.9), told(0.5, 0.4, 0.6))
    assert fixes(report) == {} and "Nothing in these figures asks for it." in rendered(report, "md")
    assert list(fixes(report.model_copy(update={"complete": False}))) == ["The run is not complete"]
    assert list(fixes(one_row())) == ["Few questions"]


@pytest.mark.parametrize(("better", "low", "high", "n", "weak"), [
    ("higher", 0.3, 0.5, 12, True), ("higher", 0.3, 0.9, 12, False), ("higher", 0.3, 0.5, 9, False), ("lower", 0.3, 0.5, 12, False),
    ("lower", 0.85, 0.95, 12, True),
])
def test_a_part_of_the_questions_is_weak_where_its_whole_interval_is_worse(
    better: str, low: float, high: float, n: int, weak: bool,
) -> None:
    best = told(0.8, 0.7, 0.9)
    report = two(best, told(0.9 if better == "lower" else 0.2, 0.1, 1.0), better=better)
    part = told((low + high) / 2, low, high, n=n, n_scored=n)
    groups = [GroupSummary(system=name, metric="m", by="hops", value="3+", overall=part) for name in ("A", "B")]
    row = fixes(report.model_copy(update={"groups": groups})).get("Weak answers to one part of the questions: hops 3+")
    assert (row is not None) is weak
    if row is not None:
        assert (row.where, row.evidence) == ("A", "12 of 40 questions") and "compared with 0.800 over all" in row.why


def parts(values: dict[str, Mean], by: By = "document", metric: str = "m") -> ScoreReport:
    report = two(told(0.8, 0.7, 0.9), told(0.2, 0.1, 0.3), metric=metric)
    groups = [GroupSummary(system="A", metric=metric, by=by, value=value, overall=mean) for value, mean in values.items()]
    return report.model_copy(update={"groups": groups})


def test_of_many_groups_only_those_are_weak_that_chance_does_not_explain() -> None:
    near, far, alike = told(0.7, 0.62, 0.78), told(0.5, 0.4, 0.6), told(0.8, 0.7, 0.9)
    weak = "Weak answers to one part of the questions: document "
    assert f"{weak}near" in fixes(parts({"near": near}))
    many = fixes(parts({"near": near, "far": far, **{f"d{at}": alike for at in range(60)}}))
    assert f"{weak}near" not in many, "of 62 groups one or two are so far off by chance"
    assert many[f"{weak}far"].why.endswith("This holds after Holm's correction for 62 groups.")


def test_rules_of_the_audit_are_corrected_for_how_many_were_tested() -> None:
    def join(rule: str, high: float) -> AuditJoin:
        touched, others = told(0.7, 0.6, 0.8), told(0.8, 0.7, 0.9)
        return AuditJoin(system="A", metric="m", rule=rule, touched=touched, untouched=others, difference=-0.1, low=-0.2, high=high)

    report = two(told(0.8, 0.7, 0.9), told(0.2, 0.1, 0.3))
    assert any("fault near" in title for title in fixes(report.model_copy(update={"joined": [join("near", -0.01)]})))
    rows = [join("near", -0.01), join("far", -0.07), *(join(f"r{at}", 0.05) for at in range(20))]
    titles = [title for title in fixes(report.model_copy(update={"joined": rows})) if "fault" in title]
    assert titles == ["The graph's fault far goes along with worse answers"]


@pytest.mark.parametrize(("metric", "by", "value", "title", "advice"), [
    ("token_f1", "hops", "1", "Weak answers to", "See the worst questions"),
    ("token_f1", "hops", "2", "Weak answers to", "the middle node,"),
    ("token_f1", "hops", "3+", "Weak answers to", "the middle nodes,"),
    ("path_complete", "hops", "3+", "Weak retrieval for", "paths break"),
    ("path_complete", "kind", "x", "Weak retrieval for", "paths break"),
    ("faithfulness", "kind", "x", "Weak grounding for", "contexts only"),
])
def test_a_weak_part_brings_the_advice_of_its_depth_and_metric(metric: str, by: By, value: str, title: str, advice: str) -> None:
    row = next(row for name, row in fixes(parts({value: told(0.4, 0.3, 0.5)}, by, metric)).items() if name.startswith(title))
    assert advice in row.advice


@pytest.mark.parametrize(("counted", "lost", "cell"), [
    (6, 0.5, "50.0 % (3 of 6)"), (4, 0.5, "50.0 % (2 of 4)"), (0, None, "60.0 % (6 of 10)"),
])
def test_shares_of_wrong_steps_name_what_they_are_of(counted: int, lost: float | None, cell: str) -> None:
    chains = [
        ReasoningSummary(
            system=name, accuracy_metric="m", questions=10, with_wrong_step=6, wrong_step_answers=counted, wrong_step_share=0.6,
            error_propagation=lost, stepwise_accuracy=told(0.8, 0.7, 0.9),
        ) for name in ("B", "A")
    ]
    report = two(told(0.8, 0.7, 0.9), told(0.2, 0.1, 0.3)).model_copy(update={"reasoning": chains})
    text = rendered(report, "text")
    assert text.count(cell) == 2 and "of 0)" not in text and ("of these" in text) is (lost is not None)
    assert text.split("Chains of steps")[1].split("\n")[1].split() == ["figure", "A", "B"], "systems stand in the order of the other tables"
    evidence = [row.evidence for row in verdict.to_fix(verdict.ScoreTables.of(report)) if row.title.startswith("Wrong answers")]
    assert evidence == ([f"{round(lost * counted)} of {counted} questions with a wrong step"] * 2 if lost else [])


def test_where_nothing_was_scored_nothing_is_judged() -> None:
    page = rendered(empty(), "md")
    assert "Nothing was scored, so there is nothing to judge." in page and "asks for it" not in page


def test_a_worst_row_ends_its_reasons_with_one_full_stop() -> None:
    report = one_row()
    row = WorstRow(system="A", metric="m", question_id="q1", value=0.0, question="Who?", reasons=["misses part 1."])
    assert "misses part 1. Question: Who?" in rendered(report.model_copy(update={"worst": [row]}), "md")
    bare = row.model_copy(update={"reasons": ["misses part 1"]})
    assert "misses part 1. Question: Who?" in rendered(report.model_copy(update={"worst": [bare]}), "md")


@pytest.mark.slow
def test_the_navigation_of_a_page_leads_to_every_section() -> None:
    page = rendered(sample(), "html")
    links = page.split("<nav", 1)[1].split("</nav>")[0]
    titled = re.findall(r'<section id="([\w-]+)" aria-labelledby', page)
    assert len(titled) > 13 and {name for name in titled if f'href="#{name}"' not in links} <= {"notes", "words"}
