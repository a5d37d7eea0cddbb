"""Round after round until a pass over all work lacks nothing that a batch could bring: collect, send, wait, take in."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

from kgeval.config.powers import is_known_address, is_owned
from kgeval.errors import ModelError, UsageError
from kgeval.llm.asker import Asker, Later
from kgeval.llm.asking import WORTH_ASKING_AGAIN, ask
from kgeval.llm.batch.settings import BatchSettings
from kgeval.llm.batch.store import GIVEN_UP, Batch, Came, Store, new_name
from kgeval.llm.batch.wire import AwayError, GoneError, Wire, request_line
from kgeval.llm.budget import SpentError
from kgeval.llm.caller import CANCELLED, Caller, CallResult, read_kept, usable
from kgeval.llm.calls import Endpoint, Failure, Outcome, Reply, Task
from kgeval.llm.client import ModelAnswer
from kgeval.llm.journal import Stored
from kgeval.llm.prompts import Prompt
from kgeval.llm.replies import UnusableError
from kgeval.llm.request import Request

if TYPE_CHECKING:
    from openai.types import Batch as Remote

    from kgeval.llm.session import Models

# Collecting: the same way through all asks as a live run goes, where what the journal lacks is written into files for
# batches.

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
        # both limits are the provider's for one file; it refuses a file above either as a whole
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
        # a run asks for up to a million keys: as numbers they take a third of the memory of texts
        self._seen: set[int] = set()  # 64 bits of each key that was counted as left
        self.files: Files | None = None
        self.found = Pass()

    def begin(self, files: Files) -> None:
        """A new pass."""
        self.files, self.found = files, Pass()
        self._seen.clear()

    def call(self, request: Request, read: Callable[[str], V], *, tried: int = 0) -> CallResult[V]:
        """The journal's reply, or that of a batch that is over, which then goes into the journal; else the failure "cancelled", after
        which nothing more is asked for a task, and the request is in a file."""
        reply = self._known(request, read)
        if reply is not None:
            return reply
        key = request.key
        if self._store.is_sent(key):
            return CallResult(None, CANCELLED)
        # looked at before the budget: what is given up must not reserve money
        if self._store.tries(key) >= self._most or not self._reserve(request):
            short = int(key[:16], 16)
            self.found.left += short not in self._seen
            self._seen.add(short)
            return CallResult(None, CANCELLED)
        mode = self._caller.forms.mode(request.shape, self._store.tries(key))
        if self.files is not None:
            self.files.add(request, request_line(key, request.body(mode)), mode)
        return CallResult(None, CANCELLED)

    def _known(self, request: Request, read: Callable[[str], V]) -> CallResult[V] | None:
        kept = read_kept(self._caller.journal, request, read)
        if kept is not None:
            return kept
        came = self._store.take(request.key)
        return None if came is None else self._taken(request, came, read)

    def _taken(self, request: Request, came: Came, read: Callable[[str], V]) -> CallResult[V] | None:
        """Reads a reply as a live one is read. None where it is asked again, or given up."""
        if came.cause is not None:
            self._account(request, None)
            stepped = came.form and self._caller.forms.refused(came.mode, request.shape)
            if not stepped:
                self._store.tried(request.key, 1 if came.again else GIVEN_UP)
            return None
        answer = ModelAnswer(came.text, came.finish, came.refused, came.input_tokens, came.output_tokens)
        answer = answer.counted(request.system, request.user)
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
        return CallResult(value, from_journal=True)

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

    def _account(self, request: Request, answer: ModelAnswer | None) -> None:
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


Tell = Callable[[str], None]
Walk = Callable[[Asker], object]
OVER = ("completed", "expired", "cancelled")
MOST_AWAY = 100  # looks in a row that nobody answers: 50 minutes at 30 s
FULL = "token_limit_exceeded"  # the provider's word for: more is waiting than this account may have waiting


def ask_in_batches(models: Models, walk: Walk, settings: BatchSettings, tell: Tell) -> int:
    """Brings what `walk` asks for into the session's journal by batches. Returns how many requests are left for a live run.

    `walk` goes through all work of a command once with the asker that it is given, as for a dry run; it is called once a round. Batches
    of an earlier run that was ended are picked up first. Left are requests whose replies could not be used (each is asked as often as
    live) and what the budget does not allow: then the session is stopped as a live one is.

    Raises: ModelError where the provider has no batch endpoints, refuses the key, or a batch as a whole; ConfigError where another run
    makes batches with the same journal; KeyboardInterrupt: the batches go on at the provider, and the next run picks them up.
    """
    caller = models.caller
    with Store(caller.journal.path) as store, Wire(models.endpoint, timeout=models.limits.timeout, sleep=caller.stop.halt.wait) as wire:
        store.forget_strays()
        rounds = _Rounds(models, store, wire, settings, tell)
        rounds.send_and_take()
        collector = Collector(caller, store, settings, most_tries=models.limits.max_reasks + 1)
        while rounds.collect(collector, walk):
            rounds.send_and_take()
        store.forget_tries()
        if collector.found.spent is not None:
            caller.finish(collector.found.spent)
        return collector.found.left


class _Rounds:
    def __init__(self, models: Models, store: Store, wire: Wire, settings: BatchSettings, tell: Tell) -> None:
        self._models, self._store, self._wire, self._settings, self._tell = models, store, wire, settings, tell
        self._where = (models.endpoint.base_url or "", models.endpoint.model)
        self._said: dict[str, str] = {}
        self._away = 0

    def collect(self, collector: Collector, walk: Walk) -> int:
        """A pass over all work. Returns how many requests it put into files."""
        files = Files(self._store, self._settings, self._where)
        collector.begin(files)
        with self._store.writing():  # all of a pass or nothing: a run that is killed in it has sent nothing
            walk(Collect(self._models, collector))
            files.done()
        return files.requests

    def send_and_take(self) -> None:
        """Sends what is ready, and waits until everything that is under way at this endpoint is over and taken in."""
        # read anew each time: a batch that was refused for the queue's length is there again without an id, to be sent later
        while batches := [batch for batch in self._store.batches() if (batch.endpoint, batch.model) == self._where]:
            for batch in batches:
                if batch.id is None:
                    self._send(batch)
            under_way = [batch for batch in self._store.batches() if batch.id is not None and (batch.endpoint, batch.model) == self._where]
            finished = [batch for batch in under_way if self._look(batch, alone=len(under_way) == 1)]
            if not finished:
                self._models.caller.stop.halt.wait(self._settings.poll)

    def _send(self, batch: Batch) -> None:
        path, file = self._store.lines_of(batch.name), batch.file
        if file is None:
            file = self._wire.upload(path)
            # written down before the batch is created: a run killed here uploads the file no second time
            self._store.uploaded(batch.name, file)
        batch_id = self._wire.create(file, batch.name, self._settings.window)
        self._store.created(batch.name, batch_id)
        path.unlink(missing_ok=True)
        self._tell(f"batch {batch_id}: requests sent: {batch.requests:,}")

    def _look(self, batch: Batch, *, alone: bool) -> bool:
        """True if the batch is over, and taken in."""
        remote = self._seen(batch)
        if remote is None:
            return False
        self._say(batch, remote)
        if remote.status == "failed":
            return self._failed(batch, remote, alone=alone)
        if remote.status not in OVER:
            return False
        self._take_in(batch, remote)
        return True

    def _seen(self, batch: Batch) -> Remote | None:
        """The batch as it stands; None where the provider does not answer now: hours of waiting must outlast that.

        Raises: AwayError where it has not answered for long, ModelError for a batch that it does not know any more.
        """
        try:
            remote = self._wire.look(batch.id or "")
        except GoneError as gone:
            what = f"{self._where[0]} does not know batch {batch.id} any more"
            raise ModelError(what, fix="kgeval cache batches cancel forgets it; then the same command asks its requests again") from gone
        except AwayError:
            self._away += 1
            if self._away > MOST_AWAY:
                raise
            if self._away == 1:
                self._tell("the provider does not answer; looking again")
            return None
        self._away = 0
        return remote

    def _take_in(self, batch: Batch, remote: Remote) -> None:
        fatal: list[ModelError] = []
        short: set[str] = set()
        good, lost = self._store.finish(batch.name, self._came(batch, remote, fatal, short))
        self._tell(f"batch {batch.id}: {remote.status}; replies: {good:,}" + (f", requests without one: {lost:,}" if lost else ""))
        for file in (batch.file, remote.output_file_id, remote.error_file_id):
            if file and file not in short:
                self._wire.delete(file)
        # a wrong parameter meets every request; where some have replies, the fault is not of all
        if fatal and not good:
            raise fatal[0]

    def _came(self, batch: Batch, remote: Remote, fatal: list[ModelError], short: set[str]) -> Iterator[Came]:
        """What came back, line by line, the completions first. `fatal`: gets what every request would get; `short`: files that are
        cut."""
        path = self._store.lines_of(f"{batch.name}.results")
        least = remote.request_counts.completed if remote.request_counts is not None else 0
        try:
            for file, lines in ((remote.output_file_id, least), (remote.error_file_id, 0)):
                if file and not self._fetched(file, path, lines):
                    short.add(file)
                for raw in _lines(path) if file else ():
                    reply = self._wire.read(raw, lambda key: self._store.mode_in(batch.name, key))
                    if isinstance(reply, ModelError):
                        fatal.append(reply)
                    elif reply is not None:
                        yield reply
        finally:
            path.unlink(missing_ok=True)

    def _fetched(self, file: str, path: Path, least: int) -> bool:
        """Downloads a file of results. False where it has fewer lines than the provider says, for the second time too."""
        # a transfer can end early without an error (a proxy that closes): tried twice, then what is missing is asked again
        if self._wire.download(file, path) >= least or (lines := self._wire.download(file, path)) >= least:
            return True
        self._tell(f"file {file} at the provider is cut: lines {lines:,} of {least:,}; it is not deleted, what is missing is asked again")
        return False

    def _failed(self, batch: Batch, remote: Remote, *, alone: bool) -> bool:
        """The provider refused the batch as a whole. True if it can be sent again, later."""
        faults = list((remote.errors.data if remote.errors is not None else None) or [])
        codes = sorted({str(fault.code)[:60] for fault in faults if fault.code})
        # with no other batch under way there is nothing to wait for: the file itself is too large for the account
        if FULL in codes and not alone:
            self._store.created(batch.name, None)  # the others have to end first
            return False
        self._store.drop(batch.name)
        fix = "make smaller files with --batch-size" if FULL in codes else "the provider's page on batches says what it takes"
        why = ", ".join(codes) or "no reason given"
        raise ModelError(f"{self._where[0]} refused a batch of {batch.requests:,} requests: {why}", fix=fix)

    def _say(self, batch: Batch, remote: Remote) -> None:
        counts = remote.request_counts
        state = remote.status if counts is None else f"{remote.status}, {counts.completed:,} of {counts.total:,} done"
        if self._said.get(batch.name) != state:
            self._said[batch.name] = state
            self._tell(f"batch {batch.id}: {state}")


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


def cancel_batches(journal: Path, *, timeout: float, tell: Tell, own: bool) -> int:
    """Asks the providers to stop all batches of a journal. Returns how many; what they have done is taken in by the next run.

    `own`: whether it is the journal of this user's cache folder. Raises: UsageError where another one names addresses that nobody else
    names: the key would go there.
    """
    with Store(journal) as store:
        batches = store.batches()
        owned = is_owned(store.path.stat())
        strange = {batch.endpoint for batch in batches if not is_known_address(batch.endpoint, owned=owned)}
        if strange and not own:
            what = f"{journal} has batches at {', '.join(sorted(strange))}, and OPENAI_API_KEY would go there"
            raise UsageError(what, fix="if that is your provider, set OPENAI_BASE_URL to it")
        for batch in batches:
            if batch.id is None:
                store.lines_of(batch.name).unlink(missing_ok=True)
                store.drop(batch.name)
                tell("a batch that was not started yet is forgotten")
                continue
            # a journal may have batches at several providers
            with Wire(Endpoint(batch.model, batch.endpoint), timeout=timeout) as wire:
                try:
                    status = wire.look(batch.id).status
                    over = status in OVER or status == "failed"  # some providers refuse to cancel what is over
                    tell(f"batch {batch.id}: {status if over else wire.cancel(batch.id).status}")
                except GoneError:
                    store.drop(batch.name)
                    tell(f"batch {batch.id}: {batch.endpoint} does not know it any more; it is forgotten")
    return len(batches)
