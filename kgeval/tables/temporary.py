"""Temporary files with users' rows: of this user's only, gone when they are closed, and swept where a killed process has left them.

Whose process still lives holds a lock on them, which the kernel drops with it. A process that is ended at once takes its own away
(kgeval.ending).
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO

from kgeval.ending import open_new, register, undone, unused_name
from kgeval.errors import InputError

KINDS = ("rows", "parts", "bulk", "questions", "load")
LOCK, NEW_LOCK = ".lock", ".lock.new"
UNLOCKED_SECONDS = 86_400.0  # a process may end between making its folder and locking it
PART = ".kgeval-part"
PART_SECONDS = 60.0  # a file of this kind is locked in the next moment after it was made


class PrivateFolder:
    """A folder of this user's only (0700), a context manager; deleted when it is closed, collected, or the process ends."""

    def __init__(self, kind: str) -> None:
        sweep_folders()
        self.path = unused_name(Path(tempfile.gettempdir()), f"kgeval-{kind}-")
        lock = list[IO[bytes]]()
        self.close = weakref.finalize(self, _remove, self.path, lock, register(partial(shutil.rmtree, self.path)))
        self.path.mkdir(mode=0o700)
        lock.append((self.path / NEW_LOCK).open("xb", buffering=0))
        fcntl.flock(lock[0], fcntl.LOCK_EX)
        (self.path / NEW_LOCK).rename(self.path / LOCK)  # nobody ever sees it unlocked

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.close()


def private_folder(kind: str) -> PrivateFolder:
    """A new folder for temporary files. `kind`: one of KINDS, else nothing would sweep it. Raises: OSError."""
    return PrivateFolder(kind)


def sweep_folders() -> int:
    """Deletes what killed processes of this user have left in the folder for temporary files. How many."""
    swept = 0
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if entry.name.startswith(tuple(f"kgeval-{kind}-" for kind in KINDS)):
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False) and entry.stat().st_uid == os.getuid() and _left(Path(entry.path)):
                        shutil.rmtree(entry.path)
                        swept += 1
    return swept


def sweep_parts(path: Path) -> None:
    """Deletes what killed processes have left of new contents of this file."""
    beginning = _beginning(path)
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            if entry.name.startswith(beginning) and entry.name.endswith(PART) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    if time.time() - entry.stat().st_mtime > PART_SECONDS:
                        _delete_unlocked(Path(entry.path))


def part_name(path: Path) -> Path:
    """The name of a new file beside this one, for its next contents."""
    return unused_name(path.parent, _beginning(path), PART)


def open_part(part: Path) -> int:
    """Makes a file of a new name, open and locked. Raises: OSError."""
    handle = open_new(part)
    with suppress(OSError):  # a file system without locks
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return handle


def _beginning(path: Path) -> str:
    # 50 characters: with the rest the name stays below the 255 bytes that file systems take, whatever the script.
    return f".{path.name[:50]}."


@contextmanager
def only_writer(outputs: Iterable[Path]) -> Iterator[None]:
    """Holds files that a run will write at its end: two runs never write one output. Their folders are made.

    Raises: InputError where another run holds one, or its folder cannot be written to.
    """
    with ExitStack() as stack:
        for output in dict.fromkeys(outputs):
            mark = hashlib.sha256(output.name.encode("utf-8", "surrogateescape")).hexdigest()[:12]  # long names may begin alike
            path = output.with_name(f"{_beginning(output)}{mark}.writing{PART}")  # what a killed run leaves is swept as other parts are
            # The stack runs backwards: the name goes before the lock, so nobody can lock a file whose name is about to go.
            stack.callback(_delete_unlocked, path)  # of an interrupt on the way
            stack.enter_context(_locked(path, output))
            stack.enter_context(undone(partial(path.unlink, missing_ok=True)))
            stack.callback(path.unlink, missing_ok=True)
        yield


def locked(path: Path) -> int:
    """The file, made where it is not there, and locked. Raises: InputError."""
    with _locked(path, path) as file:
        return os.dup(file.fileno())  # the lock is held until both are closed


def _locked(path: Path, output: Path) -> IO[bytes]:
    """As `locked`; closed where an interrupt comes before anybody holds it. `output`: what the file stands for, in errors."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = None
        while file is None:  # gone again where the run that held it has just ended
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            with suppress(FileNotFoundError):
                file = path.open("r+b", buffering=0)
    except OSError as cause:
        raise InputError(f"{path.parent}: cannot be written to: {cause.strerror}", fix="choose a folder that is yours with -o") from cause
    with ExitStack() as stack:
        stack.enter_context(file)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as cause:
            fix = "wait for it to end, or name another output with -o"
            raise InputError(f"{output}: another run is writing it", fix=fix) from cause
        except OSError:  # a file system without locks
            stack.pop_all()
            return file
        if not os.fstat(file.fileno()).st_nlink:  # its name was taken away after it was opened
            return _locked(path, output)
        # The mode that `os.open` was given counts only where it made the file.
        os.fchmod(file.fileno(), 0o600)
        stack.pop_all()
    return file


def _remove(path: Path, lock: list[IO[bytes]], forget: Callable[[], None]) -> None:
    shutil.rmtree(path, ignore_errors=True)
    forget()
    # The lock goes last: until then no other process takes the folder, half deleted, for one that was left.
    for file in lock:
        file.close()


def _left(folder: Path) -> bool:
    """Whether its process is gone."""
    if (folder / LOCK).exists():
        with _unlocked(folder / LOCK) as unlocked:
            return unlocked
    return time.time() - folder.stat().st_mtime > UNLOCKED_SECONDS


@contextmanager
def _unlocked(path: Path) -> Iterator[bool]:
    """Whether nobody holds the file; for the time of the block it is then held here. Raises: OSError."""
    # O_NOFOLLOW: in a folder that all may write to, another user can put a link here, to a file of this user's.
    file = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        yield False
    else:
        yield True
    finally:
        os.close(file)


def _delete_unlocked(path: Path) -> None:
    """Deletes a file that nobody holds."""
    with suppress(OSError), _unlocked(path) as unlocked:
        if unlocked:
            path.unlink()
