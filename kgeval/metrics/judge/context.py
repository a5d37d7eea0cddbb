"""One row and who is asked about it: what the askers of claims, verdicts and ratings share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from pydantic import JsonValue

from kgeval.llm.asker import Asker
from kgeval.llm.calls import Failure, Outcome, Reply, Task
from kgeval.metrics.definition import Subject
from kgeval.metrics.facts import TextList
from kgeval.records import Row

T = TypeVar("T", bound=Reply)
MOST_REASON = 1000
LOST = Failure("missing_item", "the reply has no answer to this item")


@dataclass(frozen=True)
class Origin:
    """A call that a dry run has not got: `key` is what it is made from, `tokens` the length of its text."""

    key: str
    tokens: int


@dataclass(frozen=True)
class ItemList:
    """Items of one kind. `origin`: they come from a call that a dry run has not got, and are not known yet."""

    texts: TextList
    origin: Origin | None = None

    @property
    def known(self) -> tuple[str, ...]:
        """The texts as far as they are known."""
        return self.texts.texts


@dataclass(frozen=True)
class JudgeContext:
    """A subject and the asker of its calls."""

    subject: Subject
    asker: Asker

    @property
    def row(self) -> Row:
        return self.subject.row

    def ask(
        self, stage: str, prompt: str, slots: Mapping[str, JsonValue], reply: type[T], *, items: tuple[str, ...] = (),
        sources: frozenset[str] = frozenset(),
    ) -> Outcome[T]:
        """The outcome of one call in the subject's trial. No system, row or file is in the request: equal texts are one call, so that two
        systems that retrieved the same contexts pay for their ratings once."""
        return self.asker.ask(Task(
            id=f"{self.row.n}:{stage}", prompt=self.asker.prompt(prompt), slots=slots, reply=reply, items=items, trial=self.subject.trial,
            stage=stage, sources=sources,
        ))


def failure_of(outcome: Outcome[T], number: int | None = None) -> Failure:
    """Why an outcome has no value; with `number`, why it has no answer to that item."""
    missing = None if number is None else outcome.missing.get(number)
    return missing or outcome.failure or LOST


def answer_text(row: Row) -> str:
    """The answer's text; "" if there is none, or if the answer is an error."""
    return "" if row.answer.error or not row.answer.answer.strip() else row.answer.answer


def passages(row: Row) -> dict[int, str]:
    """Number -> text of the retrieved contexts that have a text. The number is the context's place among all of them, from 1."""
    return {number: context.text for number, context in enumerate(row.answer.contexts or (), start=1) if context.text.strip()}
