"""Which requests are on the wire: never more than the session's limit. A turn begins when a request leaves, and ends when its
reply begins to arrive, so that making requests and reading replies costs the endpoint no idle time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kgeval.errors import ModelError

LOOK_SECONDS = 0.02
FIRST_SECONDS = 3.0  # a refusal comes quickly; a slow first reply holds nobody up for longer


class FirstRequest:
    """Until an endpoint has answered, or let three seconds pass, one request at a time goes to it: a wrong key, model or address costs one
    request, not one for each place. Thread-safe."""

    def __init__(self) -> None:
        self._alone, self._open, self._since = threading.Lock(), False, 0.0
        self._refusal: ModelError | None = None

    @contextmanager
    def first(self, ended: Callable[[], bool]) -> Iterator[None]:
        """Around a request: waits while another one is the first, or until `ended`. A ModelError of that one is raised here too."""
        while not self._open and not ended() and (not self._since or time.monotonic() - self._since < FIRST_SECONDS):
            if self._alone.acquire(timeout=LOOK_SECONDS):
                try:
                    # others may have waited for the lock while the first was answered
                    if self._open:
                        break
                    if self._refusal is not None:
                        raise self._refusal
                    self._since = self._since or time.monotonic()
                    yield from self._tried()
                    return
                finally:
                    self._alone.release()
        yield

    def _tried(self) -> Iterator[None]:
        try:
            yield
        except ModelError as refusal:
            self._refusal = refusal
            raise
        except BaseException:
            self._open = True  # it answered, or broke in a way that other requests need not share
            raise
        self._open = True


class Turn:
    """One request's turn. `begin` waits for a free place, then calls `ready`, which may wait on, or raise what ends the session."""

    def __init__(self, places: threading.BoundedSemaphore, ready: Callable[[], None]) -> None:
        self._places, self._ready = places, ready
        self._held = False
        self.began: float | None = None
        self.streams = False

    def begin(self) -> None:
        """Takes a place. A request that a redirect sends elsewhere is the same call.

        Raises what `ready` raises, the place given back.
        """
        if self._held:
            return
        self._places.acquire()
        self._held = True
        if self.began is not None:
            return
        try:
            self._ready()
        except BaseException:
            self.end()
            raise
        self.began = time.perf_counter()

    def answered(self) -> None:
        """The head of the reply is there: the endpoint has done its work, unless it sends the rest as it makes it."""
        if not self.streams:
            self.end()

    def end(self) -> None:
        """Gives the place back, once."""
        if self._held:
            self._held = False
            self._places.release()

    @property
    def seconds(self) -> float:
        """Since the request left; 0 if it never did."""
        return 0.0 if self.began is None else time.perf_counter() - self.began
