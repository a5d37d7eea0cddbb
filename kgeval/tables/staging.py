"""Checked rows on disk: a temporary SQLite file of this user's only, gone when it is closed. Memory stays flat."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from types import TracebackType
from typing import Any, Self

from kgeval.errors import InputError
from kgeval.records import Answer, Question
from kgeval.tables.temporary import private_folder

_TABLES = """
CREATE TABLE questions (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, place TEXT NOT NULL, mark BLOB, body TEXT NOT NULL,
  from_file TEXT, differing TEXT, kept INTEGER NOT NULL DEFAULT 1);
CREATE INDEX by_mark ON questions (mark);
CREATE TABLE answers (n INTEGER PRIMARY KEY, question TEXT NOT NULL, system TEXT NOT NULL, trial INTEGER NOT NULL, place TEXT NOT NULL,
  body TEXT NOT NULL, mark BLOB NOT NULL, empty INTEGER NOT NULL, error INTEGER NOT NULL, gave TEXT, own TEXT,
  kept INTEGER NOT NULL DEFAULT 1,
  UNIQUE (question, system, trial));
"""
# Not NULL: in a UNIQUE constraint of SQLite no two NULLs are the same, so a second answer would pass.
NO_TRIAL = -1
# Gold that names pieces of what a system was built on (its chunks, its graph): two systems may have another each.
OWN = ("evidence", "evidence_ids", "path", "structure")
# Gold that is one for all systems.
SHARED = ("reference", "references", "points", "statements", "steps", "cypher", "document")
_SHOWN = 60


class Staging:
    """The file. `add_question` and `add_answer` check what belongs together; reading is by plain SQL, see rows.py."""

    def __init__(self) -> None:
        try:
            self._folder = private_folder("rows")
            self._path = self._folder.path / "rows.sqlite"
            self._path.touch(mode=0o600)
            self._db = self._connect()
            # Nobody opens this file again after a crash, so nothing waits for the disk.
            self._db.execute("PRAGMA journal_mode = TRUNCATE")
            self._db.execute("PRAGMA synchronous = OFF")
            self._db.executescript(_TABLES)
        except (OSError, sqlite3.Error) as cause:
            raise InputError(f"no temporary file can be made: {cause}", fix="make room, or name another folder with TMPDIR") from cause
        self.overruled = 0  # answers whose row has other gold than the questions' file, which decides
        self.by_system: Counter[str] = Counter()  # field of OWN -> questions for which systems differ in it

    def _connect(self) -> sqlite3.Connection:
        # isolation_level None: `writing` says BEGIN and COMMIT itself, and the sqlite3 module adds none. Threads read through it by turns.
        return sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)

    def close(self) -> None:
        """Deletes the file. May be called twice."""
        self._db.close()
        self._folder.close()

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
        """The first row of a query; None if there is none."""
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
        earlier = self.one("SELECT place, body FROM questions WHERE id = ?", (question.id,))
        if earlier is not None:
            same = "the rows are the same" if earlier[1] == body else "the rows differ"
            return f"{place}: id: '{question.id}' is the id of {earlier[0]} too ({same})"
        self._insert(question, place, body, from_file=sorted(json.loads(body)))
        return None

    def says(self, name: str, body: str) -> bool:
        """Whether the question of that id says what another body says, ids aside."""
        row = self.one("SELECT body FROM questions WHERE id = ?", (name,))
        return row is not None and json.loads(row[0]) == {**json.loads(body), "id": name}

    def _insert(self, question: Question, place: str, body: str, *, from_file: list[str] | None) -> None:
        self.run(
            "INSERT INTO questions (id, place, mark, body, from_file) VALUES (?, ?, ?, ?, ?)",
            (question.id, place, text_mark(question.question) if question.question else None, body,
             None if from_file is None else json.dumps(from_file)),
        )

    def merge_question(self, question: Question, body: str, place: str, systems: Iterable[str]) -> list[str]:
        """Adds what a row of answers says of its question (`question` empty: no text). What the questions' file has stays.

        Gold of OWN that differs from what another system's row has is from now on each answer's own; `systems`: whose answers the row
        has. Returns the faults of another text, of other gold of SHARED, and of other gold of OWN for the same system.
        """
        earlier = self.one("SELECT place, body, from_file, differing FROM questions WHERE id = ?", (question.id,))
        if earlier is None:
            self._insert(question, place, body, from_file=None)
            return []
        if earlier[1] == body:
            return []
        known, new, from_file = json.loads(earlier[1]), json.loads(body), json.loads(earlier[2] or "[]")
        differing = json.loads(earlier[3] or "[]")
        if known["question"] and new["question"] and known["question"].split() != new["question"].split():
            return [f"{place}: question: another text than in {earlier[0]} for the same id '{question.id}'"]
        other = [name for name in (*OWN, *SHARED) if name in known and name in new and _plain(known[name]) != _plain(new[name])]
        if _right_answers(known) == _right_answers(new):
            other = [name for name in other if name not in ("reference", "references")]
        self.overruled += any(name in from_file for name in other)
        other = [name for name in other if name not in from_file]
        faults = [_other_gold(place, name, question.id, known[name], new[name]) for name in other if name in SHARED]
        for name in [*other, *(name for name in differing if name in new)]:
            for system in systems:
                own = self._own_gold(question.id, system, name, known)
                if own is not None and _plain(own) != _plain(new[name]):
                    faults.append(_other_gold(place, name, question.id, own, new[name]))
        if faults:
            return faults
        for name in other:
            differing.append(name)
            self.by_system[name] += 1
            # What was one for all until now stays with the answers whose rows gave it: the question's own row holds it no longer.
            self.run(
                "UPDATE answers SET own = json_set(coalesce(own, '{}'), '$.' || ?, json(?)) "
                "WHERE question = ? AND EXISTS (SELECT 1 FROM json_each(gave) WHERE value = ?)",
                (name, json.dumps(known.pop(name)), question.id, name),
            )
        merged = {**{name: value for name, value in new.items() if name not in differing}, **known}
        merged["question"] = known["question"] or new["question"]
        if merged != known or other:
            mark = text_mark(merged["question"]) if merged["question"] else None
            self.run(
                "UPDATE questions SET body = ?, mark = ?, differing = ? WHERE id = ?",
                (json.dumps(merged), mark, json.dumps(differing) if differing else None, question.id),
            )
        return []

    def _own_gold(self, question: str, system: str, name: str, known: Mapping[str, Any]) -> Any:
        """The gold in the row of a system's first answer to a question; None where that row gave none."""
        sql = "SELECT gave, own FROM answers WHERE question = ? AND system = ? AND gave IS NOT NULL ORDER BY n LIMIT 1"
        row = self.one(sql, (question, system))
        if row is None or name not in json.loads(row[0]):
            return None
        return json.loads(row[1] or "{}").get(name, known.get(name))

    def ids_of_text(self, text: str) -> list[str]:
        """The ids of the questions of the questions' file with exactly this text."""
        rows = self._db.execute("SELECT id, body FROM questions WHERE mark = ? AND from_file IS NOT NULL", (text_mark(text),))
        return [name for name, body in rows if json.loads(body)["question"].strip() == text.strip()]

    def has_answer(self, answer: Answer) -> bool:
        """Whether the system has an answer to the question in this trial."""
        where = (answer.question_id, answer.system, NO_TRIAL if answer.trial is None else answer.trial)
        return self.one("SELECT 1 FROM answers WHERE question = ? AND system = ? AND trial = ?", where) is not None

    def add_answer(self, answer: Answer, body: str, place: str, gold: Mapping[str, Any]) -> str | None:
        """Adds an answer; `gold`: what its row says of its question. Returns the fault of a second answer of the system to the question
        in one trial."""
        trial = NO_TRIAL if answer.trial is None else answer.trial
        mark = text_mark(answer.answer)
        gave = [name for name in OWN if name in gold]
        own: dict[str, Any] = {}
        if gave and self.by_system:
            (differing,) = self.one("SELECT differing FROM questions WHERE id = ?", (answer.question_id,))
            own = {name: gold[name] for name in json.loads(differing or "[]") if name in gold}
        try:
            self.run(
                "INSERT INTO answers (question, system, trial, place, body, mark, empty, error, gave, own) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (answer.question_id, answer.system, trial, place, body, mark, not answer.answer.strip(), answer.error is not None,
                 json.dumps(gave) if gave else None, json.dumps(own) if own else None),
            )
        except sqlite3.IntegrityError:
            where = (answer.question_id, answer.system, trial)
            first = self.one("SELECT place, mark FROM answers WHERE question = ? AND system = ? AND trial = ?", where)
            # The constraint tells, not a query before each insert: nearly all rows are fine.
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


def _plain(value: Any) -> Any:
    """Gold as it is compared: spaces in texts do not count."""
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return {key: _plain(part) for key, part in value.items()} if isinstance(value, dict) else value


def _right_answers(question: Mapping[str, Any]) -> set[str]:
    return {_plain(text) for text in (question.get("reference"), *question.get("references", ())) if text}


def _other_gold(place: str, name: str, question: str, there: Any, here: Any) -> str:
    """The fault of gold that cannot be two things."""
    texts = (json.dumps(value, ensure_ascii=False) for value in (there, here))
    shown = [text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..." for text in texts]
    return f"{place}: {name}: other gold than in an earlier row for the same id '{question}' (there {shown[0]}, here {shown[1]})"


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
