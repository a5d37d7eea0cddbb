"""Asking a model."""

from __future__ import annotations

from typing import TypeVar

from kgeval.llm.calls import Outcome, Reply, Task
from kgeval.llm.prompts import Prompt
from kgeval.llm.session import Models
from kgeval.metrics.judge.asker import Later

T = TypeVar("T", bound=Reply)


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
