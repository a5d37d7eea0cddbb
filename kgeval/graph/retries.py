"""Reads are asked again: on a new connection where theirs breaks, and once the server is back where it is away."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from itertools import count
from typing import NoReturn, TypeVar

from kgeval.errors import KgevalError, QueryError, first_line
from kgeval.graph.failures import (
    BreaksConnection,
    ConnectionBroke,
    ConnectionLost,
    ProjectionLost,
    refuse_if_over,
    transient,
)
from kgeval.graph.sessions import work_is_over

ATTEMPTS = 3  # a query whose connection broke so often is what breaks it
AWAY = 60.0  # seconds that a server is waited for: a restart takes half of them
BUSY = 5.0  # seconds that a query which the server refuses for now is asked again
LEAST = 1.0  # seconds of its time limit that a query which is asked again has at least
FIX = "see the server's log, then run the command again"

T = TypeVar("T")
log = logging.getLogger("kgeval.graph")


def once_more(work: Callable[[], T]) -> T:
    """What the work gives. It is done once more, from its beginning, where the connection breaks in the midst of what cannot be asked again
    by itself: rows under way, or a projection, which then is another one. Raises: what the work raises."""
    try:
        return work()
    except (ConnectionBroke, ProjectionLost) as cause:
        log.info("done once more: %s", cause.message)
        return work()


class Retries:
    """Of one graph. `answers`: whether the server answers now, by a connection that may be a new one; it is asked from any thread."""

    def __init__(self, answers: Callable[[], bool]) -> None:
        self._answers = answers
        self._asking = threading.Lock()  # one thread waits for the server, the others wait for that one
        self._away = False  # it was waited for, and did not come back

    def read(self, ask: Callable[[float | None], T], timeout: float | None, *, tidies: bool = False) -> T:
        """What `ask` gives: something that only reads, may be done again, and takes its time limit (seconds). `tidies`: it cleans up, and
        is asked again where the work of this thread is over too, if the server answers just then.

        A connection that was silent until the limit had passed says nothing of how long this takes: it is asked once more, with all of it.
        Raises: ConnectionLost where the server does not come back; BreaksConnection where it answers, and the connection breaks or
        is silent whenever this is asked; what `ask` raises else.
        """
        begun, waited, silent = time.monotonic(), 0.0, False
        for number in count(1):
            asked = time.monotonic()
            left = None if timeout is None else max(min(LEAST, timeout), timeout - (asked - begun - waited))
            try:
                return ask(left)
            except ConnectionLost as cause:
                broke = time.monotonic()
                self.wait(cause, tidies=tidies)
                waited += time.monotonic() - broke
                if timeout is not None and broke - begun - waited >= timeout:
                    if silent:
                        raise _silent(timeout) from cause
                    begun, waited, silent = time.monotonic(), 0.0, True
                if number == ATTEMPTS:
                    message = f"the connection broke {number} times while the server worked on this: {_words(cause)}"
                    raise BreaksConnection(message, fix=FIX) from cause
                log.info("asked again on a new connection: %s", cause.message)
            except QueryError as cause:
                delay = 0.2 * 2 ** number
                if not transient(cause) or time.monotonic() + delay - begun - waited > min(BUSY, timeout or BUSY):
                    raise
                if not tidies:
                    refuse_if_over()
                time.sleep(delay)
        raise AssertionError("unreachable")

    def lost(self, cause: ConnectionLost) -> NoReturn:
        """What becomes of something that cannot be asked again by itself. Raises: ConnectionBroke once the server answers; the cause
        where it does not come back."""
        self.wait(cause)
        raise ConnectionBroke(f"the connection broke while the server worked on this: {_words(cause)}", fix=FIX) from cause

    def wait(self, cause: KgevalError, *, tidies: bool = False) -> None:
        """Until the server answers. Raises: the cause, if it does not for a minute; at once, if it did not before, or if this only tidies
        up after work that is over."""
        with self._asking:
            until, delay, told = time.monotonic() + (0.0 if self._away else AWAY), 0.1, False
            if not tidies:
                refuse_if_over()
            while not self._answers():
                if not tidies:
                    refuse_if_over()
                if tidies and work_is_over():
                    raise cause
                if time.monotonic() + delay > until:
                    self._away = True
                    raise cause
                if not told:
                    log.warning("the server does not answer; waiting up to %.0f s for it", AWAY)
                    told = True
                time.sleep(delay)
                delay = min(2 * delay, 2.0)
            if told:
                log.warning("the server answers again")
            self._away = False


def _words(cause: ConnectionLost) -> str:
    return first_line(cause.__cause__ or cause)


def _silent(timeout: float) -> BreaksConnection:
    fix = "run the command again; raise --timeout if the server is slow"
    return BreaksConnection(f"twice no answer came within the time limit of {timeout:g} s: the connection was silent, or broke", fix=fix)
