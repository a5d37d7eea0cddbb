"""The questions that a run asks: a file's, checked as a whole, filtered, kept on disk. Memory stays flat however many there are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace

from kgeval.records import Question
from kgeval.tables.chosen import choose_questions
from kgeval.tables.joining import staged
from kgeval.tables.row_selection import RowSelection
from kgeval.tables.staging import Staged, question_from

_KEPT = "FROM questions WHERE kept"


class Questions(Staged):
    """The questions in the order of the file. May be gone through several times. Close it after use."""

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


def open_questions(wanted: RowSelection) -> Questions:
    """The questions of `wanted.questions` that its filters leave. Raises: as joining.staged."""
    wanted = replace(wanted, answers=())
    staging, notes, chosen = staged(wanted, lambda made: choose_questions(made, wanted.filters))
    return Questions(staging, (*notes, *chosen))
