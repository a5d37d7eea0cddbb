"""The dry run: the same way through a task's asks, with the journal only. What is not there is counted, by stage."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from kgeval.llm import tokens
from kgeval.llm.asking import ask
from kgeval.llm.caller import CANCELLED, Result, read_kept
from kgeval.llm.calls import Endpoint, Outcome, Reply, Task
from kgeval.llm.journal import Journal
from kgeval.llm.prompts import Prompt
from kgeval.llm.request import Request

T = TypeVar("T", bound=Reply)
V = TypeVar("V")


@dataclass
class StageCount:
    """What a dry run counted in one stage: calls to make and tokens of their messages, low and high. `items`: in a call at most."""

    calls_low: int = 0
    calls_high: int = 0
    from_journal: int = 0
    input_tokens_low: int = 0
    input_tokens_high: int = 0
    items: int = 0


class DryCaller:
    """Stands in for a Caller in a dry run: answers from the journal, and notes what is not there."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._seen: set[int] = set()  # 64 bits of each key: a run may have a million
        self.stages: dict[str, StageCount] = {}

    def call(self, request: Request, read: Callable[[str], V], *, tried: int = 0) -> Result[V]:
        """The journal's reply, or the failure "cancelled", after which nothing more is asked for a task."""
        kept = read_kept(self._journal, request, read)
        first = self.first(request.key)
        count = self.stages.setdefault(request.stage, StageCount())
        if kept is not None:
            count.from_journal += first
            return kept
        if first:
            used = tokens.count_messages(request.system, request.user, request.shape.text)
            count.calls_low, count.calls_high = count.calls_low + 1, count.calls_high + 1
            count.input_tokens_low, count.input_tokens_high = count.input_tokens_low + used, count.input_tokens_high + used
        return Result(None, CANCELLED)

    def first(self, key: str) -> bool:
        """True for a key (hex digits) that was not seen before."""
        short = int(key[:16], 16)
        new = short not in self._seen
        self._seen.add(short)
        return new


class DryRun:
    """A dry run over all stages of a command: a request that several tasks need is counted once. Thread-safe; sends nothing."""

    def __init__(self, journal: Journal, endpoint: Endpoint, *, max_reasks: int) -> None:
        self._caller, self._endpoint, self._max_reasks = DryCaller(journal), endpoint, max_reasks
        self._lock = threading.Lock()

    @property
    def stages(self) -> dict[str, StageCount]:
        """The counts by stage, in the order in which stages came up."""
        return self._caller.stages

    def ask(self, task: Task[T]) -> Outcome[T]:
        """The outcome as the journal has it. What it lacks has the failure `cancelled`, and its call is counted."""
        with self._lock:
            outcome = ask(task, self._caller, endpoint=self._endpoint, max_reasks=self._max_reasks)
            count = self.stages[task.stage or task.prompt.name]
            count.items = max(count.items, len(task.items))
        return outcome

    def later(
        self, prompt: Prompt, *, stage: str, high: str | None, low: str | None, tokens_low: int, tokens_high: int, items: int,
    ) -> None:
        """A call whose messages depend on a reply that is not there yet.

        `high`, `low`: hex keys (16 digits or more) of the call at most and at least; an equal key is counted once, null is not
        counted. `tokens_low`, `tokens_high`: of the values in the prompt's slots.
        """
        with self._lock:
            count = self.stages.setdefault(stage, StageCount())
            count.items = max(count.items, items)
            own = tokens.count_messages(prompt.system, prompt.user)
            if high is not None and self._caller.first(high):
                count.calls_high, count.input_tokens_high = count.calls_high + 1, count.input_tokens_high + own + tokens_high
            if low is not None and self._caller.first(low):
                count.calls_low, count.input_tokens_low = count.calls_low + 1, count.input_tokens_low + own + tokens_low
