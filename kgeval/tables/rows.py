"""Answers joined with their questions: everything is read and checked once, before anything is paid, and kept on disk.

open_rows: files -> checked rows. All faults come at once, with file, line, field and the way out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from kgeval.records import Answer, Question, Row, SystemInfo
from kgeval.tables.chosen import choose, choose_shard, system_infos
from kgeval.tables.joining import staged
from kgeval.tables.question_rows import open_questions
from kgeval.tables.row_selection import Filters, RowSelection
from kgeval.tables.staging import Staged, Staging, question_from
from kgeval.tables.stream import STDIN

# A question comes with the gold of the answer's own system, where systems differ.
_ROWS = (
    "SELECT a.n, a.place, CASE WHEN a.own IS NULL THEN q.body ELSE json_patch(q.body, a.own) END, a.body "
    "FROM answers a JOIN questions q ON q.id = a.question WHERE a.kept {more} ORDER BY a.n"
)

__all__ = ["Filters", "RowSelection", "Rows", "open_rows", "read_questions"]


class Rows(Staged):
    """The rows in the order of the files. May be gone through several times, by several readers at once. Close it after use."""

    def __init__(
        self, staging: Staging, systems: tuple[SystemInfo, ...], notes: tuple[str, ...], inputs: tuple[Path, ...],
        digest: str | None = None,
    ) -> None:
        super().__init__(staging, notes)
        self.systems = systems
        self.inputs = inputs
        self._digest = digest

    def __len__(self) -> int:
        return int(self._staging.one("SELECT count(*) FROM answers WHERE kept")[0])

    def __iter__(self) -> Iterator[Row]:
        for n, (_, place, question, answer) in enumerate(self._staging.read(_ROWS.format(more=""))):
            yield _row(n, place, question, answer)

    def find(self, question_id: str) -> list[Row]:
        """The rows of one question, in their order; none where the id is unknown or filtered out."""
        before = "SELECT count(*) FROM answers WHERE kept AND n < ?"
        rows = self._staging.read(_ROWS.format(more="AND a.question = ?"), (question_id,))
        return [_row(int(self._staging.one(before, (n,))[0]), place, question, answer) for n, place, question, answer in rows]

    def answers_to(self, question_id: str) -> list[Answer]:
        """The answers to one question, in their order: without the place of the row among all, which `find` counts."""
        rows = self._staging.read("SELECT body FROM answers WHERE kept AND question = ? ORDER BY n", (question_id,))
        return [Answer.model_validate_json(body) for (body,) in rows]

    def question_ids(self) -> list[str]:
        """The ids of the questions of this run in their order, those without an answer among them."""
        return [name for (name,) in self._staging.read("SELECT id FROM questions WHERE kept ORDER BY n")]

    def unanswered(self, system: str) -> list[str]:
        """The ids of the questions that a system did not answer."""
        without = "SELECT 1 FROM answers a WHERE a.question = q.id AND a.system = ? AND a.kept"
        return [name for (name,) in self._staging.read(f"SELECT id FROM questions q WHERE kept AND NOT EXISTS ({without})", (system,))]  # noqa: S608

    def digest(self) -> str:
        """A SHA-256 of the rows of this run, in order: of what was understood, not of the bytes of the files. Of a shard: of all rows
        of the run that it is a part of."""
        return self._digest or _digest(self._staging.read(_ROWS.format(more="")))


def _row(n: int, where: str, question: str, answer: str) -> Row:
    return Row(n=n, where=where, question=question_from(question), answer=Answer.model_validate_json(answer))


def open_rows(wanted: RowSelection) -> Rows:
    """The checked rows. Raises: as joining.staged."""
    staging, notes, (chosen, (systems, missing), digest) = staged(wanted, lambda made: _chosen(made, wanted))
    paths = [*wanted.answers, *([wanted.questions] if wanted.questions else [])]
    return Rows(staging, systems, (*notes, *chosen, *missing), tuple(path for path in paths if path != STDIN), digest)


def _chosen(made: Staging, wanted: RowSelection) -> tuple[list[str], tuple[tuple[SystemInfo, ...], list[str]], str | None]:
    """Leaves out what the run does not take: notes, the systems with notes, and for a shard the digest of the whole run's rows."""
    notes, infos = choose(made, wanted.filters), system_infos(made)
    if wanted.shard is None:
        return notes, infos, None
    # Before the shard leaves rows out: parts of one run are known by the digest of all its rows. `own`: nothing is committed yet.
    digest = _digest(made.own(_ROWS.format(more="")))
    return [*notes, *choose_shard(made, wanted.shard)], system_infos(made, known=[info.system for info in infos[0]]), digest


def _digest(rows: Iterable[tuple[object, object, str, str]]) -> str:
    total = hashlib.sha256()
    for _, _, question, answer in rows:
        total.update(f"{question}\0{answer}\0".encode())
    return total.hexdigest()


def read_questions(path: Path, maps: Mapping[str, str] | None = None) -> Iterator[Question]:
    """The questions of a file in their order; all of them are checked before the first comes. Raises: as open_rows."""
    with open_questions(RowSelection((), questions=path, maps=maps or {})) as questions:
        yield from questions
