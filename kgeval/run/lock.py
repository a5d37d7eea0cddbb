"""One run at a time in a folder."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kgeval.errors import UsageError

FILE = ".lock"


@contextmanager
def alone(folder: Path) -> Iterator[int]:
    """Holds the folder; gives the file that stages inherit, so that the folder stays held while one of them lives, whatever becomes of
    this process.

    Raises: UsageError where the folder cannot be written, or another run holds it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = os.open(folder / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as cause:
        raise UsageError(f"{folder}: cannot be written ({cause.strerror})", fix="name another folder with --folder") from cause
    try:
        _hold(file, folder)
        yield file
    finally:
        os.close(file)


def _hold(file: int, folder: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as cause:
        raise UsageError(
            f"{folder}: another run works there, or a stage of one that was killed is still at its end",
            fix="wait for its end, or name another folder with --folder",
        ) from cause
