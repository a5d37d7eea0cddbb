"""Parquet in batches of bounded size. A file of kilobytes can stand for terabytes: a value is written once and repeated by number, a column
without values takes no room, a list has a hundred million items that are alike, a page is packed to a ten-thousandth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from kgeval.limits import check_ratio
from kgeval.tables.parquet_pages import ChunkPages, read_pages

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_BYTES = 32 << 20
# What a value takes at least when rows become Python's: a cell of a row, an item of a list, an item that is a list or a map.
A_CELL, AN_ITEM, A_NESTED = 32, 8, 64
ROOM = 1_024  # values of a column for which Arrow makes room, however few rows are asked for


@dataclass(frozen=True)
class _Chunk:
    """A column of a row group. `width`: bytes of a value that is no text of its own length; `in_lists`: one row may hold all its values;
    `nested`: an item is a list or a map, or a part of one."""

    name: str
    is_text: bool
    width: int
    in_lists: bool
    nested: bool
    pages: ChunkPages

    @property
    def least(self) -> int:
        """Bytes that its values take at least, and at once where one row may hold them all."""
        item = max(A_NESTED if self.nested else AN_ITEM, self.width) if self.in_lists else 1
        return max(self.pages.values * item, min(self.pages.values, ROOM) * self.width)


def parquet_batches(path: Path, rows: int, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
    """The rows of a file, at most `rows` at a time, fewer where they are large. `columns`: None: all.

    Bounded before a row is read: bytes of pages unpacked, values, items of lists, and texts that a dictionary or a common beginning
    repeats, each by the ratio. Not bounded: the footer, which is not packed, and takes up to 350 times its bytes in memory; texts in
    lists that share their beginnings (DELTA_BYTE_ARRAY), of which one row is read before they are counted.
    Raises: TooLargeError before the memory is spent; what pyarrow raises for a file that is not Parquet.
    """
    import pyarrow.parquet as pq

    size, read = path.stat().st_size, 0
    with pq.ParquetFile(path, pre_buffer=False) as file:
        groups = _chunks_of(path, file.metadata)
        _check_sizes(file.metadata, groups, str(path), size)
        for group, chunks in enumerate(groups):
            for batch in file.iter_batches(_rows_at_once(path, file, group, chunks, rows, size), row_groups=[group], columns=columns):
                whole = _with_values(batch)
                read += whole.nbytes
                check_ratio(str(path), size, read)
                yield whole


def _chunks_of(path: Path, footer: Any) -> list[list[_Chunk]]:
    """The columns of each row group, with what their pages say. Raises: ArrowInvalid for a header of a page that is none."""
    import pyarrow as pa

    kinds = [footer.schema.column(position) for position in range(footer.num_columns)]
    try:
        with path.open("rb") as file:
            return [
                [_chunk(file, kind, footer.row_group(group).column(position)) for position, kind in enumerate(kinds)]
                for group in range(footer.num_row_groups)
            ]
    except ValueError as cause:
        raise pa.ArrowInvalid(str(cause)) from cause


def _chunk(file: IO[bytes], kind: Any, column: Any) -> _Chunk:
    # as Arrow finds where the pages begin
    start = column.data_page_offset
    if column.dictionary_page_offset and 0 < column.dictionary_page_offset < start:
        start = column.dictionary_page_offset
    pages = read_pages(file, start, column.total_compressed_size, column.num_values)
    # of a list `xs.list.element`, of a map `xs.key_value.key`, of a list of maps `xs.list.element.a`
    nested = kind.max_repetition_level > 1 or kind.path.count(".") > 2 or "key_value" in kind.path
    width = kind.length if kind.physical_type == "FIXED_LEN_BYTE_ARRAY" else 8
    return _Chunk(kind.path, kind.physical_type == "BYTE_ARRAY", width, kind.max_repetition_level > 0, nested, pages)


def _with_values(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with values where it had their numbers in a dictionary, which is how pandas' categories come."""
    import pyarrow as pa

    columns = [column.dictionary_decode() if pa.types.is_dictionary(column.type) else column for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _check_sizes(footer: Any, groups: Sequence[Sequence[_Chunk]], name: str, size: int) -> None:
    """Raises: TooLargeError where the parts of the file hold too much."""
    chunks = [chunk for group in groups for chunk in group]
    check_ratio(name, size, footer.num_rows * footer.num_columns)  # a cell takes a byte at least
    for chunk in chunks:
        column = f"{name}: column {chunk.name[:60]!r}"
        check_ratio(column, chunk.pages.packed, chunk.pages.unpacked)
        check_ratio(column, size, chunk.least)
    # several columns may have the same bytes for their pages
    check_ratio(name, size, sum(chunk.pages.unpacked for chunk in chunks))
    check_ratio(name, size, sum(chunk.least for chunk in chunks))


def _rows_at_once(path: Path, file: Any, group: int, chunks: Sequence[_Chunk], rows: int, size: int) -> int:
    """How many rows of a row group fit into one batch, by the longest value of each column that few bytes can repeat. Raises:
    TooLargeError where lists repeat a text more often than can be real."""
    # a dictionary is a part of its column: most cannot fill a batch, however often they are repeated
    repeating = [
        chunk for chunk in chunks
        if chunk.is_text and chunk.pages.has_dictionary
        and chunk.pages.largest * (chunk.pages.values if chunk.in_lists else min(rows, chunk.pages.values)) > BATCH_BYTES
    ]
    a_row = A_CELL * len(chunks)
    for chunk in chunks:
        if not chunk.is_text and not chunk.in_lists:
            a_row += chunk.width
        elif chunk.is_text and chunk.pages.shares_prefixes:
            a_row += chunk.pages.largest  # each text of a page may be as long as all that is in it
    for chunk, longest in _longest_texts(path, file.metadata, group, repeating):
        if chunk.in_lists:
            # one row may hold all items
            check_ratio(f"{path}: column {chunk.name[:60]!r}", size, longest * chunk.pages.values)
        a_row += longest
    return max(1, min(rows, BATCH_BYTES // a_row))


def _longest_texts(path: Path, footer: Any, group: int, chunks: Sequence[_Chunk]) -> Iterator[tuple[_Chunk, int]]:
    """The column chunks with the bytes of the longest text in their dictionaries: these are read whole with the first row."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    for chunk in chunks:
        with pq.ParquetFile(path, metadata=footer, read_dictionary=[chunk.name], pre_buffer=False) as file:
            batches = file.iter_batches(1, row_groups=[group], columns=[chunk.name])
            for column in next(batches).columns:
                texts = _dictionary_of(column)
                if texts is not None and len(texts):
                    yield chunk, pc.max(pc.binary_length(texts)).as_py() or 0


def _dictionary_of(column: Any) -> Any:
    """The dictionary of a column of texts, or of what its lists and maps hold; None where there is none."""
    import pyarrow as pa

    while not isinstance(column, pa.DictionaryArray):
        inner = _inner(column)
        if inner is None:
            return None
        column = inner
    return column.dictionary


def _inner(column: Any) -> Any:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_struct(kind):
        return column.field(0) if kind.num_fields else None
    if pa.types.is_map(kind):
        return column.items if pa.types.is_dictionary(kind.item_type) else column.keys
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return column.values
    return None
