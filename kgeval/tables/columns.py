"""Records as tables of fixed columns, CSV or Parquet, written as they come: whole or not at all, readable by this user only."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from kgeval.tables.plain import private

BATCH = 10_000


def write_csv(path: Path, columns: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """A CSV file with a head; None is an empty cell."""
    names = tuple(columns)
    with private(path) as file:
        writer = csv.writer(file, lineterminator="\r\n")  # as RFC 4180 has it; cells with either character are then quoted
        writer.writerow(names)
        for row in rows:
            writer.writerow(["" if row[name] is None else row[name] for name in names])


def write_parquet(path: Path, columns: Iterable[str], types: Mapping[str, type], rows: Iterable[Mapping[str, Any]]) -> None:
    """A Parquet file. `types`: of the columns that are no text: int or float."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    known = {float: pa.float64(), int: pa.int64(), str: pa.string()}
    schema = pa.schema([(name, known[types.get(name, str)]) for name in columns])
    left = iter(rows)
    with private(path, binary=True) as file, pq.ParquetWriter(file, schema) as writer:
        while batch := list(islice(left, BATCH)):
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
