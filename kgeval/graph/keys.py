"""Names of things in a graph, kept as 8-byte hashes beside their element ids: a million names in some tens of megabytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MOST_OF_A_NAME = 20  # entities of one name
BLOCK = 50_000


class Keys:
    """Keys of things in the graph, each with the element ids that it stands for. Built once; then safe to read from any thread."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        import numpy as np

        hashes: list[npt.NDArray[np.uint64]] = [np.empty(0, dtype=np.uint64)]
        ids: list[npt.NDArray[np.bytes_]] = [np.empty(0, dtype="S1")]
        rest = iter(pairs)
        while block := list(islice(rest, BLOCK)):  # in blocks: a million Python texts at once would take hundreds of megabytes
            hashes.append(np.fromiter((_hash(key) for key, _ in block), dtype=np.uint64, count=len(block)))
            ids.append(np.array([element_id.encode() for _, element_id in block], dtype=np.bytes_))
        unsorted = np.concatenate(hashes)
        order = np.argsort(unsorted, kind="stable")
        self._hashes = unsorted[order]
        self._ids: npt.NDArray[np.bytes_] = np.concatenate(ids)[order]

    def __len__(self) -> int:
        return len(self._hashes)

    @property
    def bytes(self) -> int:
        """What the index holds in memory."""
        return int(self._hashes.nbytes + self._ids.nbytes)

    def find(self, keys: Sequence[str], *, most: int | None = MOST_OF_A_NAME) -> dict[str, tuple[str, ...]]:
        """Key -> element ids, of the keys that are there; at most `most` a key (None: all).

        Keys are told apart by 64 bits: among a million names one look-up in some 10^13 goes wrong.
        """
        import numpy as np

        wanted = np.fromiter((_hash(key) for key in keys), dtype=np.uint64, count=len(keys))
        first, last = np.searchsorted(self._hashes, wanted, "left"), np.searchsorted(self._hashes, wanted, "right")
        ids_of = {}
        for position in np.flatnonzero(last > first):
            ids = self._ids[first[position] : last[position]][:most]
            ids_of[keys[int(position)]] = tuple(dict.fromkeys(bytes(element_id).decode() for element_id in ids))
        return ids_of


def _hash(key: str) -> int:
    # a name that is looked up may come from a model, with half a surrogate pair in it: it is not found, and raises nothing
    return int.from_bytes(blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
