"""Reads of threads that work side by side, in common messages: each thread waits until all of them want something of the server, and
the last to come asks for all. So that work which asks for one thing after another can be written as if nobody else were there, and
many of it still cost a server far away as many round trips as one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType

from kgeval.graph.pipelining import ReadAnswer, ReadRequest

AT_ONCE = 64
LINGER = 0.02  # seconds without news after which what waits is asked for: some threads compute, or wait for others


class _Wanted:
    """A read that a thread waits for. `answer` None and done: it is to be asked alone."""

    def __init__(self, request: ReadRequest, timeout: float | None) -> None:
        self.request, self.timeout = request, timeout
        self.sent = self.done = False
        self.answer: ReadAnswer | None = None
        self.error: BaseException | None = None


class _Delivery:
    """Gives each of a message its answer, or what ended the message, which each raises again in its own thread. `then`: what follows."""

    def __init__(self, message: Sequence[_Wanted], then: Callable[[Sequence[_Wanted]], None]) -> None:
        self.message, self.then = message, then
        self.answers: list[ReadAnswer] = []

    def __enter__(self) -> _Delivery:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool:
        for place, wanted in enumerate(self.message):
            wanted.answer = self.answers[place] if place < len(self.answers) else None
            wanted.error, wanted.done = error, True
        self.then(self.message)
        return True


class Gathering:
    """`ask`: the answers to some requests, each with this time limit (seconds), in order, up to one that meets it. `size`: how many take
    part."""

    def __init__(self, ask: Callable[[Sequence[ReadRequest], float | None], list[ReadAnswer]], size: int) -> None:
        self._ask, self._size = ask, size
        self._news = threading.Condition()
        self._changed = time.monotonic()
        self._wanted: list[_Wanted] = []

    @contextmanager
    def taking_part(self) -> Iterator[None]:
        """The work of one that takes part; behind the block nobody waits for it any more."""
        try:
            yield
        finally:
            with self._news:
                self._size -= 1
                self._tell()

    def answer(self, request: ReadRequest, timeout: float | None) -> ReadAnswer | None:
        """What came of it; None where it is to be asked alone, because one before it in the message met its time limit. Raises: what
        ended the message."""
        own = _Wanted(request, timeout)
        with self._news:
            self._wanted.append(own)
            self._tell()
        while not own.done:
            if message := self._next_message(own):
                self._send(message)
        if own.error is not None:
            raise own.error
        return own.answer

    def _next_message(self, own: _Wanted) -> list[_Wanted]:
        """What this thread is to send, once all wait or nothing has changed for a while; nothing where another one sends."""
        with self._news:
            while not own.done:
                waiting = [wanted for wanted in self._wanted if not wanted.sent]
                quiet = time.monotonic() - self._changed >= LINGER
                if not own.sent and (len(self._wanted) >= self._size or quiet):
                    message = [wanted for wanted in waiting if wanted.timeout == own.timeout]
                    for wanted in message:
                        wanted.sent = True
                    return message
                self._news.wait(None if own.sent else LINGER)
        return []

    def _send(self, message: Sequence[_Wanted]) -> None:
        with _Delivery(message, self._take_out) as delivery:
            delivery.answers = self._ask([wanted.request for wanted in message], message[0].timeout)

    def _take_out(self, message: Sequence[_Wanted]) -> None:
        with self._news:
            self._wanted = [wanted for wanted in self._wanted if wanted not in message]
            self._tell()

    def _tell(self) -> None:
        self._changed = time.monotonic()
        self._news.notify_all()
