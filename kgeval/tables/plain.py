"""Users' files in: text, JSON, JSONL, CSV / TSV, Parquet. Every fault is named with its file and line."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgeval.errors import InputError
from kgeval.limits import check_depth, parse_json
from kgeval.tables.parquet import parquet_batches

BATCH = 10_000  # rows of Parquet at a time
# csv's own limit of 131,072 characters is less than a row's contexts have; more than this is refused where a C long has 32 bits.
LONGEST_CELL = 2**31 - 1
LONGEST_NUMBER = 1_000  # characters of a number in YAML
_PACKED = {b"PK\x03\x04": ("a zip archive", "unzip"), b"\x1f\x8b": ("a gzip file", "gunzip"), b"7z\xbc\xaf": ("a 7z archive", "7z x")}
_YAML = "tag:yaml.org,2002:"
_YAML_TAGS = (None, "!", f"{_YAML}str", f"{_YAML}seq", f"{_YAML}map")
_YAML_NUMBERS = (f"{_YAML}int", f"{_YAML}float")
_WIDE = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a file. `where` is `file:line` (or `file: row n`); `fault` says why there is no value. `ends`: nothing after it
    was read."""

    where: str
    value: Any = None
    fault: str | None = None
    ends: bool = False


def check_readable(path: Path) -> None:
    """Raises InputError for a file that is missing, a folder, not readable, empty or packed."""
    try:
        if path.is_dir():
            raise InputError(f"{path}: is a folder, a file is needed", fix="give one file of it")
        with path.open("rb") as file:
            head = file.read(4)
    except FileNotFoundError as cause:
        raise InputError(f"{path}: no such file or folder", fix="check the path") from cause
    except PermissionError as cause:
        raise InputError(f"{path}: may not be read by this user", fix=f"chmod u+r {path.name}, or run as its owner") from cause
    except OSError as cause:
        raise InputError(f"{path}: {cause.strerror or cause}", fix="check the path and the disk") from cause
    if not head:
        raise InputError(f"{path}: is empty (0 bytes)", fix="write the file again; its writer may have been interrupted")
    for mark, (what, command) in _PACKED.items():
        if head.startswith(mark):
            raise InputError(f"{path}: is {what}", fix=f"unpack it first ({command} {path.name}) and give what was inside")


def read_text(path: Path) -> str:
    """The text of a UTF-8 file (a byte order mark is dropped).

    Raises: InputError for what check_readable names, and for another encoding, with the line of the first wrong byte.
    """
    check_readable(path)
    return decode(path.read_bytes(), str(path))


def decode(data: bytes, name: str) -> str:
    """The text of UTF-8 bytes (a byte order mark is dropped). `name`: what the bytes are, for the error.

    Raises: InputError for another encoding, with the line of the first wrong byte.
    """
    file = name.rsplit("/", 1)[-1]
    if data[:2] in _WIDE:
        raise InputError(f"{name}: is {_WIDE[data[:2]]}, not UTF-8", fix=f"iconv -f UTF-16 -t UTF-8 {file} > new file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as cause:
        line = data.count(b"\n", 0, cause.start) + 1
        raise InputError(
            f"{name}:{line}: is not UTF-8 (byte 0x{data[cause.start]:02x})",
            fix=f"save it as UTF-8, for example: iconv -f WINDOWS-1252 -t UTF-8 {file} > new file",
        ) from cause


def read_json(path: Path, loads: Callable[[str], Any] = parse_json) -> Any:
    """The value of a JSON file, by `loads`. Raises InputError with line and column where it is not JSON."""
    text = read_text(path)
    try:
        return loads(text)
    except json.JSONDecodeError as cause:
        raise InputError(f"{path}:{cause.lineno}: not JSON: {cause.msg} (column {cause.colno})", fix="correct the file there") from cause
    except ValueError as cause:  # nested too deeply, or a number of thousands of digits
        raise InputError(f"{path}: JSON that cannot be read: {str(cause)[:100]}", fix="correct the file there") from cause


def constant(name: str) -> float | None:
    """What NaN and the infinities become: pandas writes NaN for a missing value; the others are faults where a number is needed."""
    return None if name == "NaN" else float(name)


def loads(text: str | bytes) -> Any:
    """The value of a JSON text, NaN as None. Raises: ValueError."""
    return parse_json(text, constant)


def parse_yaml(text: str) -> Any:
    """The value of a YAML text without aliases, merge keys and tags, of which a few lines can stand for gigabytes or hours, and without
    numbers of more than 1,000 characters. Raises: ValueError."""
    import yaml

    class PlainLoader(yaml.SafeLoader):  # type: ignore[misc]
        def compose_node(self, parent: Any, index: Any) -> Any:
            event = self.peek_event()
            line = event.start_mark.line + 1
            if isinstance(event, yaml.AliasEvent):
                raise ValueError(f"aliases (*name) are not read (line {line})")
            # `%TAG ! x...` gives each `!` below it a megabyte; others make sets, bytes and pairs, which JSON has not
            if event.tag not in _YAML_TAGS:
                raise ValueError(f"tags ({event.tag.removeprefix(_YAML)[:40]}) are not read (line {line})")
            node = super().compose_node(parent, index)
            if node.tag == f"{_YAML}merge":
                raise ValueError(f"merge keys (<<) are not read (line {line})")
            # 1:59:59 is a number to the base of 60, and takes time by the square of its parts; one of 5,000 digits cannot be shown
            if node.tag in _YAML_NUMBERS and len(node.value) > LONGEST_NUMBER:
                raise ValueError(f"a number of more than {LONGEST_NUMBER:,} characters (line {line})")
            return node

    try:
        value = PlainLoader(text).get_single_data()
    except OverflowError as cause:  # 200 parts to the base of 60
        raise ValueError("a number that is too large") from cause
    except yaml.YAMLError as cause:
        raise ValueError(" ".join(str(cause).split())) from cause
    except RecursionError:
        raise ValueError("nested too deeply") from None
    check_depth(value)
    return value


def read_jsonl(path: Path) -> Iterator[Line]:
    """The lines of a JSONL file as `json_lines` has them. Raises: as read_text."""
    return json_lines(read_text(path).split("\n"), path.name)


def json_lines(lines: Iterable[str | bytes], name: str) -> Iterator[Line]:
    """Lines of JSON in order; blank ones are passed over, a faulty one comes with its fault. `name`: what they are called in `where`.

    Raises: InputError for bytes that are not UTF-8.
    """
    for number, raw in enumerate(lines, start=1):
        where = f"{name}:{number}"
        try:
            text = (raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw).decode() if isinstance(raw, bytes) else raw
            if text.strip():
                yield Line(where, loads(text))
        except UnicodeDecodeError as cause:
            raise InputError(
                f"{where}: is not UTF-8 (byte 0x{cause.object[cause.start]:02x})",
                fix=f"save it as UTF-8, for example: iconv -f WINDOWS-1252 -t UTF-8 {name} > new file",
            ) from cause
        except ValueError as cause:
            yield Line(where, fault=f"not JSON: {getattr(cause, 'msg', None) or str(cause)[:100]}")


def read_table(path: Path, delimiter: str) -> Iterator[Line]:
    """The rows of a CSV or TSV file as lists of cells, blank rows passed over. `where` has the row's last line."""
    yield from table_rows(io.StringIO(read_text(path), newline=""), path.name, delimiter)  # a line separator in a cell ends no row


def table_rows(lines: Iterable[str], name: str, delimiter: str) -> Iterator[Line]:
    """The rows of a table as lists of cells, blank rows passed over. `name`: what the table is called in `where`."""
    csv.field_size_limit(LONGEST_CELL)
    # Without `strict` a quote that is never closed takes all that follows into its cell, and nobody hears of it.
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as cause:
            yield Line(f"{name}:{reader.line_num}", fault=f"not a row of a table: {cause}")
            continue
        if any(cell.strip() for cell in cells):
            yield Line(f"{name}:{reader.line_num}", cells)


def under(header: Sequence[str], line: Line) -> Line:
    """A row of a table as a map under its header; cells beyond it are a fault, unless they are blank."""
    if line.fault is None and any(cell.strip() for cell in line.value[len(header):]):
        what = f"{len(line.value)} cells, the header has {len(header)} (a separator inside an unquoted cell?)"
        return Line(line.where, fault=what)
    return line if line.fault is not None else Line(line.where, dict(zip(header, line.value, strict=False)))


def read_parquet(path: Path, columns: Iterable[str] = ()) -> list[dict[str, Any]]:
    """The rows of a Parquet file as dicts; of the `columns` only those that it has (none named: all).

    Raises: InputError for what check_readable names and for a file that is not Parquet.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    check_readable(path)
    try:
        with pq.ParquetFile(path) as file:
            wanted = [name for name in columns if name in file.schema_arrow.names] or None
        rows: list[dict[str, Any]] = [row for batch in parquet_batches(path, BATCH, wanted) for row in batch.to_pylist()]
    except (pa.ArrowException, OSError, UnicodeDecodeError) as cause:
        raise InputError(f"{path}: not a Parquet file: {str(cause).splitlines()[0]}", fix="write the table again") from cause
    return rows


def parquet_columns(path: Path) -> list[str]:
    """The column names of a Parquet file. Raises as read_parquet does."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    check_readable(path)
    try:
        names: list[str] = pq.read_schema(path).names
    except (pa.ArrowException, OSError) as cause:
        raise InputError(f"{path}: not a Parquet file: {str(cause).splitlines()[0]}", fix="write the table again") from cause
    return names


def sha256(paths: Iterable[Path], *salt: str) -> str:
    """One SHA-256 over the names and bytes of the files, in the order given, and over the salt."""
    total = hashlib.sha256("\0".join(salt).encode())
    for path in paths:
        with path.open("rb") as file:
            total.update(f"\0{path.name}\0".encode() + hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()


def plain_value(value: Any) -> Any:
    """What JSON has for a value of numpy's, pandas' or pydantic's: `default` of json.dumps. Raises: TypeError for another."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    for method in ("tolist", "isoformat"):
        if hasattr(value, method):
            return getattr(value, method)()
    if isinstance(value, set | frozenset | tuple):
        return list(value)
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"a value of type {type(value).__name__} cannot be read")
