"""Which rows a run is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from kgeval.tables.shards import Shard


@dataclass(frozen=True)
class Filters:
    """`limit`, `sample`: how many questions (of those that the rest leaves); the others: values of which a row has one."""

    limit: int | None = None
    sample: int | None = None
    seed: int = 0
    ids: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    hops: tuple[int, ...] = ()

    @property
    def any(self) -> bool:
        """Whether anything is left out at all."""
        return any(getattr(self, entry.name) not in (None, ()) for entry in fields(self) if entry.name != "seed")


@dataclass(frozen=True)
class RowSelection:
    """Which rows. `answers`: files, `-` is standard input. `maps`: kgeval's field -> the file's. `system`: name of the system of rows
    that do not tell (else the file's stem). `allow_missing`: answers whose question the questions' file lacks are left out.
    `allow_duplicates`: of several questions with one id, and of several answers of a system to one, the first counts. `shard`: only the
    rows of this shard, after the filters; all are read and checked. `max_bad_rows`: the share of rows with faults that are left out; where
    there are more, all of them are refused. `names`: of files that hold one system's answers, its name, whatever their rows tell."""

    answers: tuple[Path, ...]
    questions: Path | None = None
    maps: Mapping[str, str] = field(default_factory=dict)
    filters: Filters = field(default_factory=Filters)
    allow_missing: bool = False
    allow_duplicates: bool = False
    system: str | None = None
    shard: Shard | None = None
    max_bad_rows: float = 0.0
    names: Mapping[Path, str] = field(default_factory=dict)
