"""One command of kgeval in a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

INTERRUPTED = 130
BY_SIGNAL = 128  # + its number, as shells say it
PATIENCE = 5.0  # seconds after Ctrl-C in which the process ends by itself, or shows that it was not told


@dataclass(frozen=True)
class Commands:
    """Runs commands of kgeval. `held`: open files that they inherit."""

    held: tuple[int, ...] = ()

    def __call__(self, words: Sequence[str], log: Path) -> int:
        """Runs one command. Its result goes to the log; its messages too, unless a person watches.

        Ctrl-C on a terminal reaches the process as well; it is waited for, and told where it was not. A SIGTERM to this process is
        passed on. Raises: OSError where the log cannot be written.
        """
        log.parent.mkdir(parents=True, exist_ok=True)
        log.touch(mode=0o600)
        watched = sys.stderr.isatty()
        with log.open("w", encoding="utf-8") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "kgeval", *words], stdout=file, stderr=None if watched else file, pass_fds=self.held,
            )
            with _passing_on(process):
                return _code(_waited(process))


def _waited(process: subprocess.Popen[bytes]) -> int:
    """Its end. It saves what it has after a Ctrl-C, however long that takes."""
    patience: float | None = None
    while True:
        try:
            return process.wait(patience)
        except KeyboardInterrupt:
            patience = PATIENCE
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            patience = None


@contextmanager
def _passing_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """A SIGTERM becomes an interruption, after which the process saves what it has; where it was started deaf to that (in the background
    of a script), it is told to end."""
    told = signal.SIGTERM if signal.getsignal(signal.SIGINT) is signal.SIG_IGN else signal.SIGINT
    before = signal.signal(signal.SIGTERM, lambda *_: process.send_signal(told))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _code(code: int) -> int:
    """Its own exit code; 130 where a signal interrupted it, 128 + N where signal N ended it otherwise."""
    return INTERRUPTED if code in (-signal.SIGINT, -signal.SIGTERM) else code if code >= 0 else BY_SIGNAL - code
