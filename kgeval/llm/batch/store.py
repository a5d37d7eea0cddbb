"""What is under way: batches, the requests in them, and replies that no run has read yet. A small SQLite file beside the journal.

Every step is written before the next one is made, so a run that was killed picks its batches up and pays nothing twice. The file holds
replies until a run has read them, so it is its owner's only.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from kgeval.errors import ConfigError
from kgeval.llm.schemas import Mode

# added to the tries of a request, so that it is above any --max-reasks
GIVEN_UP = 1_000_000
_TABLES = """
CREATE TABLE IF NOT EXISTS batches (name TEXT PRIMARY KEY, made REAL NOT NULL, endpoint TEXT NOT NULL, model TEXT NOT NULL,
  requests INTEGER NOT NULL, file TEXT, id TEXT);
CREATE TABLE IF NOT EXISTS sent (key TEXT PRIMARY KEY, batch TEXT NOT NULL, mode TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS sent_by_batch ON sent (batch);
CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, mode TEXT NOT NULL, text TEXT NOT NULL, finish TEXT NOT NULL,
  refused INTEGER NOT NULL, input_tokens INTEGER, output_tokens INTEGER, cause TEXT, again INTEGER NOT NULL, form INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS tries (key TEXT PRIMARY KEY, n INTEGER NOT NULL);
"""


@dataclass(frozen=True)
class Batch:
    """One batch: `file` None: not uploaded yet; `id` None: not known to be created yet."""

    name: str
    made: float
    endpoint: str
    model: str
    requests: int
    file: str | None = None
    id: str | None = None


@dataclass(frozen=True)
class Came:
    """What came back for a request. `cause` None: a completion; else why there is none, `again`: worth another try; `form`: the endpoint
    does not know this form of structured reply."""

    key: str
    mode: Mode
    text: str = ""
    finish: str = "stop"
    refused: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    cause: str | None = None
    again: bool = False
    form: bool = False


def store_file(journal: Path) -> Path:
    """Where the batches of a journal are kept."""
    return journal.with_name(journal.name + ".batches")


class Store:
    """The file, locked: one run at a time makes batches for a journal. Used by one thread. Raises: ConfigError."""

    def __init__(self, journal: Path) -> None:
        self.path = store_file(journal)
        try:
            self._lock = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            self.path.chmod(0o600)
        except OSError as cause:
            what = f"{self.path}: cannot be opened: {cause.strerror}"
            raise ConfigError(what, fix="check its folder, or name another --journal") from cause
        try:
            # not waited for: the other run may take a day
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._db = sqlite3.connect(self.path, isolation_level=None)
            self._db.executescript(_TABLES)
        except (OSError, sqlite3.Error) as cause:
            os.close(self._lock)
            what = "another run is making batches with this journal" if isinstance(cause, OSError) else f"cannot be used: {cause}"
            raise ConfigError(f"{self.path}: {what}", fix="wait for it to end, or give another --journal") from cause

    def close(self) -> None:
        self._db.close()
        os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction: all of it is kept, or nothing."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        # Ctrl-C too: half a pass that is committed would send half of the requests
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def lines_of(self, name: str) -> Path:
        """The file that is uploaded for a batch."""
        return self.path.with_name(f"{self.path.name}.{name}.jsonl")

    def forget_strays(self) -> None:
        """Deletes files of requests that belong to no batch: of a run that was killed while it collected."""
        known = {self.lines_of(batch.name) for batch in self.batches()}
        for path in self.path.parent.glob(f"{self.path.name}.*.jsonl"):
            if path not in known:
                path.unlink(missing_ok=True)

    def batches(self) -> list[Batch]:
        """All that are under way, oldest first."""
        rows = self._db.execute("SELECT name, made, endpoint, model, requests, file, id FROM batches ORDER BY made, name")
        return [Batch(*row) for row in rows]

    def add(self, endpoint: str, model: str, name: str, requests: int) -> None:
        """A batch whose file is written."""
        sql = "INSERT INTO batches (name, made, endpoint, model, requests) VALUES (?,?,?,?,?)"
        self._db.execute(sql, (name, time.time(), endpoint, model, requests))

    def uploaded(self, name: str, file: str) -> None:
        self._db.execute("UPDATE batches SET file = ?, id = NULL WHERE name = ?", (file, name))

    def created(self, name: str, batch: str | None) -> None:
        self._db.execute("UPDATE batches SET id = ? WHERE name = ?", (batch, name))

    def send(self, key: str, name: str, mode: Mode) -> None:
        """A request goes into a batch."""
        self._db.execute("INSERT OR REPLACE INTO sent (key, batch, mode) VALUES (?,?,?)", (key, name, mode))

    def is_sent(self, key: str) -> bool:
        return self._db.execute("SELECT 1 FROM sent WHERE key = ?", (key,)).fetchone() is not None

    def mode_in(self, name: str, key: str) -> Mode | None:
        """The form in which a batch asks this request; None: it is not in it."""
        row = self._db.execute("SELECT mode FROM sent WHERE key = ? AND batch = ?", (key, name)).fetchone()
        return None if row is None else row[0]

    def finish(self, name: str, came: Iterable[Came]) -> tuple[int, int]:
        """A batch is over: keeps what came back, and counts a try of each request that has nothing. Returns how many have a reply, and
        how many have none."""
        with self.writing():
            for reply in came:
                self._db.execute("INSERT OR IGNORE INTO replies VALUES (?,?,?,?,?,?,?,?,?,?)", astuple(reply))  # the first one counts
            # with the replies in one transaction: a kill between the two would count a try of requests that were answered
            where = "FROM sent WHERE batch = ? AND key {not_} IN (SELECT key FROM replies)"
            with_one = self._db.execute(f"SELECT count(*) {where.format(not_='')}", (name,)).fetchone()[0]
            lost = self._db.execute(
                f"INSERT INTO tries SELECT key, 1 {where.format(not_='NOT')} ON CONFLICT (key) DO UPDATE SET n = n + 1", (name,),
            ).rowcount
            self._forget(name)
        return with_one, lost

    def drop(self, name: str) -> None:
        """Forgets a batch that asked nothing: its requests are free again."""
        with self.writing():
            self._forget(name)

    def _forget(self, name: str) -> None:
        self._db.execute("DELETE FROM sent WHERE batch = ?", (name,))
        self._db.execute("DELETE FROM batches WHERE name = ?", (name,))

    def take(self, key: str) -> Came | None:
        """What came back for a request, which is then no longer here."""
        row = self._db.execute("DELETE FROM replies WHERE key = ? RETURNING *", (key,)).fetchone()
        if row is None:
            return None
        key, mode, text, finish, refused, given, got, cause, again, form = row
        return Came(key, mode, text, finish, bool(refused), given, got, cause, bool(again), bool(form))

    def tries(self, key: str) -> int:
        """How often this request was answered with something that cannot be used, or not at all."""
        row = self._db.execute("SELECT n FROM tries WHERE key = ?", (key,)).fetchone()
        return 0 if row is None else int(row[0])

    def tried(self, key: str, times: int = 1) -> None:
        self._db.execute("INSERT INTO tries VALUES (?,?) ON CONFLICT (key) DO UPDATE SET n = n + excluded.n", (key, times))

    def forget_tries(self) -> None:
        """The run has come to its end: a later one counts anew."""
        self._db.execute("DELETE FROM tries")


def new_name() -> str:
    """A name for a batch, ours."""
    return uuid.uuid4().hex
