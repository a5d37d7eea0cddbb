"""Commands in processes of this machine, some at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from kgeval.run.spread.command import INTERRUPTED, Command, Ended, Running


def run_local(commands: Sequence[Command], *, workers: int, go_on: Callable[[Ended], bool]) -> Iterator[Ended]:
    """How the commands ended, as they do; `workers` run at a time. `go_on`: false after a command whose end makes the others useless:
    those are then stopped, or not begun (exit code 130). Ctrl-C stops all of them, and waits for them."""
    crew = _Crew()
    with ThreadPoolExecutor(workers, thread_name_prefix="kgeval-shard") as pool:
        try:
            for done in as_completed([pool.submit(crew.work, command) for command in commands]):
                ended = done.result()
                if not go_on(ended):
                    crew.stop()
                yield ended
        finally:
            crew.stop()


class _Crew:
    def __init__(self) -> None:
        self._lock, self._stopped = threading.Lock(), False
        self._running: set[Running] = set()

    def work(self, command: Command) -> Ended:
        with self._lock:
            if self._stopped:
                return Ended(command.name, INTERRUPTED, "not begun")
            running = Running(command)
            self._running.add(running)
        try:
            return running.wait()
        finally:
            with self._lock:
                self._running.discard(running)

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            for running in self._running:
                running.stop()
