"""One command of kgeval as a worker carries it out: in a process of its own, its messages kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO

PREFIXES = ("OPENAI_", "NEO4J_", "KGEVAL_")  # what commands read: keys, addresses, options
LINES = 30
LONGEST = 2_000
INTERRUPTED = 130


@dataclass(frozen=True)
class Command:
    """`name`: for messages. `words`: the argument list of kgeval, which holds every option. `folder`: where it runs. `environment`:
    variables to set beside the worker's own; it may hold keys, so it is never shown or written."""

    name: str
    words: tuple[str, ...]
    folder: str
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, and the last lines of its messages."""

    name: str
    code: int
    said: str = ""


def passed_environment() -> dict[str, str]:
    """The variables of this process that commands read."""
    return {name: value for name, value in os.environ.items() if name.startswith(PREFIXES)}


def environment_of(command: Command) -> dict[str, str]:
    """A worker's environment with the command's. Variables that stand for the command's own options (KGEVAL_SCORE_...) are left out:
    its words have them all, and one of them (an executor) must not count again."""
    own = f"KGEVAL_{command.words[0]}_".upper() if command.words else "KGEVAL_"
    return {name: value for name, value in {**os.environ, **command.environment}.items() if not name.startswith(own)}


class Running:
    """A command that runs in a process of its own. `stop`: asks it to end; what it has finished is kept."""

    def __init__(self, command: Command) -> None:
        self._name, self._said = command.name, deque[str](maxlen=LINES)
        # a session of its own: Ctrl-C on a terminal reaches it through `stop` alone, once
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kgeval", *command.words], cwd=command.folder, env=environment_of(command), start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
        )
        self._reader = threading.Thread(target=self._read, args=(self._process.stderr,), daemon=True)
        self._reader.start()

    def wait(self) -> Ended:
        """Blocks until it has ended."""
        code = self._process.wait()
        self._reader.join()
        interrupted = code in (-signal.SIGINT, -signal.SIGTERM, -signal.SIGKILL)
        return Ended(self._name, INTERRUPTED if interrupted else code if code >= 0 else 2, "".join(self._said))

    def stop(self) -> None:
        """Interrupts it, as Ctrl-C does. May be called from any thread, and twice."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)  # it is Ctrl-C to kgeval, and not ignored where this one runs in the background

    def _read(self, stream: IO[str] | None) -> None:
        if stream is not None:
            with stream:
                self._said.extend(line[:LONGEST] for line in stream)


def carry_out(command: Command) -> Ended:
    """Runs the command to its end. An interruption is passed on, and the command is waited for."""
    running = Running(command)
    try:
        return running.wait()
    except BaseException:
        running.stop()
        running.wait()
        raise
