"""RAGChecker's figures at their borders. Their values on whole verdicts: test_metrics_goldens.py."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from kgeval.llm.calls import Failure
from kgeval.metrics.definition import MetricSettings, MetricValue, Subject
from kgeval.metrics.facts import ItemVerdicts, JudgedItem, RowFacts
from kgeval.metrics.ragchecker import FOUND, FROM, METRICS, RECALLED, RIGHT
from kgeval.metrics.select import lacking
from kgeval.records import Answer, Passage, Question, Row

BY_NAME = {metric.name: metric for metric in METRICS}
LOST = Failure("missing_item", "lost")
OF_CLAIMS = ("noise_sensitivity_relevant", "noise_sensitivity_irrelevant", "hallucination", "self_knowledge")
BY_SOURCE = ("noise_sensitivity_relevant", "noise_sensitivity_irrelevant", "context_precision_compat")


def said(*verdicts: Any) -> ItemVerdicts:
    """A verdict each: the contexts that support it as a text of digits ("" for one that names none), null for not stated, or a failure."""
    made = []
    for number, verdict in enumerate(verdicts, 1):
        if isinstance(verdict, Failure):
            made.append(JudgedItem(number, "t", failure=verdict))
        elif verdict is None:
            made.append(JudgedItem(number, "t", "contradicted" if number % 2 else "not_stated"))
        else:
            made.append(JudgedItem(number, "t", "supported", sources=tuple(map(int, verdict))))
    return ItemVerdicts(tuple(made))


def row(answer: str = "an answer", contexts: tuple[str, ...] | None = ("c1", "c2", "c3")) -> Row:
    shown = None if contexts is None else [Passage(text=text, chunk_id="x") for text in contexts]
    return Row(
        n=0, where="x:1", question=Question(id="1", question="q", reference="r"),
        answer=Answer(question_id="1", system="s", answer=answer, contexts=shown),
    )


def value(name: str, given: Row | None = None, **facts: ItemVerdicts) -> MetricValue:
    usual = {RIGHT: said("1", None), FROM: said("1", "2"), RECALLED: said("1"), FOUND: said("1")}
    checks = usual | {NAMES[key]: fact for key, fact in facts.items()}
    return BY_NAME[name].value(Subject(given or row(), RowFacts(checks=checks), MetricSettings()))


NAMES = {"right": RIGHT, "origin": FROM, "recalled": RECALLED, "found": FOUND}


def test_a_claim_of_both_kinds_of_contexts_counts_for_the_relevant_ones_only() -> None:
    facts = {"right": said(None, None, None, "1"), "origin": said("12", "2", None, None), "found": said("1", None)}
    assert [value(name, **facts).value for name in OF_CLAIMS] == [1 / 4, 1 / 4, 1 / 4, 1 / 4]


@pytest.mark.parametrize(("name", "fact"), list(product(OF_CLAIMS, ("right", "origin"))))
def test_one_lost_verdict_makes_the_figure_unscored_with_its_counts(name: str, fact: str) -> None:
    found = value(name, **{fact: said("1", LOST)})
    assert (found.status, found.cause, dict(found.detail)) == ("unscored", "missing_item", {"items": 2, "judged": 1})


@pytest.mark.parametrize("name", ["hallucination", "self_knowledge"])
def test_what_a_figure_does_not_read_cannot_make_it_unscored(name: str) -> None:
    assert value(name, found=ItemVerdicts(failure=LOST), recalled=ItemVerdicts(failure=LOST)).status == "scored"


def test_utilization_needs_verdicts_on_what_was_retrieved_only() -> None:
    used = value("context_utilization", found=said("1", None, "2"), recalled=said("1", LOST, None))
    assert (used.value, dict(used.detail)) == (1 / 2, {"retrieved": 2, "used": 1})
    assert value("context_utilization", found=said("1", "1"), recalled=said("1", LOST)).status == "unscored"
    assert value("context_utilization", found=said("1", LOST), recalled=said("1", "1")).status == "unscored"
    assert value("context_utilization", row(""), found=said("1", LOST)).value == 0


@pytest.mark.parametrize("name", BY_SOURCE)
def test_support_by_no_context_leaves_open_which_ones_are_relevant(name: str) -> None:
    found = value(name, found=said(""))
    assert (found.status, found.cause) == ("unscored", "missing_item") and "by no context" in str(found.reason)
    for fact, expected in (("hallucination", 1 / 2), ("self_knowledge", 0)):
        assert value(fact, right=said("", None), origin=said("", None)).value == expected, "supported all the same"


@pytest.mark.parametrize("name", OF_CLAIMS)
def test_an_answer_without_a_claim_has_none_that_could_be_wrong(name: str) -> None:
    assert value(name, row(" \n")).status == "not_applicable"
    assert value(name, right=said(), origin=said()).status == "not_applicable"


@pytest.mark.parametrize("name", [*OF_CLAIMS, "context_precision_compat", "context_utilization"])
def test_contexts_known_by_their_ids_alone_cannot_be_read(name: str) -> None:
    assert value(name, row(contexts=("", " "))).status == "not_applicable"
    assert "contexts" in (lacking(BY_NAME[name], row(contexts=None)) or "")


def test_where_nothing_was_retrieved_every_wrong_claim_is_made_up() -> None:
    nothing = {"origin": said(None, None), "found": said(None)}
    assert [value(name, row(contexts=()), **nothing).value for name in OF_CLAIMS] == [0, 0, 1 / 2, 1 / 2]
    for name in ("context_precision_compat", "context_utilization"):
        assert value(name, row(contexts=()), **nothing).status == "not_applicable"


def test_an_empty_answer_uses_nothing_of_what_was_retrieved() -> None:
    used = value("context_utilization", row(""), found=said("1", "2", None))
    assert (used.value, dict(used.detail)) == (0.0, {"retrieved": 2, "used": 0, "empty_answer": True})
    assert value("context_utilization", found=said(None, None)).status == "not_applicable"
    assert value("factual_correctness_compat", row("")).value == 0


def test_every_context_with_a_text_is_in_the_denominator() -> None:
    assert value("context_precision_compat", row(contexts=("a", "", "b", "c")), found=said("1", "13", None)).value == 2 / 3
