"""Counting what a model would be asked, by the same code that asks it."""

from __future__ import annotations

from typing import TypeVar

from kgeval.llm.calls import Outcome, Reply, Task
from kgeval.llm.plan import PlannedStage
from kgeval.llm.prompts import Prompt
from kgeval.llm.session import Models
from kgeval.metrics.judge.asker import Later
from kgeval.metrics.judge.lists import digest

T = TypeVar("T", bound=Reply)


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
