"""One command at a time: a lock file that says when it makes somebody wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kgeval.errors import ServerError


@contextmanager
def only_one(path: Path, *, what: str, say: Callable[[str], None], wait: float) -> Iterator[None]:
    """Holds the lock file `path`; `what` is told to those who must wait.

    Raises: ServerError if another command holds it for longer than `wait` seconds.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(path, mode=0o600)
    try:
        try:
            # long enough for a look at the home: only who really waits is told so
            lock.acquire(timeout=0.3)
        except Timeout:
            say(f"{what}; waiting for it")
            lock.acquire(timeout=wait)
    except Timeout as cause:
        raise ServerError(f"{what}, and does not end", fix="end that command, then run this one again") from cause
    try:
        yield
    finally:
        lock.release()
