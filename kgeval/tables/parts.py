"""What the parts of a run that was done in shards have in common, whatever they are parts of: scores or verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from kgeval.errors import InputError, UsageError
from kgeval.records import RunManifest
from kgeval.tables.shards import WHOLE, PartManifest, Shard, parse_shard, part_faults

FIX = "give every part of one run once: the same command, kgeval and files, with --shard 1/N ... N/N"


class Holds(Protocol):
    """Something that has a part."""

    @property
    def part(self) -> PartManifest:
        """What it says of itself."""


P = TypeVar("P", bound=Holds)


def whole_in(run: RunManifest) -> dict[str, Any]:
    """What a part's manifest says of the whole run; empty where it says nothing."""
    whole = run.arguments.get(WHOLE)
    return whole if isinstance(whole, dict) else {}


def notes_in(run: RunManifest) -> tuple[str, ...]:
    """What the session of a part had to say."""
    notes = whole_in(run).get("notes")
    return tuple(str(note) for note in notes) if isinstance(notes, list) else ()


def shard_in(run: RunManifest) -> Shard | None:
    """Which shard a run was; None: a whole one."""
    text = run.arguments.get("shard")
    try:
        return parse_shard(text) if isinstance(text, str) else None
    except UsageError:
        return None


def gathered(paths: Iterable[Path], make: Callable[[Path], P], *, kgeval: str, more: Callable[[P], str | None] = lambda _: None) -> list[P]:
    """The parts in the order of their shards, checked against each other. `kgeval`: the version that joins; `more`: a further fault.

    Raises: InputError with every fault of every part: unreadable, whole, doubled, missing, of another run or version.
    """
    parts, faults = [], []
    for path in dict.fromkeys(paths):
        try:
            parts.append(make(path))
        except InputError as cause:
            faults.append(cause.message)
    faults += part_faults([part.part for part in parts], kgeval=kgeval)
    faults += [fault for part in parts if (fault := more(part)) is not None]
    if faults:
        raise InputError("these parts make up no run; nothing was written", fix=FIX, faults=faults)
    return sorted(parts, key=lambda part: part.part.shard.number if part.part.shard else 0)
