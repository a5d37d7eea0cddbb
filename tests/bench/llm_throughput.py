"""How much of an endpoint's possible throughput a session reaches, and what a call costs in CPU, against the bare openai client.

python tests/bench/llm_throughput.py [--calls 2000] [--delay 0.25] [--in-flight 64] [--rounds 3]

The fake server runs as a process of its own. Possible throughput = in flight / delay. The bare client makes the same requests from
as many threads with nothing around it: no journal, no validation. Both in the same run, in turns; the median of the rounds counts.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import openai

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))

from room import judging, session

from kgeval.llm.fake import FakeProcess
from kgeval.llm.request import make_request


@dataclass(frozen=True)
class Measured:
    """Wall seconds and CPU seconds of a number of calls."""

    calls: int
    wall: float
    cpu: float

    @property
    def ms(self) -> float:
        """CPU milliseconds a call."""
        return 1000 * self.cpu / self.calls


def measured(calls: int, work: Callable[[], None]) -> Measured:
    wall, before = time.perf_counter(), os.times()
    work()
    after = os.times()
    return Measured(calls, time.perf_counter() - wall, after.user + after.system - before.user - before.system)


def by_room(base_url: str, calls: int, in_flight: int) -> Measured:
    """The calls through a session with a new journal."""
    with tempfile.TemporaryDirectory() as folder, session(base_url, Path(folder) / "j", concurrency=in_flight, timeout=60) as models:
        models.ask(judging(calls + 1)[-1])  # connections and imports are paid before

        def work() -> None:
            got = sum(outcome.value is not None for outcome in models.ask_all(judging(calls)))
            if got != calls:
                raise SystemExit(f"only {got} of {calls} answered")

        return measured(calls, work)


def by_client(base_url: str, calls: int, in_flight: int) -> Measured:
    """The same requests by the openai client alone, in a pool of threads."""
    with tempfile.TemporaryDirectory() as folder, session(base_url, Path(folder) / "j") as models:
        endpoint = models.endpoint
    bodies = [make_request(task, endpoint, items=dict(enumerate(task.items, start=1))).body("json_schema") for task in judging(calls)]
    with openai.OpenAI(base_url=base_url, api_key="none", max_retries=0, timeout=60.0) as client, ThreadPoolExecutor(in_flight) as pool:
        client.chat.completions.create(**bodies[0])

        def work() -> None:
            for reply in pool.map(lambda body: client.chat.completions.create(**body), bodies):
                if not reply.choices[0].message.content:
                    raise SystemExit("an empty reply")

        return measured(calls, work)


def compare(*, calls: int, delay: float, in_flight: int, rounds: int) -> tuple[list[Measured], list[Measured]]:
    """The rounds of the session and of the bare client, in turns."""
    rooms, clients = [], []
    with FakeProcess("--delay", str(delay)) as server:
        for _ in range(rounds):
            clients.append(by_client(server.base_url, calls, in_flight))
            rooms.append(by_room(server.base_url, calls, in_flight))
            server.reset()
    return rooms, clients


def median(values: list[Measured], name: str) -> float:
    return statistics.median(float(getattr(value, name)) for value in values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--delay", type=float, default=0.25)
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    rooms, clients = compare(calls=given.calls, delay=given.delay, in_flight=given.in_flight, rounds=given.rounds)
    possible = -(-given.calls // given.in_flight) * given.delay  # full waves of calls
    shares = [possible / median(values, "wall") for values in (rooms, clients)]
    load = os.getloadavg()[0]
    print(f"{given.calls} calls, {given.in_flight} in flight, {given.delay} s a reply, median of {given.rounds} rounds; load {load:.1f}")
    print(f"share of the possible throughput   session {shares[0]:.3f}   bare client {shares[1]:.3f}   ratio {shares[0] / shares[1]:.3f}")
    print(f"CPU ms a call                      session {median(rooms, 'ms'):.2f}   bare client {median(clients, 'ms'):.2f}"
          f"   ratio {median(rooms, 'ms') / median(clients, 'ms'):.2f}")


if __name__ == "__main__":
    main()
