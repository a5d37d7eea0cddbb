"""The same claims and verdicts, through other tools' own code and through ours: equal where their formula is right; where it is not,
both numbers stand here. How theirs were made: tools/goldens/README.md."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from kgeval.llm.calls import Failure
from kgeval.metrics.definition import MetricSettings, MetricValue, Subject
from kgeval.metrics.facts import Cosines, ItemVerdicts, JudgedItem, RowFacts, TextList
from kgeval.metrics.table import all_metrics
from kgeval.records import Answer, Passage, Question, Row

GOLDENS = Path(__file__).parent / "goldens"
GIVEN = json.loads((GOLDENS / "ragas.json").read_text(encoding="utf-8"))["cases"]
BENCH = json.loads((GOLDENS / "graphrag_bench.json").read_text(encoding="utf-8"))["cases"]
CHECKER = json.loads((GOLDENS / "ragchecker.json").read_text(encoding="utf-8"))["cases"]
ROUGE = json.loads((GOLDENS / "rouge.json").read_text(encoding="utf-8"))["cases"]
LABELS = {"E": "supported", "N": "not_stated", "C": "contradicted", 1: "supported", 0: "not_stated"}
MISSING = Failure("missing_item", "the reply has no answer to this number")
PROSE = Failure("unparsable", "the reply is prose")


def checked(labels: Iterable[Any], *, sources: Sequence[tuple[int, ...]] | None = None) -> ItemVerdicts:
    """One item a label; null: the judge never returned it."""
    made = []
    for at, label in enumerate(labels):
        word = LABELS.get(label)
        where = sources[at] if sources else (1,) if word == "supported" else ()
        made.append(JudgedItem(at + 1, f"item {at + 1}", word, sources=where, failure=MISSING if label is None else None))
    return ItemVerdicts(tuple(made))


def rated(ratings: Iterable[float | None]) -> ItemVerdicts:
    """One item a rating on 0, 1, 2; null, and what is not on the scale: never became a rating."""
    return ItemVerdicts(tuple(
        JudgedItem(n, f"context {n}", rating=r / 2, label="rated") if r in (0, 1, 2) else JudgedItem(n, f"context {n}", failure=PROSE)
        for n, r in enumerate(ratings, 1)
    ))


def ours(name: str, facts: RowFacts, *, contexts: int = 1, evidence: int = 1, answer: str = "an answer") -> MetricValue:
    """Our value of the metric for a row with these facts."""
    metric = all_metrics()[name]
    row = Row(
        n=0, where="x:1",
        question=Question(id="1", question="q", reference="a reference", evidence=[Passage(text=f"e {n}") for n in range(evidence)]),
        answer=Answer(question_id="1", system="s", answer=answer, contexts=[Passage(text=f"c {n}") for n in range(contexts)]),
    )
    return metric.value(Subject(row, facts, MetricSettings()))


def padded(verdicts: Sequence[Any], count: int) -> list[Any]:
    """As many verdicts as there are items: those that did not come back are null, surplus ones fall away."""
    return [*verdicts, *[None] * count][:count]


def cases(given: Iterable[Mapping[str, Any]], metric: str) -> list[Any]:
    return [pytest.param(case["name"], case["given"], case["theirs"], id=f"{at}-{case['name']}")
            for at, case in enumerate(given) if case["metric"] == metric]


# RAGChecker

def facts_of(case: Mapping[str, Any]) -> RowFacts:
    """RAGChecker's verdict for each claim and context, as one verdict a claim that names its contexts."""
    sources = {key: [tuple(n for n, label in enumerate(row, 1) if label == "E") for row in case[key]] for key in ("from", "found")}
    origin, found = ([1 if one else 0 for one in sources[key]] for key in ("from", "found"))
    return RowFacts(checks={
        "answer_claims@reference": checked(case["right"]), "reference_claims@answer": checked(case["recalled"]),
        "answer_claims@contexts": checked(origin, sources=sources["from"]),
        "reference_claims@contexts": checked(found, sources=sources["found"]),
    }, texts={"claims:answer": texts(len(case["right"])), "claims:reference": texts(len(case["recalled"]))})


def texts(count: int) -> TextList:
    return TextList(tuple(f"item {number}" for number in range(1, count + 1)))


@pytest.mark.parametrize(("theirs", "name"), [
    ("claim_recall", "claim_recall"), ("context_precision", "context_precision_compat"), ("context_utilization", "context_utilization"),
    ("noise_sensitivity_in_relevant", "noise_sensitivity_relevant"), ("noise_sensitivity_in_irrelevant", "noise_sensitivity_irrelevant"),
    ("hallucination", "hallucination"), ("self_knowledge", "self_knowledge"), ("faithfulness", "faithfulness"),
])
def test_ragcheckers_figures_come_out_on_its_own_verdicts(theirs: str, name: str) -> None:
    apart = []
    for case in CHECKER:
        value, expected = ours(name, facts_of(case), contexts=case["contexts"]), case["theirs"][theirs]
        if value.status == "not_applicable":
            assert expected == 0, "there, nothing to count is 0"
        elif case["contexts"] == 0 and name in ("hallucination", "self_knowledge"):
            apart.append((value.value, expected))
        else:
            assert value.value == pytest.approx(expected, abs=1e-12)
    assert sum(case["contexts"] > 0 for case in CHECKER) > 50
    # nothing retrieved, 3 claims, 1 right: theirs are 0 as if all were read somewhere
    assert apart == {"hallucination": [(2 / 3, 0)], "self_knowledge": [(1 / 3, 0)]}.get(name, [])


def test_ragcheckers_precision_recall_and_f1_come_out_of_its_own_verdicts() -> None:
    scored = apart = 0
    for case in CHECKER:
        facts, theirs = facts_of(case), case["theirs"]
        value, base = ours("factual_correctness_compat", facts), ours("factual_correctness", facts)
        assert (value.status, base.status) in (("scored", "scored"), ("not_applicable", "not_applicable"))
        if value.status == "scored":
            assert value.value == pytest.approx(theirs["f1"], abs=1e-12)
            for one in (value, base):
                figures = [one.detail["precision"], one.detail["recall"]]
                assert figures == [pytest.approx(theirs["precision"], abs=1e-12), pytest.approx(theirs["recall"], abs=1e-12)]
            scored += 1
            apart += value.value != pytest.approx(base.value)
    assert scored > 50
    assert apart > 10, "2TP / (2TP + FP + FN) counts TP on the answer's list, a harmonic mean on both"


def test_the_three_kinds_of_wrong_claims_add_up_to_all_wrong_claims() -> None:
    for case in CHECKER:
        if case["right"] and case["contexts"]:
            names = ("noise_sensitivity_relevant", "noise_sensitivity_irrelevant", "hallucination")
            parts = [ours(name, facts_of(case), contexts=case["contexts"]).value or 0 for name in names]
            assert sum(parts) == pytest.approx(sum(label != "E" for label in case["right"]) / len(case["right"]))


# ragas

@pytest.mark.parametrize(("name", "given", "theirs"), cases(GIVEN, "faithfulness"))
def test_ragas_faithfulness(name: str, given: Any, theirs: Any) -> None:
    found = checked(padded(given["verdicts"], given["claims"]))
    value = ours("faithfulness", RowFacts(checks={"answer_claims@contexts": found}, texts={"claims:answer": texts(given["claims"])}))
    if name == "full":
        assert value.value == pytest.approx(theirs)
    elif name == "long list":  # theirs divides by four verdicts on two claims
        assert (theirs, value.value) == (0.25, 0.5)
    elif name == "no claims":
        assert (theirs, value.status) == ("nan", "not_applicable")
    else:  # theirs divides by what came back
        assert theirs in (1.0, 0.5, "nan")
        assert (value.status, value.value, value.cause) == ("unscored", None, "missing_item")


@pytest.mark.parametrize(("name", "given", "theirs"), cases(GIVEN, "factual_correctness"))
def test_ragas_factual_correctness(name: str, given: Any, theirs: Any) -> None:
    right, recalled = given["right"], given["recalled"]
    value = ours("factual_correctness", RowFacts(
        checks={"answer_claims@reference": checked(right), "reference_claims@answer": checked(recalled)},
        texts={"claims:answer": texts(len(right)), "claims:reference": texts(len(recalled))},
    ))
    if name == "no claims at all":
        assert (theirs["f1"], value.status) == (0.0, "not_applicable")
        return
    assert round(value.value or 0, 2) == theirs["f1"]
    if right:
        assert round(float(str(value.detail["precision"])), 2) == theirs["precision"]
        # theirs takes the right claims of the answer for claims of the reference
        mixed = sum(right) / (sum(right) + recalled.count(0)) if sum(right) else 0.0
        assert theirs["recall"] == round(mixed, 2)
        assert value.detail["recall"] == pytest.approx(sum(recalled) / len(recalled))
    if name == "mixed recall":
        assert (theirs["recall"], value.detail["recall"]) in ((0.9, 0.5), (0.5, 0.8))


@pytest.mark.parametrize(("name", "given", "theirs"), cases(GIVEN, "context_recall"))
def test_ragas_context_recall(name: str, given: Any, theirs: Any) -> None:
    found = checked(padded(given["verdicts"], given["claims"]))
    value = ours("claim_recall", RowFacts(checks={"reference_claims@contexts": found}, texts={"claims:reference": texts(given["claims"])}))
    if name == "full":
        assert value.value == pytest.approx(theirs)
    else:
        assert theirs == {"short list": 1.0, "empty list": "nan"}[name]
        assert (value.status, value.cause) == ("unscored", "missing_item")


@pytest.mark.parametrize(("name", "given", "theirs"), cases(GIVEN, "context_relevance"))
def test_ragas_context_relevance(name: str, given: Any, theirs: Any) -> None:
    said = [float(text) if text.replace(".", "").isdigit() else None for text in given["said"]]
    value = ours("context_relevance_compat", RowFacts(checks={"rating:joined": rated(said[:1])}))
    if name == "same":
        assert value.value == theirs
    elif name == "two opinions":  # theirs asks twice and averages two readings of one scale
        assert (theirs, value.value) == (0.75, 1.0)
    else:
        assert theirs == {"one failed": "nan", "both failed": "nan", "off the scale": 0.75}[name]
        assert (value.status, value.cause) == ("unscored", "unparsable")


@pytest.mark.parametrize(("name", "given", "theirs"), cases(GIVEN, "answer_correctness"))
def test_ragas_answer_correctness(name: str, given: Any, theirs: Any) -> None:
    tp, fp, fn = given["tp"], given["fp"], given["fn"]
    lost = [None] * 3 if name == "classification empty" else []
    value = ours("answer_accuracy", accuracy_facts([1] * tp + [0] * fp + lost, [1] * tp + [0] * fn + lost, given["cosine"]))
    if name == "full":
        assert value.value == pytest.approx(theirs)
    elif name == "negative cosine":  # theirs counts a cosine below 0 against the answer
        assert (theirs, value.value) == (0.225, pytest.approx(0.375))
    elif name == "both lists empty":  # theirs: nothing found on both sides is perfect
        assert (theirs, value.status) == (0.9, "not_applicable")
    else:  # statements were there, their classes were not: theirs counts the answer as wrong
        assert (theirs, value.status, value.cause) == (0.15, "unscored", "missing_item")


def accuracy_facts(right: Sequence[Any], recalled: Sequence[Any], cosine: float) -> RowFacts:
    return RowFacts(
        checks={"answer_claims@reference": checked(right), "reference_claims@answer": checked(recalled)},
        texts={"claims:answer": texts(len(right)), "claims:reference": texts(len(recalled))},
        cosines={"similarity:reference": Cosines((cosine,))},
    )


@pytest.mark.parametrize(("name", "given", "theirs"), cases(GIVEN, "answer_relevancy"))
def test_ragas_response_relevancy(name: str, given: Any, theirs: Any) -> None:
    made = TextList(("q 1", "q 2", "q 3"), flags={"noncommittal": given["evasive"] > 0})
    facts = RowFacts(texts={"questions": made}, cosines={"similarity:questions": Cosines(tuple(given["cosines"]))})
    value = ours("answer_relevancy", facts)
    assert ours("answer_relevancy_compat", facts).value == pytest.approx(max(theirs, 0))
    if name == "committal":
        assert value.value == pytest.approx(theirs)
    elif name == "negative":  # theirs is below the range it states
        assert (theirs, value.value) == (pytest.approx(-0.8), 0.0)
    else:  # theirs sets an answer that commits itself to nothing to 0; ours says so beside the cosine
        assert (theirs, value.detail["noncommittal"]) == (0.0, True)
        assert value.value == pytest.approx(sum(given["cosines"]) / 3)


# GraphRAG-Bench

@pytest.mark.parametrize(("name", "given", "theirs"), cases(BENCH, "evidence_coverage"))
def test_graphrag_bench_coverage(name: str, given: Any, theirs: Any) -> None:
    marks = [mark if isinstance(mark, int) else None for mark in padded(given["marks"], given["items"])]
    value = ours("evidence_coverage", RowFacts(checks={"evidence@answer": checked(marks)}), evidence=given["items"])
    compat = ours("evidence_coverage_compat", RowFacts(checks={"reference_claims@answer": checked(marks)}))
    assert (compat.status, compat.value) == (value.status, value.value)
    if name == "full":
        assert value.value == pytest.approx(theirs)
    else:
        assert theirs == {"3 facts, 1 mark": 1.0, "mark is a text": "nan"}[name]
        assert (value.status, value.value) == ("unscored", None)


@pytest.mark.parametrize(("name", "given", "theirs"), cases(BENCH, "evidence_recall"))
def test_graphrag_bench_evidence_recall(name: str, given: Any, theirs: Any) -> None:
    marks = padded(given["marks"], given["items"])
    value = ours("evidence_recall", RowFacts(checks={"evidence@contexts": checked(marks)}), evidence=given["items"])
    if name == "full":
        assert value.value == pytest.approx(theirs)
    else:
        assert (theirs, value.status) == (0.5, "unscored")


@pytest.mark.parametrize(("name", "given", "theirs"), cases(BENCH, "faithfulness"))
def test_graphrag_bench_faithfulness(name: str, given: Any, theirs: Any) -> None:
    said = [verdict["verdict"] if verdict.get("reason") else None for verdict in given["verdicts"] or []]
    found = checked(padded(said, given["items"]))
    value = ours("faithfulness", RowFacts(checks={"answer_claims@contexts": found}, texts={"claims:answer": texts(given["items"])}))
    if name == "full":
        assert value.value == pytest.approx(theirs)
    else:
        assert theirs == {"2 statements, 1 verdict": 1.0, "verdict without a reason": 1.0, "statements in an object": "nan"}[name]
        assert (value.status, value.value) == ("unscored", None)


@pytest.mark.parametrize(("name", "given", "theirs"), cases(BENCH, "answer_accuracy"))
def test_graphrag_bench_answer_accuracy(name: str, given: Any, theirs: Any) -> None:
    parts, cosine = given["parts"], given["cosine"]
    whole = parts is not None and name == "full"
    right = [1] * len(parts["TP"]) + [0] * len(parts["FP"]) if whole else [None] * given["answer"]
    recalled = [1] * len(parts["TP"]) + [0] * len(parts["FN"]) if whole else [None] * given["reference"]
    value = ours("answer_accuracy_compat", accuracy_facts(right, recalled, cosine))
    if name == "full":
        assert value.value == pytest.approx(theirs, abs=1e-9)
    elif name == "both statement lists empty":
        assert (theirs, value.status) == (0.875, "not_applicable")
    else:
        assert theirs == {"classification is prose": pytest.approx(0.2), "plain strings": "dropped"}[name]
        assert (value.status, value.value) == ("unscored", None)


@pytest.mark.parametrize(("name", "given", "theirs"), cases(BENCH, "context_relevance_compat"))
def test_graphrag_bench_context_relevance(name: str, given: Any, theirs: Any) -> None:
    value = ours("context_relevance_compat", RowFacts(checks={"rating:joined": rated(given["said"][:1])}))
    if name == "full":
        assert value.value == theirs
    elif name == "off the scale":
        assert (theirs, value.status) == (0.75, "unscored")
    else:  # theirs answers for the judge where the contexts stand in the question
        assert (theirs, value.value) == (0.0, 1.0)


@pytest.mark.parametrize(("name", "given", "theirs"), cases(BENCH, "context_relevance"))
def test_graphrag_bench_context_relevance_by_context(name: str, given: Any, theirs: Any) -> None:
    value = ours("context_relevance", RowFacts(checks={"ratings": rated(given["said"])}), contexts=len(given["said"]))
    if name == "full":
        assert value.value == pytest.approx(theirs)
    else:
        assert theirs == {"off the scale": 2.5, "every call fails": 0.0}[name]
        assert (value.status, value.value) == ("unscored", None)


# rouge-score

@pytest.mark.slow
@pytest.mark.parametrize("case", ROUGE, ids=lambda case: case["answer"][:20] or "empty")
def test_rouge_l_compat_is_that_of_the_package(case: dict[str, Any]) -> None:
    row = Row(
        n=0, where="x:1", question=Question(id="1", question="q", reference=case["reference"]),
        answer=Answer(question_id="1", system="s", answer=case["answer"]),
    )
    value = all_metrics()["rouge_l_compat"].value(Subject(row, RowFacts(), MetricSettings()))
    if case["reference"].strip():
        assert value.value == pytest.approx(case["theirs"], abs=1e-12)
