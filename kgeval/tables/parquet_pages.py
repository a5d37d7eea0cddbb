"""What the pages of a Parquet file say of themselves: how many values they hold, and how large they are unpacked.

The footer has sums of both, which a file may forge. A page's own header binds: more bytes than it says are not unpacked, more values are
not read. So the headers are read here as Arrow's own reader reads them (Thrift's compact protocol), before it is given the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import IO

FIRST_LOOK = 256  # bytes; most headers have some 30, more where they hold the least and the greatest text of the page
LONGEST_HEADER = 16 << 20
DEEPEST = 8
DATA, DICTIONARY, DATA_V2 = 0, 2, 3
DELTA_BYTE_ARRAY = 7
Header = dict[int, "int | Header"]


@dataclass
class ChunkPages:
    """What the pages of a column chunk sum up to: bytes packed and unpacked, values (nulls and items of lists too), the bytes of the
    largest page. `has_dictionary`: texts may be repeated by number. `shares_prefixes`: a text may begin with the one before it."""

    packed: int = 0
    unpacked: int = 0
    values: int = 0
    largest: int = 0
    has_dictionary: bool = False
    shares_prefixes: bool = False


def read_pages(file: IO[bytes], start: int, length: int, values: int) -> ChunkPages:
    """The pages in `length` bytes from `start` on, up to the one with which `values` are reached: there Arrow stops.

    Raises: ValueError for a header that is none.
    """
    sums = ChunkPages()
    at, end = start, start + length
    while at < end and sums.values < values:
        header, size = _header_at(file, at)
        kind, unpacked, packed = (_number(header, key) for key in (1, 2, 3))
        if unpacked < 0 or packed < 0:
            raise ValueError(f"a page at byte {at} has a negative size")
        sums.packed += size + packed
        sums.unpacked += size + unpacked
        sums.largest = max(sums.largest, unpacked)
        if kind == DICTIONARY:
            sums.has_dictionary = True
        elif kind in (DATA, DATA_V2):
            inner = header.get(5 if kind == DATA else 8)
            own = inner if isinstance(inner, dict) else {}
            sums.values += max(_number(own, 1), 0)
            sums.shares_prefixes |= _number(own, 2 if kind == DATA else 4) == DELTA_BYTE_ARRAY
        at += size + packed
    return sums


def _number(header: Header, key: int) -> int:
    found = header.get(key)
    if not isinstance(found, int):
        raise ValueError("a page's header lacks a number")
    return found


def _header_at(file: IO[bytes], at: int) -> tuple[Header, int]:
    """The header of the page there, and its bytes. Raises: ValueError."""
    look = FIRST_LOOK
    while look <= LONGEST_HEADER:
        file.seek(at)
        data = file.read(look)
        try:
            reader = _Compact(data)
            return reader.struct(), reader.at
        except IndexError:
            if len(data) < look:
                break
            look *= 8
    raise ValueError(f"no header of a page at byte {at}")


@dataclass
class _Compact:
    """A reader of Thrift's compact protocol that keeps 32-bit numbers and structs. Raises: IndexError where the data end; ValueError."""

    data: bytes
    at: int = field(default=0)

    def struct(self, depth: int = 0) -> Header:
        if depth > DEEPEST:
            raise ValueError("a page's header is nested too deeply")
        found: Header = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            value = self._value(head & 15, depth)
            # a field of another kind than the format has is passed over by Arrow: the one before it counts
            if value is not None:
                found[number] = value
        return found

    def _value(self, kind: int, depth: int) -> int | Header | None:
        if depth > DEEPEST:
            raise ValueError("a page's header is nested too deeply")
        if kind == 5:
            return self._zigzag()
        if kind == 12:
            return self.struct(depth + 1)
        if kind == 3:
            self._skip(1)
        elif kind in (4, 6):
            self._varint()
        elif kind == 7:
            self._skip(8)
        elif kind == 8:
            self._skip(self._varint())
        elif kind in (9, 10):
            head = self._byte()
            for _ in range(self._varint() if head >> 4 == 15 else head >> 4):
                self._item(head & 15, depth + 1)
        elif kind not in (1, 2):
            raise ValueError(f"a page's header has a field of kind {kind}")
        return None

    def _item(self, kind: int, depth: int) -> None:
        if kind in (1, 2):  # a boolean in a list takes a byte
            self._skip(1)
        else:
            self._value(kind, depth)

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _skip(self, count: int) -> None:
        self.at += count
        if self.at > len(self.data):
            raise IndexError

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value & (2**64 - 1)
        raise ValueError("a page's header has a number of more than 64 bits")

    def _zigzag(self) -> int:
        value = self._varint() & (2**32 - 1)
        return (value >> 1) ^ -(value & 1)
