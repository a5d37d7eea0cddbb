"""Collecting: the same way through all asks as a live run goes, where what the journal lacks is written into files for batches."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, TypeVar

from kgeval.llm.asker import Later
from kgeval.llm.asking import WORTH_ASKING_AGAIN, ask
from kgeval.llm.batch.settings import BatchSettings
from kgeval.llm.batch.store import GIVEN_UP, Came, Store, new_name
from kgeval.llm.batch.wire import request_line
from kgeval.llm.budget import SpentError
from kgeval.llm.caller import CANCELLED, Caller, Result, read_kept, usable
from kgeval.llm.calls import Failure, Outcome, Reply, Task
from kgeval.llm.client import Answer
from kgeval.llm.journal import Stored
from kgeval.llm.prompts import Prompt
from kgeval.llm.replies import UnusableError
from kgeval.llm.request import Request

if TYPE_CHECKING:
    from kgeval.llm.session import Models

T = TypeVar("T", bound=Reply)
V = TypeVar("V")


class Files:
    """The files of requests of one pass, each within the provider's limits. Nothing counts before `done`."""

    def __init__(self, store: Store, settings: BatchSettings, where: tuple[str, str]) -> None:
        self._store, self._settings, self._where = store, settings, where
        self._name, self._count, self._bytes = "", 0, 0
        self._file: IO[bytes] | None = None
        self.requests = 0

    def add(self, request: Request, line: bytes, mode: str) -> None:
        """One request more. It is in a batch from now on."""
        full = self._count >= self._settings.requests or self._bytes + len(line) > self._settings.bytes
        if self._file is None or full:
            self.done()
            self._name = new_name()
            path = self._store.lines_of(self._name)
            self._file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb")
        self._file.write(line)
        self._store.send(request.key, self._name, mode)  # type: ignore[arg-type]
        self._count, self._bytes, self.requests = self._count + 1, self._bytes + len(line), self.requests + 1

    def done(self) -> None:
        """The file is whole: it is a batch to be sent."""
        if self._file is not None:
            self._file.close()
            self._store.add(*self._where, self._name, self._count)
        self._file, self._count, self._bytes = None, 0, 0


@dataclass
class Pass:
    """What a pass found: requests that nothing more is done about here, and why the budget allows no more."""

    left: int = 0
    spent: Failure | None = None


class Collector:
    """Stands in for a Caller while requests are collected. Used by one thread."""

    def __init__(self, caller: Caller, store: Store, settings: BatchSettings, *, most_tries: int) -> None:
        self._caller, self._store, self._factor, self._most = caller, store, settings.factor or 1.0, most_tries
        self._limited = caller.budget.cost_limit is not None or caller.budget.max_calls is not None
        self._reserved: set[int] = set()
        self._seen: set[int] = set()  # 64 bits of each key that was counted as left
        self.files: Files | None = None
        self.found = Pass()

    def begin(self, files: Files) -> None:
        """A new pass."""
        self.files, self.found = files, Pass()
        self._seen.clear()

    def call(self, request: Request, read: Callable[[str], V], *, tried: int = 0) -> Result[V]:
        """The journal's reply, or that of a batch that is over, which then goes into the journal; else the failure "cancelled", after
        which nothing more is asked for a task, and the request is in a file."""
        found = self._known(request, read)
        if found is not None:
            return found
        key = request.key
        if self._store.is_sent(key):
            return Result(None, CANCELLED)
        if self._store.tries(key) >= self._most or not self._reserve(request):
            short = int(key[:16], 16)
            self.found.left += short not in self._seen
            self._seen.add(short)
            return Result(None, CANCELLED)
        mode = self._caller.forms.mode(request.shape, self._store.tries(key))
        if self.files is not None:
            self.files.add(request, request_line(key, request.body(mode)), mode)
        return Result(None, CANCELLED)

    def _known(self, request: Request, read: Callable[[str], V]) -> Result[V] | None:
        kept = read_kept(self._caller.journal, request, read)
        if kept is not None:
            return kept
        came = self._store.take(request.key)
        return None if came is None else self._taken(request, came, read)

    def _taken(self, request: Request, came: Came, read: Callable[[str], V]) -> Result[V] | None:
        """Reads a reply as a live one is read. Null where it is asked again, or given up."""
        if came.cause is not None:
            self._account(request, None)
            stepped = came.form and self._caller.forms.refused(came.mode, request.shape)
            if not stepped:
                self._store.tried(request.key, 1 if came.again else GIVEN_UP)
            return None
        answer = Answer(came.text, came.finish, came.refused, came.input_tokens, came.output_tokens).counted(request.system, request.user)
        self._account(request, answer)
        try:
            value = read(usable(answer))
        except UnusableError as fault:
            self._caller.forms.unusable(came.mode)
            self._caller.journal.put_try(request, fault.failure.cause, came.text)
            self._store.tried(request.key, 1 if fault.failure.cause in WORTH_ASKING_AGAIN else GIVEN_UP)
            return None
        self._caller.forms.usable(came.mode)
        tokens = (answer.input_tokens or 0, answer.output_tokens or 0)
        self._caller.journal.put(request, Stored(answer.text, *tokens, answer.estimated, 0.0))  # nobody knows how long it took
        return Result(value, from_journal=True)

    def _reserve(self, request: Request) -> bool:
        """Takes the request out of the budget, at the most that it can cost."""
        if self.found.spent is not None:
            return False
        if not self._limited:
            return True
        try:
            self._caller.budget.reserve(self._caller.bound(request) * self._factor, ended=lambda: True)
        except SpentError as spent:
            self.found.spent = spent.failure
            return False
        self._reserved.add(int(request.key[:16], 16))
        return True

    def _account(self, request: Request, answer: Answer | None) -> None:
        """What a request of a batch took; it cost nothing where there is no completion."""
        given, got = (0, 0) if answer is None else (answer.input_tokens or 0, answer.output_tokens or 0)
        cost = self._caller.cost(given, got) * self._factor
        self._caller.account.call(
            request.stage, seconds=0.0, input_tokens=given, output_tokens=got, cost=cost, estimated=answer is not None and answer.estimated,
        )
        short = int(request.key[:16], 16)
        if short in self._reserved:
            self._reserved.discard(short)
            self._caller.budget.settle(self._caller.bound(request) * self._factor, cost)


class Collect:
    """An Asker that collects. To whoever asks it is a dry run: what the journal lacks has the failure `cancelled`."""

    dry = True

    def __init__(self, models: Models, collector: Collector) -> None:
        self._models, self._collector = models, collector
        self._lock = threading.Lock()

    def prompt(self, name: str) -> Prompt:
        """The prompt in the session's language."""
        return self._models.prompt(name)

    def ask(self, task: Task[T]) -> Outcome[T]:
        """The outcome as far as it is known."""
        with self._lock:
            return ask(task, self._collector, endpoint=self._models.endpoint, max_reasks=self._models.limits.max_reasks)

    def later(self, call: Later) -> None:
        """A call that depends on a reply: it is collected when that is there."""
