"""What systems answered, on disk, so that no run asks again; and what came of each pair, so that memory stays flat.

One SQLite file of this user's only. Answers stand under the SHA-256 of all that they were asked with. A failure is kept for the run that
met it and no longer, so that a later run asks again. A row is written before it is handed on: kill -9 loses what is in flight.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import uuid
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgeval.errors import ConfigError, IncompleteError
from kgeval.llm.characters import whole
from kgeval.records import Answer

APPLICATION, VERSION = 0x6B676132, 1  # "kga2"
BUSY_SECONDS = 60.0
SUFFIX = ".answers"
_TABLES = """
CREATE TABLE answers (key TEXT PRIMARY KEY, body BLOB NOT NULL, run TEXT NOT NULL, failed INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE texts (hash TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE pairs (comparison TEXT, a TEXT, b TEXT, question TEXT, numbers TEXT, trial INTEGER, level TEXT, how TEXT NOT NULL,
  attempt INTEGER, before INTEGER, after INTEGER, text_a TEXT, text_b TEXT,
  PRIMARY KEY (comparison, a, b, question, numbers)) WITHOUT ROWID;
CREATE TABLE changed (comparison TEXT, a TEXT, b TEXT, question TEXT, numbers TEXT, system TEXT, trial INTEGER, level TEXT, free TEXT,
  aligned TEXT, draw TEXT, claims INTEGER, kept INTEGER,
  PRIMARY KEY (comparison, a, b, question, numbers, system)) WITHOUT ROWID;
CREATE TABLE uses (comparison TEXT, system TEXT, question TEXT, number INTEGER, words REAL, tokens REAL, seconds REAL, calls REAL,
  cost REAL, PRIMARY KEY (comparison, system, question, number)) WITHOUT ROWID;
"""
_MOVE = "move it away (systems are then asked again), or name another --journal: answers are kept beside it"


def answers_file(journal: Path) -> Path:
    """Where answers are kept beside a journal."""
    return journal.with_name(f"{journal.stem}{SUFFIX}{journal.suffix or '.sqlite'}")


def key_of(*parts: object) -> str:
    """SHA-256 of what an answer was asked with."""
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Place:
    """A pair's question: `numbers`: which of the systems' answers ("1:1"); `trial`: the first one that used them, from 1."""

    a: str
    b: str
    question: str
    numbers: str
    trial: int
    level: str | None = None


class Store:
    """The file, open. Thread-safe; processes may share it. `fresh`: answers of earlier runs do not count.

    Raises, when made: ConfigError for a file that is something else, or cannot be written.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path, self._fresh, self._run = path, fresh, uuid.uuid4().hex
        self._lock = threading.RLock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            if path.stat().st_mode & 0o077:
                path.chmod(0o600)
            self._db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            self._prepare()
        except OSError as cause:
            raise ConfigError(f"{path}: the answers cannot be kept there: {cause.strerror}", fix=_MOVE) from cause
        except sqlite3.Error as cause:
            raise ConfigError(f"{path}: is no file of kept answers, or cannot be used: {cause}", fix=_MOVE) from cause

    def _prepare(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        (application,), (version,) = (self._db.execute(f"PRAGMA {word}").fetchone() for word in ("application_id", "user_version"))
        (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not tables and not application:
            for statement in _TABLES.split(";"):
                self._db.execute(statement)
            self._db.execute(f"PRAGMA application_id = {APPLICATION}")
            self._db.execute(f"PRAGMA user_version = {VERSION}")
        elif (application, version) != (APPLICATION, VERSION):
            self._db.execute("ROLLBACK")
            self._db.close()
            raise ConfigError(f"{self.path}: is no file of kept answers, or one of another kgeval", fix=_MOVE)
        self._db.execute("COMMIT")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")  # survives kill -9; a power cut may lose the last rows
        self._db.execute("PRAGMA cache_size = -4096")

    def answer(self, key: str, *, take: bool = False) -> tuple[Answer, bool] | None:
        """The answer under a key, and whether an earlier run made it; null where it must be asked. `take`: from now on it is this run's."""
        found = self.one("SELECT body, run, failed FROM answers WHERE key = ?", (key,))
        if found is None or (found[1] != self._run and (self._fresh or found[2])):
            return None
        try:
            answer = Answer.model_validate_json(zlib.decompress(found[0]))
        except (zlib.error, ValueError):  # damaged, or of another form of the record: asked again, and replaced
            return None
        if take and found[1] != self._run:
            self.run("UPDATE answers SET run = ? WHERE key = ?", (self._run, key))
        return answer, found[1] != self._run

    def keep(self, key: str, answer: Answer) -> None:
        """Keeps an answer; one with an error for this run only. Raises: IncompleteError where the disk is full."""
        text = json.dumps(answer.model_dump(exclude_defaults=True), ensure_ascii=False)  # models can write half characters
        body = zlib.compress(whole(text).encode(), 1)
        self.run("INSERT OR REPLACE INTO answers VALUES (?,?,?,?)", (key, body, self._run, answer.error is not None))

    def text(self, mark: str) -> str | None:
        """The text of a mark."""
        found = self.one("SELECT body FROM texts WHERE hash = ?", (mark,))
        return zlib.decompress(found[0]).decode() if found is not None else None

    def keep_text(self, text: str) -> str:
        """Keeps a text once, and returns its mark."""
        data = whole(text).encode()
        mark = hashlib.sha256(data).hexdigest()
        if self.one("SELECT 1 FROM texts WHERE hash = ?", (mark,)) is None:
            self.run("INSERT OR IGNORE INTO texts VALUES (?,?)", (mark, zlib.compress(data, 1)))
        return mark

    def one(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """The first row of a query, or null."""
        with self._lock, self._guarded():
            return self._db.execute(sql, values).fetchone()

    def all(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """The rows of a query, through a connection of their own."""
        with self._guarded():
            db = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
            try:
                yield from db.execute(sql, values)
            finally:
                db.close()

    def run(self, sql: str, values: Sequence[Any] = ()) -> None:
        """One statement, on disk as far as the operating system goes. Raises: IncompleteError."""
        with self._lock, self._guarded():
            self._db.execute(sql, values)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as cause:
            raise IncompleteError(
                f"{self.path}: the answers cannot be kept: {cause}",
                fix="make room on the disk and run the same command again: what was answered is kept",
            ) from cause

    def close(self) -> None:
        """Closes the file. May be called twice."""
        with self._lock:
            self._db.close()
