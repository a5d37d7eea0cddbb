"""Which number stands for which id: 16 bytes an id, whatever its length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    Ints = np.ndarray[Any, np.dtype[np.int64]]


def keys(column: pa.Array) -> Ints:
    """A 64-bit key of each text (0 for None): Python's own keyed hash, new in each process, so that nobody can prepare two ids
    with one key. By chance two of n ids share one with probability n^2 / 2^65: 3e-8 for a million, 3e-4 for a hundred million."""
    import numpy as np

    return np.fromiter(map(hash, column.to_numpy(zero_copy_only=False)), np.int64, len(column))


class IdNumbers:
    """Numbers by key. New ones are gathered in sorted runs, which are joined when there are many."""

    def __init__(self) -> None:
        self._runs: list[tuple[Ints, Ints]] = []
        self.size = 0

    def find(self, wanted: Ints) -> Ints:
        """The number of each key, -1 where it is not known."""
        import numpy as np

        numbers_found = np.full(len(wanted), -1, np.int64)
        order = np.argsort(wanted)  # sorted questions walk through the run once, instead of jumping about in it
        sorted_keys = wanted[order]
        for known, numbers in self._runs:
            positions = np.searchsorted(known, sorted_keys)
            # beyond the last key: any position will do, since its key is another
            positions[positions == len(known)] = 0
            hit = known[positions] == sorted_keys
            numbers_found[order[hit]] = numbers[positions[hit]]
        return numbers_found

    def add(self, new: Ints, numbers: Ints) -> None:
        """New keys with their numbers; none of them may be known."""
        import numpy as np

        if not len(new):
            return
        order = np.argsort(new)
        self._runs.append((new[order], numbers[order]))
        self.size += len(new)
        # each run stays at least four times as long as the next: few runs to look through, and a number is moved a few times only
        while len(self._runs) > 1 and len(self._runs[-2][0]) < 4 * len(self._runs[-1][0]):
            (a, b), (c, d) = self._runs.pop(), self._runs.pop()
            both = np.concatenate([a, c])
            order = np.argsort(both, kind="stable")
            self._runs.append((both[order], np.concatenate([b, d])[order]))
