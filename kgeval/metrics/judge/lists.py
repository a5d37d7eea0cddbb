"""Lists that a model makes of a text: claims, points of information, questions. Asked once, shared by all metrics."""

from __future__ import annotations

from typing import Literal, get_args

from kgeval.llm import tokens
from kgeval.llm.asker import digest
from kgeval.llm.characters import whole
from kgeval.metrics.facts import TextList
from kgeval.metrics.judge.context import ItemList, JudgeContext, Origin, answer_text, failure_of
from kgeval.metrics.judge.replies import MadeQuestions, Statements
from kgeval.records import Answer
from kgeval.text.sentences import sentences

ItemKind = Literal["answer_claims", "reference_claims", "evidence", "points", "steps", "reasoning"]
ITEM_KINDS: tuple[ItemKind, ...] = get_args(ItemKind)
OF_SYSTEM: frozenset[ItemKind] = frozenset(("answer_claims", "reasoning"))  # what a system says; the others are given with the question


def items_of(judge: JudgeContext, kind: ItemKind) -> ItemList:
    """The items of a kind: given by the row, or made by a model. Claims and points that a model made are facts of the subject too."""
    question = judge.row.question
    if kind == "answer_claims":
        return _extracted_list(judge, "claims:answer", answer_text(judge.row))
    if kind == "reference_claims":
        return _extracted_list(judge, "claims:reference", next(iter(question.right_answers), ""))
    if kind == "evidence":
        return ItemList(TextList(question.evidence_texts))
    if kind == "steps":
        return ItemList(TextList(_filled(question.steps or (question.path.text if question.path else []))))
    if kind == "reasoning":
        return ItemList(TextList(reasoning_steps(judge.row.answer)))
    if given := _filled(question.points):
        judge.subject.facts.texts["points"] = TextList(given)
        return ItemList(TextList(given))
    return _extracted_list(judge, "points", next(iter(question.right_answers), ""))


def reasoning_steps(answer: Answer) -> tuple[str, ...]:
    """The steps of the system's own reasoning as it tells them; where it is one text, its sentences."""
    steps = _filled(answer.reasoning or [])
    return tuple(text for start, end in sentences(steps[0]) if (text := steps[0][start:end].strip())) if len(steps) == 1 else steps


def _filled(texts: list[str]) -> tuple[str, ...]:
    return tuple(text for text in texts if text.strip())


def _extracted_list(judge: JudgeContext, fact: str, text: str) -> ItemList:
    """The list that a model makes of a text, asked for the question beside it. Nothing is asked about an empty text."""
    if not text.strip():
        judge.subject.facts.texts[fact] = TextList()
        return ItemList(TextList())
    prompt, slot = ("points", "reference") if fact == "points" else ("claims", "text")
    slots = {"question": judge.row.question.question, slot: text}
    outcome = judge.ask(fact.replace(":", "-"), prompt, slots, Statements)
    if outcome.value is not None:
        texts = TextList(outcome.value.texts, call=next(iter(outcome.calls), None))
    else:
        texts = TextList(failure=failure_of(outcome))
    judge.subject.facts.texts[fact] = texts
    put_off = judge.asker.dry and outcome.value is None
    return ItemList(texts, Origin(digest(prompt, slots), tokens.count(whole(text))) if put_off else None)


def questions(judge: JudgeContext) -> TextList:
    """Three questions that the answer would answer, with the flag `noncommittal`; none for an empty answer."""
    text = answer_text(judge.row)
    if not text:
        return TextList()
    outcome = judge.ask("questions", "questions-of-answer", {"answer": text}, MadeQuestions)
    if outcome.value is None:
        return TextList(failure=failure_of(outcome))
    return TextList(outcome.value.questions, call=next(iter(outcome.calls), None), flags={"noncommittal": outcome.value.noncommittal})
