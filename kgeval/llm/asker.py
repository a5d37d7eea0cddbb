"""Who is asked: a model, or in a dry run the journal only. Whoever asks in several steps is written once, against this."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from kgeval.llm.calls import Outcome, Reply, Task
from kgeval.llm.plan import PlannedStage
from kgeval.llm.prompts import Prompt

if TYPE_CHECKING:
    from kgeval.llm.session import Models

T = TypeVar("T", bound=Reply)


def digest(*parts: object) -> str:
    """What stands for a call that is made from these parts: SHA-256 of their JSON."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Later:
    """A call whose prompt depends on a reply that a dry run does not have.

    `key`: equal keys are one call (all that the call is made from, as far as it is known). `tokens`: of the slots, low and high.
    `items`: numbered items at most, a guess. `certain`: it is made whatever the reply says. `least`: as `key`, without what is not
    known yet: calls that differ in that alone may turn out to be one, if the replies say nothing ("": as `key`).
    """

    stage: str
    prompt: str
    key: str
    tokens: tuple[int, int]
    items: int = 0
    certain: bool = True
    least: str = ""


class Asker(Protocol):
    """Asks a model, or plays it."""

    dry: bool

    def prompt(self, name: str) -> Prompt:
        """The prompt in the session's language."""

    def ask(self, task: Task[T]) -> Outcome[T]:
        """The outcome. In a dry run: the journal's reply, else the failure `cancelled`, and the call is counted."""

    def later(self, call: Later) -> None:
        """Dry run only: counts a call that will be made once an earlier reply is there."""


class Live:
    """An Asker that asks the session's model."""

    dry = False

    def __init__(self, models: Models) -> None:
        self._models = models

    def prompt(self, name: str) -> Prompt:
        """The prompt in the session's language."""
        return self._models.prompt(name)

    def ask(self, task: Task[T]) -> Outcome[T]:
        """The outcome; blocks. Raises as Models.ask does."""
        return self._models.ask(task)

    def later(self, call: Later) -> None:
        """Only a dry run puts calls off. Raises: RuntimeError."""
        raise RuntimeError(f"stage {call.stage}: a call was put off, but this is no dry run")


class Dry:
    """An Asker that answers from the session's journal and counts what is not there. Nothing is sent.

    First asks are counted exactly, over all rows and systems. A call whose messages depend on replies that are not there yet is
    counted from what it will be made of: at most, every text that is not empty makes claims; at least, none does.
    """

    dry = True

    def __init__(self, models: Models) -> None:
        self._models, self._run = models, models.dry_run()

    def prompt(self, name: str) -> Prompt:
        """The prompt in the session's language."""
        return self._models.prompt(name)

    def ask(self, task: Task[T]) -> Outcome[T]:
        """The journal's outcome, else the failure `cancelled`."""
        return self._run.ask(task)

    def later(self, call: Later) -> None:
        """Counts a call that an earlier reply leads to."""
        low, high = call.tokens
        self._run.later(
            self.prompt(call.prompt), stage=call.stage, high=digest("high", call.stage, call.key),
            low=digest("low", call.stage, call.least or call.key) if call.certain else None,
            tokens_low=low, tokens_high=high, items=call.items,
        )

    def stages(self) -> tuple[PlannedStage, ...]:
        """What was counted so far, a stage each, in the order in which stages came up."""
        return self._models.planned(self._run)
