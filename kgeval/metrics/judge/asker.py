"""Who is asked: a model, or in a dry run the journal only. Whoever gathers facts is written once, against this."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

from kgeval.llm.calls import Outcome, Reply, Task
from kgeval.llm.prompts import Prompt

T = TypeVar("T", bound=Reply)


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
