"""Rows of large files one by one: JSONL, JSON, CSV / TSV, Parquet, YAML. A row is a dict; its place is known for messages.

JSONL, JSON arrays, tables and Parquet are never held as a whole. NaN becomes null while a file is read: pandas writes it for
what is missing.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import IO, Any

from kgeval.errors import InputError
from kgeval.files.json_rows import array_rows, object_rows
from kgeval.files.plain import Line, check_readable, decode, json_lines, loads, read_json, read_text, table_rows, under

STDIN = Path("-")
TABLES = (".csv", ".tsv", ".tab")
LINES = (".jsonl", ".ndjson", "")
YAML = (".yaml", ".yml")
BATCH = 1_000


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


def _yaml(path: Path) -> Any:
    try:
        import yaml
    except ImportError as cause:
        raise InputError(f"{path}: reading YAML needs PyYAML", fix="pip install pyyaml, or save the file as JSON") from cause
    try:
        return yaml.safe_load(read_text(path))
    except (yaml.YAMLError, RecursionError) as cause:
        raise InputError(f"{path}: not YAML: {str(cause).splitlines()[0]}", fix="mend the file there") from cause


def _table(path: Path, name: str, delimiter: str) -> Iterator[Line]:
    """Rows under a header. An empty cell is null; a cell too many is a fault; blank rows are passed over."""
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
    header: list[str] | None = None
    for line in table_rows(file, name, delimiter):
        if line.fault is not None:
            yield line
        elif header is None:
            header = _header(line.value, name)
        else:
            row = under(header, line)
            yield row if row.fault else Line(line.where, {key: cell or None for key, cell in row.value.items()})


def _header(cells: list[str], name: str) -> list[str]:
    header = [cell.strip() for cell in cells]
    twice = sorted({cell for cell in header if cell and header.count(cell) > 1})
    if twice:
        raise InputError(f"{name}: two columns are called {', '.join(twice)}", fix="rename one of them")
    return [cell or f"column {at}" for at, cell in enumerate(header, start=1)]


def _parquet(path: Path, name: str) -> Iterator[Line]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield Line(f"{name}: row {number}", {key: plain(value) for key, value in row.items() if not key.startswith("__index")})
    except (pa.ArrowException, OSError, UnicodeDecodeError) as cause:
        what = (str(cause).splitlines() or ["no reason given"])[0]
        raise InputError(f"{path}: not a Parquet file that can be read: {what[:200]}", fix="write the table again") from cause


def plain(value: Any) -> Any:
    """The value as JSON has it: NaN and the infinities as null, dates and bytes as text, maps with texts as keys."""
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
