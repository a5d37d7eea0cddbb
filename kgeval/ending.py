"""What must not stay when the process is ended at once: a half-written file, a folder of users' rows, a server that is being started.

Whoever makes such a thing says here how it is taken away, and takes that back when it is whole or gone. A process that ends by itself never
needs it; the command line, which ends processes that do not, calls `undo_all`. And what tells an interrupt from other ends.

An interrupt may come while the kernel makes a file, before anybody knows of it: so its name is chosen first (`unused_name`), and what takes
it away is ready before there is one.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

_numbers = count()
_open: dict[int, Callable[[], object]] = {}


def register(undo: Callable[[], object]) -> Callable[[], None]:
    """`undo` is called where the process is ended at once, from another thread; it may raise OSError. What comes back forgets it."""
    number = next(_numbers)
    _open[number] = undo

    def forget() -> None:
        _open.pop(number, None)

    return forget


@contextmanager
def undone(undo: Callable[[], object]) -> Iterator[None]:
    """As `register`, for the time of the block."""
    forget = register(undo)
    try:
        yield
    finally:
        forget()


def undo_all() -> None:
    """Undoes everything that is registered, the newest first."""
    for number in sorted(_open, reverse=True):
        with suppress(OSError, KeyError):
            _open[number]()


def unused_name(folder: Path, beginning: str, end: str = "") -> Path:
    """A name that nothing there has, nor anybody can guess."""
    return folder / f"{beginning}{secrets.token_hex(8)}{end}"


def open_new(path: Path) -> int:
    """Makes a file of this user's only (0600), open for reading and writing. Raises: OSError, where the name is taken too."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)


def interrupted(cause: BaseException | None, before: BaseException | None = None) -> bool:
    """Whether an exception is an interrupt, or came while one was handled. `before`: what was being handled when the work began (Python
    hangs it on all that is raised meanwhile): an interrupt that somebody has caught is over."""
    while cause is not before and cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__context__
    return cause is not before and cause is not None
