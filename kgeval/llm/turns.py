"""Which requests are on the wire: never more than the session's limit. A turn begins when a request leaves, and ends when its
reply begins to arrive, so that making requests and reading replies costs the endpoint no idle time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Turn:
    """One request's turn. `begin` waits for a free place, then calls `ready`, which may wait on, or raise what ends the session."""

    def __init__(self, places: threading.BoundedSemaphore, ready: Callable[[], None]) -> None:
        self._places, self._ready = places, ready
        self._held = False
        self.began: float | None = None

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

    def end(self) -> None:
        """Gives the place back, once."""
        if self._held:
            self._held = False
            self._places.release()

    @property
    def seconds(self) -> float:
        """Since the request left; 0 if it never did."""
        return 0.0 if self.began is None else time.perf_counter() - self.began
