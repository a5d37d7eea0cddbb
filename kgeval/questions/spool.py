"""The questions of a run, on disk until they are written as a whole: memory stays flat however many there are."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import IO, Any

from kgeval.errors import IncompleteError
from kgeval.records import Question


class QuestionSpool:
    """Questions in a temporary file that nobody else sees. A context manager. One may go through them at a time."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile("w+b", buffering=0, prefix="kgeval-questions-")  # noqa: SIM115 - closed below
        self._end = 0
        self.count = 0

    def add(self, question: Question) -> None:
        """Keeps a question. Raises: IncompleteError where the disk is full; those before are kept, whole."""
        line = (question.model_dump_json(exclude_defaults=True) + "\n").encode()
        try:
            self._file.seek(self._end)
            if self._file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as cause:
            self._file.truncate(self._end)
            raise IncompleteError(
                f"{tempfile.gettempdir()}: questions cannot be kept there until they are written: {cause.strerror or cause}",
                fix="make room on that disk, or name a folder on another one in TMPDIR; replies that came are in the journal",
            ) from cause
        self._end += len(line)
        self.count += 1

    def lines(self) -> Iterator[str]:
        """The questions as lines of JSON, in their order."""
        with open(self._file.fileno(), encoding="utf-8", newline="\n", closefd=False) as text:
            text.seek(0)
            yield from text

    def write(self, out: IO[Any]) -> None:
        """Copies them to a file."""
        for line in self.lines():
            out.write(line)

    def __iter__(self) -> Iterator[Question]:
        return (Question.model_validate_json(line) for line in self.lines())

    def __enter__(self) -> QuestionSpool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()
