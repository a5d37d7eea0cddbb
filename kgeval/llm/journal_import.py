"""Taking finished calls over from another journal: those of shards that were done on other machines, and those of a damaged one."""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgeval.errors import ConfigError, InputError
from kgeval.limits import TooLargeError, inflate_bytes
from kgeval.llm.journal_file import PUT_ANSWER, connect, guarded, prepare
from kgeval.llm.journal_scan import FoundRow, JournalBytes


def import_calls(into: Path, other: Path) -> int:
    """Copies the finished calls and the answers of systems that `into` lacks. Returns how many calls. Both may be in use.

    Raises: InputError where `other` is not there, ConfigError for what is no journal, and where it cannot be written.
    """
    if not other.is_file():
        raise InputError(f"{other}: no journal there", fix="name the journal that the part was made with")
    prepare(other)
    prepare(into)
    try:
        with closing(connect(into)) as journal:
            journal.execute("ATTACH DATABASE ? AS other", (str(other),))
            calls = journal.execute("INSERT OR IGNORE INTO main.calls SELECT * FROM other.calls").rowcount
            journal.execute("INSERT OR IGNORE INTO main.firsts SELECT * FROM other.firsts")
            journal.execute("INSERT OR IGNORE INTO main.abilities SELECT * FROM other.abilities")
            answers = journal.execute("SELECT key, run, created, failed, body FROM other.answers").fetchall
            journal.executemany(PUT_ANSWER, iter(answers()))
            journal.execute("INSERT OR IGNORE INTO main.answer_runs SELECT * FROM other.answer_runs")
            return calls
    except sqlite3.Error as cause:
        raise ConfigError(f"{into}: the calls of {other} cannot be taken over: {cause}", fix="check the disk and both files") from cause


@dataclass(frozen=True)
class Recovered:
    """`calls`: finished calls that are whole and now in the other file, `answers`: of systems. `lost`: calls and
    answers that something in the file names and that cannot be read."""

    calls: int
    lost: int
    answers: int = 0


def recover(damaged: Path, into: Path) -> Recovered:
    """Writes the finished calls and the answers that a damaged journal still holds into a new one: all whose own
    bytes are whole, whatever else of the file is not. The damaged file is only read.

    A row's key is the hash of its request, and its reply carries a checksum: no call comes back as another one.
    Raises: InputError where there is nothing to recover, or `into` is there already; ConfigError where it cannot be written.
    """
    if not damaged.is_file():
        raise InputError(f"{damaged}: no journal there", fix="name the journal with --journal or --cache-dir")
    if into.exists():
        raise InputError(f"{into}: is there already", fix="name another file with -o")
    prepare(into)
    try:
        with JournalBytes(damaged) as found:
            recovered = _copied(found, into)
    except OSError as cause:
        why = f"{damaged}: cannot be read: {cause.strerror}"
        raise InputError(why, fix="check the disk, and the rights of the file") from cause
    if not recovered.calls and not recovered.answers:
        for helper in ("", "-wal", "-shm"):
            into.with_name(into.name + helper).unlink(missing_ok=True)
        what = f"{damaged}: no finished call in it can be read"
        raise InputError(what, fix="bring the file back from a backup, or move it away: its replies will be asked for again")
    return recovered


def _copied(found: JournalBytes, into: Path) -> Recovered:
    """Puts the rows that are whole into the new journal."""
    keys = set[bytes]()  # of all rows that are there, whole or not
    with guarded(into), closing(connect(into)) as journal:
        journal.execute("BEGIN")
        # first what the pages name: the file also holds what rows were before they were replaced
        for live in (True, False):
            for readings in found.rows():
                if readings[0].live is live:
                    keys |= {bytes.fromhex(str(row.values[0])) for row in readings[:1]}
                    _insert_first_whole(journal, readings)
        journal.execute("DELETE FROM firsts WHERE key NOT IN (SELECT key FROM calls)")
        saved = [row[0] for row in journal.execute("SELECT key FROM calls UNION SELECT key FROM answers")]
        sql = "SELECT (SELECT count(*) FROM calls), (SELECT count(*) FROM answers)"
        calls, answers = journal.execute(sql).fetchone()
        journal.execute("COMMIT")
    return Recovered(calls, len(keys.difference(map(bytes.fromhex, saved))), answers)


def _insert_first_whole(journal: sqlite3.Connection, readings: Iterable[FoundRow]) -> None:
    """Puts the first reading of a row that is whole into its table, unless it is there already."""
    for row in readings:
        if row.table != "index" and _WHOLE[row.table](row.values):
            values = ", ".join("?" * len(row.values))
            sql = f"INSERT OR IGNORE INTO {row.table} VALUES ({values})"  # noqa: S608 - fixed texts only
            journal.execute(sql, row.values)
            return


def _whole_call(values: Sequence[Any]) -> bool:
    """Whether a call is what was written: its key is the hash of its request, its reply can be unpacked."""
    request = _unpacked(values[6])
    if request is None or hashlib.sha256(request).hexdigest() != values[0]:
        return False
    return _unpacked(values[7]) is not None


def _unpacked(packed: bytes) -> bytes | None:
    with suppress(zlib.error, TooLargeError):  # it carries a checksum
        return inflate_bytes(packed, "a call")
    return None


_WHOLE: Mapping[str, Callable[[Sequence[Any]], bool]] = {
    "calls": _whole_call,
    "answers": lambda values: _unpacked(values[4]) is not None,
    "firsts": lambda values: True,
}
