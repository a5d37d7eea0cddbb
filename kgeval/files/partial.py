"""What a run has finished, on disk as it comes: one line a row in a partial file beside the output. At the end the outputs are written
from it, each in one step. Whatever ends a run (Ctrl-C, kill -9, a budget, a full disk), the partial file stays and a later run
takes its rows over. `scores.py` and `answers.py` say what a row is.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import IO, Any

from kgeval.errors import IncompleteError, InputError
from kgeval.files.plain import replacing
from kgeval.files.spool import Spool
from kgeval.files.temporary import locked

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


class PartialFile(Spool):
    """The rows of a run. `outputs`: the files that will be written from it (none: a temporary file). `what`: what rows are made from,
    for the error that refuses those of another run; `ordered`: rows have a place, and `lines` gives them in that order.

    Whoever asks and adds from several threads holds `lock`. Raises: InputError where nothing can be written, and where another run
    writes the same output.
    """

    def __init__(self, outputs: Sequence[Path], *, fingerprint: str, what: str, ordered: bool) -> None:
        self._fingerprint, self._made_from = fingerprint, what
        self._header = json.dumps({HEADER: 1, "fingerprint": fingerprint}).encode() + b"\n"
        self.start = len(self._header)
        self._result = outputs[0] if outputs else None
        self.aside: Path | None = None  # where `begin` put the rows of an earlier run
        self.path = partial_of(outputs[0]) if outputs else Path(tempfile.gettempdir())
        self._held: list[tuple[Path, int]] = []  # further outputs: locked too, nothing is written there before the end
        if outputs:
            self._set_up(locked(self.path), "rows", ordered=ordered)
        else:
            super().__init__("rows", ordered=ordered)
        try:
            for path in dict.fromkeys(partial_of(output) for output in outputs[1:]):
                self._held.append((path, locked(path)))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Lets the partial file go; it stays where it is, unless no row is in it."""
        if self._result is not None and self._file >= 0 and os.fstat(self._file).st_size <= len(self._header):
            self.path.unlink(missing_ok=True)
        super().close()
        while self._held:
            path, file = self._held.pop()
            if not os.fstat(file).st_size:
                path.unlink(missing_ok=True)
            os.close(file)

    @property
    def empty(self) -> bool:
        """Whether nothing, not even the header, was read or written yet."""
        return not self._end

    def begin(self) -> None:
        """Begins anew and writes the header. Rows of a killed run, which no result has, are put aside first: they were paid for."""
        self._put_aside()
        os.ftruncate(self._file, 0)
        self._end = 0
        self.append(self._header)

    def _put_aside(self) -> None:
        size = 0 if self._result is None else os.fstat(self._file).st_size
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
            what = f"{path}: was made from other {self._made_from} cannot be mixed with new ones"
            raise InputError(what, fix=f"give the same options as then; {OTHER}")

    @contextmanager
    def finishing(self) -> Iterator[None]:
        """Around the writing of outputs. Raises: InputError where one cannot be written, with what is kept and how to go on."""
        try:
            yield
        except InputError as cause:
            raise InputError(
                f"{cause.message}; all {self.count:,} rows are kept in {self.path}",
                fix="make room, and run the same command with --resume; or choose another output",
            ) from cause

    def done(self) -> None:
        """All rows are in the outputs: the partial file goes."""
        if self._result is not None:
            self.path.unlink(missing_ok=True)

    def _full(self, cause: OSError) -> IncompleteError:
        if self._result is None:
            return super()._full(cause)
        return IncompleteError(
            f"{self.path}: cannot be written: {cause.strerror}; {self.count:,} finished rows are kept in it",
            fix="make room and run the same command with --resume",
        )


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
