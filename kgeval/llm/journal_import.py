"""Taking finished calls over from another journal: those of shards that were done on other machines."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from kgeval.errors import ConfigError, InputError
from kgeval.llm.journal_file import connect, prepare


def import_calls(into: Path, other: Path) -> int:
    """Copies the finished calls that `into` lacks. Returns how many. Both may be in use.

    Raises: InputError where `other` is not there, ConfigError for what is no journal, and where it cannot be written.
    """
    if not other.is_file():
        raise InputError(f"{other}: no journal there", fix="name the journal that the part was made with")
    prepare(other)
    prepare(into)
    try:
        with closing(connect(into)) as journal:
            journal.execute("ATTACH DATABASE ? AS other", (str(other),))
            found = journal.execute("INSERT OR IGNORE INTO main.calls SELECT * FROM other.calls").rowcount
            journal.execute("INSERT OR IGNORE INTO main.abilities SELECT * FROM other.abilities")
            return found
    except sqlite3.Error as cause:
        raise ConfigError(f"{into}: the calls of {other} cannot be taken over: {cause}", fix="check the disk and both files") from cause
