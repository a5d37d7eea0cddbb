"""What a system under test is, and what it is shown of a question."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, runtime_checkable

from kgeval.llm.plan import PlannedStage
from kgeval.records import Answer


@dataclass(frozen=True)
class Ask:
    """One question to a system. Nothing that is known of the right answer is in it.

    `trial`: which repetition (null: there is one). `target_words`: the answer shall have about so many words (generate-adjust of the
    comparison), `attempt`: which try at it, from 1; `previous`: the answer before.
    """

    question_id: str
    question: str
    trial: int | None = None
    target_words: int | None = None
    attempt: int | None = None
    previous: str | None = None


class System(Protocol):
    """A system under test, open. `name`: Answer.system, with its variant ("graph@hops=2"); `variant`: what differs from its defaults.

    `signature`: changes with everything that its answers depend on (settings, model, index, prompts). `adjusts`: it can be asked for a
    length. `parallel`: questions that it takes at a time, at most.
    """

    name: str
    variant: str | None
    signature: str
    adjusts: bool
    parallel: int

    def answer(self, ask: Ask) -> Answer:
        """The answer; one that failed has `error` and an empty text. Called from several threads where `parallel` > 1.

        Raises: what ends a run (ModelError, ConnectError, UsageError), never because one question failed.
        """

    def close(self) -> None:
        """Ends processes, closes connections and files. May be called twice."""

    def __enter__(self) -> System: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...


@runtime_checkable
class Plans(Protocol):
    """A System that can tell what questions would take without sending any."""

    def plan(self, asks: Iterable[Ask]) -> PlannedStage:
        """Calls, tokens and cost of these questions."""


@runtime_checkable
class Tells(Protocol):
    """A System that has something to say about a run: what was odd in its replies, how its files were read."""

    notes: list[str]
