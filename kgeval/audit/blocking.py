"""Which names are compared with which: never all with all. Pure.

Names meet in blocks: a word, first initial + last word, an acronym, both halves of the spelling, the singular, an alias.
A block of more than `most` names is too common a key; it is split by what its entities share (neighbours, chunks).
"""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import combinations
from typing import IO, TYPE_CHECKING, Any
from zlib import crc32

from kgeval.text.forms import LINKS, Form, acronym_keys
from kgeval.text.names import normalise

if TYPE_CHECKING:
    import numpy as np

    Columns = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]

BUCKETS = 16
FLUSH = 50_000


@dataclass(frozen=True)
class Block:
    """Entities (numbers, ascending) that share a key."""

    key: int
    members: Sequence[int]


class Blocks:
    """The keys that several names share, in flat arrays: of two names or more, block by block, in the order of the keys."""

    def __init__(self, keys: np.ndarray[Any, Any], sizes: np.ndarray[Any, Any], members: np.ndarray[Any, Any], *, most: int) -> None:
        import numpy as np

        self._keys, self._members = keys, members
        self._starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)))
        order = np.lexsort((keys, sizes))
        few = sizes[order] <= most
        self._small, self._large = order[few], order[~few]
        self.small_sizes: list[int] = sizes[self._small].tolist()

    def small(self) -> Iterator[Sequence[int]]:
        """The blocks small enough to compare, smallest first."""
        return (self._of(int(at)) for at in self._small)

    def large(self) -> Iterator[Block]:
        """Those too large."""
        return (Block(int(self._keys[at]), self._of(int(at))) for at in self._large)

    def crowd(self, most: int) -> list[int]:
        """The first `most` of the entities that are in a block too large."""
        import numpy as np

        parts = [self._members[self._starts[at] : self._starts[at + 1]] for at in self._large]
        crowd: list[int] = np.unique(np.concatenate(parts))[:most].tolist() if parts else []
        return crowd

    def _of(self, at: int) -> list[int]:
        members: list[int] = self._members[self._starts[at] : self._starts[at + 1]].tolist()
        return members


def block_keys(item: Form, aliases: Sequence[str]) -> Iterator[str]:
    """The keys under which a name may meet other forms of itself."""
    yield from (f"t:{token}" for token in set(item.core) if token not in LINKS and len(token) > 1)
    if len(item.core) > 1:
        yield f"i:{item.core[0][0]}{item.core[-1]}"
    yield from (f"a:{key}" for key in ([item.letters] if item.letters else acronym_keys(item)))
    yield from _spelling_keys(item.compact)
    yield f"n:{item.norm}"
    yield from (f"n:{alias}" for alias in {normalise(a[:300]) for a in aliases[:50]} if alias and alias != item.norm)


def _spelling_keys(text: str) -> Iterator[str]:
    yield from (f"c:{key}" for key in {text, text.removesuffix("s"), text.removesuffix("es"), text.removesuffix("ies") + "y"})
    if len(text) < 6:
        return
    for half in {len(text) // 2, (len(text) - 1) // 2}:
        yield f"p:{half}:{text[:half]}"
        yield f"s:{half}:{text[-half:]}"


def collect(forms: Iterable[tuple[Form, Sequence[str]]], *, most: int) -> Blocks:
    """The blocks of all names. A dozen keys a name wait in files without names, 12 bytes each, and are sorted part by part."""
    import numpy as np

    with ExitStack() as stack:
        buckets = [_Bucket(stack.enter_context(tempfile.TemporaryFile())) for _ in range(BUCKETS)]
        for number, (item, aliases) in enumerate(forms):
            for key in block_keys(item, aliases):
                text = key.encode("utf-8", "surrogatepass")
                code = crc32(text) << 32 | crc32(text, 77)
                buckets[code >> 60].add(code, number)
        found = [bucket.blocks() for bucket in buckets]
    keys, sizes, members = (np.concatenate(column) for column in zip(*found, strict=True))
    return Blocks(keys, sizes, members, most=most)


class _Bucket:
    """Keys that begin alike, with their owners, in a file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._keys, self._owners = array("Q"), array("I")

    def add(self, key: int, owner: int) -> None:
        """Takes one key in."""
        self._keys.append(key)
        self._owners.append(owner)
        if len(self._keys) >= FLUSH:
            self._flush()

    def _flush(self) -> None:
        import numpy as np

        table = np.empty(len(self._keys), dtype=[("key", "u8"), ("owner", "u4")])
        table["key"], table["owner"] = np.array(self._keys, dtype="u8"), np.array(self._owners, dtype="u4")
        self._file.write(table.tobytes())
        self._keys, self._owners = array("Q"), array("I")

    def blocks(self) -> Columns:
        """As `_shared`, of what was taken in."""
        import numpy as np

        self._flush()
        self._file.seek(0)
        table = np.frombuffer(self._file.read(), dtype=[("key", "u8"), ("owner", "u4")])
        return _shared(table["key"], table["owner"])


def _shared(keys: np.ndarray[Any, Any], owners: np.ndarray[Any, Any]) -> Columns:
    """Keys that two or more owners have, ascending; how many each; and these owners, one key after the other."""
    import numpy as np

    order = np.lexsort((owners, keys))
    keys, owners = keys[order], owners[order]
    new = np.ones(len(keys), dtype=bool)
    new[1:] = (keys[1:] != keys[:-1]) | (owners[1:] != owners[:-1])  # a name may reach a key twice
    keys, owners = keys[new], owners[new]
    known, sizes = np.unique(keys, return_counts=True)
    several = sizes > 1
    return known[several], sizes[several].astype(np.int32), owners[np.repeat(several, sizes)].astype(np.int32)


def pairs(blocks: Iterable[Sequence[int]], fits: Callable[[int, int], bool], *, budget: int) -> Iterator[tuple[int, int]]:
    """Each pair of a block once over all blocks, where `fits`; ends after `budget` pairs have been looked at (see `affordable`)."""
    seen: set[int] = set()
    left = budget
    for block in blocks:
        if left < len(block):
            return
        for a, b in combinations(block, 2):
            left -= 1
            if fits(a, b) and (a << 32 | b) not in seen:
                seen.add(a << 32 | b)
                yield a, b


def affordable(sizes: Iterable[int], *, budget: int) -> int:
    """How many of the blocks of these sizes, in their order, `pairs` can look at within its budget."""
    left = budget
    done = 0
    for size in sizes:
        if left < size:
            return done
        left -= size * (size - 1) // 2
        done += 1
    return done


def split(large: Iterable[Block], marks: Callable[[int], Iterable[int]], crowd: Iterable[int], *, most: int) -> list[list[int]]:
    """The large blocks, split by what their entities share, as far as they are of the `crowd`; what is still too large is left out.

    `marks`: what an entity is joined to, as numbers below 2^32.
    """
    import numpy as np

    known = set(crowd)
    keys, owners = array("Q"), array("I")
    for at, block in enumerate(large):
        for number in block.members:
            if number in known:
                for mark in marks(number):
                    keys.append(at << 32 | mark)
                    owners.append(number)
    _, sizes, members = _shared(np.array(keys, dtype=np.uint64), np.array(owners, dtype=np.uint32))
    ends = np.cumsum(sizes, dtype=np.int64).tolist()
    parts = [members[end - size : end].tolist() for size, end in zip(sizes.tolist(), ends, strict=True) if size <= most]
    return sorted(parts, key=lambda part: (len(part), part))
