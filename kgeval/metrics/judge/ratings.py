"""Judgements of a row that are not about statements: each context's relevance, all of them joined, and the answer as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pydantic import JsonValue

from kgeval.config import Criterion
from kgeval.llm.calls import Outcome
from kgeval.metrics.facts import ItemVerdicts, JudgedItem
from kgeval.metrics.judge.checks import MOST_ITEMS
from kgeval.metrics.judge.context import MOST_REASON, JudgeContext, answer_text, failure_of, passages
from kgeval.metrics.judge.replies import (
    AnswerVerdict,
    ContextRatings,
    CriterionGrade,
    JoinedRating,
    OutsideVerdict,
    TrueOrFalse,
    grade_reply,
)
from kgeval.records import Question

R = TypeVar("R", JoinedRating, AnswerVerdict, TrueOrFalse, CriterionGrade)
NAMES = {0: "irrelevant", 1: "partly_relevant", 2: "relevant"}
OUTSIDE = ("out_of_context", "negative")
NOT_THERE = "The texts do not contain this information."  # [K 4.1]: what the right answer to a question out of context states


def ratings(judge: JudgeContext) -> ItemVerdicts:
    """Each context with a text rated 0, 0.5 or 1, the evidence beside it. An item's number is the context's place, from 1."""
    contexts = passages(judge.row)
    slots: dict[str, JsonValue] = {"question": judge.row.question.question, "evidence": list[JsonValue](judge.row.question.evidence_texts)}
    numbers, items = list(contexts), list[JudgedItem]()
    for start in range(0, len(numbers), MOST_ITEMS):
        part = numbers[start : start + MOST_ITEMS]
        outcome = judge.ask("ratings", "rate-contexts", slots, ContextRatings, items=tuple(contexts[number] for number in part))
        for position, number in enumerate(part, start=1):  # by the place in the request, whatever the place in the row
            if (answer := outcome.answers.get(position)) is None:
                items.append(JudgedItem(number, contexts[number], failure=failure_of(outcome, position)))
            else:
                items.append(JudgedItem(
                    number, contexts[number], NAMES[answer.rating], answer.rating / 2, answer.reason.strip()[:MOST_REASON],
                    call=outcome.call_of.get(position),
                ))
    return ItemVerdicts(tuple(items))


def _only_item(text: str, outcome: Outcome[R], rate: Callable[[R], tuple[str, float]]) -> ItemVerdicts:
    """The one item of a check: the label and the rating that `rate` reads in the reply, or why there is no reply."""
    if outcome.value is None:
        return ItemVerdicts((JudgedItem(1, text, failure=failure_of(outcome)),))
    label, rating = rate(outcome.value)
    reason = outcome.value.reason.strip()[:MOST_REASON]
    return ItemVerdicts((JudgedItem(1, text, label, rating, reason, call=next(iter(outcome.calls), None)),))


def joined(judge: JudgeContext) -> ItemVerdicts:
    """One rating of all contexts as one text, without the evidence. No item if there is no text."""
    text = "\n\n".join(passages(judge.row).values())
    if not text:
        return ItemVerdicts()
    outcome = judge.ask("rating-joined", "rate-joined", {"question": judge.row.question.question, "text": text}, JoinedRating)
    return _only_item(text, outcome, lambda reply: (NAMES[reply.rating], reply.rating / 2))


def outside(question: Question) -> bool:
    """True for a question that the texts do not answer: the right reaction is to say so."""
    return question.level in OUTSIDE


def binary(judge: JudgeContext) -> ItemVerdicts:
    """The answer as a whole: one item with its class, rating 1 if it is right, else 0. No item for an empty answer, and none
    where there is no right answer to measure it by."""
    question, text = judge.row.question, answer_text(judge.row)
    if not text or not (question.right_answers or outside(question)):
        return ItemVerdicts()
    prompt = "judge-answer-outside" if outside(question) else "judge-answer"
    slots: dict[str, JsonValue] = {
        "question": question.question, "references": list[JsonValue](question.right_answers), "answer": text,
    }
    outcome = judge.ask("binary", prompt, slots, AnswerVerdict if question.right_answers else OutsideVerdict)

    def rate(reply: AnswerVerdict) -> tuple[str, float]:
        return reply.label, float(reply.label == "correct" or (reply.label == "refusal" and outside(question)))

    return _only_item(text, outcome, rate)


def binary_printed(judge: JudgeContext) -> ItemVerdicts:
    """The answer as a whole by the rules that Kasiak prints: as `binary`, but against one expected answer, and true or false."""
    question, text = judge.row.question, answer_text(judge.row)
    expected = [*question.right_answers, *([NOT_THERE] if outside(question) else [])]
    if not text or not expected:
        return ItemVerdicts()
    slots: dict[str, JsonValue] = {"question": question.question, "response": text, "expected_answer": expected[0]}
    outcome = judge.ask("binary-printed", "judge-answer-kasiak", slots, TrueOrFalse)
    return _only_item(text, outcome, lambda reply: ("correct" if reply.result else "incorrect", float(reply.result)))


def graded(judge: JudgeContext, criterion: Criterion) -> ItemVerdicts:
    """The grade of the row by a criterion of the user's own: one item, its label the grade, its rating the grade in 0..1.
    No item for an empty answer, where the answer is seen."""
    question, answer = judge.row.question, answer_text(judge.row)
    if "answer" in criterion.sees and not answer:
        return ItemVerdicts()
    seen: dict[str, JsonValue] = {
        "question": question.question, "answer": answer, "reference": list[JsonValue](question.right_answers),
        "contexts": list[JsonValue](judge.row.answer.context_texts), "evidence": list[JsonValue](question.evidence_texts),
    }
    grades: list[JsonValue] = [{"grade": grade, "given when": text} for grade, text in criterion.grades.items()]
    material: dict[str, JsonValue] = {name: seen[name] for name in criterion.sees}
    slots: dict[str, JsonValue] = {"criterion": criterion.question, "grades": grades, "material": material}
    text = answer if "answer" in criterion.sees else question.question
    outcome = judge.ask(f"criterion-{criterion.name}", "judge-criterion", slots, grade_reply(tuple(criterion.grades)))
    low, high = min(criterion.grades), max(criterion.grades)
    return _only_item(text, outcome, lambda reply: (str(reply.grade), (reply.grade - low) / (high - low)))
