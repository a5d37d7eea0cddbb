"""A task from its first request to its outcome: what is missing is asked again, with its own tag, a few times."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Generic, Protocol, TypeVar

from kgeval.llm.caller import CallResult
from kgeval.llm.calls import Cause, Endpoint, Failure, Outcome, Reply, Tagged, Task
from kgeval.llm.replies import Checked, item_type, read_reply, read_tagged
from kgeval.llm.request import Request, make_request

T = TypeVar("T", bound=Reply)
V = TypeVar("V")
# faults of what the model wrote: another try may be better; transport has retries of its own
WORTH_ASKING_AGAIN: tuple[Cause, ...] = ("unparsable", "cut", "empty", "missing_item")


class Calls(Protocol):
    """What makes calls: a Caller, or its stand-in of a dry run."""

    def call(self, request: Request, read: Callable[[str], V], *, tried: int = 0) -> CallResult[V]: ...


def ask(task: Task[T], caller: Calls, *, endpoint: Endpoint, max_reasks: int) -> Outcome[T]:
    """The outcome of a task. Raises only what ends the session (ModelError)."""
    if task.items:
        item_type(task.reply)
        return _ask_items(task, caller, endpoint, max_reasks)
    request = make_request(task, endpoint, items={})
    result: CallResult[T] = CallResult(None)
    for tried in range(max_reasks + 1):
        result = caller.call(request, partial(read_reply, reply=task.reply, sources=task.sources), tried=tried)
        if result.failure is None or result.failure.cause not in WORTH_ASKING_AGAIN:
            break
    keys = () if result.value is None else (result.key or request.key,)
    return Outcome(task.id, result.value, result.failure, calls=keys, from_journal=result.from_journal)


class _Gathered(Generic[T]):
    """What came back for items so far, over all asks."""

    def __init__(self, task: Task[T]) -> None:
        self.task = task
        self.numbers = {tag: number for number, tag in enumerate(task.tags, start=1)}
        self.good: list[tuple[str, Checked[T]]] = []
        self.missing = {number: Failure("missing_item", "never asked") for number in range(1, len(task.items) + 1)}
        self.last: Failure | None = None
        self.from_journal = True

    def take(self, key: str, result: CallResult[Checked[T]]) -> None:
        self.from_journal = self.from_journal and result.from_journal
        self.last = result.failure
        if result.failure is not None:
            self.missing = dict.fromkeys(self.missing, result.failure)
        elif result.value is not None:
            self.good.append((key, result.value))
            self.missing = {self.numbers[tag]: failure for tag, failure in result.value.faults.items()}

    def outcome(self) -> Outcome[T]:
        value, answers = None, dict[int, Tagged]()
        if self.good:
            answers = dict(sorted((self.numbers[tag], answer) for _, checked in self.good for tag, answer in checked.answers.items()))
            first = self.good[0][1].value
            rows = list(answers.values())
            value = first.model_copy(update={"items": tuple(rows) if isinstance(getattr(first, "items", ()), tuple) else rows})
        return Outcome(
            self.task.id, value, self.last if value is None else None, answers=answers, missing=self.missing,
            calls=tuple(key for key, _ in self.good), from_journal=self.from_journal,
            call_of={self.numbers[tag]: key for key, checked in self.good for tag in checked.answers},
        )


def _ask_items(task: Task[T], caller: Calls, endpoint: Endpoint, max_reasks: int) -> Outcome[T]:
    """Asks for all items, then, with the same tags, for those without a usable answer. `round` counts replies that were used, so that
    asking the rest again is a request of its own, the same one in every run."""
    gathered, tried = _Gathered(task), 0
    for _ in range(max_reasks + 1):
        numbers = tuple(gathered.missing)
        tags = tuple(task.tags[number - 1] for number in numbers)
        items = {tag: task.items[number - 1] for tag, number in zip(tags, numbers, strict=True)}
        request = make_request(task, endpoint, items=items, round_=len(gathered.good))
        result = caller.call(request, partial(read_tagged, reply=task.reply, tags=tags, sources=task.sources), tried=tried)
        gathered.take(result.key or request.key, result)
        tried = tried + 1 if result.failure is not None else 0
        if not gathered.missing or (result.failure is not None and result.failure.cause not in WORTH_ASKING_AGAIN):
            break
    return gathered.outcome()
