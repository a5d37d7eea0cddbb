"""Looking into a journal and clearing it, without a session: what `kgeval cache` shows."""

from __future__ import annotations

import json
import re
import sqlite3
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from kgeval.errors import InputError
from kgeval.llm.journal import unpack
from kgeval.llm.journal_file import connect, guarded, prepare

DAY = 86_400
SHORTEST_KEY = 4
_MOST_LISTED = 10
_COLUMNS = ("created", "endpoint", "model", "stage", "prompt", "request", "reply", "input_tokens", "output_tokens", "seconds")


@dataclass(frozen=True)
class StageCalls:
    """The finished calls of one stage at one model. `first`, `last`: seconds since 1970. `seconds`: sum of latencies."""

    endpoint: str
    model: str
    stage: str
    calls: int
    input_tokens: int
    output_tokens: int
    seconds: float
    first: float
    last: float


@dataclass(frozen=True)
class JournalSummary:
    """A journal as a whole. `failed_tries`: kept replies that could not be used, by cause. `answers`: of systems under test. `checks`: what
    checks and figures of audits came to. `bytes` with its helper files."""

    path: str
    bytes: int = 0
    calls: int = 0
    stages: tuple[StageCalls, ...] = ()
    failed_tries: dict[str, int] = field(default_factory=dict)
    answers: int = 0
    checks: int = 0


@dataclass(frozen=True)
class Try:
    """A reply that could not be used."""

    created: float
    cause: str
    reply: str


@dataclass(frozen=True)
class JournalCall:
    """One call with its texts. `reply` is None where every try failed; `request` is what the key is the hash of."""

    key: str
    created: float | None = None
    endpoint: str | None = None
    model: str | None = None
    stage: str | None = None
    prompt: str | None = None
    request: JsonValue = None
    reply: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    seconds: float | None = None
    failed_tries: tuple[Try, ...] = ()


@dataclass(frozen=True)
class CallFilter:
    """Which finished calls, answers of systems, and checks of audits: all, or those of a model, of a stage, older than so many days."""

    model: str | None = None
    stage: str | None = None
    older_than: float | None = None

    @property
    def everything(self) -> bool:
        return self.model is None and self.stage is None and self.older_than is None

    @property
    def tables(self) -> tuple[str, ...]:
        """Where the chosen rows stand."""
        return ("calls", "answers", "checks") if self.model is None and self.stage is None else ("calls",)

    def where(self) -> tuple[str, list[Any]]:
        """The condition in SQL, and its values."""
        before = None if self.older_than is None else time.time() - self.older_than * DAY
        conditions = (("model = ?", self.model), ("stage = ?", self.stage), ("created < ?", before))
        parts = [(text, value) for text, value in conditions if value is not None]
        return " AND ".join(text for text, _ in parts) or "1", [value for _, value in parts]


def summary(path: Path) -> JournalSummary:
    """What a journal holds; of one that does not exist, nothing. Raises: ConfigError for a file that is no journal."""
    if not path.exists():
        return JournalSummary(str(path))
    with _opened(path) as journal:
        stages = journal.execute(
            "SELECT endpoint, model, stage, count(*), sum(input_tokens), sum(output_tokens), sum(seconds), min(created), max(created) "
            "FROM calls GROUP BY endpoint, model, stage ORDER BY endpoint, model, stage",
        ).fetchall()
        tries = dict(journal.execute("SELECT cause, count(*) FROM tries GROUP BY cause ORDER BY cause").fetchall())
        answers, checks = journal.execute("SELECT (SELECT count(*) FROM answers), (SELECT count(*) FROM checks)").fetchone()
    stage_calls = tuple(StageCalls(*row) for row in stages)
    return JournalSummary(str(path), _size(path), sum(stage.calls for stage in stage_calls), stage_calls, tries, answers, checks)


def show(path: Path, key: str) -> JournalCall:
    """The call whose key begins with `key` (at least 4 hex digits), with request and reply in full.

    Raises: InputError if there is none, or several.
    """
    if not re.fullmatch(rf"[0-9a-f]{{{SHORTEST_KEY},64}}", key.lower()):
        raise InputError(f"{key!r} is no journal key", fix=f"a key is {SHORTEST_KEY} to 64 hex digits; results name them in `calls`")
    if not path.exists():
        raise InputError(f"{path}: no journal there", fix="name the journal of the run with --journal or --cache-dir")
    with _opened(path) as journal:
        full_key = _only(path, journal, key.lower())
        row = journal.execute(f"SELECT {', '.join(_COLUMNS)} FROM calls WHERE key = ?", (full_key,)).fetchone()  # noqa: S608 - fixed texts only
        tried = journal.execute("SELECT created, cause, reply, model, stage FROM tries WHERE key = ? ORDER BY id", (full_key,)).fetchall()
    tries = tuple(Try(created, cause, unpack(reply)) for created, cause, reply, _, _ in tried)
    if row is None:
        return JournalCall(full_key, model=tried[0][3], stage=tried[0][4], failed_tries=tries)
    values = dict(zip(_COLUMNS, row, strict=True))
    try:
        values |= {"request": json.loads(unpack(values["request"])), "reply": unpack(values["reply"])}
    except (zlib.error, ValueError) as cause:
        what = f"{path}: the row of {full_key} is damaged"
        raise InputError(what, fix="the next run that needs this call asks again and replaces it") from cause
    return JournalCall(full_key, **values, failed_tries=tries)


@dataclass(frozen=True)
class JournalRows:
    """How many finished calls, answers of systems, and checks of audits. As text: what is said of them."""

    calls: int = 0
    answers: int = 0
    checks: int = 0

    def __str__(self) -> str:
        kinds = ((self.answers, "answers of systems"), (self.checks, "checks of audits"))
        return ", ".join([f"{self.calls} calls", *(f"{number} {name}" for number, name in kinds if number)])


def count(path: Path, chosen: CallFilter) -> JournalRows:
    """What the choice covers: answers and checks where no model and no stage is chosen, for they have none."""
    if not path.exists():
        return JournalRows()
    where, values = chosen.where()
    with _opened(path) as journal:
        numbers = [
            journal.execute(f"SELECT count(*) FROM {table} WHERE {where}", values).fetchone()[0]  # noqa: S608 - fixed texts only
            for table in chosen.tables
        ]
    return JournalRows(*numbers)


def clear(path: Path, chosen: CallFilter) -> JournalRows:
    """Forgets what the choice covers; with everything also the kept failures and what was learned about endpoints.

    Safe while another process uses the journal: the file stays. How much there was.
    """
    if not path.exists():
        return JournalRows()
    where, values = chosen.where()
    with _opened(path) as journal:
        gone = [
            journal.execute(f"DELETE FROM {table} WHERE {where}", values).rowcount for table in chosen.tables  # noqa: S608 - fixed texts only
        ]
        if chosen.everything:
            for table in ("tries", "abilities", "answer_runs"):
                journal.execute(f"DELETE FROM {table}")  # noqa: S608 - fixed texts only
        journal.execute("DELETE FROM firsts WHERE key NOT IN (SELECT key FROM calls)")
        # deleted rows stay in the file's free pages until then
        journal.execute("VACUUM")
        journal.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # texts that were cleared are gone from the disk's files too
    return JournalRows(*gone)


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    prepare(path)
    with guarded(path), closing(connect(path)) as journal:
        yield journal


def _only(path: Path, journal: sqlite3.Connection, start: str) -> str:
    """The one key that begins so, in the calls or the failed tries."""
    keys = [row[0] for row in journal.execute(
        "SELECT key FROM calls WHERE key >= ? AND key < ? UNION SELECT key FROM tries WHERE key >= ? AND key < ? LIMIT ?",
        (start, f"{start}g", start, f"{start}g", _MOST_LISTED),
    )]
    if len(keys) == 1:
        return str(keys[0])
    if not keys:
        raise InputError(f"{path}: no call {start}", fix="results name their calls; `kgeval cache stats` names the journal in use")
    raise InputError(f"{path}: several calls begin with {start}", fix="give more digits", faults=[str(key) for key in keys])


def _size(path: Path) -> int:
    names = (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm"))
    return sum(name.stat().st_size for name in names if name.exists())
