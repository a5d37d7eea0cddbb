"""The one thread pool: work on many items, results in the order of the items, never more than a window ahead of the reader."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from types import TracebackType
from typing import Any, TypeVar

A = TypeVar("A")
B = TypeVar("B")
# results come in order: others go so far ahead while one item is slow, and memory stays flat
WINDOW_A_THREAD = 16
# calls in flight are daemon threads: after Ctrl-C nobody should wait for a slow endpoint
GRACE_SECONDS = 1.0


def join(thread: threading.Thread, seconds: float | None = None) -> None:
    """Waits for a thread's end (at most so long). One that an interrupt met as it was being started cannot be waited for; it has nothing
    to do, or ends as the others do."""
    with suppress(RuntimeError):
        thread.join(seconds)


class _Run:
    """One iteration over the pool: where its results go, and whether anybody still wants them."""

    def __init__(self) -> None:
        self.results: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()
        self.over = False


class _Delivery:
    """Runs one item's work and delivers what it returns or raises to the reader, who raises it again."""

    def __init__(self, run: _Run, index: int) -> None:
        self.run, self.index = run, index
        self.value: Any = None

    def __enter__(self) -> _Delivery:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool:
        self.run.results.put((self.index, self.value, error))
        return True


class Pool:
    """Threads that die with the process, so that a call in flight never holds up an interrupted run. One thread: no threads at all,
    the work is done by the reader. Work that itself iterates over the pool does that in its own thread."""

    def __init__(self, size: int, *, window: int | None = None) -> None:
        self.size = size
        self.window = window or max(size * WINDOW_A_THREAD, size)
        self._jobs: SimpleQueue[tuple[_Run, int, Callable[[Any], Any], Any] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._inside = threading.local()

    def run(self, work: Callable[[A], B], items: Iterable[A]) -> Iterator[B]:
        """work(item) for every item, in order, lazily. What `work` raises is raised here as soon as it happens."""
        # from inside a thread of the pool: all others may be waiting as this one would, and none would be left to work
        if self.size == 1 or getattr(self._inside, "yes", False):
            yield from map(work, items)
            return
        run, ready = _Run(), dict[int, B]()
        source = iter(items)
        sent = yielded = 0
        more = True
        try:
            while more or yielded < sent:
                while more and sent - yielded < self.window:
                    more, sent = self._submit(run, work, source, sent)
                while yielded < sent and yielded not in ready:
                    index, value, error = run.results.get()
                    if error is not None:
                        raise error
                    ready[index] = value
                if yielded < sent:
                    yielded += 1
                    yield ready.pop(yielded - 1)
        finally:
            # the reader has gone (an error, a break): what is still queued for it is dropped, not worked off
            run.over = True

    def close(self, *, grace: float = GRACE_SECONDS) -> bool:
        """Ends the threads; True if all ended within `grace` seconds (those in a call may not)."""
        for _ in self._threads:
            self._jobs.put(None)
        until = time.monotonic() + grace
        for thread in self._threads:
            join(thread, max(until - time.monotonic(), 0.0))
        return not any(thread.is_alive() for thread in self._threads)

    def _submit(self, run: _Run, work: Callable[[A], B], source: Iterator[A], sent: int) -> tuple[bool, int]:
        for item in source:
            self._jobs.put((run, sent, work, item))
            self._start_one()
            return True, sent + 1
        return False, sent

    def _start_one(self) -> None:
        if len(self._threads) < self.size:
            thread = threading.Thread(target=self._work, name=f"kgeval-call-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _work(self) -> None:
        self._inside.yes = True
        while (job := self._jobs.get()) is not None:
            run, index, work, item = job
            if not run.over:
                with _Delivery(run, index) as delivery:
                    delivery.value = work(item)
