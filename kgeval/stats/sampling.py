"""Drawing samples that can be drawn again: permanent random numbers, allocation to strata, dealing clusters into groups.

A unit's random number is a keyed hash of the unit's own name and the seed ("permanent random numbers", Ohlsson 1995). The
units with the smallest numbers are a simple random sample without replacement; a smaller sample with the same seed is part
of a larger one; and a unit that is still there after a rebuild has the same number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b


@dataclass(frozen=True)
class SampleDraw:
    """Units drawn from one stratum: their places in the list that was given, and how many there were."""

    chosen: tuple[int, ...]
    of: int


def random_number(seed: int, *name: str) -> int:
    """The permanent random number (64 bits) of a unit: the same for the same seed and name, whatever the order of units."""
    text = "".join(f"{len(part)}:{part}" for part in name)  # lengths, so that ("a", "bc") is not ("ab", "c")
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, key=b"kgeval %d" % seed).digest()
    return int.from_bytes(digest, "big")


def draw(numbers: Sequence[int], wanted: int) -> SampleDraw:
    """A simple random sample without replacement of `wanted` units (all, if there are fewer), by their random numbers."""
    order = sorted(range(len(numbers)), key=lambda at: (numbers[at], at))
    return SampleDraw(tuple(order[: max(wanted, 0)]), len(numbers))


def groups_needed(size: int, most: int) -> int:
    """Into how many groups of at most `most` a cluster of `size` is dealt: sizes differ by one at most."""
    return -(-size // most)


def deal(numbers: Sequence[int], groups: int) -> list[list[int]]:
    """The places of a cluster's items, dealt at random into groups of nearly equal size, in the order of their numbers."""
    order = sorted(range(len(numbers)), key=lambda at: (numbers[at], at))
    return [order[start::groups] for start in range(groups)]


def allocate(sizes: Mapping[str, int], wanted: int, *, least: int = 1) -> dict[str, int]:
    """How many units to draw from each stratum: in proportion, rounded, at least `least`, at most all of it.

    Each is rounded by itself, so that a larger sample never takes fewer units from any stratum than a smaller one.
    """
    total = sum(sizes.values())
    # Halves up, in whole numbers: round() would take them to the even number, and a float may miss them.
    return {name: min(size, max(least, (2 * wanted * size + total) // (2 * total))) for name, size in sizes.items() if size}


def large_strata(sizes: Mapping[str, int], *, share: float = 0.05) -> set[str]:
    """The strata that hold at least `share` (0..1) of all; the others are better drawn together."""
    total = sum(sizes.values())
    return {name for name, size in sizes.items() if size >= share * total}


def keys_of(columns: Iterable[str | None]) -> tuple[str, ...]:
    """Texts for `random_number`: None is another name than the empty text."""
    return tuple("\0" if value is None else value for value in columns)
