"""Forced alignment [Z 4]: a model adds words without new meaning; where an answer came out too long, it takes words away."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import JsonValue

from kgeval.llm import tokens
from kgeval.llm.asker import Asker, Later, digest
from kgeval.llm.calls import Task
from kgeval.llm.characters import whole
from kgeval.records import Aligned, Answer, Question
from kgeval.systems.builtin.readers import ReaderReply
from kgeval.text.length import count_words

LONGER, SHORTER = "align-longer", "align-shorter"
STAGE = "align-forced"
PROMPTS = (LONGER, SHORTER)


class Rewritten(ReaderReply):
    """An answer in another length."""


@dataclass(frozen=True)
class RewriteWish:
    """What a model is asked for: an answer to `question` of `target` words, the length of the system `other`. `trial`: another trial is
    another call. `attempt`: from 1, of `tries` at most."""

    question: Question
    target: int
    other: str | None
    trial: int
    attempt: int
    tries: int


class Forcer:
    """Asks a model. Thread-safe. Equal texts are one call, whichever system wrote them. `signature`: the prompts."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self.signature = "|".join(f"{name}@{asker.prompt(name).hash}" for name in PROMPTS)

    def rewritten(self, answer: Answer, wish: RewriteWish) -> Answer:
        """The answer with words added or taken away, as many as are lacking or too many: the number asked for is never negative, and
        an answer that has the length is not sent. A call that failed is an answer with that error.

        Raises: what ends the session.
        """
        words = count_words(answer.answer)
        change = wish.target - words
        if not change:
            return answer
        prompt = LONGER if change > 0 else SHORTER
        outcome = self._asker.ask(Task(
            id=f"{wish.question.id}:{STAGE}", prompt=self._asker.prompt(prompt), slots=_slots(answer, wish, words), reply=Rewritten,
            trial=wish.trial, stage=STAGE,
        ))
        if outcome.value is None:
            if self._asker.dry:
                self._put_off(answer, wish, prompt)
            failure = outcome.failure
            return answer.model_copy(update={"error": f"{failure.cause}: {failure.detail}" if failure else "empty: no reply"})
        aligned = Aligned(system=wish.other, target_words=wish.target, attempt=wish.attempt, forced=True)
        return answer.model_copy(update={"answer": outcome.value.answer, "aligned_to": aligned})

    def perhaps(self, question: Question, key: str, size: tuple[int, int], tries: int) -> None:
        """Dry run: counts the calls for an answer that is not there yet, at most `tries`. `size`: its tokens, low and high."""
        own = tokens.count(whole(question.question))
        for attempt in range(1, tries + 1):
            self._later(LONGER, digest(key, attempt), (own + size[0], own + size[1]))

    def _put_off(self, answer: Answer, wish: RewriteWish, prompt: str) -> None:
        """The tries after the one that a dry run has not got: none if that one is right."""
        size = tokens.count(whole(wish.question.question + answer.answer))
        for attempt in range(wish.attempt + 1, wish.tries + 1):
            self._later(prompt, digest(wish.question.question, answer.answer, wish.target, wish.trial, attempt), (size, 2 * size))

    def _later(self, prompt: str, key: str, size: tuple[int, int]) -> None:
        self._asker.later(Later(stage=STAGE, prompt=prompt, key=key, tokens=size, certain=False))


def _slots(answer: Answer, wish: RewriteWish, words: int) -> dict[str, JsonValue]:
    """The attempt is in the request: where a try came no nearer, the next one is another call with the same text."""
    name = "add_words" if wish.target > words else "remove_words"
    change: dict[str, JsonValue] = {name: abs(wish.target - words), "now_words": words, "attempt": wish.attempt}
    return {"question": wish.question.question, "answer": answer.answer, "change": change}
