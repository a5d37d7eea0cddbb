"""Rows in the bytes of a journal, found without SQLite: whatever else of the file is damaged, a row whose own
bytes are whole is found.

A row of a table is one record in a page, and what does not fit there goes on in a chain of pages. A record
begins with the types of its columns, so it is recognised wherever it stands: neither the first page, nor the
tree of pages, nor the head of its own page is needed. The form of the file: sqlite.org/fileformat2.html,
sections 1.5, 1.6, 2.1 and 4.
"""

from __future__ import annotations

import math
import mmap
import re
import struct
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

Value = str | bytes | int | float
Table = Literal["calls", "answers", "firsts", "index"]

PAGE = 4096  # of every journal
LOG_HEAD, FRAME_HEAD = 32, 24  # bytes before the first frame of the write-ahead log, and before each page
MOST_CHAINS = 32  # the log may hold a page several times, so that a row may go on in several ways
LEAF = 0x0D
# The columns of each table: text, real (SQLite keeps 2.0 as the integer 2), integer, blob. An index has the
# key and the row's number.
FORMS: dict[Table, re.Pattern[str]] = {
    "calls": re.compile("t[ri]ttttbbiii[ri]"), "answers": re.compile("tt[ri]ib"),
    "firsts": re.compile("tr"), "index": re.compile("ti"),
}
_SIZES = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)
_KEY_TYPE = re.compile(rb"\x81\x0d")  # a text of 64 characters: the first column of each of these
_KEY = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class FoundRow:
    """A row as it stands in the file: its texts are texts and its numbers finite. Whether its blobs are whole,
    the caller finds out. `live`: its page names it; else it may be what a row was before it was replaced."""

    table: Table
    values: tuple[Value, ...]
    live: bool


class JournalBytes:
    """The bytes of a journal and of the write-ahead log beside it. A context manager. Raises: OSError."""

    def __init__(self, path: Path) -> None:
        with ExitStack() as stack:
            main = _mapped(path, stack)
            log = _mapped(path.with_name(path.name + "-wal"), stack)
            # not read from the first page: one damaged byte there would move all pages
            self._size = self._usable = PAGE
            # of each page by its number, the newest state first
            self._places: dict[int, list[tuple[mmap.mmap | bytes, int]]] = {}
            frames = range(LOG_HEAD, len(log) - FRAME_HEAD - self._size + 1, FRAME_HEAD + self._size)
            for frame in reversed(frames):
                number = int.from_bytes(log[frame : frame + 4], "big")
                self._places.setdefault(number, []).append((log, frame + FRAME_HEAD))
            for start in range(0, len(main), self._size):
                self._places.setdefault(start // self._size + 1, []).append((main, start))
            self._stack = stack.pop_all()

    def __enter__(self) -> JournalBytes:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def rows(self) -> Iterator[list[FoundRow]]:
        """The rows of all pages, of each page the newest state first. Of a row all that it can be, by where
        its bytes may go on."""
        for number in self._places:
            for page in self._versions(number):
                named = _named_records(page)
                for match in _KEY_TYPE.finditer(page, 1):
                    if readings := list(self._readings(page, match.start() - 1, named)):
                        yield readings

    def _versions(self, number: int) -> Iterator[bytes]:
        """The states of a page, the newest first."""
        for data, start in self._places.get(number, ()):
            yield data[start : start + self._size]

    def _readings(self, page: bytes, start: int, named: frozenset[int]) -> Iterator[FoundRow]:
        """The row whose record begins there; nothing where none does."""
        types = _types_of(page, start)
        letters = "".join(map(_letter, types))
        table = next((name for name, form in FORMS.items() if form.fullmatch(letters)), None)
        if table is None:
            return
        size = page[start] + sum(map(_size, types))
        here = self._local(size)
        if start + here + 4 * (here < size) > len(page):
            return
        pointer = page[start + here : start + here + 4]
        tails = iter([b""]) if here == size else self._chains(pointer, size - here)
        for tail in islice(tails, MOST_CHAINS):
            values = _values_of(types, page[start : start + here] + tail)
            if values is not None:
                yield FoundRow(table, values, start in named)

    def _local(self, size: int) -> int:
        """How many bytes of a record of this size stand in its page."""
        most = self._usable - 35
        if size <= most:
            return size
        least = (self._usable - 12) * 32 // 255 - 23
        fitting = least + (size - least) % (self._usable - 4)
        return fitting if fitting <= most else least

    def _chains(self, pointer: bytes, size: int) -> Iterator[bytes]:
        """What the pages of a chain hold, in each way in which their states may follow each other."""
        ways: list[tuple[bytes, int, tuple[Any, ...]]] = [(pointer, size, ())]
        looks = MOST_CHAINS * (2 + size // self._usable)  # a damaged chain may lead in a circle
        while ways and looks > 0:
            pointer, left, parts = ways.pop()
            further = []
            for page in self._versions(int.from_bytes(pointer, "big")):
                looks -= 1
                piece = page[4 : min(self._usable, 4 + left)]
                if len(piece) == left:
                    yield _joined((piece, parts))
                elif len(page) == self._size:
                    further.append((page[:4], left - len(piece), (piece, parts)))
            ways.extend(reversed(further))


def _joined(parts: tuple[Any, ...]) -> bytes:
    """The pieces of a chain: each knows the one before it, so that ways that begin alike share them."""
    pieces = []
    while parts:
        piece, parts = parts
        pieces.append(piece)
    return b"".join(reversed(pieces))


def _mapped(path: Path, stack: ExitStack) -> mmap.mmap | bytes:
    if not path.is_file() or not path.stat().st_size:
        return b""
    with path.open("rb") as file:
        return stack.enter_context(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _named_records(page: bytes) -> frozenset[int]:
    """Where the records begin that a page of a table names."""
    if len(page) < 8 or page[0] != LEAF:
        return frozenset()
    count = min(int.from_bytes(page[3:5], "big"), (len(page) - 8) // 2)
    cells = (int.from_bytes(page[at : at + 2], "big") for at in range(8, 8 + 2 * count, 2))
    # before the record stand its size and the number of the row
    return frozenset(_varint(page, _varint(page, cell)[1])[1] for cell in cells)


def _varint(page: bytes, at: int) -> tuple[int, int]:
    """A number of 1 to 9 bytes, and where it ends."""
    value = 0
    for place, byte in enumerate(page[at : at + 8], at + 1):
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place
    return value << 8 | int.from_bytes(page[at + 8 : at + 9], "big"), at + 9


def _types_of(page: bytes, start: int) -> list[int]:
    """The types of the columns of a record; none where no record begins there."""
    end, at, types = start + page[start], start + 1, list[int]()
    while at < end <= len(page):
        kind, at = _varint(page, at)
        types.append(kind)
    return types if at == end else []


def _letter(kind: int) -> str:
    if kind >= 12:
        return "bt"[kind % 2]
    return "r" if kind == 7 else "i" if 0 < kind < 10 else "?"


def _size(kind: int) -> int:
    return (kind - 12) // 2 if kind >= 12 else _SIZES[kind]


def _values_of(types: list[int], record: bytes) -> tuple[Value, ...] | None:
    """The values of a record; None where they cannot be what was written."""
    values, at = list[Value](), record[0]
    for kind in types:
        end = at + _size(kind)
        value = _value(kind, record[at:end])
        if value is None:
            return None
        values.append(value)
        at = end
    return tuple(values) if _KEY.fullmatch(str(values[0])) else None


def _value(kind: int, raw: bytes) -> Value | None:
    if kind == 7:
        number: float = struct.unpack(">d", raw)[0]
        # zero is kept as an integer, so that eight zeros are damage
        return number if math.isfinite(number) and number > 0 else None
    if kind < 12:
        return kind - 8 if kind in (8, 9) else int.from_bytes(raw, "big", signed=True)
    if kind % 2 == 0:
        return raw
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text
