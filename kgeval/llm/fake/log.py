"""What the fake server was asked: a log of requests, and the counts that tests look at."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import asdict, dataclass, field
from typing import Any

# a bench asks a hundred thousand times; the counts are over all of them
KEPT = 20_000


@dataclass(frozen=True)
class Logged:
    """One request. `status` 0: nothing was sent (the client went away). `at`: when it came, by time.monotonic().

    `good`: answered with status 200 and without a fault. `body` is the parsed request; no header, so no key.
    """

    path: str
    hash: str
    status: int
    fault: str | None
    good: bool
    at: float
    seconds: float
    body: Any = None


@dataclass(frozen=True)
class Stats:
    """Counts since the start or the last reset, of everything under /v1.

    `by_request`: request hash -> times asked. `repeated_successes`: good answers to a request that already had one: calls paid
    twice. `aborted`: the client went away before an answer was sent.
    """

    requests: int = 0
    by_status: dict[str, int] = field(default_factory=dict)
    by_path: dict[str, int] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=dict)
    successes: int = 0
    repeated_successes: int = 0
    aborted: int = 0
    most_in_flight: int = 0
    by_request: dict[str, int] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class Log:
    """Counts requests as they arrive and as they are answered. Used by one thread."""

    def __init__(self) -> None:
        self.entries: deque[Logged] = deque(maxlen=KEPT)
        self.in_flight = 0
        self.reset()

    def reset(self) -> None:
        """Starts counting anew; requests in flight stay counted as such."""
        self.entries.clear()
        self.asked: Counter[str] = Counter()
        self.status: Counter[str] = Counter()
        self.paths: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.good: Counter[str] = Counter()
        self.most = self.in_flight

    def arrived(self, key: str) -> int:
        """Counts a request in; the number of this try (1: the first)."""
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        self.asked[key] += 1
        return self.asked[key]

    def left(self, entry: Logged) -> None:
        """Counts a request out."""
        self.in_flight -= 1
        self.entries.append(entry)
        self.status[str(entry.status) if entry.status else "aborted"] += 1
        self.paths[entry.path] += 1
        if entry.fault:
            self.faults[entry.fault] += 1
        if entry.good:
            self.good[entry.hash] += 1

    def stats(self) -> Stats:
        successes = sum(self.good.values())
        return Stats(
            requests=sum(self.asked.values()), by_status=dict(self.status), by_path=dict(self.paths), faults=dict(self.faults),
            successes=successes, repeated_successes=successes - len(self.good), aborted=self.status["aborted"],
            most_in_flight=self.most, by_request=dict(self.asked),
        )
