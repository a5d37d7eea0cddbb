"""Reads a table in batches of columns, in flat memory: CSV as text, Parquet with its types made plain."""

from __future__ import annotations

import csv
from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.errors import InputError
from kgeval.graph.load.bulk import quotes
from kgeval.graph.load.table_files import delimiter, header
from kgeval.tables import check_readable
from kgeval.tables.parquet import parquet_batches

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 4 << 20  # bytes of a CSV file, or of decoded Parquet, in one batch
MOST_ROWS = 100_000
LONGEST_CELL = 1 << 30
MOST_TORN = 1000


@dataclass(frozen=True)
class TableBatch:
    """Some rows of one table. `first`: how many rows stand before them in the file, rows with a wrong number of cells left out."""

    path: Path
    first: int
    data: pa.RecordBatch


@dataclass
class InputTable:
    """One file. While it is read, `torn` gathers the first 1,000 rows with a wrong number of cells: (row, from 1; what is wrong),
    and `torn_rows` the numbers of all of them. `blank` counts those of them that hold nothing but blanks: they are no faults."""

    path: Path
    names: tuple[str, ...]
    torn: list[tuple[int, str]] = field(default_factory=list)
    torn_rows: array[int] = field(default_factory=lambda: array("q"))
    blank: int = 0

    def batches(self) -> Iterator[TableBatch]:
        """The rows, in batches. Raises: InputError with file and line where the file is damaged or not UTF-8."""
        check_readable(self.path)
        self.torn.clear()
        del self.torn_rows[:]
        self.blank = first = 0
        for data in self._csv() if self.is_csv else self._parquet():
            if data.num_rows:
                yield TableBatch(self.path, first, data.rename_columns(list(self.names)))
            first += data.num_rows

    def row(self, position: int) -> int:
        """The row in the file, from 1, of the row at `position` among those that were not torn."""
        before = bisect_right(range(len(self.torn_rows)), position, key=lambda at: self.torn_rows[at] - at - 1)
        return position + 1 + before

    @property
    def is_csv(self) -> bool:
        """Whether all cells are text, and rows of blanks are passed over."""
        return self.path.suffix.lower() != ".parquet"

    def _parquet(self) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            footer = pq.read_metadata(self.path)
            size = sum(footer.row_group(index).total_byte_size for index in range(footer.num_row_groups))
            rows = min(MOST_ROWS, max(100, BLOCK * 2 * footer.num_rows // max(size, 1)))
            for batch in parquet_batches(self.path, rows):
                yield plain(batch, self.path)
        except (pa.ArrowException, OSError) as cause:
            raise InputError(f"{self.path}: not a Parquet file: {str(cause).splitlines()[0]}", fix="write the table again") from cause

    def _csv(self) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        from pyarrow import csv as pcsv

        mark = delimiter(self.path)

        def note(row: Any) -> str:
            # Arrow counts the header as row 1
            self.torn_rows.append(row.number - 1)
            # a row of separators and quotes is blank, but `""""` is a cell that holds a quote
            if not row.text.replace(mark, "").replace('"', "").strip() and '"""' not in row.text:
                self.blank += 1
            elif len(self.torn) < MOST_TORN:
                self.torn.append((row.number - 1, f"{row.actual_columns} cells, the header has {row.expected_columns}"))
            return "skip"

        try:
            quotes.check(self.path, mark)
            with pcsv.open_csv(
                self.path,
                read_options=pcsv.ReadOptions(use_threads=False, block_size=BLOCK),  # row numbers are only known to one thread
                parse_options=pcsv.ParseOptions(delimiter=mark, newlines_in_values=True, invalid_row_handler=note),
                convert_options=pcsv.ConvertOptions(column_types={name: pa.string() for name in header(self.path)}),
            ) as reader:
                yield from reader
        except pa.ArrowInvalid as cause:
            raise self._damaged(cause) from cause
        except OSError as cause:
            raise InputError(f"{self.path}: {cause}", fix="check the disk") from cause

    def _damaged(self, cause: Exception) -> InputError:
        """What is wrong with a CSV file that the fast reader gave up on: found again row by row."""
        csv.field_size_limit(LONGEST_CELL)
        with self.path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            size, begun = 0, 1

            def measured() -> Iterator[str]:
                nonlocal size
                for line in file:
                    size += len(line.encode("utf-8", errors="surrogateescape"))
                    yield line

            reader = csv.reader(measured(), delimiter=delimiter(self.path))
            for cells in reader:
                bad = next((position for position, cell in enumerate(cells) if any("\udc80" <= c <= "\udcff" for c in cell)), None)
                if bad is not None:
                    name = self.names[bad] if bad < len(self.names) else f"cell {bad + 1}"
                    return InputError(f"{self.path}:{reader.line_num}: {name}: is not UTF-8", fix="save the file as UTF-8")
                if size > BLOCK:
                    where = f"{self.path}:{begun}: the row that begins here is longer than {BLOCK >> 20} MB"
                    return InputError(where, fix='close its quotes (a quote inside a quoted cell is written ""), or use Parquet')
                begun, size = reader.line_num + 1, 0
        return InputError(f"{self.path}: not a table: {str(cause).splitlines()[0]}", fix="correct the file, or export it as Parquet")


def lines(path: Path, rows: Collection[int]) -> dict[int, str]:
    """Where rows are, in words: `file:line` (its last line) in CSV, `file: row n` in Parquet. A CSV file is read again, once."""
    places = {row: f"{path.name}: row {row}" for row in rows}
    if path.suffix.lower() == ".parquet" or not places:
        return places
    csv.field_size_limit(LONGEST_CELL)
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter(path))
        row_number, last = -1, max(places)
        for cells in reader:
            row_number += bool(cells)
            if cells and row_number in places:
                places[row_number] = f"{path.name}:{reader.line_num}"
            if row_number >= last:
                break
    return places


def plain(batch: pa.RecordBatch, path: Path) -> pa.RecordBatch:
    """The batch with few types: text, 64-bit whole numbers and floats, booleans, lists of these; bytes are read as UTF-8, dates and
    UUIDs become text, the rest JSON."""
    import pyarrow as pa

    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            columns.append(plain_column(column))
        except (pa.ArrowInvalid, UnicodeDecodeError) as cause:
            fix = "whole numbers must fit into 64 bits with a sign; write larger ones as text"
            if isinstance(cause, UnicodeDecodeError) or "UTF8" in str(cause):
                fix = "bytes that are no text in UTF-8 cannot be kept: write them as text, or leave the column out"
            raise InputError(f"{path}: column {name[:60]!r}: {str(cause).splitlines()[0][:200]}", fix=fix) from cause
    return pa.RecordBatch.from_arrays(columns, names=list(batch.schema.names))


def plain_column(column: pa.Array) -> pa.Array:
    """One column made plain, as `plain` says. Lists lose their nulls and blanks; an empty one is null."""
    import json

    import pyarrow as pa

    if isinstance(column.type, pa.UuidType):
        return pa.array([None if value is None else str(value) for value in column.to_pylist()], pa.string())
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.dictionary_decode(), kind.value_type
    wanted = _plain_type(kind)
    if wanted is not None:
        return column if kind == wanted else column.cast(wanted)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        inner = _plain_type(kind.value_type)
        if inner is not None:
            return _lists(column.cast(pa.list_(inner)))
    texts = [None if value is None else json.dumps(value, ensure_ascii=False, default=_words) for value in column.to_pylist()]
    return pa.array(texts, pa.string())


def _words(value: Any) -> str:
    """A nested value that JSON has no form for. Raises: UnicodeDecodeError."""
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def _plain_type(kind: pa.DataType) -> pa.DataType | None:
    import pyarrow as pa

    is_ = pa.types
    texts = (
        is_.is_null, is_.is_string, is_.is_large_string, is_.is_string_view, is_.is_binary, is_.is_large_binary, is_.is_binary_view,
        is_.is_fixed_size_binary, is_.is_temporal, is_.is_decimal,
    )
    if any(is_text(kind) for is_text in texts):
        return pa.string()
    plain_types = ((is_.is_integer, pa.int64()), (is_.is_floating, pa.float64()), (is_.is_boolean, pa.bool_()))
    return next((plain_type for fits, plain_type in plain_types if fits(kind)), None)


def _lists(column: pa.ListArray) -> pa.ListArray:
    """Lists without null and empty items; empty lists are null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    items = column.flatten()
    if items.null_count or (pa.types.is_string(items.type) and pc.any(pc.equal(pc.binary_length(items), 0)).as_py()):
        kept = [None if row is None else [item for item in row if item not in (None, "")] for row in column.to_pylist()]
        column = pa.array(kept, column.type)
    return pc.if_else(pc.equal(pc.list_value_length(column), 0), pa.scalar(None, column.type), column)
