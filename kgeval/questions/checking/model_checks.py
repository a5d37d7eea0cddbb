"""What a model is asked about a question: its answer from the evidence, from single passages, and without; how many
answers its words have.

An answer is judged against the right ones of the file by another call, unless its words are the same. A negative
question is judged the other way round: the right answer is to have none. Written once for a run and its dry run,
against Asker. """

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, JsonValue, model_validator

from kgeval.llm import tokens
from kgeval.llm.asker import Asker, Later, digest
from kgeval.llm.calls import Failure, Outcome, Reply, Task
from kgeval.llm.characters import whole
from kgeval.questions.checking.check_table import QuestionCheckOutcome, decided, is_multi_hop, is_negative, is_open, not_applicable
from kgeval.questions.drafts import common_id
from kgeval.questions.excerpts import tokens_of
from kgeval.records import Question
from kgeval.text.signs import identity_key

JUDGE = "judge-answer"
GUESSED_ANSWER = 60  # tokens of a short answer, for dry runs
MOST_REASON = 300
NO_EVIDENCE = "no evidence with a text is given"
NO_REFERENCE = "no right answer is given"
NOT_JUDGED = "not judged: no model is named"
MOST_ALONE = 8  # passages of one question that are tried alone


def _word(value: object) -> object:
    return value.strip().lower().replace(" ", "_") if isinstance(value, str) else value


class ModelAnswer(Reply):
    """An answer with its reason, or none. `answered` without words is a fault; words without `answered` are no answer."""

    reason: str
    answered: bool
    answer: str

    @model_validator(mode="after")
    def _says_something(self) -> ModelAnswer:
        if self.answered and not self.answer.strip():
            raise ValueError("answered, but the answer is empty")
        return self

    @property
    def answer_or_none(self) -> str | None:
        """The answer; None where there is none."""
        return self.answer.strip() if self.answered else None


class RightAnswers(Reply):
    """The different right answers that were found. `specific`: the question's words ask for one particular thing."""

    reason: str
    answers: list[str]
    specific: bool


class AnswerJudgement(Reply):
    """An answer as a whole, measured by the right one."""

    reason: str
    label: Annotated[Literal["correct", "partial", "incorrect", "refusal"], BeforeValidator(_word)]


def answerable(question: Question, asker: Asker) -> QuestionCheckOutcome:
    """The check "answerable": passed where the evidence leads to a right answer; of a negative question, where it leads
    to none."""
    name, passages = "answerable", shown(question)
    if not passages:
        return not_applicable(name, NO_EVIDENCE)
    outcome = _answer_from(question, passages, asker, stage=name)
    if outcome.value is None:
        return _unanswered(name, outcome.failure, question, asker)
    answer = outcome.value.answer_or_none
    if is_negative(question):
        why = f"but the evidence was taken to answer it: {answer}" if answer else "the evidence does not answer it, as it should be"
        return decided(name, answer is None, why[:MOST_REASON])
    if answer is None:
        return decided(name, False, f"not from the evidence: {outcome.value.reason.strip()}"[:MOST_REASON])
    if not question.right_answers:
        return decided(name, True, "answered; no right answer is given to compare with")
    label = judged(name, question, answer, asker)
    if isinstance(label, QuestionCheckOutcome):
        return label
    return decided(name, label == "correct", "" if label == "correct" else f"{label}: from the evidence came {answer!r}"[:MOST_REASON])


def closed_book(question: Question, asker: Asker) -> QuestionCheckOutcome:
    """The check "closed_book": passed where a model without texts gives no right answer; of a negative question, no
    answer at all."""
    name = "closed_book"
    if not question.right_answers and not is_negative(question):
        return not_applicable(name, NO_REFERENCE)
    outcome = asker.ask(Task(
        id=f"{question.id}:{name}", prompt=asker.prompt("check-closed-book"), slots={"question": question.question},
        reply=ModelAnswer, stage=name,
    ))
    if outcome.value is None:
        return _unanswered(name, outcome.failure, question, asker)
    answer = outcome.value.answer_or_none
    if answer is None:
        return decided(name, True, "the model does not know")
    if is_negative(question):
        return decided(name, False, f"a model without texts claims an answer: {answer}"[:MOST_REASON])
    label = judged(name, question, answer, asker)
    if isinstance(label, QuestionCheckOutcome):
        return label
    return decided(name, label != "correct", f"{label} without any text: {answer!r}"[:MOST_REASON])


def unique_wording(question: Question, asker: Asker | None) -> QuestionCheckOutcome:
    """The check "unique_wording" by a model: passed where the words ask for one thing, and the evidence gives one right
    answer."""
    name, passages = "unique_wording", shown(question)
    if is_negative(question):
        return not_applicable(name, "a negative question has no right answer in the texts")
    if is_open(question):
        return not_applicable(name, "an open question has no single right answer")
    if not passages:
        return not_applicable(name, NO_EVIDENCE)
    if asker is None:
        return not_applicable(name, NOT_JUDGED)
    outcome: Outcome[RightAnswers] = asker.ask(Task(
        id=f"{question.id}:{name}", prompt=asker.prompt("check-unique"),
        slots={"question": question.question, "passages": passages}, reply=RightAnswers, stage=name,
    ))
    if outcome.value is None:
        return unscored(name, outcome.failure)
    answers = different(outcome.value.answers, question.right_answers)
    if not outcome.value.specific:
        return decided(
            name, False, f"its words ask for nothing in particular: {outcome.value.reason.strip()}"[:MOST_REASON],
        )
    if not answers:
        return not_applicable(name, "the evidence gives no answer, so nothing can be said of others")
    several = f"{len(answers)} answers: {'; '.join(answers)}"[:MOST_REASON]
    return decided(name, len(answers) == 1, "" if len(answers) == 1 else several)


def not_in_one_passage(question: Question, asker: Asker | None) -> QuestionCheckOutcome:
    """The check "not_in_one_passage": failed where a single passage of the evidence gives the right answer to a
    question of several hops. Without a model as far as the question's own evidence ids show it."""
    name, passages = "not_in_one_passage", shown(question)
    if is_negative(question) or is_open(question) or not is_multi_hop(question):
        return not_applicable(name, "not a question of several hops with one answer")
    if asker is None:
        if not question.evidence_ids:
            return not_applicable(name, NOT_JUDGED)
        shared = common_id(question.evidence_ids)
        why = f"chunk {shared} says all of it" if shared else "no chunk says all of it; no model is asked"
        return decided(name, shared is None, f"by its evidence ids: {why}")
    if not passages:
        return not_applicable(name, NO_EVIDENCE)
    if not question.right_answers:
        return not_applicable(name, NO_REFERENCE)
    # one after the other and not together: it is over at the first passage that gives the answer
    for n, passage in enumerate(passages[:MOST_ALONE], start=1):
        outcome = _answer_from(question, [passage], asker, stage=name if n == 1 else f"{name}-{n}")
        if outcome.value is None:
            if asker.dry:  # the passages after this one are tried only if none before gives the answer
                for later, other in enumerate(passages[n:MOST_ALONE], start=2):
                    size = tokens.count(whole(question.question)) + tokens_of(other)
                    key = digest(name, question.question, other, later)
                    asker.later(Later(name, "check-answerable", key, (size, size), certain=False))
            return _unanswered(name, outcome.failure, question, asker)
        answer = outcome.value.answer_or_none
        label = judged(name, question, answer, asker, f"-{n}") if answer is not None else "refusal"
        if isinstance(label, QuestionCheckOutcome):
            return label
        if label == "correct":
            return decided(name, False, f"passage {n} alone gives it: {answer!r}"[:MOST_REASON])
    of = f" (of {len(passages)})" if len(passages) > MOST_ALONE else ""
    return decided(name, True, f"tried alone, none of {min(len(passages), MOST_ALONE)} passages{of} gives the answer")


def _answer_from(question: Question, passages: list[JsonValue], asker: Asker, stage: str) -> Outcome[ModelAnswer]:
    return asker.ask(Task(
        id=f"{question.id}:{stage}", prompt=asker.prompt("check-answerable"),
        slots={"question": question.question, "passages": passages}, reply=ModelAnswer, stage=stage,
    ))


def different(answers: list[str], right: tuple[str, ...]) -> list[str]:
    """The answers that differ in their words; all that are right answers of the file are one (they are its aliases)."""
    known = {identity_key(text) for text in right} - {""}
    distinct: dict[str, str] = {}
    for text in answers:
        if plain := identity_key(text):
            distinct.setdefault("" if plain in known else plain, text.strip())
    return list(distinct.values())


def shown(question: Question) -> list[JsonValue]:
    """The evidence as prompts show it: text, and document where it is told (a sentence may need its title)."""
    return [
        {"document": passage.document, "text": passage.text} if passage.document else {"text": passage.text}
        for passage in question.evidence if passage.text.strip()
    ]


def judged(name: str, question: Question, answer: str, asker: Asker, mark: str = "") -> str | QuestionCheckOutcome:
    """What an answer is, measured by the right ones; what is unscored, where the judge's call failed. `mark`: of
    several answers, which."""
    plain = identity_key(answer)
    if plain and any(plain == identity_key(right) for right in question.right_answers):
        return "correct"
    outcome = asker.ask(Task(
        id=f"{question.id}:{name}-judge{mark}", prompt=asker.prompt(JUDGE), reply=AnswerJudgement,
        stage=f"{name}-judge",
        slots={"question": question.question, "references": list[JsonValue](question.right_answers), "answer": answer},
    ))
    return outcome.value.label if outcome.value is not None else unscored(name, outcome.failure)


def unscored(name: str, failure: Failure | None) -> QuestionCheckOutcome:
    """The call failed: nothing is known, and why."""
    lost = failure or Failure("empty", "no reply")
    return QuestionCheckOutcome(name, "unscored", f"{lost.cause}: {lost.detail}" if lost.detail else lost.cause, lost.cause)


def _unanswered(name: str, failure: Failure | None, question: Question, asker: Asker) -> QuestionCheckOutcome:
    """The first call has no reply. In a dry run the judge's call is counted too: it may follow."""
    if asker.dry and question.right_answers and not is_negative(question):
        base = sum(tokens.count(whole(text)) for text in (question.question, *question.right_answers))
        asker.later(Later(
            stage=f"{name}-judge", prompt=JUDGE,
            key=digest(name, question.question, list(question.right_answers), shown(question)),
            tokens=(base, base + GUESSED_ANSWER), certain=False,
        ))
    return unscored(name, failure)
