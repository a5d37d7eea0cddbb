"""Lists that a model makes of a text: claims, points of information, questions. Asked once, shared by all metrics."""

from __future__ import annotations

from typing import Literal

from kgeval.llm import tokens
from kgeval.llm.asker import digest
from kgeval.llm.characters import whole
from kgeval.metrics.facts import Texts
from kgeval.metrics.judge.context import JudgeContext, Listed, Origin, failure_of, said
from kgeval.metrics.judge.replies import MadeQuestions, Statements

ItemKind = Literal["answer_claims", "reference_claims", "evidence", "points", "steps"]
ITEM_KINDS: tuple[ItemKind, ...] = ("answer_claims", "reference_claims", "evidence", "points", "steps")


def listed(desk: JudgeContext, kind: ItemKind) -> Listed:
    """The items of a kind: given by the row, or made by a model. Claims and points that a model made are facts of the subject too."""
    question = desk.row.question
    if kind == "answer_claims":
        return _made(desk, "claims:answer", said(desk.row))
    if kind == "reference_claims":
        return _made(desk, "claims:reference", next(iter(question.right_answers), ""))
    if kind == "evidence":
        return Listed(Texts(question.evidence_texts))
    if kind == "steps":
        return Listed(Texts(_filled(question.steps or (question.path.text if question.path else []))))
    if given := _filled(question.points):
        desk.subject.facts.texts["points"] = Texts(given)
        return Listed(Texts(given))
    return _made(desk, "points", next(iter(question.right_answers), ""))


def _filled(texts: list[str]) -> tuple[str, ...]:
    return tuple(text for text in texts if text.strip())


def _made(desk: JudgeContext, fact: str, text: str) -> Listed:
    """The list that a model makes of a text, asked for the question beside it. Nothing is asked about an empty text."""
    if not text.strip():
        desk.subject.facts.texts[fact] = Texts()
        return Listed(Texts())
    prompt, slot = ("points", "reference") if fact == "points" else ("claims", "text")
    slots = {"question": desk.row.question.question, slot: text}
    outcome = desk.ask(fact.replace(":", "-"), prompt, slots, Statements)
    if outcome.value is not None:
        made = Texts(outcome.value.texts, call=next(iter(outcome.calls), None))
    else:
        made = Texts(failure=failure_of(outcome))
    desk.subject.facts.texts[fact] = made
    put_off = desk.asker.dry and outcome.value is None
    return Listed(made, Origin(digest(prompt, slots), tokens.count(whole(text))) if put_off else None)


def questions(desk: JudgeContext) -> Texts:
    """Three questions that the answer would answer, with the flag `noncommittal`; none for an empty answer."""
    text = said(desk.row)
    if not text:
        return Texts()
    outcome = desk.ask("questions", "questions-of-answer", {"answer": text}, MadeQuestions)
    if outcome.value is None:
        return Texts(failure=failure_of(outcome))
    return Texts(outcome.value.questions, call=next(iter(outcome.calls), None), flags={"noncommittal": outcome.value.noncommittal})
