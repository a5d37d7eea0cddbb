"""Puts another store into a home, so that at each moment the old one can be had back.

    data/               the store that the next start uses
    kgeval-old-data/    the old one, from the exchange until it is settled

Whoever exchanges holds `kgeval-bulk.lock`. An old store that lies there while nobody holds it was left by a command that was
killed: `recover` puts it back.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kgeval.ending import unused_name
from kgeval.errors import ServerError

OLD, LOCK, STAGING = "kgeval-old-data", "kgeval-bulk.lock", "kgeval-bulk-"


@contextmanager
def _exchanging(home: Path) -> Iterator[bool]:
    """Whether this process has the right to exchange the home's store, until the end; false at once where another has it."""
    from filelock import FileLock, Timeout

    lock = FileLock(home / LOCK, mode=0o600)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


@contextmanager
def alone(home: Path) -> Iterator[None]:
    """Holds the right to exchange the home's store. Raises: ServerError at once where another command has it."""
    with _exchanging(home) as held:
        if not held:
            raise ServerError(f"another bulk import into {home} is running", fix="wait for its end, or use another --home")
        yield


@contextmanager
def staging(home: Path) -> Iterator[Path]:
    """A folder of this user's for the new store, on the home's own disk; removed in the end, with those of killed commands."""
    _sweep(home)
    folder = unused_name(home, STAGING)
    try:
        folder.mkdir(mode=0o700)
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
    _keep_names(home)
    new.rename(data)
    _keep_names(home)


def take_back(home: Path) -> None:
    """The old store is the store again, the new one is deleted. The server must not run."""
    old, data = home / OLD, home / "data"
    if old.exists():
        shutil.rmtree(data, ignore_errors=True)
        old.rename(data)
        _keep_names(home)


def is_pending(home: Path) -> bool:
    """Whether an old store lies there: an exchange is going on, or was left by a killed command."""
    return (home / OLD).exists()


def is_left(home: Path) -> bool:
    """Whether a killed command left an old store there; false while a command is exchanging stores."""
    if not is_pending(home):
        return False
    with _exchanging(home) as held:
        return held and is_pending(home)


def settle(home: Path) -> None:
    """The new store stays, the old one is deleted."""
    old = home / OLD
    if old.exists():
        gone = unused_name(home, STAGING)
        gone.mkdir(mode=0o700)
        old.rename(gone / "data")  # in one step, so that no half of it is ever taken for the old store
        with suppress(KeyboardInterrupt):  # the new store is in: what is not deleted now is by the next start or import
            _keep_names(home)
            shutil.rmtree(gone, ignore_errors=True)


def recover(home: Path) -> None:
    """Puts back an old store that a killed command left, and deletes its half-made new one. Nothing happens while a command is
    exchanging stores. The server must not run.

    Raises: ServerError in the moment in which there is no store at all.
    """
    if not is_pending(home) and not any(home.glob(f"{STAGING}*")):
        return
    with _exchanging(home) as held:
        if held:
            take_back(home)
            _sweep(home)
        elif is_pending(home) and not (home / "data").exists():  # a server would make an empty store with a known password
            raise ServerError(f"a bulk import is changing the store of {home}", fix="run this again in a moment")


def _keep_names(folder: Path) -> None:
    """The names in the folder are on the disk before anything else is done: a power cut finds steps in their order. Where a file
    system cannot do that, it is left to it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _sweep(home: Path) -> None:
    """Deletes the folders of killed commands. Whoever calls it holds the lock."""
    for left in home.glob(f"{STAGING}*"):
        shutil.rmtree(left, ignore_errors=True)
