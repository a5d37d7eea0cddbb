"""What systems under test answered, in the journal: an answer is asked for once, however often the run that needs it is started.

A system may be a model, a program or a service of the user's: what its answers cost is not known here, so that they are kept as replies of
models are. Answers stand under the SHA-256 of all that they were asked with.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
import uuid
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgeval.errors import IncompleteError
from kgeval.limits import inflate_bytes
from kgeval.llm.characters import whole
from kgeval.llm.journal import Claims
from kgeval.llm.journal_file import connect, prepare, unusable
from kgeval.records import Answer

POLL_SECONDS = 0.05  # of an answer that another process has in flight


def key_of(*parts: object) -> str:
    """SHA-256 of what an answer was asked with."""
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Earlier:
    """What an earlier start of a run left: answers, those of them that failed, and when the first one came (seconds since 1970)."""

    answers: int = 0
    failed: int = 0
    since: float | None = None


class AnswerStore:
    """The answers in a journal, as one run sees them. Thread-safe; processes may share the journal. A context manager.

    `run`: what the run is called, the same whenever it is started again; None: a name of its own. An answer that failed counts for the run
    that met the failure and no other. `fresh`: answers of other runs do not count. An answer is on disk as far as the operating system goes
    before `keep` returns: kill -9 loses what is in flight.

    Raises, when made: ConfigError for a file that is no journal, or cannot be written.
    """

    def __init__(self, journal: Path, run: str | None = None, *, fresh: bool = False) -> None:
        prepare(journal)
        self.path, self._fresh, self._run = journal, fresh, run or uuid.uuid4().hex
        self._since = 0.0  # answers from before do not count
        # one connection for all threads: sqlite3 lets them share it, but a transaction belongs to the connection, so that two must not mix
        self._lock = threading.RLock()
        self._db = connect(journal)
        self._claims = Claims(journal)
        self._closed = threading.Event()
        self._in_flight: dict[str, tuple[threading.Lock, int]] = {}

    def __enter__(self) -> AnswerStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the journal. May be called twice."""
        self._closed.set()
        self._claims.close()
        with self._lock:
            self._db.close()

    def begin(self, *, again: bool = False, failed_again: bool = False) -> Earlier:
        """Starts the run, or goes on with it where it did not come to its end. `again`: also with one that did. `failed_again`: answers
        that failed are forgotten. Returns what there is of it.

        Answers that do not count stay until another one takes their place: they were paid for, and a start by mistake loses none.
        """
        with self._lock, self._guarded():
            self._db.execute("BEGIN IMMEDIATE")  # of two starts at once one sees what the other has begun
            row = self._db.execute("SELECT finished, created FROM answer_runs WHERE run = ?", (self._run,)).fetchone()
            if self._fresh or (row is not None and row[0] and not (again or failed_again)):
                self._since = time.time()
            elif row is not None and not (again or failed_again):
                self._since = row[1]
            if failed_again:
                self._db.execute("DELETE FROM answers WHERE run = ? AND failed", (self._run,))
            self._db.execute("INSERT OR REPLACE INTO answer_runs VALUES (?, ?, 0)", (self._run, self._since))
            sql = "SELECT count(*), coalesce(sum(failed), 0), min(created) FROM answers WHERE run = ? AND created >= ?"
            earlier = Earlier(*self._db.execute(sql, (self._run, self._since)).fetchone())
            self._db.execute("COMMIT")
        return earlier

    def finish(self) -> None:
        """The run came to its end: the next one of its name asks anew."""
        self._execute("UPDATE answer_runs SET finished = 1 WHERE run = ?", (self._run,))

    def get(self, key: str, *, take: bool = False) -> tuple[Answer, bool] | None:
        """The answer under a key, and whether another run made it; None where it must be asked for. `take`: from now on this run has
        made it."""
        row = self._one("SELECT body, run, failed, created FROM answers WHERE key = ?", (key,))
        if row is None or (row[1] != self._run and (self._fresh or row[2])) or row[3] < self._since:
            return None
        try:
            answer = Answer.model_validate_json(inflate_bytes(row[0], "an answer in the journal"))
        except (zlib.error, ValueError):  # damaged, or of another form of the record: asked again, and replaced
            return None
        if take and row[1] != self._run:
            self._execute("UPDATE answers SET run = ? WHERE key = ?", (self._run, key))
        return answer, row[1] != self._run

    def keep(self, key: str, answer: Answer) -> None:
        """Keeps an answer. Raises: IncompleteError where the disk is full."""
        text = json.dumps(answer.model_dump(exclude_defaults=True), ensure_ascii=False)  # models can write half characters
        body = zlib.compress(whole(text).encode(), 1)
        self._execute("INSERT OR REPLACE INTO answers VALUES (?,?,?,?,?)", (key, self._run, time.time(), answer.error is not None, body))

    @contextmanager
    def only(self, key: str) -> Iterator[None]:
        """One thread of one process at a time for a key; others wait. Who comes later looks with `get` first."""
        with self._lock:
            # claims are locks of the open file, which all threads of this store share: threads are kept apart here, processes below
            lock, waiting = self._in_flight.get(key, (threading.Lock(), 0))
            self._in_flight[key] = lock, waiting + 1
        try:
            with lock:
                wait = POLL_SECONDS
                while not self._claims.take(key):
                    if self._closed.wait(wait):
                        raise IncompleteError(f"{self.path}: the journal is closed", fix="run the same command again")
                    wait = min(2 * wait, 20 * POLL_SECONDS)
                try:
                    yield
                finally:
                    self._claims.give(key)
        finally:
            with self._lock:
                lock, waiting = self._in_flight.pop(key)
                if waiting > 1:
                    self._in_flight[key] = lock, waiting - 1

    def _one(self, sql: str, values: Sequence[Any] = ()) -> Any:
        with self._lock, self._guarded():
            return self._db.execute(sql, values).fetchone()

    def _execute(self, sql: str, values: Sequence[Any] = ()) -> None:
        with self._lock, self._guarded():
            self._db.execute(sql, values)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as cause:
            with suppress(sqlite3.Error):
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
            damaged = getattr(cause, "sqlite_errorname", "").startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))
            raise IncompleteError(
                f"{self.path}: answers cannot be kept in the journal: {cause}",
                fix=unusable(self.path, cause).fix if damaged else
                "make room on the disk, or wait for who holds the journal, and run the same command again: what was answered is kept",
            ) from cause
