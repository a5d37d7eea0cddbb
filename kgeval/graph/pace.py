"""A pause between queries, for a server that others use: while it lasts, nothing is asked there on this graph's behalf, save what cleans
up."""

from __future__ import annotations

import threading
import time

from kgeval.graph.failures import refuse_if_over

SLICE = 0.2  # seconds after which one that waits looks whether its work is over
_own = threading.local()


class Pace:
    """Of one graph, for all its threads. `seconds`: after the end of a query, before another one begins."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self._ended = float("-inf")  # when the last query did

    def wait(self) -> None:
        """Before a query. Raises: QueryEnded where the work that it belongs to is over."""
        if not self.seconds:
            return
        begun = time.monotonic()
        while (left := self._ended + self.seconds - time.monotonic()) > 0:
            refuse_if_over()
            time.sleep(min(left, SLICE))
        _own.waited = _waited() + time.monotonic() - begun

    def end(self) -> None:
        """After a query, however it ended."""
        self._ended = time.monotonic()


def working_time() -> float:
    """Seconds of a clock that stands still while this thread pauses: for what is measured, or has a limit."""
    return time.perf_counter() - _waited()


def _waited() -> float:
    waited: float = getattr(_own, "waited", 0.0)
    return waited
