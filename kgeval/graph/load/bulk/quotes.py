"""Quotes of a CSV file that do not fit together. The fast reader takes `"a"b` as `ab`, and a quote that is never closed as one cell to
the end of the file, without a word; so they are looked for in the file's bytes before it reads.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    Bytes = np.ndarray[Any, np.dtype[np.uint8]]

BLOCK = 4 << 20
# Python's csv module refuses cells above 128 kB unless it is told otherwise
LONGEST_CELL = 1 << 30
QUOTE, BREAK = ord('"'), ord("\n")
MARK = b"\xef\xbb\xbf"
# What stands beside a quote, as one digit: 1 (a cell may begin here) + 2 (a quote follows) or 4 (a cell may end here).
BEGINS, FOLLOWED, ENDS = 1, 2, 4
# possessive (*+): nothing is tried a second time, however many quotes a file holds
_INSIDE = re.compile(rb"(?:[23].)*+")  # doubled quotes
_OUTSIDE = re.compile(rb"(?:[024]|[135](?:[23].)*+[45])*+")  # quotes in the midst of a cell without quotes, and whole quoted cells
FIX = 'a quote inside a quoted cell is written "" (two of them); or use Parquet'


def check(path: Path, delimiter: str) -> None:
    """Raises: InputError with file and line for a quote that is closed inside a cell, and for one that is never closed."""
    if not _fit(path, delimiter):
        raise _where(path, delimiter)


def _fit(path: Path, delimiter: str) -> bool:
    inside, before, held = False, BREAK, b""
    with path.open("rb") as file:
        if file.read(len(MARK)) != MARK:
            file.seek(0)
        while block := file.read(BLOCK):
            block = held + block
            kept = block.rstrip(b'"')  # so that no doubled quote is cut in two
            held = block[len(kept) :]
            if kept:
                ends = _state(kept, inside, delimiter, before=before, after=QUOTE if held else None)
                if ends is None:
                    return False
                inside, before = ends, kept[-1]
    return (_state(held, inside, delimiter, before=before, after=None) if held else inside) is False


def _state(block: bytes, inside: bool, delimiter: str, *, before: int, after: int | None) -> bool | None:
    """Whether a quoted cell is open after the block; None where a quote does not fit. `inside`: whether one is open before it;
    `before`, `after`: the bytes around it (None: nothing that is known, which may end a cell)."""
    import numpy as np

    if QUOTE not in block:
        return inside
    data = np.frombuffer(block, np.uint8)
    positions = np.flatnonzero(data == QUOTE)
    edges = np.zeros(256, bool)
    edges[[ord(delimiter), BREAK, ord("\r")]] = True
    # at the edges of the block these are wrong bytes (index -1 is its last), and are put right below
    left, right = data[positions - 1], data[np.minimum(positions + 1, len(data) - 1)]
    if positions[0] == 0:
        left[0] = before
    if positions[-1] == len(data) - 1:
        right[-1] = BREAK if after is None else after
    fits = edges.copy()
    fits[QUOTE] = True
    if fits[left[inside::2]].all() and fits[right[1 - inside :: 2]].all():  # by turns they open and close: so they do in most files
        return bool(inside ^ (len(positions) & 1))
    return _walked(edges[left] * np.uint8(BEGINS) + (right == QUOTE) * np.uint8(FOLLOWED) + edges[right] * np.uint8(ENDS), inside)


def _walked(codes: Bytes, inside: bool) -> bool | None:
    """The same, quote by quote: those in the midst of a cell without quotes (`5" disk`) mean nothing."""
    digits, start = (codes + ord("0")).tobytes(), 0
    if inside:
        start = _run(_INSIDE, digits, 0)
        if start == len(digits):
            return True
        if digits[start] - ord("0") & ENDS == 0:
            return None
        start += 1
    end = _run(_OUTSIDE, digits, start)
    if end == len(digits):
        return False
    opens = digits[end] - ord("0") & BEGINS and _run(_INSIDE, digits, end + 1) == len(digits)
    return True if opens else None


def _run(what: re.Pattern[bytes], digits: bytes, start: int) -> int:
    """Where a run of it that begins at `start` ends; it may be of length 0."""
    match = what.match(digits, start)
    return match.end() if match else start


def _where(path: Path, delimiter: str) -> InputError:
    """The first such quote, found again row by row."""
    csv.field_size_limit(LONGEST_CELL)
    begun = 1
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            for _ in reader:
                begun = reader.line_num + 1
        except csv.Error as cause:
            # the module tells its two faults apart by words alone: ',' expected after '"'
            if "expected after" in str(cause):
                return InputError(f"{path}:{reader.line_num}: a quote is closed inside a cell", fix=FIX)
            return InputError(f"{path}:{begun}: the row that begins here holds a quote that is never closed", fix=FIX)
    return InputError(f"{path}: holds quotes that do not fit together", fix=FIX)
