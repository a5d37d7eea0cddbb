"""What must not stay when the process is ended at once: a half-written file, a folder of users' rows, a server that is being started.

Whoever makes such a thing says here how it is taken away, and takes that back when it is whole or gone. A process that ends by itself never
needs it; the command line, which ends processes that do not, calls `undo_all`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count

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
