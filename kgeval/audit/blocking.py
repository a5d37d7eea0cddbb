"""Which names are compared with which: never all with all. Pure.

Names meet in blocks: a word, first initial + last word, an acronym, both halves of the spelling, the singular, an alias.
A block of more than `most` names is too common a key; it is split by what its entities share (neighbours, chunks).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any
from zlib import crc32

from kgeval.text.forms import LINKS, Form, acronym_keys
from kgeval.text.names import normalise


@dataclass
class Blocks:
    """Blocks small enough to compare, smallest first, and those too large (lists of entity numbers by key)."""

    small: list[list[int]] = field(default_factory=list)
    large: list[tuple[int, list[int]]] = field(default_factory=list)


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


def collect(forms: Iterator[tuple[Form, Sequence[str]]], *, most: int) -> Blocks:
    """The blocks of all names, in 12 bytes a key."""
    import numpy as np

    keys, owners = array("Q"), array("L")
    for number, (item, aliases) in enumerate(forms):
        for key in block_keys(item, aliases):
            text = key.encode("utf-8", "surrogatepass")
            keys.append(crc32(text) << 32 | crc32(text, 77))
            owners.append(number)
    if not keys:
        return Blocks()
    codes, numbers = np.array(keys, dtype=np.uint64), np.array(owners, dtype=np.int64)
    order = np.argsort(codes, kind="stable")
    codes, numbers = codes[order], numbers[order]
    starts = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])
    ends = np.r_[starts[1:], len(codes)]
    return _sorted_out(codes, numbers, [(int(s), int(e)) for s, e in zip(starts, ends, strict=True) if e - s > 1], most)


def _sorted_out(codes: Any, numbers: Any, runs: list[tuple[int, int]], most: int) -> Blocks:
    out = Blocks()
    for start, end in sorted(runs, key=lambda run: (run[1] - run[0], run[0])):
        block = sorted(set(numbers[start:end].tolist()))
        if len(block) > most:
            out.large.append((int(codes[start]), block))
        else:
            out.small.append(block)
    return out


def pairs(blocks: Sequence[Sequence[int]], fits: Callable[[int, int], bool], *, budget: int) -> Iterator[tuple[int, int]]:
    """Each pair of a block once over all blocks, where `fits`; ends after `budget` pairs have been looked at (see `affordable`)."""
    seen: set[tuple[int, int]] = set()
    left = budget
    for block in blocks:
        if left < len(block):
            return
        for pair in combinations(block, 2):
            left -= 1
            if fits(*pair) and pair not in seen:
                seen.add(pair)
                yield pair


def affordable(blocks: Sequence[Sequence[int]], *, budget: int) -> int:
    """How many of the blocks, in their order, `pairs` can look at within its budget."""
    left = budget
    for done, block in enumerate(blocks):
        if left < len(block):
            return done
        left -= len(block) * (len(block) - 1) // 2
    return len(blocks)


def split(large: Sequence[tuple[int, list[int]]], contexts: Callable[[int], Sequence[str]], *, most: int) -> list[list[int]]:
    """The large blocks, split by what their entities share; what is still too large is left out."""
    parts: dict[tuple[int, str], list[int]] = {}
    for key, block in large:
        for number in block:
            for context in contexts(number):
                parts.setdefault((key, context), []).append(number)
    return sorted((part for part in parts.values() if 1 < len(part) <= most), key=lambda part: (len(part), part))
