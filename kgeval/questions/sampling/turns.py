"""Who is drawn next. Seeds (numbers of whatever a draw starts from) are taken from each stratum in turn; one that gave
nothing gives its turn back to its stratum. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PATIENCE = 30  # draws without anything new in a row: rare structures of a small graph come late


@dataclass(frozen=True)
class Seed:
    """What one draw starts from: its number, and the stratum that it was taken for (None: not stratified)."""

    at: int
    stratum: str | None


class Lane:
    """The seeds of one stratum in a seeded order. `again`: they may give several structures, so they are gone through
    again, in another order, until a whole round, and PATIENCE draws, have given nothing new."""

    def __init__(self, items: NDArray[np.int64], rng: np.random.Generator, *, again: bool = False) -> None:
        self._items, self._rng, self._again = items, rng, again
        self._next = self._open = self._found = self._dry = 0
        self.taken = 0

    def take(self) -> int | None:
        """The next seed; None if there is none, or none yet (`waits`)."""
        if self._next == len(self._items) and not self._start_again():
            return None
        self._next += 1
        self._open += 1
        self.taken += 1
        return int(self._items[self._next - 1])

    @property
    def waits(self) -> bool:
        """Whether what is under way decides if there are more."""
        return self._again and self._open > 0

    def _start_again(self) -> bool:
        if not self._again or self._open or not len(self._items) or not (self._found or self._dry < PATIENCE):
            return False
        self._items = self._rng.permutation(self._items)
        self._next = self._found = 0
        return True

    def came_back(self, *, found: bool) -> None:
        """What became of one seed that was taken."""
        self._open -= 1
        self._found += found
        self._dry = 0 if found else self._dry + 1
        self.taken -= not found


class Turns:
    """Seeds of several strata in turn."""

    def __init__(self, lanes: Mapping[str | None, Lane]) -> None:
        self._lanes = dict(lanes)

    def take(self, most: int) -> list[Seed]:
        """At most so many seeds, always of the stratum that has had fewest; fewer where that one waits for what is
        under way. None: there are no more."""
        ready, out = dict(self._lanes), list[Seed]()
        while ready and len(out) < most:
            stratum = min(ready, key=lambda name: ready[name].taken)
            number = ready[stratum].take()
            if number is not None:
                out.append(Seed(number, stratum))
            elif ready[stratum].waits:
                break
            else:
                del ready[stratum]
        return out

    def came_back(self, seeds: Iterable[tuple[Seed, bool]]) -> None:
        """What became of seeds: whether each gave a structure."""
        for seed, found in seeds:
            self._lanes[seed.stratum].came_back(found=found)
