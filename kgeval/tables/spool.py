"""The lines of a run on disk as they come, so that memory stays flat: appended, read again by where they start."""

from __future__ import annotations

import json
import os
import tempfile
from array import array
from collections.abc import Iterator
from threading import Lock
from types import TracebackType
from typing import Any, Self

from kgeval.errors import IncompleteError

NOWHERE = -1


class Spool:
    """A temporary file that nobody else sees: it has no name, and goes with the process, however that ends. A context manager.

    `what`: what its lines are, for errors. `ordered`: lines have places, and `lines` gives them in that order. Whoever adds from several
    threads holds `lock`.
    """

    start = 0  # where the first line starts

    def __init__(self, what: str, *, ordered: bool = False) -> None:
        # Without a name the file goes when the process does, and kill -9 leaves nothing behind.
        with tempfile.TemporaryFile() as file:
            self._set_up(os.dup(file.fileno()), what, ordered=ordered)

    def _set_up(self, file: int, what: str, *, ordered: bool) -> None:
        self._file, self._what, self._ordered = file, what, ordered
        self._starts = array("q")  # where the line of each place starts
        self._end = 0
        self.count = 0
        self.lock = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Lets the file go. May be called twice."""
        with self.lock:  # a thread of an interrupted run may be adding: never into another file that got this one's number
            file, self._file = self._file, -1
        if file >= 0:
            self._leave(file)
            os.close(file)

    def _leave(self, file: int) -> None:
        """What is done with the file before it is closed; nobody adds to it any more."""

    def add(self, line: bytes, place: int | None = None) -> None:
        """Keeps a line, at a place or after all others. Raises: IncompleteError where the disk is full; lines before are kept."""
        self.keep(self.append(line), place)

    def keep(self, at: int, place: int | None = None) -> None:
        """Counts the line that starts at `at`."""
        self.count += 1
        if self._ordered:
            place = len(self._starts) if place is None else place
            while len(self._starts) <= place:
                self._starts.append(NOWHERE)
            self._starts[place] = at

    def has(self, place: int) -> bool:
        """Whether the line of this place is there."""
        return place < len(self._starts) and self._starts[place] != NOWHERE

    def lines(self) -> Iterator[bytes]:
        """The lines so far, without their ends: by their places, else as they came."""
        if self._ordered:
            yield from (self.raw(at) for at in tuple(self._starts) if at != NOWHERE)
            return
        at = self.start
        while at < self._end:
            raw = self.raw(at)
            at += len(raw) + 1
            yield raw

    def line(self, at: int) -> dict[str, Any]:
        """The line that starts at `at`, as the JSON object that it is."""
        value: dict[str, Any] = json.loads(self.raw(at))
        return value

    def raw(self, at: int) -> bytes:
        """The bytes of that line, without its end."""
        # A read at a place, not at a shared position: threads read and add at once. Most lines need one read, and the longest only a few.
        size, parts = 1 << 14, []
        while True:
            piece = os.pread(self._file, size, at)
            end = piece.find(b"\n")
            parts.append(piece if end < 0 else piece[:end])
            if end >= 0 or not piece:
                return b"".join(parts)
            at, size = at + len(piece), size * 2

    def append(self, line: bytes) -> int:
        """Writes a line at the end and returns where it starts. What is there of a line that does not fit is cut off again.

        Raises: IncompleteError.
        """
        at, left = self._end, memoryview(line)
        try:
            while left:
                # A disk that is nearly full takes a part of the line, and only the next call fails.
                left = left[os.pwrite(self._file, left, self._end + len(line) - len(left)):]
        except OSError as cause:
            os.ftruncate(self._file, at)
            raise self._full(cause) from cause
        self._end += len(line)
        return at

    def _full(self, cause: OSError) -> IncompleteError:
        return IncompleteError(
            f"{tempfile.gettempdir()}: {self._what} cannot be kept there until they are written: {cause.strerror or cause}",
            fix="make room on that disk, or name a folder on another one in TMPDIR, and run the same command again: what was paid for "
            "is in the journal",
        )
