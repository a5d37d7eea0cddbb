"""Taking finished calls over from another journal: those of shards that were done on other machines, and those of a damaged one."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgeval.errors import ConfigError, InputError
from kgeval.llm.journal import Journal
from kgeval.llm.journal_file import PUT_ANSWER, connect, guarded, prepare


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
    """`calls`: finished calls that are whole and now in the other file, `answers`: of systems. `lost`: rows of calls that are there and
    cannot be read."""

    calls: int
    lost: int
    answers: int = 0


def recover(damaged: Path, into: Path) -> Recovered:
    """Writes the finished calls that a damaged journal still holds into a new one. The damaged file is only read.

    A row's key is the hash of its request, and its reply carries a checksum, so that no call comes back as another one.
    Raises: InputError where there is nothing to recover, or `into` is there already; ConfigError where it cannot be written.
    """
    if not damaged.is_file():
        raise InputError(f"{damaged}: no journal there", fix="name the journal with --journal or --cache-dir")
    if into.exists():
        raise InputError(f"{into}: is there already", fix="name another file with -o")
    prepare(into)
    recovered = _copied(damaged, into)
    if not recovered.calls and not recovered.answers:
        # the first page holds the schema: with that of a new journal, the others may still be found
        with tempfile.TemporaryDirectory(prefix="kgeval-recover-", dir=into.parent) as folder, suppress(OSError):
            recovered = _copied(_with_new_head(damaged, Path(folder)), into)
    if not recovered.calls and not recovered.answers:
        for helper in ("", "-wal", "-shm"):
            into.with_name(into.name + helper).unlink(missing_ok=True)
        what = f"{damaged}: no finished call in it can be read"
        raise InputError(what, fix="bring the file back from a backup, or move it away: its replies will be asked for again")
    return recovered


def _copied(damaged: Path, into: Path) -> Recovered:
    """Puts the rows of finished calls that are whole into the new journal."""
    seen: set[int] = set()
    calls = 0
    with guarded(into), closing(connect(into)) as journal:
        journal.execute("BEGIN")
        for row in _rows(damaged, seen):
            calls += journal.execute(f"INSERT OR IGNORE INTO calls VALUES ({', '.join('?' * 12)})", row).rowcount  # noqa: S608
        journal.executemany(PUT_ANSWER, _answers(damaged))
        (answers,) = journal.execute("SELECT count(*) FROM answers").fetchone()
        journal.execute("COMMIT")
    return Recovered(calls, len(seen) - calls, answers)


def _rows(damaged: Path, seen: set[int]) -> Iterator[tuple[Any, ...]]:
    """The whole rows; `seen` gets the numbers of all that are there."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"{damaged.resolve().as_uri()}?mode=ro", uri=True)) as journal:
        journal.text_factory = lambda raw: raw.decode("utf-8", "replace")
        seen |= set(_numbers(journal))
        for number in sorted(seen):
            row = None
            with suppress(sqlite3.Error):
                row = journal.execute("SELECT * FROM calls WHERE rowid = ?", (number,)).fetchone()
            if row is not None and _whole(row):
                yield row


def _answers(damaged: Path) -> Iterator[tuple[Any, ...]]:
    """The answers of systems that can be read, up to where the file is damaged: each is whole, as its checksum says."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"{damaged.resolve().as_uri()}?mode=ro", uri=True)) as journal:
        for row in journal.execute("SELECT key, run, created, failed, body FROM answers"):
            with suppress(zlib.error, TypeError):
                zlib.decompress(row[4])
                yield row


def _numbers(journal: sqlite3.Connection) -> Iterator[int]:
    """The row numbers of all calls: by the table and by each index, from both ends, up to where it is damaged."""
    indexes = {"NOT INDEXED": "rowid", "INDEXED BY calls_by_stage": "endpoint", "INDEXED BY sqlite_autoindex_calls_1": "key"}
    for index, order in indexes.items():
        for way in ("ASC", "DESC"):
            with suppress(sqlite3.Error):
                rows = journal.execute(f"SELECT rowid FROM calls {index} ORDER BY {order} {way}")  # noqa: S608 - fixed texts only
                yield from (number for (number,) in rows)


def _whole(row: tuple[Any, ...]) -> bool:
    """Whether a row is what was written: its key is the hash of its request, its reply can be unpacked."""
    try:
        request, _ = zlib.decompress(row[6]), zlib.decompress(row[7])
    except (zlib.error, TypeError):
        return False
    kinds = (str, float, str, str, str, str, bytes, bytes, int, int, int, float)
    return all(isinstance(value, kind) for value, kind in zip(row, kinds, strict=True)) and hashlib.sha256(request).hexdigest() == row[0]


def _with_new_head(damaged: Path, folder: Path) -> Path:
    """A copy whose first page is that of a new journal: the tables of all journals begin on the same pages."""
    copy, new = folder / "copy.sqlite", folder / "new.sqlite"
    Journal(new).close()
    with new.open("rb") as file:
        head = bytearray(file.read(100))
        size = int.from_bytes(head[16:18], "big")
        page = head + file.read(size - 100)
    shutil.copyfile(damaged, copy)
    page[28:32] = (copy.stat().st_size // size).to_bytes(4, "big")
    with copy.open("r+b") as file:
        file.write(page)
    return copy
