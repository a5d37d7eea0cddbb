"""The journal: every finished call of every run, in one SQLite file, so that none is paid twice.

One row a call, under the SHA-256 of its request. A row is written before the reply is handed on, so whoever has an answer can
count on finding it again after kill -9. Several threads and processes may share a journal: a call in flight is claimed by a lock
that the kernel drops when its owner dies (docs/decisions/03-the-journal.md).
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import struct
import sys
import threading
import time
import zlib
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from types import TracebackType

from kgeval.errors import ConfigError, IncompleteError
from kgeval.limits import inflate_bytes
from kgeval.llm.calls import Endpoint
from kgeval.llm.journal_file import connect, guarded, prepare, unusable
from kgeval.llm.pool import join
from kgeval.llm.request import Request
from kgeval.llm.schemas import MODES, Mode

# Which requests are in flight in other processes: one lock a request, on a byte of a file beside the journal.

# Locks of an open file (not of a process) are needed where two sessions of one process share a journal.
_PER_OPEN_FILE: int | None = getattr(fcntl, "F_OFD_SETLK", None) if sys.platform == "linux" else None


class Claims:
    """The claims of one session. Thread-safe; the caller keeps threads of one session apart itself."""

    def __init__(self, journal: Path) -> None:
        path = journal.with_name(journal.name + ".lock")
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as cause:
            raise ConfigError(f"{path}: cannot be opened: {cause.strerror}", fix="check its folder, or name another --journal") from cause
        self._lock, self._open = threading.Lock(), True

    def take(self, key: str) -> bool:
        """True if the claim is ours now, False if another session has it."""
        return self._set(key, fcntl.F_WRLCK)

    def give(self, key: str) -> None:
        """Gives a claim free."""
        self._set(key, fcntl.F_UNLCK)

    def close(self) -> None:
        """Drops all claims. Where locks belong to the process, the file stays open: closing it would drop other sessions' too."""
        with self._lock:
            if _PER_OPEN_FILE is not None and self._open:
                os.close(self._file)
            self._open = False

    def _set(self, key: str, kind: int) -> bool:
        place = int(key[:15], 16)  # 60 bits of the hash: two requests on one place would only wait for each other
        with self._lock:
            # where locks belong to the process, one that a straggler gives back after the end must go
            may = self._open or (kind == fcntl.F_UNLCK and _PER_OPEN_FILE is None)
            return may and self._lock_byte(place, kind)

    def _lock_byte(self, place: int, kind: int) -> bool:
        try:
            if _PER_OPEN_FILE is not None:
                # struct flock by hand: Python's lockf knows no locks of the open file; this is its layout on 64-bit Linux
                fcntl.fcntl(self._file, _PER_OPEN_FILE, struct.pack("hhqqi4x", kind, os.SEEK_SET, place, 1, 0))
            else:
                command = fcntl.LOCK_UN if kind == fcntl.F_UNLCK else fcntl.LOCK_EX | fcntl.LOCK_NB
                fcntl.lockf(self._file, command, 1, place, os.SEEK_SET)
        # systems differ in whether a held lock is EAGAIN or EACCES
        except (BlockingIOError, PermissionError):
            return False
        except OSError as cause:
            where = "the journal's folder is on a file system without locks"
            raise ConfigError(f"{where}: {cause.strerror}", fix="put the journal on a local disk with --journal") from cause
        return True


MOST_READERS = 8
# failed replies are kept to be looked at, not to be read back
KEPT_TRIES = 1_000
LONGEST_TRY = 20_000
MOST_ROWS = 1_000  # a statement; SQLite takes 32,766 values
_INSERT = (
    "INSERT OR REPLACE INTO calls (key, created, endpoint, model, stage, prompt, request, reply, input_tokens, output_tokens, estimated, "
    "seconds) VALUES "
)
_ADD_ASKED = (
    "INSERT INTO asked (run, start, stage, model, calls, input_tokens, output_tokens, cost, seconds) VALUES (?,?,?,?,?,?,?,?,?) "
    "ON CONFLICT (run, start, stage) DO UPDATE SET calls = calls + excluded.calls, input_tokens = input_tokens + excluded.input_tokens, "
    "output_tokens = output_tokens + excluded.output_tokens, cost = cost + excluded.cost, seconds = seconds + excluded.seconds"
)
_ROW = "(?,?,?,?,?,?,?,?,?,?,?,?)"


@dataclass(frozen=True, slots=True)
class Stored:
    """A finished call: the text of the reply, tokens (`estimated`: counted here, the endpoint gave none), seconds it took, and of a stream
    those to its first token."""

    reply: str
    input_tokens: int
    output_tokens: int
    estimated: bool
    seconds: float
    first: float | None = None


@dataclass(frozen=True, slots=True)
class AskedOf:
    """Requests of one stage of one start of a run, and what their replies took. `cost`: USD; None: no price is known."""

    run: str
    start: str
    stage: str
    model: str
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0
    seconds: float = 0.0


@dataclass
class _Batch:
    rows: list[tuple[object, ...]] = field(default_factory=list)
    firsts: list[tuple[str, float]] = field(default_factory=list)
    tries: list[tuple[object, ...]] = field(default_factory=list)
    asked: list[AskedOf] = field(default_factory=list)
    done: threading.Event = field(default_factory=threading.Event)
    error: sqlite3.Error | None = None


class Journal:
    """An open journal. Thread-safe: threads read with a few connections that they share, one thread writes, many rows at a time.

    Raises, when made: ConfigError for a file that is no journal, is another version's, or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        prepare(path)
        self._claims = Claims(path)
        # pop and append of a deque are atomic: no lock is needed around them
        self._idle: deque[sqlite3.Connection] = deque()
        self._reading = threading.BoundedSemaphore(MOST_READERS)
        self._wake = threading.Condition()
        self._batch = _Batch()
        self._writing: _Batch | None = None
        self._closing = False
        self._writer: threading.Thread | None = None

    def get(self, key: str) -> Stored | None:
        """The finished call under a key, or None (also for a row whose bytes are damaged: it is asked again and replaced)."""
        sql = "SELECT reply, input_tokens, output_tokens, estimated, seconds FROM calls WHERE key = ?"
        with self.connection() as reader:
            row = reader.execute(sql, (key,)).fetchone()
        try:
            return None if row is None else Stored(unpack(row[0]), row[1], row[2], bool(row[3]), row[4])
        except zlib.error:
            return None

    def first_seconds(self, key: str) -> float | None:
        """Seconds to the first token of a call that was streamed; None of any other."""
        with self.connection() as reader:
            row = reader.execute("SELECT seconds FROM firsts WHERE key = ?", (key,)).fetchone()
        return None if row is None else float(row[0])

    def put(self, request: Request, stored: Stored) -> None:
        """Writes a finished call and returns when it is on disk as far as the operating system goes (kill -9 does not lose it).

        Raises: IncompleteError if it cannot be written (full disk).
        """
        batch = self._add(row=(
            request.key, time.time(), _place(request.endpoint), request.endpoint.model, request.stage,
            f"{request.prompt}@{request.prompt_hash}",
            pack(request.canonical), pack(stored.reply.encode("utf-8")),
            stored.input_tokens, stored.output_tokens, int(stored.estimated), stored.seconds,
        ), first=None if stored.first is None else (request.key, stored.first))
        # whoever gets an answer can count on finding it again: so nobody goes on before it is written
        self._await(batch)

    def note(self, asked: AskedOf, *, wait: bool) -> None:
        """Adds to what a start of a run asked. `wait`: until it is on disk, as `put`. Raises: as `put`."""
        batch = self._add(asked=asked)
        if wait:
            self._await(batch)

    def flush(self) -> None:
        """Waits until all that was added is on disk, as far as the operating system goes."""
        with self._wake:
            batch = self._batch if self._batch.rows or self._batch.tries or self._batch.asked else self._writing
        if batch is not None:
            batch.done.wait()

    def _await(self, batch: _Batch) -> None:
        batch.done.wait()
        if batch.error is not None:
            # only SQLite's own errors have a name
            damaged = getattr(batch.error, "sqlite_errorname", "").startswith("SQLITE_CORRUPT")
            raise IncompleteError(
                f"{self.path}: the journal cannot be written: {batch.error}",
                fix=unusable(self.path, batch.error).fix if damaged else
                "make room on the disk, or move the journal with --journal, and run the same command again: finished calls are kept",
            )

    def put_try(self, request: Request, cause: str, reply: str) -> None:
        """Keeps the raw reply of a failed try for inspection: the newest 1,000, cut to 20,000 characters. Does not wait."""
        raw = pack(reply[:LONGEST_TRY].encode("utf-8"))
        self._add(tried=(request.key, time.time(), request.endpoint.model, request.stage, cause, raw))

    def claim(self, key: str) -> bool:
        """True if this process now may send the request; False if another live process has it in flight."""
        return self._claims.take(key)

    def release(self, key: str) -> None:
        """Gives the request free."""
        self._claims.give(key)

    def ability(self, at: Endpoint) -> Mode:
        """The best form of structured reply that the model at this endpoint is known to give; json_schema until known better."""
        with self.connection() as reader:
            row = reader.execute("SELECT mode FROM abilities WHERE endpoint = ? AND model = ?", (_place(at), at.model)).fetchone()
        return row[0] if row is not None and row[0] in MODES else "json_schema"

    def remember(self, at: Endpoint, mode: Mode) -> None:
        """Notes what the model at this endpoint can do."""
        sql = "INSERT OR REPLACE INTO abilities (endpoint, model, mode, learned) VALUES (?,?,?,?)"
        with self.connection() as reader:
            reader.execute(sql, (_place(at), at.model, mode, time.time()))

    def typical(self, at: Endpoint, stage: str) -> tuple[float, int] | None:
        """Mean seconds a call and largest output tokens of the last 200 calls of a stage, or None without any."""
        sql = (
            "SELECT avg(seconds), max(output_tokens), count(*) FROM (SELECT seconds, output_tokens FROM calls "
            "WHERE endpoint = ? AND model = ? AND stage = ? ORDER BY rowid DESC LIMIT 200)"
        )
        with self.connection() as reader:
            mean, most, count = reader.execute(sql, (_place(at), at.model, stage)).fetchone()
        return (mean, most) if count else None

    def close(self) -> None:
        """Writes what waits to be written, then closes. Threads that still run get no more rows in."""
        with self._wake:
            self._closing = True
            self._wake.notify_all()
        if self._writer is not None:
            join(self._writer)
        self._claims.close()
        self._close_idle()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _close_idle(self) -> None:
        while self._idle:
            with suppress(IndexError):  # another thread took it
                self._idle.pop().close()

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """One of a few connections, for one statement: a thousand threads must not hold a thousand files open."""
        if self._closing:
            raise ConfigError(f"{self.path}: the journal is closed", fix="ask while the session is open")
        with self._reading, guarded(self.path):
            try:
                connection = self._idle.pop()
            except IndexError:
                connection = connect(self.path)
            try:
                yield connection
            finally:
                self._idle.append(connection)
                if self._closing:
                    self._close_idle()

    def _add(
        self, *, row: tuple[object, ...] | None = None, tried: tuple[object, ...] | None = None, first: tuple[str, float] | None = None,
        asked: AskedOf | None = None,
    ) -> _Batch:
        with self._wake:
            if self._closing:
                raise ConfigError(f"{self.path}: the journal is closed", fix="ask while the session is open")
            if self._writer is None or not self._writer.is_alive():
                # the one before may never have run: an interrupt can meet a thread as it is being started
                self._writer = threading.Thread(target=self._write, name="kgeval-journal", daemon=True)
                self._writer.start()
            batch = self._batch
            if row is not None:
                batch.rows.append(row)
            if first is not None:
                batch.firsts.append(first)
            if tried is not None:
                batch.tries.append(tried)
            if asked is not None:
                batch.asked.append(asked)
            self._wake.notify()
        return batch

    def _write(self) -> None:
        """The writing thread: whatever came since the last write goes into one statement, which is one transaction."""
        connection: sqlite3.Connection | None = None
        while (batch := self._next()) is not None:
            # set first and taken away last: whatever ends this thread, nobody who waits takes the row for written
            batch.error = sqlite3.InterfaceError("the writing thread ended")  # unless one of the next lines says otherwise
            try:
                # in this thread: it is the only one that writes, for many writers wait for each other longer than they write
                connection = connection or connect(self.path)
                _store(connection, batch)
                batch.error = None
            except sqlite3.Error as error:
                batch.error = error
            finally:
                batch.done.set()
        if connection is not None:
            connection.close()

    def _next(self) -> _Batch | None:
        with self._wake:
            self._writing = None
            while not (self._batch.rows or self._batch.tries or self._batch.asked):
                if self._closing:
                    return None
                self._wake.wait()
            batch, self._batch = self._batch, _Batch()
            self._writing = batch
            return batch


def _place(at: Endpoint) -> str | None:
    """What rows call the endpoint."""
    return at.name or at.base_url


def _store(connection: sqlite3.Connection, batch: _Batch) -> None:
    """Writes a batch in one transaction: a reply is never there without what it took."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        _store_rows(connection, batch)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _store_rows(connection: sqlite3.Connection, batch: _Batch) -> None:
    sums: dict[tuple[str, str, str], AskedOf] = {}
    for asked in batch.asked:
        key = (asked.run, asked.start, asked.stage)
        sums[key] = _added(sums[key], asked) if key in sums else asked
    if sums:
        connection.executemany(_ADD_ASKED, map(astuple, sums.values()))
    for start in range(0, len(batch.rows), MOST_ROWS):
        rows = batch.rows[start : start + MOST_ROWS]
        connection.execute(_INSERT + ",".join([_ROW] * len(rows)), [value for row in rows for value in row])
    if batch.firsts:
        connection.executemany("INSERT OR REPLACE INTO firsts VALUES (?,?)", batch.firsts)
    if batch.tries:
        sql = "INSERT INTO tries (key, created, model, stage, cause, reply) VALUES (?,?,?,?,?,?)"
        connection.executemany(sql, batch.tries)
        connection.execute("DELETE FROM tries WHERE id <= (SELECT max(id) FROM tries) - ?", (KEPT_TRIES,))


def _added(one: AskedOf, other: AskedOf) -> AskedOf:
    return replace(
        one, calls=one.calls + other.calls, input_tokens=one.input_tokens + other.input_tokens, seconds=one.seconds + other.seconds,
        output_tokens=one.output_tokens + other.output_tokens,
        cost=None if one.cost is None or other.cost is None else one.cost + other.cost,
    )


def pack(data: bytes) -> bytes:
    """Compressed, quickly rather than well. A window of 8 kB: getting the memory for the usual one takes longer than the work."""
    packer = zlib.compressobj(level=1, wbits=13, memLevel=5)
    return packer.compress(data) + packer.flush()


def unpack(data: bytes) -> str:
    """The text that was packed. Raises: zlib.error for damaged data, TooLargeError."""
    return inflate_bytes(data, "a call in the journal").decode("utf-8", "replace")
