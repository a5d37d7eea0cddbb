"""What a run has finished, on disk as it comes: one line a row in a partial file beside the output. At the end the outputs are written
from it, each in one step. Whatever ends a run (Ctrl-C, kill -9, a budget, a full disk), the partial file stays and a later run
takes its rows over. `scores.py` and `answers.py` say what a row is.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Lock
from typing import IO, Any

from kgeval.errors import IncompleteError, InputError
from kgeval.files.plain import replacing

HEADER = "kgeval_partial"
PRIVATE = 0o600
STOPPED = ("budget", "error_rate", "cancelled")  # causes of what was not even asked, because the run was stopped
OTHER = "or name another output with -o; or run without --resume and --retry-errors"


def aside_note(partial: PartialFile) -> str | None:
    """What `start` put aside, for the user; null where it was nothing."""
    if partial.aside is None:
        return None
    return (
        f"{partial.path} held rows of a run that did not end: they are kept in {partial.aside}, and asked for again now "
        f"(to take them over: Ctrl-C, mv {partial.aside} {partial.path}, and the same command with --resume)"
    )


def partial_of(path: Path) -> Path:
    """The file that grows beside `path` while a run goes on."""
    return path.with_name(f"{path.name}.partial")


class PartialFile:
    """The rows of a run. `outputs`: the files that will be written from it (none: a temporary file). `what`: what rows are made from,
    for the error that refuses those of another run; `ordered`: rows have a place, and `lines` gives them in that order; `again`: how
    the same command goes on, for errors.

    Whoever asks and adds from several threads holds `lock`. Raises: InputError where nothing can be written, and where another run
    writes the same output.
    """

    def __init__(self, outputs: Sequence[Path], *, fingerprint: str, what: str, ordered: bool, again: str = "with --resume") -> None:
        self._fingerprint, self._what, self._ordered, self._again = fingerprint, what, ordered, again
        self._header = json.dumps({HEADER: 1, "fingerprint": fingerprint}).encode() + b"\n"
        self._starts = array("q")  # where the row of each place starts, 0: not there
        self._end = 0
        self._result = outputs[0] if outputs else None
        self.aside: Path | None = None  # where `start` put the rows of an earlier run
        self.count = 0
        self.lock = Lock()
        self._temporary = not outputs
        self.path = partial_of(outputs[0]) if outputs else _temporary_file()
        self._file = _opened(self.path)
        self._others: list[tuple[Path, int]] = []  # further outputs: locked too, nothing is written there before the end
        if self._temporary:
            self.path.unlink()  # nobody else needs its name
        try:
            for path in dict.fromkeys(partial_of(output) for output in outputs[1:]):
                self._others.append((path, _opened(path)))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Lets the partial file go; it stays where it is, unless no row is in it."""
        with self.lock:  # a thread of an interrupted run may be adding: never into another file that got this one's number
            file, self._file = self._file, -1
        if file >= 0:
            if not self._temporary and os.fstat(file).st_size <= len(self._header):
                self.path.unlink(missing_ok=True)
            os.close(file)
        while self._others:
            path, file = self._others.pop()
            if not os.fstat(file).st_size:
                path.unlink(missing_ok=True)
            os.close(file)

    @property
    def empty(self) -> bool:
        """Whether nothing, not even the header, was read or written yet."""
        return not self._end

    def start(self) -> None:
        """Begins anew and writes the header. Rows of a killed run, which no result has, are put aside first: they were paid for."""
        self._put_aside()
        os.ftruncate(self._file, 0)
        self._end = 0
        self.append(self._header)

    def _put_aside(self) -> None:
        size = 0 if self._temporary else os.fstat(self._file).st_size
        with os.fdopen(os.dup(self._file), "rb") as file:
            file.seek(0)
            rows = size > 0 and bool(file.readline()) and bool(file.readline())
        saved = self._result is not None and self._result.exists() and self._result.stat().st_mtime_ns >= os.fstat(self._file).st_mtime_ns
        if not rows or saved:
            return
        places = (self.path.with_name(f"{self.path.name}.{number}") for number in count(1))
        self.aside = next(place for place in places if not place.exists())
        try:
            shutil.copyfile(self.path, self.aside)
            self.aside.chmod(PRIVATE)
        except OSError as cause:
            what = f"{self.path}: holds the rows of a run that did not end, and cannot be put aside: {cause.strerror}"
            raise InputError(what, fix="take them over with --resume, or delete the file") from cause

    def read_earlier(self, offer: Callable[[dict[str, Any], int], None]) -> None:
        """Calls offer(line, where it starts) for the lines that an earlier run left. A last line that was cut is dropped.

        Raises: InputError where they were made from something else.
        """
        at = 0
        with os.fdopen(os.dup(self._file), "rb") as file:
            file.seek(0)
            for number, raw in enumerate(file):
                value = _object(raw)
                if value is None:
                    break
                if number == 0:
                    self.check_same(self.path, value.get("fingerprint"))
                else:
                    offer(value, at)
                at += len(raw)
        os.ftruncate(self._file, at)
        self._end = at

    def check_same(self, path: Path, found: Any) -> None:
        """Raises InputError where an earlier run was made from something else, or nothing tells from what."""
        if found is None:
            raise InputError(
                f"{path}: cannot be taken over: nothing beside it tells how it was made",
                fix="name another output with -o, or run without --resume and --retry-errors (replies in the journal cost nothing)",
            )
        if found != self._fingerprint:
            what = f"{path}: was made from other {self._what} cannot be mixed with new ones"
            raise InputError(what, fix=f"give the same options as then; {OTHER}")

    def add(self, line: bytes, place: int | None = None) -> None:
        """Keeps a finished row, on disk before this returns. Raises: IncompleteError where the disk is full; rows before are kept."""
        self.keep(self.append(line), place)

    def keep(self, at: int, place: int | None = None) -> None:
        """Counts the line that starts at `at` as a row of this run."""
        self.count += 1
        if self._ordered:
            place = len(self._starts) if place is None else place
            while len(self._starts) <= place:
                self._starts.append(0)
            self._starts[place] = at

    def has(self, place: int) -> bool:
        """Whether the row of this place is there."""
        return place < len(self._starts) and self._starts[place] > 0

    def lines(self) -> Iterator[dict[str, Any]]:
        """The rows of this run so far: by their places, else as they came."""
        if self._ordered:
            yield from (self.line(at) for at in tuple(self._starts) if at)
            return
        at = len(self._header)
        while at < self._end:
            raw = self.raw(at)
            at += len(raw) + 1
            yield json.loads(raw)

    def line(self, at: int) -> dict[str, Any]:
        """The line that starts at a place in the file."""
        value: dict[str, Any] = json.loads(self.raw(at))
        return value

    def raw(self, at: int) -> bytes:
        """The bytes of that line, without its end."""
        size, parts = 1 << 14, []
        while True:
            part = os.pread(self._file, size, at)
            end = part.find(b"\n")
            parts.append(part if end < 0 else part[:end])
            if end >= 0 or not part:
                return b"".join(parts)
            at, size = at + len(part), size * 2

    def append(self, line: bytes) -> int:
        """Writes a line at the end and returns where it starts. What is there of a line that does not fit is cut off again."""
        at, left = self._end, memoryview(line)
        try:
            while left:
                left = left[os.pwrite(self._file, left, self._end + len(line) - len(left)):]
        except OSError as cause:
            os.ftruncate(self._file, at)
            raise IncompleteError(
                f"{self.path}: cannot be written: {cause.strerror}; {self.count:,} finished rows are kept in it",
                fix=f"make room and run the same command {self._again}",
            ) from cause
        self._end += len(line)
        return at

    @contextmanager
    def finishing(self) -> Iterator[None]:
        """Around the writing of outputs. Raises: InputError where one cannot be written, with what is kept and how to go on."""
        try:
            yield
        except InputError as cause:
            raise InputError(
                f"{cause.message}; all {self.count:,} rows are kept in {self.path}",
                fix=f"make room, and run the same command {self._again}; or choose another output",
            ) from cause

    def done(self) -> None:
        """All rows are in the outputs: the partial file goes."""
        if not self._temporary:
            self.path.unlink(missing_ok=True)


@contextmanager
def private(path: Path, *, binary: bool = False) -> Iterator[IO[Any]]:
    """As `plain.replacing`, of this user's only, because results quote users' texts; the folder is made. Raises: InputError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise InputError(f"{path}: cannot be written: {cause.strerror}", fix="choose a folder that is yours") from cause
    with replacing(path, mode=PRIVATE, binary=binary) as file:
        yield file


def stopped(reason: str | None) -> bool:
    """Whether a reason says that this was not even asked, because the run was stopped: it is not finished."""
    return (reason or "").partition(":")[0] in STOPPED


def _object(raw: bytes) -> dict[str, Any] | None:
    """The line as an object; null where it was cut, or is none."""
    try:
        value = json.loads(raw) if raw.endswith(b"\n") else None
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _temporary_file() -> Path:
    handle, name = tempfile.mkstemp(prefix="kgeval-rows-")
    os.close(handle)
    return Path(name)


def _opened(path: Path) -> int:
    """The partial file, made where it is not there, and locked: two runs never write one output."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
    except OSError as cause:
        raise InputError(f"{path.parent}: cannot be written to: {cause.strerror}", fix="choose a folder that is yours with -o") from cause
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as cause:
        os.close(file)
        raise InputError(f"{path}: another run is writing it", fix="wait for it to end, or name another output with -o") from cause
    if not os.fstat(file).st_nlink:  # the run that held it has just ended and taken its name away
        os.close(file)
        return _opened(path)
    os.fchmod(file, PRIVATE)
    return file
