"""Entities as flat columns: some 30 bytes each instead of a kilobyte of Python objects, for checks that hold a whole graph's names."""

from __future__ import annotations

import os
import tempfile
import weakref
from array import array
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any

from kgeval.records import GraphRef

if TYPE_CHECKING:
    import numpy as np

    Integers = np.ndarray[Any, np.dtype[np.int64]]


KEPT = 1 << 20  # bytes of texts in memory before they go into the file


def ended(ends: array[int], end: int) -> array[int]:
    """`ends` with one more; 4 bytes each are enough for all but the very largest graphs."""
    # array("I") holds 32 bits: the offsets are copied once into 64, and only for texts beyond 4 GB
    if end >= 1 << 32 and ends.typecode == "I":
        ends = array("Q", ends)
    ends.append(end)
    return ends


class FiledTexts:
    """Texts one after the other in a temporary file that has no name and goes with the process: 4 bytes of memory a text. They cannot be
    changed or taken out."""

    def __init__(self) -> None:
        self._buffer, self._ends = bytearray(), array("I", [0])
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  closed when nobody holds these texts any more
        self._filed = 0
        weakref.finalize(self, self._file.close)

    def append(self, text: str) -> None:
        """Adds one text at the end."""
        self._buffer += text.encode("utf-8", "surrogatepass")
        self._ends = ended(self._ends, self._filed + len(self._buffer))
        if len(self._buffer) >= KEPT:
            self._file.write(self._buffer)
            self._file.flush()
            self._filed += len(self._buffer)
            self._buffer.clear()

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, at: int) -> str:
        return self.raw(at).decode("utf-8", "surrogatepass")

    def raw(self, at: int) -> bytes:
        """The text in UTF-8."""
        start, end = self._ends[at], self._ends[at + 1]
        if start >= self._filed:
            return bytes(self._buffer[start - self._filed : end - self._filed])
        # not mapped, which would spare a text half a microsecond: the whole file would come to lie in memory
        return os.pread(self._file.fileno(), end - start, start)


class Lists:
    """Lists of numbers (0 to 2^31 - 1) one after the other in one array."""

    def __init__(self) -> None:
        self._numbers, self._ends = array("i"), array("I", [0])

    def append(self, numbers: Iterable[int]) -> None:
        """Adds one list at the end."""
        self._numbers.extend(numbers)
        self._ends = ended(self._ends, len(self._numbers))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, at: int) -> array[int]:
        return self._numbers[self._ends[at] : self._ends[at + 1]]

    def size(self, at: int) -> int:
        """How long the list is."""
        return self._ends[at + 1] - self._ends[at]


class EntityColumns:
    """Element id, key, name and type of entities, by position."""

    def __init__(self) -> None:
        self._numbers, self._odd = array("q"), dict[int, str]()  # an id is its number behind a head; the odd ones stand as they are
        self._heads, self._head = array("H"), dict[str, int]()
        self._keys, self.names = FiledTexts(), FiledTexts()
        self._kinds, self._kind = array("I"), dict[str | None, int]()
        self._kind_names: list[str | None] = []
        self._sorted: tuple[Integers | None, Integers] | None = None

    def append(self, element_id: str, key: str, name: str, kind: str | None) -> None:
        """Adds one entity; keys are cut at 200 characters."""
        head, _, tail = element_id.rpartition(":")
        self._heads.append(self._head.setdefault(head, len(self._head)))
        number = number_of(element_id)
        if str(number) != tail:
            self._odd[len(self)] = tail
        self._keys.append("" if key == name else key[:200])
        self.names.append(name)
        if kind not in self._kind:
            self._kind[kind] = len(self._kind)
            self._kind_names.append(kind)
        self._kinds.append(self._kind[kind])
        self._numbers.append(number)

    def __len__(self) -> int:
        return len(self._kinds)

    def element_id(self, at: int) -> str:
        """The entity's element id."""
        head = next(islice(self._head, self._heads[at], None))  # there is one, or very few
        tail = self._odd.get(at, str(self._numbers[at]))
        return f"{head}:{tail}" if head else tail

    def key(self, at: int) -> str:
        """The entity's key, cut at 200 characters."""
        return self._keys[at] or self.names[at][:200]

    def kind(self, at: int) -> str | None:
        """The entity's type."""
        return self._kind_names[self._kinds[at]]

    def kind_code(self, at: int) -> int:
        """A small number for the entity's type."""
        return self._kinds[at]

    @property
    def kinds(self) -> Sequence[str | None]:
        """The types by their numbers."""
        return self._kind_names

    def positions(self, element_ids: Sequence[str]) -> list[int]:
        """The entities' positions; -1 where one is not on the roll. No entity can be added after the first call."""
        import numpy as np

        if self._sorted is None:  # the numbers ascending, and the positions in this order (None: they came in it, as they mostly do)
            numbers = np.frombuffer(self._numbers, dtype=np.int64)
            order = None if bool((numbers[1:] > numbers[:-1]).all()) else np.argsort(numbers, kind="stable")
            self._sorted = order, numbers if order is None else numbers[order]
        order, numbers = self._sorted
        if not len(numbers):
            return [-1] * len(element_ids)
        wanted = np.array([number_of(element_id) for element_id in element_ids], dtype=np.int64)
        index = np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1)
        places: list[int] = np.where(numbers[index] == wanted, index if order is None else order[index], -1).tolist()
        return places

    def reference(self, at: int) -> GraphRef:
        """The entity for a report."""
        name = self.names[at]
        return GraphRef(element_id=self.element_id(at), key=self.key(at), name=name[:200], type=self.kind(at))


def number_of(element_id: str) -> int:
    """The number at the end of an element id of this database ("4:uuid:17"), which stands for one node; of other ids 62 bits of a hash."""
    tail = element_id[element_id.rfind(":") + 1 :]
    if tail.isdecimal() and len(tail) < 19:
        return int(tail)
    # negative, so that a hash never meets a number
    return -1 - (int.from_bytes(blake2b(element_id.encode(), digest_size=8).digest(), "little") >> 2)
