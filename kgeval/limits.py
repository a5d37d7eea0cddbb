"""What files may grow to while they are read. A few kilobytes can stand for gigabytes of memory or for hours of work: a reader asks here
before it spends either. A limit is raised by `kgeval --file-limit NAME=VALUE` or the variable KGEVAL_FILE_LIMIT, never by a file: a
kgeval.toml may come with the bomb.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import tomllib
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import chain
from typing import Any

from kgeval.errors import InputError, UsageError

VARIABLE = "KGEVAL_FILE_LIMIT"
MEGABYTE = 1_000_000
# What unpacks to less than this has no ratio: repetitive small files are common, and harm nobody.
SMALL = 64 * MEGABYTE
PIECE = 1 << 20
# Parts of a dotted key of TOML, whose parser takes time by their square (16,000 parts: 10 s).
LONGEST_KEY = 200
# Lists and maps of JSON within each other. pydantic goes some 200 deep, Python's own writer of JSON 1,000 less what called it.
DEEPEST = 100
_TOO_DEEP = f"nested more than {DEEPEST} deep"
# an unclosed string is taken to the end of its line: else each quote in it would be a new beginning
_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+(?:"|(?=\n)|\Z)|'[^'\n]*+(?:'|(?=\n)|\Z))"""
_DOTTED = re.compile(rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART})*+")  # takes each part once, so that its time is the text's length
_AMOUNT = re.compile(r"(\d{1,15}(?:\.\d{1,6})?) ?([kMGT]?)B?", re.IGNORECASE)
_BEFORE_XML = b"\xef\xbb\xbf\xff\xfe \t\r\n"
_EBCDIC = b"\x4c\x6f\xa7\x94"
_ENCODING = re.compile(rb"""encoding\s*=\s*["']([^"']*)""")
_ASCII_SIGNS = re.compile(rb"(utf-?(8|16).*|(us-)?ascii|iso-8859-\d+|windows-\d+)", re.IGNORECASE)
_UNITS = {"": 1, "K": 1_000, "M": MEGABYTE, "G": 1_000_000_000, "T": 1_000_000_000_000}


@dataclass(frozen=True)
class FileLimits:
    """How much one file may be, and why real files are less.

    unpacked: bytes that a document, a report in a page, or a reply of an endpoint may hold, over its size as it came. Word keeps at most
    32 MB of text in one file, which is some 200 MB of XML.
    ratio: how many times its packed size a file, or a part of it, may hold, beyond 64 MB. Texts and tables are packed to a tenth or a
    fiftieth; deflate packs zeros to a thousandth, Zstandard (Parquet) to less.
    elements: elements and attributes in the XML of a Word file, whose parser takes 130 to 340 bytes for each, be it of 4 bytes or of 400.
    A book has some 500,000.
    pages: of a PDF. The longest books and standards have some 10,000.
    seconds: of a processor for a PDF. A page of text takes some hundredths; a form that draws forms can take years.
    defaults: values that a GraphML file gives its nodes and relations by default: of each key that has one, one for each element, and one
    more for each 100 characters of it.
    """

    unpacked: int = 256 * MEGABYTE
    ratio: int = 200
    elements: int = 8_000_000
    pages: int = 20_000
    seconds: int = 600
    defaults: int = 10_000_000


class TooLargeError(InputError):
    """A file is beyond a limit. The message says what was found and the limit, the way out names the option that raises it."""


def file_limits() -> FileLimits:
    """The limits in force: the defaults, under what KGEVAL_FILE_LIMIT says. Raises: UsageError where it cannot be read."""
    return parse_limits(os.environ.get(VARIABLE, ""))


@contextmanager
def limits_in_force(text: str) -> Iterator[None]:
    """Sets the limits of this process, and of those that it starts. Raises: UsageError where the text cannot be read."""
    parse_limits(text)
    with variables_set({VARIABLE: text}):
        yield


@contextmanager
def variables_set(values: Mapping[str, str]) -> Iterator[None]:
    """Sets variables of the environment of this process, and of those that it starts, for the block."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@cache
def parse_limits(text: str) -> FileLimits:
    """The limits that `unpacked=2GB pages=50000` sets, over the defaults. Raises: UsageError that names every faulty part."""
    known = [field.name for field in fields(FileLimits)]
    values: dict[str, int] = {}
    faults: list[str] = []
    for part in re.split(r"[\s,]+", text.strip()) if text.strip() else ():
        name, _, value = part.partition("=")
        amount = _AMOUNT.fullmatch(value)
        if name not in known:
            faults.append(f"{part}: there is no limit of this name")
        elif amount is None or (amount[2] and name != "unpacked"):
            faults.append(f"{part}: a number is needed" + (", such as 2GB" if name == "unpacked" else ""))
        else:
            values[name] = int(float(amount[1]) * _UNITS[amount[2].upper()])
    if faults:
        fix = f"limits are {', '.join(known)}: unpacked=2GB, pages=50000"
        raise UsageError(f"--file-limit or {VARIABLE}: {'; '.join(faults)}", fix=fix)
    return replace(FileLimits(), **values)


def too_large(name: str, what: str, limit: str, *, needed: float | None = None) -> TooLargeError:
    """The error for a file that is beyond the limit of this name. `what`: what was found. `needed`: the value with which it would be read;
    None: not known, since reading stopped at the limit."""
    now: int = getattr(file_limits(), limit)
    enough = 2 * now if needed is None else math.ceil(needed)
    shown, raised = (_size(now), re.sub("[ ,]", "", _size(enough))) if limit == "unpacked" else (f"{now:,}", str(enough))
    return TooLargeError(
        f"{name}: too large: {what}; the limit is {shown} (--file-limit {limit}={raised} raises it)",
        fix=f"if you trust the file: kgeval --file-limit {limit}={raised} COMMAND ..., or set {VARIABLE}={limit}={raised}",
    )


def check_unpacked(name: str, packed: int, unpacked: int) -> None:
    """Raises: TooLargeError where what a file holds is larger than its size allows."""
    limits = file_limits()
    if unpacked - packed > limits.unpacked:
        raise too_large(name, f"unpacks to {_size(unpacked)}", "unpacked", needed=unpacked)
    check_ratio(name, packed, unpacked)


def check_ratio(name: str, packed: int, unpacked: int) -> None:
    """Raises: TooLargeError where a file, or a part of it, is packed so well that no real one is."""
    if unpacked > SMALL and unpacked > packed * file_limits().ratio:
        times = unpacked / max(packed, 1)
        raise too_large(name, f"{_size(packed)} unpack to {_size(unpacked)}, {math.ceil(times):,} times as much", "ratio", needed=times)


def inflate_bytes(data: bytes, name: str) -> bytes:
    """What gzip or zlib packed. Raises: TooLargeError as soon as it is more than the limit; zlib.error for damaged or cut data."""
    most = file_limits().unpacked + len(data)
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)  # 32: either of the two
    out = bytearray()
    for start in range(0, len(data), PIECE):
        piece = data[start : start + PIECE]
        while piece:
            out += unpacker.decompress(piece, PIECE)
            piece = unpacker.unconsumed_tail
            if len(out) > most:
                raise too_large(name, f"unpacks to more than {_size(most)}", "unpacked")
            check_ratio(name, len(data), len(out))
    if not unpacker.eof:
        raise zlib.error("the data ends before its end")
    return bytes(out)


def sound_zip(data: bytes, name: str) -> io.BytesIO:
    """The same archive, not compressed: libraries read parts of archives whole, and a directory may lie about their sizes, so each part is
    read in pieces here, up to what the directory says. Raises: TooLargeError; zipfile.BadZipFile, zlib.error for damaged archives."""
    out = io.BytesIO()
    limit = file_limits().elements
    elements = 0
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w") as sound:
        parts = {part.filename: part for part in archive.infolist()}  # of several with one name, the last is what readers take
        check_unpacked(name, len(data), sum(part.file_size for part in parts.values()))
        for part in parts.values():
            check_ratio(f"{name}: {part.filename[:100]}", part.compress_size, part.file_size)  # each: noise beside it would hide a bomb
            count = _XmlCount()
            with archive.open(part) as packed, sound.open(part.filename, "w") as plain:
                while piece := packed.read(PIECE):
                    elements += count.begun_in(piece)
                    if elements <= limit:  # beyond it they are only counted
                        plain.write(piece)
    if elements > limit:
        raise too_large(name, f"its XML has {elements:,} elements and attributes", "elements", needed=elements)
    out.seek(0)
    return out


class _XmlCount:
    """Counts elements, attributes and references in the pieces of a part, without a parser. A part that is no XML has none.

    Never too few: closing tags are left out, and where signs cannot be told by their bytes each byte is counted."""

    def __init__(self) -> None:
        self._signs: bool | None = None  # None: only spaces so far; False: no XML
        self._bytes = False

    def begun_in(self, piece: bytes) -> int:
        """How many begin in the next piece."""
        piece = piece.replace(b"\0", b"")  # UTF-16
        if self._signs is None and (head := piece.lstrip(_BEFORE_XML)):
            self._signs = head[:1] == b"<" or head[:4] == _EBCDIC
            self._bytes = self._signs and not _has_ascii_signs(head)
        if self._bytes:
            return len(piece)
        return piece.count(b"<") - piece.count(b"</") + piece.count(b"=") + piece.count(b"&") if self._signs else 0


def _has_ascii_signs(head: bytes) -> bool:
    """Whether < is the byte of ASCII in the XML that begins so, which it is not in UTF-7 and EBCDIC."""
    if not head.startswith(b"<?xml"):
        return head[:1] == b"<"
    declaration, end, _ = head.partition(b"?>")
    return bool(end) and all(map(_ASCII_SIGNS.fullmatch, _ENCODING.findall(declaration)))


def parse_json(text: str | bytes, constant: Callable[[str], Any] | None = None) -> Any:
    """The value of a JSON text. `constant`: what NaN and the infinities become; None: floats.

    Raises: ValueError: a json.JSONDecodeError for what is no JSON, another for what is nested too deeply, or a number of too many digits.
    """
    try:
        value = json.loads(text, parse_constant=constant)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    brackets = (b"[", b"{") if isinstance(text, bytes) else ("[", "{")
    if sum(map(text.count, brackets)) > DEEPEST:  # type: ignore[arg-type]  # each of the two with its own
        check_depth(value)
    return value


def check_depth(value: Any) -> None:
    """Raises: ValueError for lists and maps that are nested more deeply than the libraries that take them can go."""
    inside = [value] if isinstance(value, dict | list) else []
    for _ in range(DEEPEST):
        parts = chain.from_iterable(part.values() if isinstance(part, dict) else part for part in inside)
        inside = [part for part in parts if isinstance(part, dict | list)]
        if not inside:
            return
    raise ValueError(_TOO_DEEP)


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text. Raises: tomllib.TOMLDecodeError, also for one that is nested too deeply."""
    if any(len(re.findall(_PART, key[0])) > LONGEST_KEY for key in _DOTTED.finditer(text)):
        raise _NestedError(f"a key of more than {LONGEST_KEY} parts")
    try:
        tables = tomllib.loads(text)
        check_depth(tables)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise _NestedError(_TOO_DEEP) from None
    except ValueError as cause:
        raise _NestedError(_TOO_DEEP if str(cause) == _TOO_DEEP else "a number of too many digits") from None
    return tables


class _NestedError(tomllib.TOMLDecodeError):
    def __init__(self, what: str) -> None:
        ValueError.__init__(self, what)  # newer Pythons want the place too, which is not known


def _size(count: int) -> str:
    """A number of bytes, rounded up, so that as a limit it is enough."""
    unit = next((unit for unit in ("G", "M", "K") if count >= 10 * _UNITS[unit]), "")
    return f"{math.ceil(count / _UNITS[unit]):,} {'k' if unit == 'K' else unit}B"
