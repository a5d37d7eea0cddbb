"""The questions that a run asks: a file's, checked as a whole, filtered, kept on disk. Memory stays flat however many there are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from types import TracebackType

from kgeval.files.chosen import choose_questions
from kgeval.files.joining import Reader
from kgeval.files.staging import Staging, question_from
from kgeval.files.wanted import RowsWanted
from kgeval.records import Question

_KEPT = "FROM questions WHERE kept"


class Questions:
    """The questions in the order of the file. May be gone through several times. Close it after use."""

    def __init__(self, staging: Staging, notes: tuple[str, ...]) -> None:
        self._staging = staging
        self.notes = notes

    def __len__(self) -> int:
        return int(self._staging.one(f"SELECT count(*) {_KEPT}")[0])

    def __iter__(self) -> Iterator[Question]:
        for (body,) in self._staging.read(f"SELECT body {_KEPT} ORDER BY n"):
            yield question_from(body)

    def ids(self) -> Iterator[str]:
        """The ids in order."""
        for (name,) in self._staging.read(f"SELECT id {_KEPT} ORDER BY n"):
            yield name

    def digest(self) -> str:
        """A SHA-256 of ids and texts in order: all that a system is shown."""
        total = hashlib.sha256()
        for question in self:
            total.update(f"{question.id}\0{question.question}\0".encode())
        return total.hexdigest()

    def close(self) -> None:
        """Deletes the temporary file."""
        self._staging.close()

    def __enter__(self) -> Questions:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def open_questions(wanted: RowsWanted) -> Questions:
    """The questions of `wanted.questions` that its filters leave. Raises: as rows.open_rows."""
    from kgeval.files.rows import check_maps

    wanted = replace(wanted, answers=())
    check_maps(wanted)
    staging = Staging()
    try:
        reader = Reader(wanted, staging)
        with staging.writing():
            reader.read_all()
            chosen = choose_questions(staging, wanted.filters)
        return Questions(staging, (*reader.notes, *chosen))
    except BaseException:
        staging.close()
        raise
