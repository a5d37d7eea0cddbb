"""The questions of a run, on disk until they are written as a whole: memory stays flat however many there are."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import IO, Any

from kgeval.records import Question


class Kept:
    """Questions in a temporary file that nobody else sees. A context manager."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n", prefix="kgeval-questions-")  # noqa: SIM115 - closed below
        self.count = 0

    def add(self, question: Question) -> None:
        """Keeps a question."""
        self._file.write(question.model_dump_json(exclude_defaults=True) + "\n")
        self.count += 1

    def lines(self) -> Iterator[str]:
        """The questions as lines of JSON, in their order."""
        self._file.seek(0)
        yield from self._file
        self._file.seek(0, 2)

    def write(self, out: IO[Any]) -> None:
        """Copies them to a file."""
        for line in self.lines():
            out.write(line)

    def __iter__(self) -> Iterator[Question]:
        return (Question.model_validate_json(line) for line in self.lines())

    def __enter__(self) -> Kept:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()
