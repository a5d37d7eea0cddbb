"""Records as tables of fixed columns, CSV or Parquet, written as they come: through the one door."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any

from kgeval.tables.output import replacing, write_cells

BATCH = 10_000


def write_csv(path: Path, columns: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """A CSV file with a head; None is an empty cell."""
    names = tuple(columns)
    with replacing(path) as file:
        cells = ([row[name] for name in names] for row in rows)
        # as RFC 4180 has it; cells with either character are then quoted
        write_cells(file, chain([names], cells), line_end="\r\n")


def write_parquet(path: Path, columns: Iterable[str], types: Mapping[str, type], rows: Iterable[Mapping[str, Any]]) -> None:
    """A Parquet file. `types`: of the columns that are no text: int or float."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    known = {float: pa.float64(), int: pa.int64(), str: pa.string()}
    schema = pa.schema([(name, known[types.get(name, str)]) for name in columns])
    left = iter(rows)
    with replacing(path, binary=True) as file, pq.ParquetWriter(file, schema) as writer:
        while batch := list(islice(left, BATCH)):
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
