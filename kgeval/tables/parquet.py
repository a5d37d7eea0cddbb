"""Parquet in batches of bounded size. A file of kilobytes can stand for terabytes: a value is written once and repeated by number, a column
without values takes no room, a page is packed to a ten-thousandth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.limits import check_ratio

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_BYTES = 32 << 20


def parquet_batches(path: Path, rows: int, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
    """The rows of a file, at most `rows` at a time, fewer where they are large. `columns`: None: all.

    Raises: TooLargeError before the memory is spent; what pyarrow raises for a file that is not Parquet.
    """
    import pyarrow.parquet as pq

    size, read = path.stat().st_size, 0
    with pq.ParquetFile(path, pre_buffer=False) as file:
        _check_footer(file.metadata, str(path), size)
        for group in range(file.metadata.num_row_groups):
            for batch in file.iter_batches(_rows_at_once(path, file, group, rows, size), row_groups=[group], columns=columns):
                whole = _with_values(batch)
                read += whole.nbytes
                check_ratio(str(path), size, read)
                yield whole


def _with_values(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with values where it had their numbers in a dictionary, which is how pandas' categories come."""
    import pyarrow as pa

    columns = [column.dictionary_decode() if pa.types.is_dictionary(column.type) else column for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _check_footer(footer: Any, name: str, size: int) -> None:
    """Raises: TooLargeError where the file's own list of its parts says too much."""
    check_ratio(name, size, footer.num_rows * footer.num_columns)  # a cell takes a byte at least
    for group in range(footer.num_row_groups):
        part = footer.row_group(group)
        for chunk in map(part.column, range(part.num_columns)):
            check_ratio(f"{name}: column {chunk.path_in_schema[:60]!r}", chunk.total_compressed_size, chunk.total_uncompressed_size)


def _rows_at_once(path: Path, file: Any, group: int, rows: int, size: int) -> int:
    """How many rows of a row group fit into one batch, by the longest text that its columns repeat. Raises: TooLargeError where lists
    repeat one more often than can be real."""
    part = file.metadata.row_group(group)
    chunks = [part.column(position) for position in range(part.num_columns)]
    # a dictionary is a part of its column: most cannot fill a batch, however often they are repeated
    repeating = [
        chunk for chunk in chunks
        if chunk.physical_type == "BYTE_ARRAY" and chunk.has_dictionary_page and chunk.total_uncompressed_size * max(
            min(rows, part.num_rows), chunk.num_values if "." in chunk.path_in_schema else 0,
        ) > BATCH_BYTES
    ]
    a_row = 1
    for chunk, longest in _longest_texts(path, file.metadata, group, repeating):
        if "." in chunk.path_in_schema:
            # one row may hold all items
            check_ratio(f"{path}: column {chunk.path_in_schema[:60]!r}", size, longest * chunk.num_values)
        a_row += longest
    return max(1, min(rows, BATCH_BYTES // a_row))


def _longest_texts(path: Path, footer: Any, group: int, chunks: Sequence[Any]) -> Iterator[tuple[Any, int]]:
    """The column chunks with the bytes of the longest text in their dictionaries: these are read whole with the first row."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    for chunk in chunks:
        with pq.ParquetFile(path, metadata=footer, read_dictionary=[chunk.path_in_schema], pre_buffer=False) as file:
            batches = file.iter_batches(1, row_groups=[group], columns=[chunk.path_in_schema])
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
