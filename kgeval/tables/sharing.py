"""Which questions systems share, read from the staging: nothing of it is kept in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from kgeval.records import Answer, Question
from kgeval.tables.staging import Staged, question_from

_HAS = "EXISTS (SELECT 1 FROM answers a WHERE a.question = q.id AND a.system = ? AND a.kept)"


class Sharing:
    """A look at staged rows. Those questions count that one of `among` has answered; None: every question that was kept, because some
    system can be asked all of them."""

    def __init__(self, rows: Staged, *, among: Sequence[str] | None) -> None:
        self._staging = rows._staging
        self._among = tuple(among or ())
        marks = ", ".join("?" for _ in self._among)
        some = "" if among is None else f" AND q.id IN (SELECT question FROM answers WHERE kept AND system IN ({marks}))"  # noqa: S608
        self._from = f"FROM questions q WHERE q.kept{some}"

    def __len__(self) -> int:
        return int(self._staging.one(f"SELECT count(*) {self._from}", self._among)[0])

    def unanswered(self) -> int:
        """Questions that were kept and do not count."""
        return int(self._staging.one("SELECT count(*) FROM questions WHERE kept")[0]) - len(self)

    def question(self, name: str) -> Question | None:
        """The question of an id; None where it is unknown."""
        return next((question_from(body) for (body,) in self._staging.read("SELECT body FROM questions WHERE id = ?", (name,))), None)

    def common(self, systems: Sequence[str]) -> Iterator[Question]:
        """The questions that all of these systems have answered, in order."""
        for (body,) in self._staging.read(f"SELECT q.body {self._all(systems)} ORDER BY q.n", (*self._among, *systems)):
            yield question_from(body)

    def n_common(self, systems: Sequence[str]) -> int:
        """How many questions all of these systems have answered."""
        return int(self._staging.one(f"SELECT count(*) {self._all(systems)}", (*self._among, *systems))[0])

    def lacking(self, system: str, most: int | None = None) -> list[str]:
        """The ids of questions without an answer of the system, in order."""
        # SQLite has no limit where it is negative.
        limit = -1 if most is None else most
        rows = self._staging.read(f"SELECT q.id {self._from} AND NOT {_HAS} ORDER BY q.n LIMIT ?", (*self._among, system, limit))
        return [name for (name,) in rows]

    def answered_by(self, name: str) -> list[str]:
        """The systems with an answer to a question, by name."""
        rows = self._staging.read("SELECT DISTINCT system FROM answers WHERE kept AND question = ? ORDER BY system", (name,))
        return [system for (system,) in rows]

    def answers(self, name: str, system: str) -> list[Answer]:
        """A system's answers to a question, by trial."""
        rows = self._staging.read(
            "SELECT body FROM answers WHERE kept AND question = ? AND system = ? ORDER BY trial, n", (name, system),
        )
        return [Answer.model_validate_json(body) for (body,) in rows]

    def failed(self, system: str) -> int:
        """How many of the system's answers are errors."""
        return int(self._staging.one("SELECT count(*) FROM answers WHERE kept AND error AND system = ?", (system,))[0])

    def range_of(self, system: str) -> tuple[int, int]:
        """The smallest and the largest number of answers that the system has to a question that it answered; 0 without any."""
        sql = "SELECT min(n), max(n) FROM (SELECT count(*) AS n FROM answers WHERE kept AND system = ? GROUP BY question)"
        low, high = self._staging.one(sql, (system,))
        return int(low or 0), int(high or 0)

    def n_answers(self, name: str, system: str) -> int:
        """How many answers the system has to a question."""
        sql = "SELECT count(*) FROM answers WHERE kept AND question = ? AND system = ?"
        return next(int(n) for (n,) in self._staging.read(sql, (name, system)))

    def digest(self, system: str | None = None) -> str:
        """SHA-256 of the questions' ids and texts; of a system's answers, where one is named."""
        total = hashlib.sha256()
        if system is None:
            for (body,) in self._staging.read(f"SELECT q.body {self._from} ORDER BY q.n", self._among):
                question = question_from(body)
                total.update(f"{question.id}\0{question.question}\0".encode("utf-8", "surrogatepass"))
        else:
            sql = "SELECT question, trial, mark FROM answers WHERE kept AND system = ? ORDER BY question, trial"
            for name, trial, mark in self._staging.read(sql, (system,)):
                total.update(f"{name}\0{trial}\0".encode("utf-8", "surrogatepass") + mark)
        return total.hexdigest()

    def _all(self, systems: Sequence[str]) -> str:
        return self._from + "".join(f" AND {_HAS}" for _ in systems)
