"""Checked rows on disk: a temporary SQLite file of this user's only, gone when it is closed. Memory stays flat."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kgeval.errors import InputError
from kgeval.records import Answer, Question

_TABLES = """
CREATE TABLE questions (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, place TEXT NOT NULL, mark BLOB, body TEXT NOT NULL,
  from_file INTEGER NOT NULL, kept INTEGER NOT NULL DEFAULT 1);
CREATE INDEX by_mark ON questions (mark);
CREATE TABLE answers (n INTEGER PRIMARY KEY, question TEXT NOT NULL, system TEXT NOT NULL, trial INTEGER NOT NULL, place TEXT NOT NULL,
  body TEXT NOT NULL, mark BLOB NOT NULL, empty INTEGER NOT NULL, error INTEGER NOT NULL, kept INTEGER NOT NULL DEFAULT 1,
  UNIQUE (question, system, trial));
"""
NO_TRIAL = -1


class Staging:
    """The file. `add_question` and `add_answer` check what belongs together; reading is by plain SQL, see rows.py."""

    def __init__(self) -> None:
        try:
            self._folder = tempfile.TemporaryDirectory(prefix="kgeval-rows-")  # 0700: the rows are the user's texts
            self._path = Path(self._folder.name) / "rows.sqlite"
            self._path.touch(mode=0o600)
            self._db = self._connect()
            self._db.execute("PRAGMA journal_mode = TRUNCATE")
            self._db.execute("PRAGMA synchronous = OFF")
            self._db.executescript(_TABLES)
        except (OSError, sqlite3.Error) as cause:
            raise InputError(f"no temporary file can be made: {cause}", fix="make room, or name another folder with TMPDIR") from cause
        self._closed = weakref.finalize(self, self._folder.cleanup)
        self.differing = 0

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)

    def close(self) -> None:
        """Deletes the file. May be called twice."""
        self._db.close()
        self._closed()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction. Raises: InputError where the disk is full."""
        try:
            self._db.execute("BEGIN")
            yield
            self._db.execute("COMMIT")
        except sqlite3.OperationalError as cause:
            raise InputError(
                f"{self._path.parent}: the rows do not fit there: {cause}", fix="make room, or name another folder with TMPDIR",
            ) from cause

    def read(self, sql: str, parameters: tuple[Any, ...] = ()) -> Iterator[Any]:
        """The rows of a query, through a connection of their own, so that several readers do not disturb each other."""
        with closing(self._connect()) as db:
            yield from db.execute(sql, parameters)

    def own(self, sql: str) -> Iterator[Any]:
        """As read, through the connection that writes: inside `writing` it sees what was just written."""
        yield from self._db.execute(sql)

    def one(self, sql: str, parameters: tuple[Any, ...] = ()) -> Any:
        """The first row of a query; null if there is none."""
        return self._db.execute(sql, parameters).fetchone()

    def run(self, sql: str, parameters: tuple[Any, ...] = ()) -> int:
        """Runs a statement; the number of rows that it changed."""
        return self._db.execute(sql, parameters).rowcount

    def run_all(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[Any]:
        """All rows of a small query."""
        return self._db.execute(sql, parameters).fetchall()

    def function(self, name: str, call: Any) -> None:
        """Makes a Python function of one argument callable in the queries of `run` and `one`."""
        self._db.create_function(name, 1, call, deterministic=True)

    def add_question(self, question: Question, body: str, place: str) -> str | None:
        """Adds a row of the questions' file. Returns the fault of a repeated id."""
        found = self.one("SELECT place, body FROM questions WHERE id = ?", (question.id,))
        if found is not None:
            same = "the rows are the same" if found[1] == body else "the rows differ"
            return f"{place}: id: '{question.id}' is the id of {found[0]} too ({same})"
        self._insert(question, place, body, from_file=True)
        return None

    def _insert(self, question: Question, place: str, body: str, *, from_file: bool) -> None:
        self.run(
            "INSERT INTO questions (id, place, mark, body, from_file) VALUES (?, ?, ?, ?, ?)",
            (question.id, place, text_mark(question.question) if question.question else None, body, from_file),
        )

    def merge_question(self, question: Question, body: str, place: str) -> str | None:
        """Adds what a row of answers says of its question (`question` empty: no text). What is known already stays.

        Returns the fault of another text for the same id.
        """
        found = self.one("SELECT place, body, from_file FROM questions WHERE id = ?", (question.id,))
        if found is None:
            self._insert(question, place, body, from_file=False)
            return None
        if found[1] == body:
            return None
        known, new = json.loads(found[1]), json.loads(body)
        if known["question"] and new["question"] and known["question"].split() != new["question"].split():
            return f"{place}: question: another text than in {found[0]} for the same id '{question.id}'"
        if "reference" in new and not found[2] and known.get("reference", new["reference"]) != new["reference"]:
            self.differing += 1
        merged = {**new, **known, "question": known["question"] or new["question"]}
        if merged != known:
            mark = text_mark(merged["question"]) if merged["question"] else None
            self.run("UPDATE questions SET body = ?, mark = ? WHERE id = ?", (json.dumps(merged), mark, question.id))
        return None

    def ids_of_text(self, text: str) -> list[str]:
        """The ids of the questions of the questions' file with exactly this text."""
        rows = self._db.execute("SELECT id, body FROM questions WHERE mark = ? AND from_file", (text_mark(text),))
        return [name for name, body in rows if json.loads(body)["question"].strip() == text.strip()]

    def has_answer(self, answer: Answer) -> bool:
        """Whether the system has an answer to the question in this trial."""
        where = (answer.question_id, answer.system, NO_TRIAL if answer.trial is None else answer.trial)
        return self.one("SELECT 1 FROM answers WHERE question = ? AND system = ? AND trial = ?", where) is not None

    def add_answer(self, answer: Answer, body: str, place: str) -> str | None:
        """Adds an answer. Returns the fault of a second answer of the system to the question in one trial."""
        trial = NO_TRIAL if answer.trial is None else answer.trial
        mark = text_mark(answer.answer)
        try:
            self.run(
                "INSERT INTO answers (question, system, trial, place, body, mark, empty, error) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (answer.question_id, answer.system, trial, place, body, mark,
                 not answer.answer.strip(), answer.error is not None),
            )
        except sqlite3.IntegrityError:
            where = (answer.question_id, answer.system, trial)
            first = self.one("SELECT place, mark FROM answers WHERE question = ? AND system = ? AND trial = ?", where)
            same = "the answers are the same" if first[1] == mark else "the answers differ"
            which = f", trial {trial}" if answer.trial is not None else ""
            return f"{place}: id: second answer of {answer.system} to '{answer.question_id}'{which}, the first is {first[0]} ({same})"
        return None


class Staged:
    """What was read, kept on disk until it is closed. A context manager."""

    def __init__(self, staging: Staging, notes: tuple[str, ...]) -> None:
        self._staging = staging
        self.notes = notes

    def close(self) -> None:
        """Deletes the temporary file."""
        self._staging.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def text_mark(text: str) -> bytes:
    """A short mark of a text."""
    return hashlib.blake2b(text.strip().encode("utf-8", "surrogatepass"), digest_size=16).digest()


def question_from(body: str) -> Question:
    """The record as it was staged."""
    return Question.model_validate_json(body)


def question_values(body: str) -> Mapping[str, Any]:
    """The fields of a staged question."""
    values: dict[str, Any] = json.loads(body)
    return values
