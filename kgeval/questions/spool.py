"""The questions of a run, on disk until they are written as a whole: memory stays flat however many there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from kgeval.records import Question
from kgeval.tables.spool import Spool


class QuestionSpool(Spool):
    """Questions in a temporary file that nobody else sees. A context manager."""

    def __init__(self) -> None:
        super().__init__("questions")

    def add_question(self, question: Question) -> None:
        """Keeps a question. Raises: IncompleteError where the disk is full; those before are kept, whole."""
        self.add((question.model_dump_json(exclude_defaults=True) + "\n").encode())

    def write(self, out: IO[Any]) -> None:
        """Copies them to a file, a line of JSON each."""
        for line in self.lines():
            out.write(line.decode() + "\n")

    def __iter__(self) -> Iterator[Question]:
        return (Question.model_validate_json(line) for line in self.lines())
