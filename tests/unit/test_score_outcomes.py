"""What a score report concludes: of questions in groups, of claims, of rows without a result."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from test_score_summary import info, report, row, score

from kgeval.metrics.definition import MetricSettings, Subject
from kgeval.metrics.facts import ItemVerdicts, JudgedItem, RowFacts
from kgeval.metrics.summary.means import mean_of
from kgeval.metrics.summary.pairs import PairValues
from kgeval.metrics.table import all_metrics
from kgeval.overview.score_verdict import ScoreTables, to_fix, verdict
from kgeval.records import Answer, Passage, Question, Row, Score, ScoreReport, Verdict
from kgeval.reports.write import rendered
from kgeval.stats.thresholds import Threshold
from kgeval.workflows.score import failed_share

S, C, N = "supported", "contradicted", "not_stated"


def asked(n: int, documents: int = 0, **more: Any) -> list[dict[str, Any]]:
    return [{"id": f"q{at:03}", **({"document": f"d{at % documents}"} if documents else {}), **more} for at in range(n)]


def world(systems: dict[str, Sequence[float | str | None]], questions: Sequence[dict[str, Any]], metric: str = "binary_accuracy") -> tuple[
    list[Score], list[Row],
]:
    scores = [
        score(question["id"], value, metric=metric, system=system) for system, values in systems.items()
        for question, value in zip(questions, values, strict=True)
    ]
    rows = [row(at, question, system) for system in systems for at, question in enumerate(questions)]
    return scores, rows


def told(found: ScoreReport) -> list[str]:
    return verdict(ScoreTables.of(found))


# --- questions in groups


@pytest.mark.parametrize("documents", [6, 12, 40])
def test_intervals_hold_the_truth_and_equal_systems_are_not_called_different_where_questions_come_in_documents(documents: int) -> None:
    """300 runs; three standard errors are left to chance. Over questions alone the interval holds the truth in half of the runs."""
    rng, runs = np.random.default_rng(documents), 300
    codes = np.repeat(np.arange(1, documents + 1), 10)
    n = len(codes)
    everywhere, held_mean, held_gain, declared, held_alone = np.ones(n, dtype=bool), 0, 0, 0, 0
    for run in range(runs):
        right = (rng.normal(size=documents)[codes - 1] * 0.4**0.5 + rng.normal(size=n) * 0.6**0.5 > -0.5).astype(float)
        for kept in (codes.tolist(), None):
            mean = mean_of(right.tolist(), causes={}, not_applicable=0, seed=run, codes=kept)
            assert mean.low is not None and mean.high is not None
            holds = mean.low <= 0.691462 <= mean.high
            held_mean, held_alone = held_mean + (holds and kept is not None), held_alone + (holds and kept is None)
        shared, of_document = rng.normal(size=n) * 0.3, rng.normal(size=documents)[codes - 1] * 0.6
        one, other = ((shared + side * of_document + rng.normal(size=n) > 0).astype(float) for side in (1, -1))
        figures = PairValues("m", ("A", "B"), np.arange(n), one, other, everywhere, everywhere, True, False, codes).figures(run)
        assert figures.figure.low is not None and figures.figure.high is not None
        held_gain += figures.figure.low <= 0 <= figures.figure.high
        declared += figures.outcome(figures.p, {}, "document").conclusion in ("a better", "b better")
    assert 0.93 - 0.035 <= held_mean / runs <= 0.985 and 0.93 - 0.035 <= held_gain / runs <= 0.985
    assert declared / runs <= 0.055 + 0.035
    assert held_alone / runs < 0.8, "what it was over questions"


def test_means_and_gains_say_of_how_many_documents_they_are() -> None:
    rng = random.Random(1)
    values = {name: [float(rng.random() < share) for _ in range(120)] for name, share in (("A", 0.9), ("B", 0.3))}
    found = report(*world(values, asked(120, 12)))
    mean, gain = found.summaries[0].overall, found.gains[0]
    assert found.drawn == "document" and (mean.groups, gain.groups) == (12, 12) and gain.mcnemar_p is None
    assert mean.effective is not None and 0 < mean.effective <= 120 and mean.low is not None
    (outcome,) = found.outcomes
    drawn = outcome.groups
    assert outcome.conclusion == "a better" and (drawn.unit, drawn.groups, drawn.questions) == ("document", 12, 120)
    by_document = next(group.overall for group in found.groups if group.by == "document")
    assert by_document.groups is None and by_document.low is not None, "within one document each question stands alone"
    assert any(line.startswith("Intervals are over 12 documents: 120 questions count as") for line in told(found))
    alone = report(*world({"A": [1.0, 0.0] * 60}, asked(120, 12)), cluster="question")
    assert alone.drawn == "question" and alone.summaries[0].overall.groups is None


def test_of_few_documents_nothing_is_concluded_and_the_report_says_why() -> None:
    found = report(*world({"A": [1.0] * 16, "B": [0.0] * 16}, asked(16, 3)))
    assert [one.conclusion for one in found.outcomes] == ["not decidable"] and found.summaries[0].overall.low is None
    lines = told(found)
    assert lines[0].startswith("Not decidable by binary_accuracy: A 1 (16 of 16 scored); B 0")
    assert any("the 16 questions come from 3 documents, and fewer than 6 do not tell" in line for line in lines)
    assert any(line.startswith("No interval: too few documents") for line in lines)


def test_a_field_of_the_questions_says_what_they_were_drawn_in() -> None:
    questions = [{"id": f"q{at}", "document": f"d{at}", "extra": {"topic": f"t{at % 8}"}} for at in range(40)]
    scores, rows = world({"A": [float(at % 3 > 0) for at in range(40)]}, questions)
    found = report(scores, rows, cluster="topic")
    assert found.drawn == "topic" and found.summaries[0].overall.groups == 8
    assert report(scores, rows).summaries[0].overall.groups is None, "a document each"


def test_the_order_of_rows_changes_nothing_where_questions_come_in_groups() -> None:
    rng = random.Random(3)
    scores, rows = world({name: [rng.random() for _ in range(60)] for name in "AB"}, asked(60, 9), "faithfulness")
    mixed = report(random.Random(1).sample(scores, len(scores)), random.Random(2).sample(rows, len(rows)))
    straight = report(scores, rows)
    assert (mixed.summaries, mixed.gains, mixed.outcomes) == (straight.summaries, straight.gains, straight.outcomes)


# --- what may be concluded


@pytest.mark.parametrize(("n", "differ", "clear"), [(100, 5, False), (100, 6, True), (5, 5, False), (10, 10, True)])
def test_hardly_any_differing_questions_prove_nothing(n: int, differ: int, clear: bool) -> None:
    found = report(*world({"A": [1.0] * n, "B": [0.0] * differ + [1.0] * (n - differ)}, asked(n)))
    assert (found.outcomes[0].conclusion == "a better") is clear
    assert told(found)[0].startswith("Best by binary_accuracy: A" if clear else ("No difference found", "Not decidable"))


def test_all_right_of_thirty_has_an_interval_and_so_have_no_differences() -> None:
    found = report(*world({"A": [1.0] * 30, "B": [1.0] * 30}, asked(30)))
    mean = found.summaries[0].overall
    assert (mean.low, mean.high) == (pytest.approx(0.8865, abs=1e-4), 1.0)
    assert found.outcomes[0].conclusion == "no difference found" and found.gains[0].low is not None and found.gains[0].low < 0
    half = report(*world({"A": [0.5] * 30}, asked(30), "faithfulness")).summaries[0].overall
    assert half.low is not None and half.high is not None and half.low < 0.5 < half.high


@pytest.mark.parametrize(("failed", "conclusion"), [(4, "a better"), (40, "not decidable")])
def test_rows_without_a_result_are_taken_at_their_worst(failed: int, conclusion: str) -> None:
    values: dict[str, list[float | str | None]] = {"A": [1.0] * 60, "B": [0.0] * 30 + [1.0] * 30}
    values["A"][60 - failed :] = ["timeout: 60 s"] * failed
    found = report(*world(values, asked(60)))
    (outcome,) = found.outcomes
    assert (outcome.conclusion, outcome.missing) == (conclusion, failed)
    assert outcome.lowest.value is not None and outcome.figure.value is not None and outcome.lowest.value < outcome.figure.value
    assert {one.passed for one in found.survived if one.check == "failed rows"} == {conclusion == "a better"}


def test_a_system_that_answered_half_of_the_questions_is_not_best_by_that_half() -> None:
    scores, rows = world({"A": [1.0] * 80, "B": [0.0] * 20 + [1.0] * 60}, asked(80))
    only = {f"q{at:03}" for at in range(40)}
    part = [one for one in scores if one.system == "B" or one.question_id in only]
    found = report(part, [one for one in rows if one.answer.system == "B" or one.question.id in only])
    (outcome,) = found.outcomes
    assert outcome.missing == 40 and outcome.conclusion == "not decidable"
    assert any("40 questions without a result could decide it" in line for line in told(found))


def test_silence_is_in_the_outcome_and_in_the_verdict() -> None:
    scores, rows = world({"A": [0.0] * 60 + [1.0] * 40, "B": [0.0] * 10 + [1.0] * 90}, asked(100))
    silent = [
        one.model_copy(update={"answer": one.answer.model_copy(update={"answer": ""})})
        if one.answer.system == "A" and int(one.question.id[1:]) < 60 else one for one in rows
    ]
    (outcome,) = report(scores, silent).outcomes
    assert (outcome.system_a, outcome.conclusion) == ("B", "a better")
    assert [(one.system, one.questions, one.empty) for one in outcome.coverage] == [("B", 100, 0), ("A", 100, 60)]


def test_the_best_with_each_other_or_each_with_the_baseline() -> None:
    rng = random.Random(2)
    values = {name: [float(rng.random() < share) for _ in range(80)] for name, share in (("A", 0.2), ("B", 0.9), ("C", 0.5))}
    scores, rows = world(values, asked(80))
    assert [(one.system_a, one.system_b) for one in report(scores, rows).outcomes] == [("B", "C"), ("B", "A")]
    against = report(scores, rows, against="C")
    assert [(one.system_a, one.system_b, one.conclusion) for one in against.outcomes] == [("B", "C", "a better"), ("A", "C", "b better")]
    assert told(against)[0].startswith("Against C 0.") and "B better (+0." in told(against)[0] and "A worse (-0." in told(against)[0]


def test_of_very_many_systems_the_headline_is_concluded_all_the_same() -> None:
    rng = random.Random(5)
    values = {f"s{at}": [float(rng.random() < (0.95 if at == 3 else 0.4)) for _ in range(80)] for at in range(9)}
    found = report(*world(values, asked(80)))
    assert found.gains == [] and len(found.outcomes) == 8
    assert {(one.system_a, one.conclusion) for one in found.outcomes} == {("s3", "a better")}


@pytest.mark.parametrize("n", [0, 1, 2])
def test_hardly_any_question(n: int) -> None:
    found = report(*world({"A": [1.0] * n, "B": [0.0] * n}, asked(n)), infos=[info("binary_accuracy")])
    assert all(one.conclusion == "not decidable" for one in found.outcomes)
    assert len(told(found)) > 0


# --- claims


def claims(right: int, extra: int, missing: int, wrong: int = 0) -> dict[str, Any]:
    """A score by claims as factual_correctness has it."""
    faults = extra + wrong
    value = 2 * right / (2 * right + faults + missing) if right else 0.0
    detail = {"tp": right, "fp": faults, "fn": missing, "contradicted": wrong, "not_stated": extra, "reference_claims": right + missing}
    return {"value": value, "detail": detail}


def of_claims(systems: dict[str, list[tuple[int, int, int, int]]], metric: str = "factual_correctness") -> tuple[list[Score], list[Row]]:
    n = len(next(iter(systems.values())))
    scores = [
        score(f"q{at:03}", 0.0, metric=metric, system=system).model_copy(update=claims(*counts))
        for system, rows in systems.items() for at, counts in enumerate(rows)
    ]
    return scores, [row(at, {"id": f"q{at:03}"}, system) for system in systems for at in range(n)]


def checked(systems: dict[str, list[tuple[int, int, int, int]]], grounded: bool) -> Iterable[Verdict]:
    """The verdicts behind the counts; what is extra is in the contexts or not."""
    for system, rows in systems.items():
        for at, (right, extra, missing, wrong) in enumerate(rows):
            labels = [S] * right + [N] * extra + [C] * wrong
            held = [S] * right + [S if grounded else N] * extra + [N] * wrong
            stated = [S] * right + [N] * missing
            given = {"answer_claims@reference": labels, "answer_claims@contexts": held, "reference_claims@answer": stated}
            for name, own in given.items():
                for item, label in enumerate(own, start=1):
                    yield Verdict(question_id=f"q{at:03}", metric=name, system=system, item=item, text="t", label=label)


VARIED = {"terse": [(2, 0, at % 2, 0) for at in range(40)], "full": [(2, 2 + at % 2, at % 2, 0) for at in range(40)]}


def test_a_system_is_not_best_because_the_other_adds_grounded_claims() -> None:
    scores, rows = of_claims(VARIED)
    found = report(scores, rows, verdicts=lambda: iter(checked(VARIED, grounded=True)))
    assert [one.conclusion for one in found.outcomes] == ["not decidable"]
    assert told(found)[0].startswith("Not decidable by factual_correctness: terse 0.9")
    assert any("the difference rests on claims beyond the reference" in line for line in told(found))
    assert {one.passed for one in found.survived if one.check == "grounded extras"} == {False}
    total = {one.system: one for one in found.claims}
    assert (total["full"].right, total["full"].extra_grounded, total["full"].extra_ungrounded, total["full"].missing) == (80, 100, 0, 20)
    assert total["terse"].extra_grounded == total["terse"].extra_unknown == 0 and len(found.claim_rows) == 10
    assert found.gains[0].conclusion == "not decidable", "the table says what the headline says"


def test_whether_extra_claims_are_grounded_may_not_be_known() -> None:
    found = report(*of_claims(VARIED))
    assert [one.conclusion for one in found.outcomes] == ["not decidable"]
    assert any("whether the others are grounded is not known" in line for line in told(found))
    assert {one.system: one.extra_unknown for one in found.claims} == {"terse": 0, "full": 100}


def test_claims_that_no_context_states_count_against_a_system() -> None:
    mixed = {
        "terse": [(2, 0, 0, 0)] * 40, "full": [(2, 2, 0, 0) if at % 3 else (1, 3, 1, 0) for at in range(40)],
    }
    found = report(*of_claims(mixed), verdicts=lambda: iter(checked(mixed, grounded=False)))
    assert [(one.system_a, one.conclusion) for one in found.outcomes] == [("terse", "a better")]


def test_a_right_answer_in_one_word_is_not_worse_than_one_that_says_the_reference_again() -> None:
    short = {
        "yes": [(1, 0, 2, 0) if at % 5 else (1, 0, 1, 0) for at in range(40)],
        "long": [(3, 0, 0, 0) if at % 5 else (2, 0, 0, 0) for at in range(40)],
    }
    found = report(*of_claims(short))
    assert [one.conclusion for one in found.outcomes] == ["not decidable"]
    assert any("rests on what the reference says and yes leaves out" in line for line in told(found))
    complete = [
        score(f"q{at:03}", value, metric="answer_completeness", system=system)
        for system, value in (("yes", 0.5), ("long", 1.0)) for at in range(40)
    ]
    scores, rows = of_claims(short)
    asked_for = report([*scores, *complete], rows)
    assert [one.conclusion for one in asked_for.outcomes] == ["a better"], "the questions ask for what is missing"


def test_wrong_claims_decide() -> None:
    wrong = {"A": [(2, 0, 0, 0)] * 40, "B": [(2, 0, 0, 0) if at % 2 else (0, 0, 2, 2) for at in range(40)]}
    found = report(*of_claims(wrong))
    assert [one.conclusion for one in found.outcomes] == ["a better"]


def test_correctness_as_a_whole_leads_and_a_metric_that_disagrees_stands_against_it() -> None:
    right = [score(f"q{at:03}", 1.0, metric="binary_accuracy", system=name) for name in VARIED for at in range(40)]
    scores, rows = of_claims(VARIED)
    found = report([*scores, *right], rows)
    assert found.outcomes[0].of == "binary_accuracy" and found.outcomes[0].conclusion == "no difference found"
    turned = [
        score(f"q{at:03}", value, metric="binary_accuracy", system=name)
        for name, share in (("terse", 2), ("full", 10)) for at in range(40) for value in (float(at % 10 < share),)
    ]
    clash = report([*scores, *turned], rows)
    (outcome,) = clash.outcomes
    assert outcome.system_a == "full" and outcome.conclusion == "not decidable"
    assert "answer metrics disagree: binary_accuracy puts full first" in outcome.because[0]


# --- what is missing


def test_answers_that_are_errors_are_missing_and_no_proof_against_a_system() -> None:
    scores, rows = world({"A": [0.5] * 40 + [1.0] * 60, "B": [0.9] * 40 + [0.0] * 60}, asked(100), "token_f1")
    lost = [
        one.model_copy(update={"answer": one.answer.model_copy(update={"error": "HTTP 503", "answer": ""})})
        if one.answer.system == "B" and int(one.question.id[1:]) >= 40 else one for one in rows
    ]
    (outcome,) = report(scores, lost).outcomes
    assert (outcome.conclusion, outcome.missing) == ("not decidable", 60)
    assert {one.system: one.errors for one in outcome.coverage} == {"A": 0, "B": 60}
    (decided,) = report(scores, rows).outcomes
    assert decided.conclusion == "a better", "the same values of answers that are none"


def test_who_says_nothing_is_not_faithful_and_passes_no_gate_by_it() -> None:
    silent = {"value": None, "status": "not_applicable", "detail": {"empty_answer": True}}
    scores = [score(f"q{at:03}", 1.0, metric="faithfulness", system="A") for at in range(100)]
    scores = [one.model_copy(update=silent) if at >= 40 else one for at, one in enumerate(scores)]
    scores += [score(f"q{at:03}", 0.8, metric="faithfulness", system="B") for at in range(100)]
    gates = [Threshold("faithfulness", ">=", 0.9, of="A"), Threshold("faithfulness", ">=", 0.3, of="A")]
    found = report(scores, gates=gates)
    assert [gate.met for gate in found.gates] == [None, True] and "missing, empty or say nothing" in str(found.gates[0].reason)
    (gain,) = found.gains
    assert gain.n == 40 and gain.conclusion == "not decidable"


def test_who_claims_nothing_is_missing_like_an_empty_answer_but_not_where_that_is_the_right_answer() -> None:
    asked_of = Question.model_validate({"id": "q", "question": "who?", "reference": "she"})
    outside = asked_of.model_copy(update={"level": "negative"})
    for question, says_nothing in ((asked_of, True), (outside, None)):
        facts = RowFacts(checks={"answer_claims@contexts": ItemVerdicts(), "citations": ItemVerdicts()})
        answer = Answer(question_id="q", system="A", answer="I cannot say.", contexts=[Passage(text="t")], citations=[])
        subject = Subject(Row(n=1, where="f:1", question=question, answer=answer), facts, MetricSettings())
        for metric in ("faithfulness", "intrinsic_hallucination", "extrinsic_hallucination", "citation_precision"):
            value = all_metrics()[metric].value(subject)
            assert (value.status, value.detail.get("says_nothing")) == ("not_applicable", says_nothing), metric


@pytest.mark.parametrize("says_nothing", [True, False])
def test_a_refusal_is_no_way_to_be_the_most_faithful(says_nothing: bool) -> None:
    refused = {"value": None, "status": "not_applicable", "detail": {"says_nothing": True} if says_nothing else {}}
    scores = [score(f"q{at:03}", 1.0, metric="faithfulness", system="A") for at in range(100)]
    scores = [one.model_copy(update=refused) if at >= 20 else one for at, one in enumerate(scores)]
    scores += [score(f"q{at:03}", float(at % 3 > 0), metric="faithfulness", system="B") for at in range(100)]
    found = report(scores, gates=[Threshold("faithfulness", ">=", 0.9, of="A")])
    assert [one.conclusion for one in found.outcomes] == ["not decidable" if says_nothing else "a better"]
    assert [gate.met for gate in found.gates] == [None if says_nothing else True], "no meaning for the question: it stays out"


def test_answers_that_are_errors_are_in_no_mean_and_leave_gates_unanswered() -> None:
    scores, rows = world({"A": [0.0] * 60 + [1.0] * 40, "B": [0.0] * 30 + [1.0] * 70}, asked(100))
    lost = [
        one.model_copy(update={"answer": one.answer.model_copy(update={"error": "timeout", "answer": ""})})
        if one.answer.system == "A" and int(one.question.id[1:]) < 60 else one for one in rows
    ]
    gates = [Threshold("binary_accuracy", ">=", limit, of="A") for limit in (0.5, 0.4)]
    found = report([*scores, score("q001", 0.0, metric="id_recall", system="A")], lost, gates=gates)
    mean = next(one.overall for one in found.summaries if (one.system, one.metric) == ("A", "binary_accuracy"))
    assert (mean.n, mean.n_scored, mean.mean, mean.failures) == (100, 40, 1.0, {"answer_error": 60})
    assert (mean.bound_low, mean.bound_high) == (0.4, 1.0)
    assert [gate.met for gate in found.gates] == [None, True] and "60 of its 100 answers are errors" in str(found.gates[0].reason)
    assert next(one.overall.n_scored for one in found.summaries if (one.system, one.metric) == ("A", "id_recall")) == 1, "of the contexts"
    worst = [one for one in found.worst if (one.system, one.metric) == ("A", "binary_accuracy")]
    assert {(one.value, *one.reasons) for one in worst} == {(None, "the answer is an error: timeout")}
    assert failed_share(found) == 0, "scoring again brings nothing else"
    assert not any(one.title.startswith("Questions that could not be scored") for one in to_fix(ScoreTables.of(found)))


def test_an_error_in_one_repetition_leaves_the_others() -> None:
    scores = [score("q", value, metric="binary_accuracy", system="A", trial=at) for at, value in enumerate((0.0, 1.0))]
    rows = [row(0, {"id": "q"}, "A", trial=0, error="timeout", answer=""), row(1, {"id": "q"}, "A", trial=1)]
    mean = report(scores, rows).summaries[0].overall
    assert (mean.n_scored, mean.mean, mean.bound_low, mean.bound_high) == (1, 1.0, 0.5, 1.0)


# --- what survives


def with_grounding() -> tuple[list[Score], list[Row]]:
    """Both are equally right; one adds grounded claims, so that it is more faithful, and worse by F1."""
    scores, rows = of_claims(VARIED)
    for name, faithful in (("terse", 0.5), ("full", 0.8)):
        for at in range(40):
            scores.append(score(f"q{at:03}", 1.0, metric="binary_accuracy", system=name))
            scores.append(score(f"q{at:03}", min(1.0, faithful + at % 3 / 10), metric="faithfulness", system=name))
    return scores, rows


def test_a_metric_that_does_not_lead_has_to_survive_the_same_checks() -> None:
    scores, rows = with_grounding()
    found = report(scores, rows, verdicts=lambda: iter(checked(VARIED, grounded=True)))
    concluded = {one.metric: (one.conclusion, bool(one.because)) for one in found.gains}
    assert concluded == {
        "binary_accuracy": ("no difference found", False), "factual_correctness": ("not decidable", True),
        "faithfulness": ("not decidable", True),
    }
    because = {one.metric: one.because[0] for one in found.gains if one.because}
    assert because["factual_correctness"].startswith("the difference rests on claims beyond the reference")
    assert because["faithfulness"].startswith("answer metrics disagree")
    assert found.survived == [], "those of the headline alone"
    shown = rendered(found, "md")
    assert "No system is best in any of 3 metrics" in shown and "| better |" not in shown


@pytest.mark.parametrize("by", ["level", "hops"])
def test_the_same_holds_among_the_questions_of_a_level(by: str) -> None:
    parts = [{"level": "fact_retrieval"}, {"level": "complex_reasoning"}] if by == "level" else [{"hops": 1}, {"hops": 2}]
    scores, _ = with_grounding()
    rows = [row(at, {"id": f"q{at:03}", **parts[at % 2]}, system) for system in VARIED for at in range(40)]
    found = report(scores, rows, verdicts=lambda: iter(checked(VARIED, grounded=True)))
    told_of = [one for one in found.gains_by_group if one.by == by and one.metric == "factual_correctness"]
    assert [one.conclusion for one in told_of] == ["not decidable"] * 2
    assert all("rests on claims beyond the reference" in " ".join(one.because) for one in told_of)


def test_claims_that_are_not_known_are_no_doubt() -> None:
    found = report(*world({"A": [0.9] * 40, "B": [0.2, 0.4] * 20}, asked(40), "factual_correctness"))
    assert [one.conclusion for one in found.outcomes] == ["a better"]
    assert {one.passed for one in found.survived if one.check == "grounded extras"} == {None}


def test_what_a_system_survives_names_the_others_where_these_are_not_all() -> None:
    values: dict[str, list[float | str | None]] = {"A": [1.0] * 60, "B": [0.0] * 30 + [1.0] * 30, "D": [1.0] * 59 + [0.0]}
    values["D"][:12] = ["timeout: 60 s"] * 12
    lines = told(report(*world(values, asked(60))))
    assert any(line.startswith("A, against B, stands with") for line in lines)
    del values["D"]
    assert any(line.startswith("A stands with") for line in told(report(*world(values, asked(60))))), "against all there are"


# --- claims of empty answers


def test_all_that_the_reference_claims_is_missing_in_an_empty_answer_but_not_in_an_error() -> None:
    scores, rows = of_claims({"A": [(1, 0, 1, 0)] * 20})
    nothing = {"value": 0.0, "detail": {"empty_answer": True, "reference_claims": 2}}
    scores = [one.model_copy(update=nothing) if at < 10 else one for at, one in enumerate(scores)]
    (total,) = report(scores, rows).claims
    assert (total.answers, total.right, total.missing) == (20, 10, 10 * 2 + 10)
    lost = [one.model_copy(update={"answer": one.answer.model_copy(update={"error": "timeout"})}) if at < 10 else one
            for at, one in enumerate(rows)]
    (total,) = report(scores, lost).claims
    assert (total.answers, total.right, total.missing) == (10, 10, 10)


def test_the_score_of_an_empty_answer_tells_how_many_claims_it_misses() -> None:
    facts = RowFacts(checks={"reference_claims@answer": ItemVerdicts(tuple(JudgedItem(at, "c", N) for at in (1, 2, 3)))})
    subject = Subject(row(1, {"id": "q", "reference": "she"}, answer=" "), facts, MetricSettings())
    for metric in ("factual_correctness", "factual_correctness_printed"):
        assert all_metrics()[metric].value(subject).detail == {"empty_answer": True, "reference_claims": 3}


def test_an_answer_that_is_an_error_is_no_wrong_answer_by_hops() -> None:
    nothing = {"value": 0.0, "detail": {"empty_answer": True}}
    scores = [score(f"q{at:03}", 1.0, metric="binary_accuracy", system="A") for at in range(20)]
    scores = [one.model_copy(update=nothing) if at < 10 else one for at, one in enumerate(scores)]
    rows = [
        row(at, {"id": f"q{at:03}", "hops": 2}, "A", answer="" if at < 10 else "she", error="timeout" if at < 4 else None)
        for at in range(20)
    ]
    (chain,) = report(scores, rows).reasoning
    mean = chain.accuracy_by_hop["2"]
    assert (mean.n, mean.n_scored, mean.mean, mean.failures) == (20, 16, 10 / 16, {"answer_error": 4})
