"""Right, answered, falsely answered: of one answer, by a judge's class of it or by words alone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from kgeval.metrics.definition import Metric, MetricValue, Subject, not_applicable, scored
from kgeval.metrics.judge.context import answer_text
from kgeval.metrics.judge.ratings import outside
from kgeval.metrics.shares import zero_for_empty
from kgeval.metrics.words import words
from kgeval.records import Question, Score
from kgeval.text.wordlists import word_list

JUDGED = "binary_accuracy"
CONTAINS, ATTEMPTED, FALSE = "contains", "attempted", "false_answer"
LONG = 8  # words: a right answer of more is seldom said word for word
_NO_REFERENCE = "no reference answer is given"
_OUTSIDE, _INSIDE = "the texts do not answer the question", "the texts answer the question"
_YES_NO = (["yes"], ["no"])
_WITHDRAWN = frozenset(("refusal", "empty"))


@cache
def _refusals() -> tuple[str, ...]:
    return tuple(" ".join(words(phrase, articles=True)) for phrase in word_list("refusals"))


def is_refusal(text: str) -> bool:
    """Whether an answer says that it does not know, or that the texts do not tell: by phrases of several languages, no model. An answer
    that says so and then answers all the same counts as a refusal: words alone do not tell."""
    line = " ".join(words(text, articles=True))
    # a phrase of one word ("unknown") must be the whole answer: within a sentence it says something else
    return not line or any(f" {phrase} " in f" {line} " if " " in phrase else phrase == line for phrase in _refusals())


def says(answer: str, right: str) -> bool:
    """Whether an answer says a right answer word for word. Yes and no must be its first word: "no" stands in many answers."""
    right_words, answer_words = words(right), words(answer)
    if not right_words:
        return False
    if right_words in _YES_NO:
        return answer_words[:1] == right_words
    return f" {' '.join(right_words)} " in f" {' '.join(answer_words)} "


def contains(subject: Subject) -> MetricValue:
    """1 if the answer says one of the right answers, else 0."""
    question, text = subject.row.question, answer_text(subject.row)
    if outside(question):
        return not_applicable(_OUTSIDE)
    if not question.right_answers:
        return not_applicable(_NO_REFERENCE)
    return scored(float(any(says(text, right) for right in question.right_answers))) if text else zero_for_empty()


def attempted(subject: Subject) -> MetricValue:
    """1 if the answer claims something, 0 if it is empty or says that it does not know."""
    return not_applicable(_OUTSIDE) if outside(subject.row.question) else scored(float(_claims(subject)))


def false_answer(subject: Subject) -> MetricValue:
    """Of a question that the texts do not answer: 1 if the answer claims something all the same."""
    return scored(float(_claims(subject))) if outside(subject.row.question) else not_applicable(_INSIDE)


def _claims(subject: Subject) -> bool:
    text = answer_text(subject.row)
    return bool(text) and not is_refusal(text)


BY_WORDS: tuple[Metric, ...] = (
    Metric(
        name=CONTAINS, group="answers", summary="Whether the answer says a right answer word for word.",
        definition="1 if the words of a right answer stand in the answer, in their order and side by side (NFKC, case-folded, without "
        "punctuation and English articles), else 0; yes and no must be its first word.", source="kgeval", compute=contains,
    ),
    Metric(
        name=ATTEMPTED, group="answers", summary="Whether the answer claims something.",
        definition="0 if the answer is empty or has a phrase of refusal, else 1.", source="kgeval", compute=attempted,
    ),
    Metric(
        name=FALSE, group="answers", summary="Whether a question that the texts do not answer is answered all the same.",
        definition="Of the levels out_of_context and negative: 0 if the answer is empty or has a phrase of refusal, else 1.",
        source="Kasiak 4.1", compute=false_answer, better="lower",
    ),
)


def derived(score: Score, question: Question) -> Iterator[Score]:
    """What a judge's class of an answer says of the answer being an attempt, or a false answer: the two other scores of the row."""
    if score.metric != JUDGED:
        return
    beyond, label = outside(question), score.detail.get("answer_class")
    for name, meant, why in ((ATTEMPTED, not beyond, _OUTSIDE), (FALSE, beyond, _INSIDE)):
        base = score.model_copy(update={"metric": name, "detail": {}, "signature": f"{name}/{score.signature}"})
        if not meant:
            yield base.model_copy(update={"value": None, "status": "not_applicable", "reason": why})
        elif score.status != "scored" or not isinstance(label, str):
            status = "not_applicable" if score.status == "not_applicable" else "unscored"
            reason = score.reason or "missing_item: the score does not tell the class of the answer"
            yield base.model_copy(update={"value": None, "status": status, "reason": reason})
        else:
            refused = label in _WITHDRAWN or (beyond and score.value == 1)
            yield base.model_copy(update={"value": float(not refused), "reason": None})
