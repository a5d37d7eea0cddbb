"""Metrics on claims, verdicts and ratings: formulas against counts made by hand, and laws that hold for all counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgeval.llm.calls import Failure
from kgeval.metrics.definition import MetricSettings, MetricValue, Subject
from kgeval.metrics.engine import verdicts_of
from kgeval.metrics.facts import Cosines, ItemVerdicts, JudgedItem, RowFacts
from kgeval.metrics.select import lacking
from kgeval.metrics.table import all_metrics
from kgeval.records import Answer, Citation, Passage, Question, Row

WORDS = {"s": "supported", "c": "contradicted", "n": "not_stated"}
GONE = Failure("missing_item", "the reply has no answer to this number")
REFERENCE = ("factual_correctness", "factual_correctness_printed", "answer_accuracy", "answer_accuracy_printed", "answer_accuracy_compat",
             "evidence_coverage", "evidence_coverage_compat", "answer_completeness", "statement_precision", "binary_accuracy",
             "citation_precision", "citation_coverage", "source_document_accuracy")
GROUNDING = ("faithfulness", "intrinsic_hallucination", "extrinsic_hallucination")
labels = st.text(alphabet="scn", max_size=12)


def checked(letters: str) -> ItemVerdicts:
    """One item a letter: supported, contradicted, not stated, or (-) without a verdict."""
    return ItemVerdicts(tuple(
        JudgedItem(n, f"claim {n}", WORDS.get(letter), failure=None if letter in WORDS else GONE)
        for n, letter in enumerate(letters, start=1)
    ))


def subject(
    facts: RowFacts | None = None, *, answer: str = "an answer", contexts: Sequence[str] | None = ("c",), **question: Any,
) -> Subject:
    given_question = {"reference": "a reference", "evidence": [Passage(text="e")], "points": ["p"], "statements": ["s"], "document": "Book"}
    return Subject(
        Row(
            n=0, where="x:1", question=Question(id="1", question="q", **{**given_question, **question}),
            answer=Answer(
                question_id="1", system="s", answer=answer,
                contexts=None if contexts is None else [Passage(text=text) for text in contexts],
                citations=[Citation(claim="a", chunk_id="1", document="Book")],
            ),
        ),
        facts or RowFacts(), MetricSettings(),
    )


def value(
    name: str, *, settings: MetricSettings | None = None, at: Subject | None = None, cosine: float | None = None, **checks: ItemVerdicts,
) -> MetricValue:
    """The metric on checks: `answer_claims__reference` stands for answer_claims@reference."""
    facts = RowFacts(checks={fact.replace("__", "@").replace("_in_", ":"): check for fact, check in checks.items()})
    facts.cosines["similarity:reference"] = Cosines((cosine,)) if cosine is not None else Cosines(failure=Failure("embedding_error"))
    made = at or subject()
    made.facts, made.run_settings = facts, settings or MetricSettings()
    return all_metrics()[name].value(made)


def factual(name: str, answer: str, reference: str, **more: Any) -> MetricValue:
    return value(name, answer_claims__reference=checked(answer), reference_claims__answer=checked(reference), **more)


@pytest.mark.parametrize(("answer", "reference", "tp", "fp", "fn", "f1", "printed"), [
    ("sss", "ss", 3, 0, 0, 1.0, 1.0),  # as printed: 6 / 3, clipped
    ("ssc", "sn", 2, 1, 1, 4 / 6, 1.0),  # as printed: 4 / 4
    ("scn", "snnn", 1, 2, 3, 2 / 7, 2 / 6),
    ("cn", "nn", 0, 2, 2, 0.0, 0.0),
    ("", "nnn", 0, 0, 3, 0.0, 0.0),
])
def test_factual_correctness_counted_by_hand(answer: str, reference: str, tp: int, fp: int, fn: int, f1: float, printed: float) -> None:
    ours = factual("factual_correctness", answer, reference)
    assert (ours.detail["tp"], ours.detail["fp"], ours.detail["fn"]) == (tp, fp, fn)
    assert ours.value == pytest.approx(f1)
    assert factual("factual_correctness_printed", answer, reference).value == pytest.approx(printed)
    assert (ours.detail["contradicted"], ours.detail["not_stated"]) == (answer.count("c"), answer.count("n"))


@settings(deadline=None)
@given(answer=labels, reference=labels.filter(bool))
def test_factual_correctness_is_an_f1_by_another_formula(answer: str, reference: str) -> None:
    """TP / (TP + (FP + FN) / 2), and denominators that are the claims that were given."""
    tp, fp, fn = answer.count("s"), len(answer) - answer.count("s"), len(reference) - reference.count("s")
    found = factual("factual_correctness", answer, reference)
    assert found.value == pytest.approx(tp / (tp + (fp + fn) / 2) if tp else 0.0)
    assert found.detail["precision"] == pytest.approx(tp / len(answer) if answer else 0.0)
    assert found.detail["recall"] == pytest.approx(reference.count("s") / len(reference))
    assert found.detail["tp"] + found.detail["fp"] == len(answer)  # type: ignore[operator]
    assert factual("factual_correctness_printed", answer, reference).value >= found.value  # type: ignore[operator]


@pytest.mark.slow
@settings(deadline=None)
@given(answer=labels, reference=labels.filter(bool), cosine=st.floats(-1, 1), weight=st.floats(0, 1))
def test_answer_accuracy_is_the_weighted_sum(answer: str, reference: str, cosine: float, weight: float) -> None:
    settings = MetricSettings(accuracy_weight=weight)
    parts = {name: factual(name, answer, reference).value or 0.0 for name in ("factual_correctness", "factual_correctness_printed")}
    similar = max(0.0, cosine)
    for name, correct, like in (
        ("answer_accuracy", parts["factual_correctness"], similar),
        ("answer_accuracy_printed", parts["factual_correctness_printed"], similar),
        ("answer_accuracy_compat", parts["factual_correctness"], (cosine + 1) / 2),
    ):
        found = factual(name, answer, reference, cosine=cosine, settings=settings)
        assert found.value == pytest.approx(weight * correct + (1 - weight) * like, abs=1e-12)
        assert found.detail["cosine"] == cosine


def test_an_accuracy_without_an_embedding_is_unscored_and_keeps_the_counts() -> None:
    found = factual("answer_accuracy", "ss", "s")
    assert (found.status, found.cause, found.detail["tp"]) == ("unscored", "embedding_error", 2)


@pytest.mark.slow
@settings(deadline=None)
@given(letters=labels.filter(bool))
def test_faithfulness_and_both_hallucinations_share_out_all_claims(letters: str) -> None:
    found = [value(name, answer_claims__contexts=checked(letters)) for name in GROUNDING]
    assert sum(one.value for one in found if one.value is not None) == pytest.approx(1.0)
    assert all(one.detail["claims"] == len(letters) for one in found)
    assert found[0].value == pytest.approx(letters.count("s") / len(letters))
    assert found[1].value == pytest.approx(letters.count("c") / len(letters))


SHARES = [
    ("faithfulness", "answer_claims__contexts"), ("evidence_recall", "evidence__contexts"), ("claim_recall", "reference_claims__contexts"),
    ("evidence_coverage", "evidence__answer"), ("evidence_coverage_compat", "reference_claims__answer"),
    ("answer_completeness", "points__answer"), ("statement_precision", "answer_claims__statements"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "fact"), SHARES)
@settings(deadline=None)
@given(letters=labels.filter(bool), at=st.integers(0, 11))
def test_one_more_supported_statement_raises_a_share_by_its_part(name: str, fact: str, letters: str, at: int) -> None:
    at %= len(letters)
    better = letters[:at] + "s" + letters[at + 1 :]
    before, after = value(name, **{fact: checked(letters)}).value, value(name, **{fact: checked(better)}).value
    assert before is not None and after is not None
    assert after - before == pytest.approx((letters[at] != "s") / len(letters))


@pytest.mark.long
@pytest.mark.parametrize(("name", "fact"), SHARES)
@settings(deadline=None)
@given(letters=st.text(alphabet="scn-", min_size=1, max_size=9).filter(lambda letters: "-" in letters))
def test_a_single_missing_verdict_leaves_the_value_unscored_with_the_counts_so_far(name: str, fact: str, letters: str) -> None:
    found = value(name, **{fact: checked(letters)})
    assert (found.status, found.value, found.cause) == ("unscored", None, "missing_item")
    assert found.detail["unjudged"] == letters.count("-")
    assert found.detail["supported"] == letters.count("s")
    assert len(letters) in found.detail.values(), "the number of statements is that of the input"


@pytest.mark.parametrize(("left", "right"), [("s-", "s"), ("s", "s-"), ("--", "--")])
def test_factual_correctness_needs_both_lists_whole(left: str, right: str) -> None:
    found = factual("factual_correctness", left, right)
    assert (found.status, found.value) == ("unscored", None)
    assert found.detail["judged"] == left.count("s")


@pytest.mark.parametrize("blank", ["", "  \n", "\u3000"])
def test_an_empty_answer_is_zero_where_it_should_be_right_and_has_no_meaning_for_grounding(blank: str) -> None:
    for name in REFERENCE:
        found = value(name, at=subject(answer=blank))
        assert (found.status, found.value, found.detail["empty_answer"]) == ("scored", 0.0, True), name
    for name in GROUNDING:
        found = value(name, at=subject(answer=blank))
        assert (found.status, found.reason) == ("not_applicable", "the answer makes no claim")


def test_of_several_right_answers_the_nearest_counts_for_the_similarity_part() -> None:
    made = subject(references=["another"])
    made.facts.checks |= {"answer_claims@reference": checked("sn"), "reference_claims@answer": checked("s")}
    made.facts.cosines["similarity:reference"] = Cosines((0.2, 0.6))
    found = all_metrics()["answer_accuracy"].value(made)
    assert found.value == pytest.approx(0.75 * 2 / 3 + 0.25 * 0.6)
    assert (found.detail["cosine"], found.detail["similarity"]) == (0.6, 0.6)


def test_an_answer_that_is_an_error_counts_as_empty() -> None:
    made = subject()
    made.row = made.row.model_copy(update={"answer": made.row.answer.model_copy(update={"error": "timeout", "answer": "half an ans"})})
    assert value("factual_correctness", at=made).detail == {"empty_answer": True}


def test_an_answer_without_a_claim_is_zero_for_correctness_and_nothing_to_ground() -> None:
    assert factual("factual_correctness", "", "nn").value == 0.0
    assert value("statement_precision", answer_claims__statements=checked("")).value == 0.0
    assert value("citation_coverage", citations_in_claims=checked("")).value == 0.0
    assert value("faithfulness", answer_claims__contexts=checked("")).status == "not_applicable"
    assert factual("answer_accuracy", "", "nn", cosine=0.4).value == pytest.approx(0.1)


def test_a_reference_that_makes_no_claim_has_no_meaning_also_against_an_answer_that_makes_none() -> None:
    for answer in ("", "ss", "nn"):
        assert factual("factual_correctness", answer, "").reason == "the reference makes no claim"
    assert value("evidence_coverage_compat", reference_claims__answer=checked("")).status == "not_applicable"
    assert value("claim_recall", reference_claims__contexts=checked("")).status == "not_applicable"


def test_without_a_reference_or_contexts_a_metric_has_no_meaning() -> None:
    row = subject(reference=None, evidence=[], points=[], contexts=None).row
    for name in ("factual_correctness", "claim_recall", "answer_completeness", "answer_accuracy", "evidence_coverage", "faithfulness"):
        assert lacking(all_metrics()[name], row)
    assert value("binary_accuracy", at=subject(reference=None)).status == "not_applicable"


def rated(*ratings: float | None) -> ItemVerdicts:
    names = {0.0: "irrelevant", 0.5: "partly_relevant", 1.0: "relevant"}
    return ItemVerdicts(tuple(
        JudgedItem(n, "c", None if r is None else names[r], rating=r, failure=GONE if r is None else None)
        for n, r in enumerate(ratings, start=1)
    ))


@settings(deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=9))
def test_context_relevance_is_the_mean_and_precision_the_share_from_the_limit_on(ratings: list[float]) -> None:
    at = subject(contexts=["c"] * len(ratings))
    assert value("context_relevance", at=at, ratings=rated(*ratings)).value == pytest.approx(sum(ratings) / len(ratings))
    for limit, above in ((0.5, sum(r > 0 for r in ratings)), (1.0, sum(r == 1 for r in ratings))):
        found = value("context_precision", at=at, settings=MetricSettings(relevant_from=limit), ratings=rated(*ratings))
        assert found.value == pytest.approx(above / len(ratings))


def test_a_context_without_a_rating_leaves_relevance_unscored() -> None:
    found = value("context_relevance", at=subject(contexts=["a", "b"]), ratings=rated(1.0, None))
    assert (found.status, found.detail) == ("unscored", {"contexts": 2, "unjudged": 1})


def test_nothing_retrieved_is_no_evidence_and_has_no_relevance() -> None:
    nothing = {"at": subject(contexts=[])}
    assert value("evidence_recall", evidence__contexts=checked("nn"), **nothing).value == 0.0
    assert value("faithfulness", answer_claims__contexts=checked("nn"), **nothing).value == 0.0
    for name in ("context_relevance", "context_precision", "context_relevance_compat"):
        assert value(name, **nothing).reason == "nothing was retrieved"


def test_contexts_that_are_known_by_id_only_cannot_be_judged_and_are_no_zero() -> None:
    made = subject(contexts=["", " "])
    for name in ("faithfulness", "evidence_recall", "claim_recall", "context_relevance", "context_precision"):
        assert value(name, at=made).reason == "the contexts have no text"


def test_contexts_without_a_text_are_told_beside_the_ratings_of_the_others() -> None:
    found = value("context_relevance", at=subject(contexts=["a", "", "b"]), ratings=rated(1.0, 0.0))
    assert (found.value, found.detail["contexts"], found.detail["without_text"]) == (0.5, 2, 1)


def test_the_joined_rating_is_the_value() -> None:
    assert value("context_relevance_compat", rating_in_joined=rated(0.5)).value == 0.5
    assert value("context_relevance_compat", rating_in_joined=rated(None)).status == "unscored"


@pytest.mark.parametrize(("label", "level", "expected"), [
    ("correct", None, 1.0), ("partial", None, 0.0), ("incorrect", "fact_retrieval", 0.0), ("refusal", None, 0.0),
    ("refusal", "out_of_context", 1.0), ("correct", "negative", 1.0), ("partial", "negative", 0.0),
])
def test_a_class_is_right_or_wrong(label: str, level: str | None, expected: float) -> None:
    found = value("binary_accuracy", at=subject(level=level), binary=ItemVerdicts((JudgedItem(1, "a", label, rating=expected),)))
    assert (found.value, found.detail["answer_class"], found.detail["partial"]) == (expected, label, float(label == "partial"))


def test_an_answer_to_a_question_outside_the_texts_needs_no_reference() -> None:
    made = subject(reference=None, level="out_of_context")
    assert value("binary_accuracy", at=made, binary=ItemVerdicts((JudgedItem(1, "a", "refusal", rating=1.0),))).value == 1.0


def cited(*marks: str) -> ItemVerdicts:
    return ItemVerdicts(tuple(JudgedItem(n, "c", mark or None, failure=None if mark else GONE) for n, mark in enumerate(marks, start=1)))


def test_citation_precision_counts_unknown_chunks_as_not_supporting() -> None:
    found = value("citation_precision", citations=cited("supported", "unknown_chunk", "not_stated", "supported"))
    assert (found.value, found.detail["unknown_chunk"]) == (0.5, 1)
    assert value("citation_precision", citations=cited("supported", "")).status == "unscored"
    bare = subject()
    bare.row = bare.row.model_copy(update={"answer": bare.row.answer.model_copy(update={"citations": []})})
    assert value("citation_precision", at=bare, citations=cited()).reason == "the answer cites nothing"


def test_citation_coverage_is_over_the_answers_claims() -> None:
    found = value("citation_coverage", citations_in_claims=cited("cited", "uncited", "uncited", "cited"))
    assert (found.value, found.detail) == (0.5, {"claims": 4, "cited": 2})
    assert value("citation_coverage", citations_in_claims=cited("cited", "")).status == "unscored"


@pytest.mark.parametrize(("gold", "named", "expected"), [
    ("Novel-44557", ["novel 44557"], 1.0), ("docs/Novel-44557.txt", ["Novel-44557"], 1.0), ("Stra\u00dfe.PDF", ["STRASSE.pdf"], 1.0),
    ("A", ["B"], 0.0), ("A", ["A", "B", "C", "a.md"], 1 / 3), ("\u5317\u4eac.txt", ["\u5317\u4eac"], 1.0),
    ("\u5317\u4eac", ["\u4e0a\u6d77"], 0.0),
    ("Dr. No", ["Dr. Who"], 0.0), ("!!!", ["???"], 0.0), (r"C:\texts\a.txt", ["a"], 1.0),
])
def test_the_named_document_is_the_gold_one_whatever_its_spelling(gold: str, named: list[str], expected: float) -> None:
    made = subject(document=gold)
    citations = [Citation(document=name) for name in named]
    made.row = made.row.model_copy(update={"answer": made.row.answer.model_copy(update={"citations": citations})})
    assert value("source_document_accuracy", at=made).value == pytest.approx(expected)


def test_verdicts_are_records_once_each_with_their_call_and_their_failure() -> None:
    made = subject()
    made.trial = 2
    made.facts.checks["answer_claims@contexts"] = ItemVerdicts((
        JudgedItem(1, "x" * 900, "supported", reason="said", sources=(2,), call="k1"), JudgedItem(2, "b", failure=GONE),
    ))
    first, second = verdicts_of(made)
    assert (first.metric, first.item, first.label) == ("answer_claims@contexts", 1, "supported")
    assert (first.sources, first.call, first.trial) == ([2], "k1", 2)
    assert len(first.text) == 501
    assert (second.label, second.reason) == (None, "missing_item: the reply has no answer to this number")


def test_every_metric_on_claims_tells_what_it_asks_for_and_what_that_costs() -> None:
    for metric in all_metrics().values():
        if any("@" in fact or fact.startswith("claims") for fact in metric.asks):
            assert "judge" in metric.tools or "graph" in metric.tools, metric.name
            assert metric.calls != "0" and metric.definition and metric.source
