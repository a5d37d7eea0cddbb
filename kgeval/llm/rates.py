"""How fast: requests and tokens per minute, shared by all threads; pauses that the endpoint asks for; waits before a retry."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable

MINUTE = 60.0
LONGEST_WAIT = 60.0
FIRST_WAIT = 0.5


class Bucket:
    """At most `per_minute` units in any 60 seconds (a half-open window), evenly spread, with bursts of about a second's worth.

    Generic cell rate algorithm. One take larger than the burst waits until nothing is owed, then goes whole.
    """

    def __init__(self, per_minute: float) -> None:
        self.burst = max(1.0, per_minute / MINUTE)
        # so that burst + refill of a minute is exactly per_minute
        self.seconds_a_unit = MINUTE / max(per_minute - self.burst + 1.0, 1.0)
        self._due = float("-inf")

    def take(self, amount: float, now: float) -> float:
        """Takes the amount and returns the seconds to wait before using it."""
        due = max(self._due, now)
        slack = max(self.burst - amount, 0.0) * self.seconds_a_unit
        self._due = due + amount * self.seconds_a_unit
        return max(due - slack - now, 0.0)

    def correct(self, amount: float) -> None:
        """More (or, if negative, less) was used than was taken."""
        self._due += amount * self.seconds_a_unit


class EndpointRates:
    """The rates at one endpoint."""

    def __init__(self, rpm: int | None, tpm: int | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._requests = Bucket(rpm) if rpm else None
        self._tokens = Bucket(tpm) if tpm else None
        self._clock = clock
        self._lock = threading.Lock()
        self._pause_until = float("-inf")
        self.counts_tokens = tpm is not None

    def wait(self, tokens: int, *, sleep: Callable[[float], bool]) -> bool:
        """Waits for the turn of one request of so many tokens. `sleep` returns True if the session ends while it waits; so does this."""
        with self._lock:
            now = self._clock()
            waits = [self._requests.take(1, now)] if self._requests else []
            waits += [self._tokens.take(tokens, now)] if self._tokens else []
            turn = now + max(waits, default=0.0)
        # looked at again after each sleep: another thread may have been asked for a longer pause meanwhile
        while (rest := max(turn, self._pause_until) - self._clock()) > 0:
            if sleep(rest):
                return True
        return False

    def used(self, tokens: int, *, taken: int) -> None:
        """Corrects the tokens of a request once its reply tells how many they were."""
        if self._tokens is not None:
            with self._lock:
                self._tokens.correct(tokens - taken)

    def pause(self, seconds: float) -> None:
        """Nobody sends for so long: the endpoint asked for it."""
        with self._lock:
            self._pause_until = max(self._pause_until, self._clock() + seconds)


def backoff(attempt: int, *, asked: float | None = None, chance: Callable[[], float] = random.random) -> float:
    """Seconds before retry number `attempt` (1, 2, ...): 0.5 s doubled each time, at most 60 s, with jitter between half and all
    of it; never less than the endpoint asked for."""
    # half of it is chance: threads that failed together must not come back together
    wait = min(FIRST_WAIT * 2 ** (attempt - 1), LONGEST_WAIT) * (0.5 + 0.5 * chance())
    return wait if asked is None else max(asked * (1.0 + 0.1 * chance()), wait if asked == 0 else 0.0)
