"""Which names are compared with which: never all with all. Pure.

Names meet in blocks: a word, first initial + last word, an acronym, both halves of the spelling, the singular, an alias.
A block of more than `most` names is too common a key; it is split by what its entities share (neighbours, chunks).
"""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import combinations
from typing import IO, TYPE_CHECKING, Any, TypeVar
from zlib import crc32

from kgeval.auditing.malloc import trim_heap
from kgeval.names.compare import in_latin, is_latin, spelling_key
from kgeval.names.forms import LINKS, NameForm, acronym_keys, spelling_keys
from kgeval.text.names import normalise

if TYPE_CHECKING:
    import numpy as np

    Integers = np.ndarray[Any, Any]

How = TypeVar("How")  # what joins two names
BUCKETS = 64  # a power of 2; sorting one at a time takes little memory
FLUSH = 1 << 18  # keys, 3 MB
KEYS = [("key", "u8"), ("owner", "u4")]


class Blocks:
    """The names that share a key, in flat arrays of 4 bytes a number: of two names or more, block by block. `most`: names in a block that
    is small enough to compare; of larger ones only the `crowd` is kept, the first so many of the entities that are in any of them."""

    def __init__(self, *, most: int, crowd: int) -> None:
        import numpy as np

        self._most, self._crowd = most, crowd
        self._sizes, self._members = array("I"), array("I")
        self._in_large = np.zeros(0, dtype=bool)  # by entity
        self._large: list[Integers] = []

    def add(self, sizes: Integers, members: Integers) -> None:
        """Takes blocks in: `sizes[i]` members of block i, one block after the other."""
        import numpy as np

        few = sizes <= self._most
        self._sizes.frombytes(sizes[few].astype(np.uint32).tobytes())
        self._members.frombytes(members[np.repeat(few, sizes)].astype(np.uint32).tobytes())
        ends = np.cumsum(sizes, dtype=np.int64)
        for index in np.flatnonzero(~few):
            self._add_large(members[ends[index] - sizes[index] : ends[index]].copy())
        last = max(self.crowd(), default=-1)  # only comes down as more blocks come
        self._large = [block[block <= last] for block in self._large]

    def _add_large(self, block: Integers) -> None:
        import numpy as np

        if (beyond := int(block[-1]) + 1 - len(self._in_large)) > 0:
            self._in_large = np.concatenate((self._in_large, np.zeros(beyond, dtype=bool)))
        self._in_large[block] = True
        self._large.append(block)

    @property
    def small_sizes(self) -> Integers:
        """How many names are in each block that is small enough, smallest first."""
        import numpy as np

        return np.sort(np.frombuffer(self._sizes, dtype=np.uint32))

    def small(self) -> Iterator[Sequence[int]]:
        """The blocks small enough to compare, smallest first."""
        import numpy as np

        sizes, members = np.frombuffer(self._sizes, dtype=np.uint32), np.frombuffer(self._members, dtype=np.uint32)
        ends = np.cumsum(sizes, dtype=np.int64)
        for index in np.argsort(sizes, kind="stable"):
            yield members[ends[index] - sizes[index] : ends[index]].tolist()

    def large(self) -> Iterator[Sequence[int]]:
        """Of those too large, the members that are in the crowd."""
        return (block.tolist() for block in self._large)

    def crowd(self) -> list[int]:
        """The first of the entities that are in a block too large."""
        import numpy as np

        crowd: list[int] = np.flatnonzero(self._in_large)[: self._crowd].tolist()
        return crowd


def block_keys(item: NameForm, aliases: Sequence[str]) -> Iterator[str]:
    """The keys under which a name may meet other forms of itself."""
    yield from (f"t:{token}" for token in set(item.core) if token not in LINKS and len(token) > 1)
    if not is_latin(item.identity):
        yield from (f"t:{word}" for word in in_latin(item.identity).split() if len(word) > 1)
    if len(item.core) > 1:
        yield f"i:{item.core[0][0]}{item.core[-1]}"
    yield from (f"a:{key}" for key in ([item.letters] if item.letters else acronym_keys(item)))
    yield from spelling_keys(item.compact)
    if (spelled := spelling_key(item.core)) != item.compact:
        yield f"c:{spelled}"
    yield f"n:{item.norm}"
    yield from (f"n:{alias}" for alias in {normalise(a[:300]) for a in aliases[:50]} if alias and alias != item.norm)


def collect(forms: Iterable[tuple[NameForm, Sequence[str]]], *, most: int, crowd: int) -> Blocks:
    """The blocks of all names, in the order of the keys' codes. A dozen keys a name wait in files without
    names, 12 bytes each, and are sorted part by part."""
    blocks = Blocks(most=most, crowd=crowd)
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(BUCKETS)]
        codes, owners = array("Q"), array("I")
        for number, (item, aliases) in enumerate(forms):
            for key in block_keys(item, aliases):
                text = key.encode("utf-8", "surrogatepass")
                # 64 bits of two checksums: faster than a hash, and two keys of one code cost a comparison of names, no more
                codes.append(crc32(text) << 32 | crc32(text[::-1]))
                owners.append(number)
            if len(codes) >= FLUSH:
                _file(files, codes, owners)
                codes, owners = array("Q"), array("I")
        _file(files, codes, owners)
        for file in files:
            blocks.add(*_blocks(file))
    trim_heap()
    return blocks


def _file(files: Sequence[IO[bytes]], codes: array[int], owners: array[int]) -> None:
    """Puts keys with their owners into the files: those that begin alike into one."""
    import numpy as np

    table = np.empty(len(codes), dtype=KEYS)
    table["key"], table["owner"] = np.frombuffer(codes, dtype="u8"), np.frombuffer(owners, dtype="u4")
    bucket = (table["key"] >> np.uint64(58)).astype(np.int64)  # the upper six bits: 64 files
    table = table[np.argsort(bucket, kind="stable")]
    ends = np.cumsum(np.bincount(bucket, minlength=BUCKETS))
    for file, start, end in zip(files, (0, *ends), ends, strict=False):
        file.write(table[start:end].tobytes())


def _blocks(file: IO[bytes]) -> tuple[Integers, Integers]:
    """Of the keys that two or more names have: how many names each has, and these names, one key after the other."""
    import numpy as np

    file.seek(0)
    table = np.frombuffer(file.read(), dtype=KEYS)
    order = np.lexsort((table["owner"], table["key"]))
    keys, owners = table["key"][order], table["owner"][order]
    new = np.ones(len(keys), dtype=bool)
    new[1:] = (keys[1:] != keys[:-1]) | (owners[1:] != owners[:-1])  # a name may reach a key twice
    keys, owners = keys[new], owners[new]
    sizes = np.unique(keys, return_counts=True)[1]
    several = sizes > 1
    return sizes[several].astype(np.int32), owners[np.repeat(several, sizes)].astype(np.int32)


def pairs(
    blocks: Iterable[Sequence[int]], joined: Callable[[int, int], How | None], *, budget: int,
) -> Iterator[tuple[int, int, How]]:
    """Each pair of a block that is `joined`, once over all blocks, and by what; ends after `budget` pairs (see `affordable`)."""
    seen: set[int] = set()
    left = budget
    for block in blocks:
        if left < len(block):
            return
        for a, b in combinations(block, 2):
            left -= 1
            if (a << 32 | b) not in seen and (how := joined(a, b)):
                seen.add(a << 32 | b)
                yield a, b, how


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


def split(large: Iterable[Sequence[int]], marks: Callable[[int], Iterable[int]], *, most: int) -> list[tuple[int, ...]]:
    """The large blocks, split by what their entities share; what is still too large is left out.

    `marks`: what an entity is joined to, as numbers, each once.
    """
    parts: set[tuple[int, ...]] = set()
    for block in large:
        joined: dict[int, list[int]] = {}
        for number in block:
            for mark in marks(number):
                joined.setdefault(mark, []).append(number)
        parts.update(tuple(part) for part in joined.values() if 1 < len(part) <= most)  # what shares much is one group all the same
    return sorted(parts, key=lambda part: (len(part), part))
