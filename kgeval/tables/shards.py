"""Shards: a run cut by question into parts that are done apart (in other processes, on other machines) and merged to the same result.

Pure functions: which shard a question belongs to, and whether some parts make up one whole run.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Generic, TypeVar

from kgeval.errors import UsageError
from kgeval.format import first_of

MOST = 100  # the merge reads two files of every part at once, and some systems allow 256 open files
WHOLE = "whole"  # among the arguments of a part's manifest: what the whole run is (rows, run), and notes of its session
SHOWN = 5
R = TypeVar("R")
K = TypeVar("K", bound=Hashable)
_FORM = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")


@dataclass(frozen=True)
class Shard:
    """One of `of` shards of a run; `number` is in 1..of."""

    number: int
    of: int

    def has(self, question_id: str) -> bool:
        """Whether the rows of this question belong here."""
        return shard_of(question_id, self.of) == self.number

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def shard_of(question_id: str, of: int) -> int:
    """The number, in 1..of, of the shard that a question belongs to: by a hash of its id (8 bytes of BLAKE2b), so it is the same on
    every machine, in every order of rows and files, and for every system."""
    digest = hashlib.blake2b(question_id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % of + 1


def parse_shard(text: str) -> Shard:
    """The shard that is written K/N. Raises: UsageError."""
    match = _FORM.fullmatch(text.strip())
    if match and 1 <= int(match[1]) <= int(match[2]) <= MOST:
        return Shard(int(match[1]), int(match[2]))
    raise UsageError(f"--shard {text[:40]}: is no shard", fix=f"write K/N with 1 <= K <= N <= {MOST:,}: --shard 2/8 is the second of eight")


def fingerprint_in(whole: str, shard: Shard) -> str:
    """The fingerprint of a shard of the run with this fingerprint: a part is never taken over as another one, or as the whole."""
    return hashlib.sha256(f"{whole} {shard}".encode()).hexdigest()


@dataclass(frozen=True)
class PartManifest:
    """What a part says of itself. `name`: how it is called in messages. `shard` None: it is no part. `rows`: digest of all rows of the
    whole run; `run`: fingerprint of the whole run; `signatures`: of what it measured with; `also`: further settings that all parts
    must share, by the names of their options."""

    name: str
    shard: Shard | None
    kgeval: str
    rows: str
    run: str
    signatures: tuple[str, ...] = ()
    also: tuple[tuple[str, str], ...] = ()


def part_faults(parts: Sequence[PartManifest], *, kgeval: str) -> list[str]:
    """Everything that keeps these parts from making up one run, in words; empty where they do. `kgeval`: the version that merges.

    Most parts of one kind decide what the others are measured by; the first of them where there are as many.
    """
    faults = [f"{part.name}: is a whole run, not a part (it was made without --shard)" for part in parts if part.shard is None]
    faults += [f"{p.name}: was made by kgeval {p.kgeval}, this is {kgeval}" for p in parts if p.kgeval != kgeval]
    sharded = [(part, part.shard) for part in parts if part.shard is not None]
    if not sharded:
        return faults
    faults += _numbers([shard for _, shard in sharded], [part.name for part, _ in sharded])
    for what, value in _COMMON:
        usual = _usual([value(part) for part, _ in sharded])
        faults += [f"{part.name}: {_other(what, value(part), usual)}" for part, _ in sharded if value(part) != usual]
    if not faults and len({part.run for part, _ in sharded}) > 1:
        faults.append("the parts are of several runs: they differ in levels or trials")
    return faults


def _numbers(shards: Sequence[Shard], names: Sequence[str]) -> list[str]:
    """Parts that are missing, or there twice, or of another number of shards."""
    of = _usual([shard.of for shard in shards])
    faults = [f"{name}: is shard {shard}, others are of {of}" for shard, name in zip(shards, names, strict=True) if shard.of != of]
    where: dict[int, list[str]] = {}
    for shard, name in zip(shards, names, strict=True):
        if shard.of == of:
            where.setdefault(shard.number, []).append(name)
    faults += [f"shard {number}/{of} is there {len(twice)} times: {', '.join(twice)}" for number, twice in where.items() if len(twice) > 1]
    missing = [f"{number}/{of}" for number in range(1, of + 1) if number not in where]
    if missing:
        faults.append(f"shards that are missing: {first_of(missing, SHOWN)}")
    return faults


def _other(what: str, value: Hashable, usual: Hashable) -> str:
    if what == "metrics" and isinstance(value, tuple) and isinstance(usual, tuple):
        names = sorted({str(item).partition("@")[0] for item in set(value) ^ set(usual)})
        return f"other metrics, models or settings than the other parts: {', '.join(names[:SHOWN])}{' ...' if len(names) > SHOWN else ''}"
    if what == "options" and isinstance(value, tuple) and isinstance(usual, tuple):
        return f"other options than the other parts: {', '.join(sorted({str(item[0]) for item in set(value) ^ set(usual)}))}"
    return "was made from other rows than the other parts (files, filters, or the order of the files)"


_COMMON: tuple[tuple[str, Callable[[PartManifest], Hashable]], ...] = (
    ("rows", lambda part: part.rows), ("metrics", lambda part: part.signatures), ("options", lambda part: part.also),
)


def _usual(values: Sequence[K]) -> K:
    return Counter(values).most_common(1)[0][0]


class Groups(Generic[R, K]):
    """Records of a part in their order, taken a group at a time: neighbours with one key are a group. One group is in memory."""

    def __init__(self, records: Iterator[R], key: Callable[[R], K]) -> None:
        self._groups = groupby(records, key=key)
        self._head: tuple[K, list[R]] | None = None
        self._next()

    @property
    def key(self) -> K | None:
        """The key of the next group; None at the end."""
        return None if self._head is None else self._head[0]

    def take(self, key: K) -> list[R]:
        """The next group if it has this key; else nothing."""
        if self._head is None or self._head[0] != key:
            return []
        group = self._head[1]
        self._next()
        return group

    def _next(self) -> None:
        group = next(self._groups, None)
        self._head = None if group is None else (group[0], list(group[1]))
