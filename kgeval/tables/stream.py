"""Rows of large files one by one: JSONL, JSON, CSV / TSV, Parquet, YAML. A row is a dict; its place is known for messages.

JSONL, JSON arrays, tables and Parquet are never held as a whole. NaN becomes None while a file is read: pandas writes it for
what is missing.
"""

from __future__ import annotations

import codecs
import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import IO, Any

from kgeval.errors import InputError, named_again
from kgeval.limits import DEEPEST, check_depth
from kgeval.tables.output import is_own_table, restore_cell
from kgeval.tables.parquet import parquet_batches
from kgeval.tables.plain import (
    Line,
    check_readable,
    constant,
    decode,
    json_lines,
    loads,
    parse_yaml,
    read_json,
    read_text,
    table_rows,
    under,
)

STDIN = Path("-")
TABLES = (".csv", ".tsv", ".tab")
LINES = (".jsonl", ".ndjson", "")
YAML = (".yaml", ".yml")
BATCH = 1_000
CHUNK = 1 << 20
WRAPPERS = (
    "results", "data", "rows", "items", "answers", "questions", "examples", "samples", "test_cases", "testCases", "goldens",
    "predictions", "records", "dataset",
)
DETAILED = "detailed"  # what GraphRAG-Bench's scripts write beside their means
_TYPE = re.compile(r"type\s*\d+", re.IGNORECASE)
_WHITE = " \t\r\n"
_NO_ROWS = (
    "give an array of rows, JSONL, or an object with one array of rows (results, data, rows, ...), with an array of rows by question "
    "type, with one list for each field, or with one row for each id"
)


def stream(path: Path, name: str = "") -> Iterator[Line]:
    """The rows of a file in their order, each a dict, or with its fault. `-`: JSONL from standard input.

    `name`: how the file is called in messages; its own name where it is not given.
    Raises: InputError for what is missing, empty, packed, not UTF-8, or no file of rows at all.
    """
    name = name or path.name
    if path == STDIN:
        return _checked(json_lines(sys.stdin.buffer, "stdin"), "stdin")
    check_readable(path)
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return _checked(_parquet(path, name), name)
    first = _first_bytes(path)
    if suffix in TABLES:
        return _checked(_table(path, name, "\t" if suffix != ".csv" else ","), name)
    if suffix in YAML:
        return _checked(object_rows(_yaml(path), name), name)
    if first == b"[":
        return _checked(array_rows(path, name), name)
    if suffix in LINES or _holds_lines(path):
        return _checked(_file_lines(path, name), name)
    return _checked(object_rows(read_json(path, loads), name), name)


def is_table(path: Path) -> bool:
    """True where an empty cell cannot be told from a missing one, and lists are texts."""
    return path.suffix.lower() in TABLES


def _checked(lines: Iterator[Line], name: str) -> Iterator[Line]:
    """The lines; what is no object is a fault. Raises: InputError where there is no row at all."""
    empty = True
    for line in lines:
        empty = False
        if line.fault is None and not isinstance(line.value, dict):
            what = type(line.value).__name__ if line.value is not None else "null"
            yield Line(line.where, fault=f"a row must be an object with fields, found: {what}")
        else:
            yield line
    if empty:
        raise InputError(f"{name}: holds no row", fix="give a file with at least one row")


def _first_bytes(path: Path) -> bytes:
    """The first byte that is no white space, a byte order mark passed over. Raises: InputError for UTF-16."""
    with path.open("rb") as file:
        head = file.read(4096)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        decode(head, str(path))
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]


def _holds_lines(path: Path) -> bool:
    """Whether a .json file is JSONL in truth: its first line is a value, and there is more."""
    with path.open("rb") as file:
        lines = (line for line in file if line.strip())
        first, second = next(lines, b""), next(lines, b"")
    try:
        return bool(second) and isinstance(loads(first.removeprefix(b"\xef\xbb\xbf")), dict)
    except (ValueError, RecursionError):
        return False


def _file_lines(path: Path, name: str) -> Iterator[Line]:
    with path.open("rb") as file:
        yield from json_lines(file, name)


def array_rows(path: Path, name: str) -> Iterator[Line]:
    """The items of a JSON array, read piece by piece: what is in memory is one piece and one item.

    Raises: InputError for bytes that are not UTF-8. What is not JSON ends the file with a fault.
    """
    try:
        with path.open("rb") as file:
            yield from _unfolded(_items(_Text(file), name))
    except UnicodeDecodeError:
        decode(path.read_bytes(), str(path))  # raises, with the line
        raise


# Why not ijson: on an array of 200 MB it is as fast (1.2 s and 1.3 s of a core), but its C reader refuses NaN, whole numbers from
# 2**63 and 1e400, which json.dump writes; it makes "?" of half a surrogate pair, where kgeval has a fault; it names no line of a
# fault; and its Python reader, where the C one is not there, reads such values in another way.
class _Text:
    """The text of a file as far as it is needed: `text[at:]` is not used yet."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self.text = ""
        self.at = 0
        self.line = 1
        self.ended = False

    def more(self) -> None:
        """Adds a piece, larger where much is unused (an item of many megabytes must not be tried at every megabyte)."""
        raw = self._file.read(max(CHUNK, len(self.text) - self.at))
        self.ended = not raw
        # Before the text goes: a fault names its line in the file.
        self.line += self.text.count("\n", 0, self.at)
        self.text = self.text[self.at:] + self._decoder.decode(raw, final=not raw)
        self.at = 0

    def peek(self) -> str:
        """The next character that is no white space; "" at the end."""
        while True:
            while self.at < len(self.text) and self.text[self.at] in _WHITE:
                self.at += 1
            if self.at < len(self.text) or self.ended:
                return self.text[self.at:self.at + 1]
            self.more()

    def value(self, decoder: json.JSONDecoder) -> Any:
        """The next value. Raises: ValueError (the text ended, or is not JSON), RecursionError."""
        self.peek()
        while True:
            try:
                value, end = decoder.raw_decode(self.text, self.at)
                if self.text.count("[", self.at, end) + self.text.count("{", self.at, end) > DEEPEST:
                    check_depth(value)
            except json.JSONDecodeError:
                if self.ended:
                    raise
            else:
                # A number at the end of a piece may go on in the next one: 12 of 123.
                if end < len(self.text) or self.ended:
                    self.at = end
                    return value
            self.more()

    def place(self, at: int) -> int:
        """The line of a place in the text."""
        return self.line + self.text.count("\n", 0, at)


def _items(text: _Text, name: str) -> Iterator[Line]:
    decoder = json.JSONDecoder(parse_constant=constant)
    text.peek()
    text.at += 1  # the bracket
    number = 0
    if text.peek() == "]":
        return
    while True:
        number += 1
        try:
            yield Line(f"{name}: row {number}", text.value(decoder))
        except json.JSONDecodeError as cause:
            why = f"not JSON: {cause.msg} (row {number}); nothing after it was read"
            yield Line(f"{name}:{text.place(cause.pos)}", fault=why, ends=True)
            return
        except (ValueError, RecursionError) as cause:
            yield Line(f"{name}: row {number}", fault=f"JSON that cannot be read: {str(cause)[:100]}; nothing after it was read", ends=True)
            return
        mark = text.peek()
        if mark == ",":
            text.at += 1
        elif mark == "]":
            text.at += 1
            if rest := text.peek():
                yield Line(f"{name}:{text.place(text.at)}", fault=f"something follows the array: {rest!r}")
            return
        else:
            what = "the file ends inside the array" if not mark else f"a comma or ] expected, found {mark!r}"
            why = f"not JSON: {what} (after row {number}); nothing after it was read"
            yield Line(f"{name}:{text.place(text.at)}", fault=why, ends=True)
            return


def object_rows(value: Any, name: str) -> Iterator[Line]:
    """The rows that one JSON value holds. Raises: InputError where it cannot be told which part of it holds rows."""
    yield from _unfolded(Line(f"{name}: {place}", row) for place, row in _placed(value, name))


def _placed(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list):
        yield from ((f"row {number}", row) for number, row in enumerate(value, start=1))
    elif not isinstance(value, dict):
        raise InputError(f"{name}: holds no rows", fix=_NO_ROWS)
    elif by_type := _by_type(value):
        for kind, rows in by_type.items():
            for number, row in enumerate(rows, start=1):
                yield f"{kind}, row {number}", {"question_type": kind, **row} if isinstance(row, dict) else row
    elif (key := _wrapper(value)) is not None:
        yield from ((f"row {number}", row) for number, row in enumerate(value[key], start=1))
    elif rows := _by_column(value):
        yield from ((f"row {number}", row) for number, row in enumerate(rows, start=1))
    elif value and all(isinstance(row, dict) for row in value.values()):
        yield from ((f"row {key}", _with_id(key, row)) for key, row in value.items())
    elif any(isinstance(part, str) for part in value.values()):
        yield "row 1", value
    else:
        raise InputError(f"{name}: it cannot be told where its rows are, among: {', '.join(map(str, value))[:200]}", fix=_NO_ROWS)


def _wrapper(value: Mapping[str, Any]) -> str | None:
    """The key of the rows: the only list of objects, or the one under a known name."""
    keys = [key for key, part in value.items() if _is_rows(part)]
    return keys[0] if len(keys) == 1 else next((key for key in WRAPPERS if key in keys), None)


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _by_type(value: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Rows by the question's type: `type1` .. `type4`, the four names, or lists under keys that are no known name."""
    groups = {
        key: part[DETAILED] if isinstance(part, dict) and _is_rows(part.get(DETAILED)) else part for key, part in value.items()
        if _is_rows(part) or (isinstance(part, dict) and _is_rows(part.get(DETAILED)))
    }
    typed = all(_TYPE.fullmatch(key) or key not in WRAPPERS for key in groups)
    several = len(groups) > 1 or any(_TYPE.fullmatch(key) for key in groups) or any(isinstance(value[key], dict) for key in groups)
    return groups if groups and typed and several and len(groups) == len(value) else {}


def _by_column(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of a table that is kept by column: lists of one length, or pandas' maps from row number to value."""
    parts = list(value.values())
    if parts and all(isinstance(part, list) for part in parts):
        sizes = {len(part) for part in parts}
        if len(sizes) == 1 and not _is_rows(parts[0]):
            return [dict(zip(value, row, strict=True)) for row in zip(*parts, strict=True)]
    elif parts and all(isinstance(part, dict) for part in parts):
        keys = list(parts[0])
        if keys and all(key.isdigit() for key in keys) and all(list(part) == keys for part in parts):
            return [{name: part[key] for name, part in value.items()} for key in keys]
    return []


def _with_id(key: str, row: dict[str, Any]) -> dict[str, Any]:
    return row if {"id", "question_id"} & set(row) else {"question_id": key, **row}


def _unfolded(lines: Iterator[Line]) -> Iterator[Line]:
    """graphrag-eval keeps its questions in templates: every question is a row, with the template's id."""
    for line in lines:
        row = line.value
        if isinstance(row, dict) and "template_id" in row and isinstance(row.get("questions"), list):
            for number, question in enumerate(row["questions"], start=1):
                inner = {"template_id": row["template_id"], **question} if isinstance(question, dict) else question
                yield Line(f"{line.where}, question {number}", inner)
        else:
            yield line


def _yaml(path: Path) -> Any:
    try:
        return parse_yaml(read_text(path))
    except ValueError as cause:
        raise InputError(f"{path}: not YAML: {str(cause)[:300]}", fix="correct the file there") from cause


def _table(path: Path, name: str, delimiter: str) -> Iterator[Line]:
    """Rows under a header, those of kgeval's own tables as they were. An empty cell is None; a cell too
    many is a fault; blank rows are passed over."""
    with path.open("r", encoding="utf-8-sig", newline="") as file:
        try:
            yield from _cells(file, name, delimiter)
        except UnicodeDecodeError:
            read_text(path)  # raises, with the line
            raise


def _cells(file: IO[str], name: str, delimiter: str) -> Iterator[Line]:
    head = file.readline()
    file.seek(0)
    if delimiter == "," and "," not in head and ";" in head:
        delimiter = ";"  # what spreadsheets write where the comma is the decimal mark
    elif delimiter == "," and "," not in head and "|" in head:
        delimiter = "|"  # UDA-QA
    header: list[str] | None = None
    read: Callable[[str], str] = str
    for line in table_rows(file, name, delimiter):
        if line.fault is not None:
            yield line
        elif header is None:
            header = _header(line.value, name)
            read = restore_cell if is_own_table(header) else str
        else:
            row = under(header, line)
            cells = row.value.items() if row.fault is None else ()
            yield row if row.fault else Line(line.where, {key: read(cell) or None for key, cell in cells})


def _header(cells: list[str], name: str) -> list[str]:
    header = [cell.strip() for cell in cells]
    if twice := named_again(header):
        raise InputError(f"{name}: two columns are called {', '.join(twice)[:200]}", fix="rename one of them")
    return [cell or f"column {number}" for number, cell in enumerate(header, start=1)]


def _parquet(path: Path, name: str) -> Iterator[Line]:
    import pyarrow as pa

    # "__index...": columns that pandas adds for its own index.
    number = 0
    try:
        for batch in parquet_batches(path, BATCH):
            for row in batch.to_pylist():
                number += 1
                yield Line(f"{name}: row {number}", {key: plain(value) for key, value in row.items() if not key.startswith("__index")})
    except (pa.ArrowException, OSError, UnicodeDecodeError) as cause:
        what = (str(cause).splitlines() or ["no reason given"])[0]
        raise InputError(f"{path}: not a Parquet file that can be read: {what[:200]}", fix="write the table again") from cause


def plain(value: Any) -> Any:
    """The value as JSON has it: NaN and the infinities as None, dates and bytes as text, maps with texts as keys."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(inner) for inner in value]
    if isinstance(value, Decimal):
        return plain(float(value))
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value.isoformat() if isinstance(value, datetime | date | time) else str(value)
