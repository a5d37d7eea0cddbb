"""The journal's file: made for its owner only, and checked before anything is read from it or written to it."""

from __future__ import annotations

import os
import shlex
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kgeval.ending import open_new, unused_name
from kgeval.errors import ConfigError

VERSION = 1
APPLICATION = 0x6B676A31  # "kgj1": marks the file as a journal of kgeval
LOG_MARKS = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")  # a write-ahead log begins with one of these, by the order of its bytes
BUSY_SECONDS = 60.0
# what each start of a run asked: kgeval.llm.paid. Journals from before it had none
ASKED = """CREATE TABLE IF NOT EXISTS asked (
    run TEXT, start TEXT, stage TEXT, model TEXT NOT NULL, calls INTEGER NOT NULL, input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL, cost REAL, seconds REAL NOT NULL, reported REAL, PRIMARY KEY (run, start, stage))"""
SCHEMA = (  # `kgeval cache recover` knows rows by the types of their columns (journal_scan.FORMS)
    """CREATE TABLE calls (
        key TEXT PRIMARY KEY, created REAL NOT NULL, endpoint TEXT NOT NULL, model TEXT NOT NULL, stage TEXT NOT NULL, prompt TEXT NOT NULL,
        request BLOB NOT NULL, reply BLOB NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
        estimated INTEGER NOT NULL, seconds REAL NOT NULL)""",
    "CREATE INDEX calls_by_stage ON calls (endpoint, model, stage)",
    """CREATE TABLE tries (
        id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, created REAL NOT NULL, model TEXT NOT NULL, stage TEXT NOT NULL,
        cause TEXT NOT NULL, reply BLOB NOT NULL)""",
    "CREATE TABLE abilities (endpoint TEXT, model TEXT, mode TEXT NOT NULL, learned REAL NOT NULL, PRIMARY KEY (endpoint, model))",
    # answers of systems, and seconds to the first token of calls that were streamed
    """CREATE TABLE answers (
        key TEXT PRIMARY KEY, run TEXT NOT NULL, created REAL NOT NULL, failed INTEGER NOT NULL, body BLOB NOT NULL)""",
    "CREATE INDEX answers_by_run ON answers (run)",
    "CREATE TABLE answer_runs (run TEXT PRIMARY KEY, created REAL NOT NULL, finished INTEGER NOT NULL)",
    "CREATE TABLE firsts (key TEXT PRIMARY KEY, seconds REAL NOT NULL)",
    ASKED,
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)
# What audits found: added later, so that a journal without it gets it
CHECKS = (
    """CREATE TABLE IF NOT EXISTS checks (
        key TEXT PRIMARY KEY, graph TEXT NOT NULL, state TEXT NOT NULL, created REAL NOT NULL, body BLOB NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS checks_by_graph ON checks (graph, state)",
)
# An answer from another journal: one that came is better than one that failed.
PUT_ANSWER = (
    "INSERT INTO answers VALUES (?,?,?,?,?) ON CONFLICT (key) DO UPDATE SET run = excluded.run, created = excluded.created, "
    "failed = excluded.failed, body = excluded.body WHERE answers.failed AND NOT excluded.failed"
)
_MOVE = "name another file with --journal"


def prepare(path: Path) -> None:
    """Makes the journal where there is none, with its folder, readable by its owner only; checks the one that is there.

    Raises: ConfigError for what is no journal, another version's journal, or a place that cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            _make(path)
        _usable(path)
        _check_log(path)
        with guarded(path):
            _check(path)
        _own(path)
    except OSError as cause:
        raise ConfigError(f"{path}: the journal cannot be opened: {cause.strerror}", fix=f"check its folder, or {_MOVE}") from cause


@contextmanager
def guarded(path: Path) -> Iterator[None]:
    """What SQLite complains about, as an error of kgeval's."""
    try:
        yield
    except sqlite3.Error as cause:
        raise unusable(path, cause) from cause


def unusable(path: Path, cause: sqlite3.Error) -> ConfigError:
    """The error that a complaint of SQLite's is. Of a damaged file: how what is in it can be saved."""
    name = getattr(cause, "sqlite_errorname", "")
    if name == "SQLITE_NOTADB" and not _begins_as_one(path):
        return ConfigError(f"{path}: is not a journal of kgeval", fix=_MOVE)
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return _damaged(path, str(cause))
    return ConfigError(f"{path}: the journal cannot be used: {cause}", fix=f"check the disk and the file, or {_MOVE}")


def _damaged(path: Path, why: str) -> ConfigError:
    old, new = shlex.quote(str(path)), shlex.quote(str(recovered_file(path)))
    return ConfigError(
        f"{path}: the journal is damaged: {why}",
        fix=f"kgeval cache recover --journal {old} saves the calls that can be read; then go on with --journal {new}",
    )


def recovered_file(path: Path) -> Path:
    """Where `kgeval cache recover` puts what it saves."""
    return path.with_name(f"{path.name}.recovered")


def _begins_as_one(path: Path) -> bool:
    """Whether a file that SQLite takes for no database has helper files of a journal beside it."""
    return path.with_name(f"{path.name}.lock").is_file()


def _make(path: Path) -> None:
    """An empty file of its owner's, put in place as a whole. The journal itself is never opened but by SQLite: closing a file
    drops all locks that this process has on it."""
    temporary = unused_name(path.parent, f".{path.name[:50]}.")
    try:
        os.close(open_new(temporary))
        # link and not rename: it never replaces a journal that another process has made meanwhile
        os.link(temporary, path)
    except FileExistsError:
        pass  # another process was quicker
    finally:
        temporary.unlink(missing_ok=True)


def _own(path: Path) -> None:
    """Takes others' rights away from what is known to be a journal; SQLite gives its helper files the same mode."""
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)


def _usable(path: Path) -> None:
    if not stat.S_ISREG(path.stat().st_mode):
        raise ConfigError(f"{path}: is no file", fix=_MOVE)
    if not os.access(path, os.R_OK | os.W_OK):
        raise ConfigError(f"{path}: the journal is read-only", fix=f"chmod u+rw {path.name}, or {_MOVE}")


def _check_log(path: Path) -> None:
    """Raises: ConfigError where the write-ahead log is none. SQLite would take it for empty without a word, and write over it."""
    log = path.with_name(path.name + "-wal")
    with suppress(FileNotFoundError), log.open("rb") as file:
        if (head := file.read(4)) and head not in LOG_MARKS:
            raise _damaged(path, f"{log.name}, which holds the newest calls, is not a write-ahead log of SQLite")


def _check(path: Path) -> None:
    connection = connect(path)
    try:
        connection.execute("BEGIN IMMEDIATE")  # one process makes the tables, the others wait and find them
        (application,), (version,) = (connection.execute(f"PRAGMA {word}").fetchone() for word in ("application_id", "user_version"))
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application == 0 and version == 0 and tables == 0:
            for statement in SCHEMA:
                connection.execute(statement)
        elif application != APPLICATION:
            raise ConfigError(f"{path}: is a database of something else, not a journal of kgeval", fix=_MOVE)
        elif version != VERSION:
            raise ConfigError(
                f"{path}: is a journal of form {version}, this kgeval reads form {VERSION}",
                fix=f"move the file away (its replies will be asked for again), use the kgeval that wrote it, or {_MOVE}",
            )
        for statement in (*CHECKS, ASKED):
            connection.execute(statement)
        connection.execute("COMMIT")
        # after the commit: SQLite does not change it inside a transaction
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()


def connect(path: Path) -> sqlite3.Connection:
    """A connection in autocommit mode. A commit reaches the operating system at once and the disk at the next checkpoint."""
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA cache_size = -512")
    return connection
