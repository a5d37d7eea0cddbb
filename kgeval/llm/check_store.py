"""What the checks and figures of an audit came to, in the journal: an audit that is cut off asks them once.

An answer stands under the SHA-256 of the graph's state and of all that it depends on, so that another state of the graph has none.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgeval.errors import IncompleteError
from kgeval.limits import inflate_bytes
from kgeval.llm.answer_store import key_of
from kgeval.llm.journal_file import connect, prepare, unusable


@dataclass(frozen=True)
class KeptState:
    """A state of the graph whose answers were kept, and when the first of them was (seconds since 1970)."""

    state: str
    since: float


@dataclass(frozen=True)
class KeptCheck:
    """An answer, and when it was kept (seconds since 1970)."""

    body: Any
    created: float


class CheckStore:
    """The answers about one state of one graph. Thread-safe; processes may share the journal. A context manager.

    `earlier`: the state of the newest answers that there were; those of other states than this one are deleted, for none comes back. An
    answer is on disk as far as the operating system goes before `keep` returns: kill -9 loses what is in flight.

    Raises, when made: ConfigError for a file that is no journal, or cannot be written; all: IncompleteError where it fails later.
    """

    def __init__(self, journal: Path, graph: str, state: str) -> None:
        prepare(journal)
        self.path, self._graph, self._state = journal, graph, state
        self._lock = threading.Lock()  # one connection for all threads: sqlite3 lets them share it
        self._db = connect(journal)
        with self._locked():
            sql = "SELECT state, min(created) FROM checks WHERE graph = ? GROUP BY state ORDER BY max(created) DESC LIMIT 1"
            newest = self._db.execute(sql, (graph,)).fetchone()
            self._db.execute("DELETE FROM checks WHERE graph = ? AND state != ?", (graph, state))
        self.earlier = None if newest is None else KeptState(*newest)

    def __enter__(self) -> CheckStore:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._db.close()

    def get(self, *question: object) -> KeptCheck | None:
        """The answer to a question, if it is kept. One that is damaged is none."""
        with self._locked():
            row = self._db.execute("SELECT body, created FROM checks WHERE key = ?", (self._key(question),)).fetchone()
        try:
            return None if row is None else KeptCheck(json.loads(inflate_bytes(row[0], "a check in the journal")), row[1])
        except (zlib.error, ValueError):
            return None

    def keep(self, body: Any, *question: object) -> None:
        """Keeps the answer to a question: what JSON has."""
        packed = zlib.compress(json.dumps(body).encode(), 1)
        row = (self._key(question), self._graph, self._state, time.time(), packed)
        with self._locked():
            self._db.execute("INSERT OR REPLACE INTO checks VALUES (?,?,?,?,?)", row)

    def _key(self, question: tuple[object, ...]) -> str:
        return key_of(self._graph, self._state, *question)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            with self._lock:
                yield
        except sqlite3.Error as cause:
            raise IncompleteError(
                f"{self.path}: finished checks cannot be kept in the journal: {cause}", fix=unusable(self.path, cause).fix,
            ) from cause
