"""The shards of a task done by several workers, in processes of this machine; ray_workers.py has those on Ray.

What crosses to a worker is plain data (a session, files, options), a folder and environment variables; what comes back is an exit code and
last words. Results are files, which a worker writes and whoever started it reads.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

PREFIXES = ("OPENAI_", "NEO4J_", "KGEVAL_")  # what commands read: keys, addresses, options
LINES = 30
LONGEST = 2_000
INTERRUPTED = 130


@dataclass(frozen=True)
class Worker:
    """`name`: for messages. `given`: what `cli/worker.py` takes, as JSON has it. `folder`: where it runs. `environment`: variables to set
    beside the worker's own; it may hold keys, so it is never shown or written."""

    name: str
    given: Mapping[str, Any]
    folder: str
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class EndedWorker:
    """How a worker ended: its exit code, and the last lines of its messages."""

    name: str
    code: int
    messages: str = ""


def passed_environment() -> dict[str, str]:
    """The variables of this process that commands read."""
    return {name: value for name, value in os.environ.items() if name.startswith(PREFIXES)}


class RunningWorker:
    """A worker that runs in a process of its own. `stop`: asks it to end; what it has finished is kept."""

    def __init__(self, worker: Worker) -> None:
        self._name, self._messages = worker.name, deque[str](maxlen=LINES)
        # -P, and the path of this process: -m alone would import what lies in the folder, a stranger's json.py before Python's
        path = os.pathsep.join(str(Path(part).absolute()) for part in sys.path)
        # a session of its own: Ctrl-C on a terminal reaches it through `stop` alone, once
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "kgeval.cli.worker"], cwd=worker.folder,
            env={**os.environ, **worker.environment, "PYTHONPATH": path},
            start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
        )
        self._begin(self._process.stdin, json.dumps(dict(worker.given)))
        # read as it comes: a worker that fills the pipe would wait for ever
        self._reader = threading.Thread(target=self._read, args=(self._process.stderr,), daemon=True)
        self._reader.start()

    def wait(self) -> EndedWorker:
        """Blocks until it has ended."""
        code = self._process.wait()
        self._reader.join()
        # Popen has a signal as a negative code; SIGKILL, which the system sends when memory is short, says nothing against the task
        interrupted = code in (-signal.SIGINT, -signal.SIGTERM, -signal.SIGKILL)
        return EndedWorker(self._name, INTERRUPTED if interrupted else code if code >= 0 else 2, "".join(self._messages))

    def stop(self) -> None:
        """Interrupts it, as Ctrl-C does. May be called from any thread, and twice."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)  # it is Ctrl-C to kgeval, and not ignored where this one runs in the background

    def _begin(self, stdin: IO[str] | None, given: str) -> None:
        if stdin is not None:
            with suppress(BrokenPipeError), stdin:  # it may have ended already: its exit code says so
                stdin.write(given)

    def _read(self, stream: IO[str] | None) -> None:
        if stream is not None:
            with stream:
                self._messages.extend(line[:LONGEST] for line in stream)


def carry_out(worker: Worker) -> EndedWorker:
    """Runs the worker to its end. An interruption is passed on, and the worker is waited for."""
    running = RunningWorker(worker)
    try:
        return running.wait()
    except BaseException:
        running.stop()
        running.wait()
        raise


def run_local(shards: Sequence[Worker], *, workers: int, go_on: Callable[[EndedWorker], bool]) -> Iterator[EndedWorker]:
    """How the shards ended, as they do; `workers` run at a time. `go_on`: false after a shard whose end makes the others useless:
    those are then stopped, or not begun (exit code 130). Ctrl-C stops all of them, and waits for them."""
    crew = _Crew()
    with ThreadPoolExecutor(workers, thread_name_prefix="kgeval-shard") as pool:
        try:
            for future in as_completed([pool.submit(crew.work, shard) for shard in shards]):
                ended = future.result()
                if not go_on(ended):
                    crew.stop()
                yield ended
        finally:
            crew.stop()


class _Crew:
    def __init__(self) -> None:
        self._lock, self._stopped = threading.Lock(), False
        self._running: set[RunningWorker] = set()

    def work(self, shard: Worker) -> EndedWorker:
        with self._lock:
            if self._stopped:
                return EndedWorker(shard.name, INTERRUPTED, "not begun")
            # started within the lock: `stop` finds it among the running ones, or it is not begun
            running = RunningWorker(shard)
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
