"""The stages that are not functions yet, each as a command in a process of its own. This file goes when the last of them is one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kgeval.ending import STEP
from kgeval.workflows.pipeline.execute import BY_SIGNAL, INTERRUPTED


@dataclass(frozen=True)
class Commands:
    """Runs commands of kgeval. `held`: open files that they inherit."""

    held: tuple[int, ...] = ()

    def __call__(self, words: Sequence[str], log: Path) -> int:
        """Runs one command. Its result goes to the log; its messages too, unless a person watches.

        It has three seconds after Ctrl-C to save what it has, and is waited for. Raises: OSError where the log cannot be written.
        """
        log.parent.mkdir(parents=True, exist_ok=True)
        log.touch(mode=0o600)
        watched = sys.stderr.isatty()
        with log.open("w", encoding="utf-8") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "kgeval", *words], stdout=file, stderr=None if watched else file, pass_fds=self.held,
                env={**os.environ, STEP: "1"},
            )
            return _code(_waited(process))


def _waited(process: subprocess.Popen[bytes]) -> int:
    """Its end. On Ctrl-C it is told to end, by a signal that is Ctrl-C to it and is not ignored where this process runs in the background
    of a script; a terminal may have told it before."""
    told = False
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGKILL if told else signal.SIGTERM)
            told = True


def _code(code: int) -> int:
    """Its own exit code; 130 where a signal interrupted it, 128 + N where signal N ended it otherwise."""
    return INTERRUPTED if code in (-signal.SIGINT, -signal.SIGTERM) else code if code >= 0 else BY_SIGNAL - code


def dry_run(words: Sequence[str]) -> str:
    """What the command's own dry run says."""
    done = subprocess.run(
        [sys.executable, "-m", "kgeval", *words, "--dry-run"], capture_output=True, text=True, encoding="utf-8", errors="replace",
        check=False,
    )
    return done.stdout if done.returncode == 0 else done.stderr
