"""Who reads the contexts and answers: a model, or the extractive reader that asks none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Protocol

from pydantic import JsonValue

from kgeval.llm.asker import Asker, Live
from kgeval.llm.calls import FilledText, Reply, Task
from kgeval.llm.extractive import extract_answer
from kgeval.llm.session import Models
from kgeval.records import Passage
from kgeval.systems.system import Ask
from kgeval.text.length import first_words

CLOSED_BOOK, FROM_CONTEXTS = "answer-closed-book", "answer-from-contexts"
PARALLEL = 4
NOT_FOUND = "Nothing was retrieved for this question, so it cannot be answered."


@dataclass(frozen=True)
class Read:
    """What a reader said. `seconds`, `first` (to its first token) None: not known; `error`: why there is no answer."""

    text: str
    seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    calls: int | None = None
    cost: float | None = None
    error: str | None = None
    first: float | None = None


class AnswerReader(Protocol):
    """Reads. `signature`: what its answers depend on. `model`: what writes them (None: no model). `adjusts`: it can be
    asked for a length. `parallel`: questions at a time. `samples`: answers that are asked for several times are drawn otherwise."""

    signature: str
    model: str | None
    adjusts: bool
    parallel: int
    samples: bool

    def read(self, ask: Ask, contexts: Sequence[Passage] | None, max_words: int) -> Read:
        """The answer from contexts; None: from what it knows itself. `max_words` 0: no limit."""


class ReaderReply(Reply):
    """An answer of a model."""

    answer: FilledText


class ModelReader:
    """Asks the reader's model: one call a question, each question and its contexts paid once. `trial_temperature`: of answers that are
    to differ, where the model has temperature 0; `stream`: replies come piece by piece."""

    adjusts = True

    def __init__(self, models: Models, asker: Asker | None, trial_temperature: float = 0.0, *, stream: bool = False) -> None:
        self._trial_temperature, self._stream = trial_temperature, stream
        self.samples = models.endpoint.parameters.get("temperature") == 0
        self._models, self._asker = models, asker or Live(models)
        self.parallel = models.limits.concurrency
        self.model: str | None = models.endpoint.model
        endpoint, prompts = models.endpoint, [self._asker.prompt(name) for name in (CLOSED_BOOK, FROM_CONTEXTS)]
        given = ",".join(f"{name}={value}" for name, value in sorted(endpoint.parameters.items()))
        model = f"{endpoint.model}@{endpoint.name}" + (f"({given})" if given else "")
        hashes = [f"{prompt.language}/{prompt.name}@{prompt.hash}" for prompt in prompts]
        self.signature = f"reader={model}|{'|'.join(hashes)}"

    def read(self, ask: Ask, contexts: Sequence[Passage] | None, max_words: int) -> Read:
        """As AnswerReader.read. A call that fails is a Read with its cause. Raises: what ends the session."""
        name = CLOSED_BOOK if contexts is None else FROM_CONTEXTS
        slots: dict[str, JsonValue] = {
            "question": ask.question, "length": _length(ask, max_words), "previous": ask.previous,
        }
        if contexts is not None:
            slots["contexts"] = [passage.text for passage in contexts]
        outcome = self._asker.ask(Task(
            id=ask.question_id, prompt=self._asker.prompt(name), slots=slots, reply=ReaderReply, trial=ask.trial or 0,
            stage=name, temperature=self._trial_temperature if ask.sampled else None, stream=self._stream,
        ))
        if outcome.value is None:
            failure = outcome.failure
            return Read("", error=f"{failure.cause}: {failure.detail}" if failure else "empty: no reply")
        spent = self._models.spent(outcome.calls)
        if spent is None:
            return Read(outcome.value.answer)
        return Read(
            outcome.value.answer, spent.seconds, spent.input_tokens, spent.output_tokens, spent.calls, spent.cost, first=spent.first,
        )


class ExtractiveReader:
    """Takes the answer out of the contexts by the words of the question. Asks no model, has no meaning beyond that,
    costs nothing.

    It knows nothing itself, so that closed book it says that it does not know.
    """

    adjusts = False
    samples = False
    parallel = PARALLEL
    signature = "reader=extractive@1"
    model: str | None = None

    def read(self, ask: Ask, contexts: Sequence[Passage] | None, max_words: int) -> Read:
        """As AnswerReader.read."""
        started = perf_counter()
        text = "I do not know." if contexts is None else extract_answer(ask.question, [passage.text for passage in contexts])
        if max_words:
            text = first_words(text, max_words)
        return Read(text, round(perf_counter() - started, 6), input_tokens=0, output_tokens=0, calls=0, cost=0.0)


def _length(ask: Ask, max_words: int) -> JsonValue:
    """What the prompt says of the length. The attempt is in it: the next try at a length is another call."""
    if ask.target_words is not None:
        return {"about_words": ask.target_words, "attempt": ask.attempt or 1}
    return {"at_most_words": max_words} if max_words else None
