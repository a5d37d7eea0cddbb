"""Puts another store into a home, so that at each moment the old one can be had back.

    data/               the store that the next start uses
    kgeval-old-data/    the old one, from the exchange until it is settled

Whoever exchanges holds `kgeval-bulk.lock`. An old store that lies there while nobody holds it was left by a command that was
killed: `recover` puts it back.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kgeval.errors import ServerError

OLD, LOCK, STAGING = "kgeval-old-data", "kgeval-bulk.lock", "kgeval-bulk-"


@contextmanager
def alone(home: Path) -> Iterator[None]:
    """Holds the right to exchange the home's store. Raises: ServerError at once where another command has it."""
    from filelock import FileLock, Timeout

    lock = FileLock(home / LOCK, mode=0o600)
    try:
        lock.acquire(timeout=0)
    except Timeout as cause:
        raise ServerError(f"another bulk import into {home} is running", fix="wait for its end, or use another --home") from cause
    try:
        yield
    finally:
        lock.release()


@contextmanager
def staging(home: Path) -> Iterator[Path]:
    """A folder of this user's for the new store, on the home's own disk; removed in the end, with those of killed commands."""
    for left in home.glob(f"{STAGING}*/"):
        shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=STAGING, dir=home))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def exchange(home: Path, new: Path) -> None:
    """Puts the folder `new` in the place of the store. The server must not run."""
    data = home / "data"
    if data.exists():
        data.rename(home / OLD)
    else:
        (home / OLD).mkdir(mode=0o700)
    new.rename(data)


def take_back(home: Path) -> None:
    """The old store is the store again, the new one is deleted. The server must not run."""
    old, data = home / OLD, home / "data"
    if old.exists():
        shutil.rmtree(data, ignore_errors=True)
        old.rename(data)


def take_back_stopped(home: Path, stop: Callable[[], object]) -> None:
    """Like `take_back`, where a killed command left an old store; a server that runs on the new one is stopped first."""
    if (home / OLD).exists():
        stop()
        take_back(home)


def settle(home: Path) -> None:
    """The new store stays, the old one is deleted."""
    old = home / OLD
    if old.exists():
        gone = Path(tempfile.mkdtemp(prefix=STAGING, dir=home))
        old.rename(gone / "data")  # in one step, so that no half of it is ever taken for the old store
        shutil.rmtree(gone, ignore_errors=True)


def recover(home: Path) -> None:
    """Puts back an old store that a killed command left. Nothing happens while a command is exchanging stores."""
    from filelock import FileLock, Timeout

    if not (home / OLD).exists():
        return
    lock = FileLock(home / LOCK, mode=0o600)
    try:
        with lock.acquire(timeout=0):
            take_back(home)
    except Timeout:
        return
