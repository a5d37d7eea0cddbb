"""The CSV files for Neo4j's import tool. Texts are always quoted; rows with a line break in a text go to a file of their own,
since the tool reads only files without line breaks in parallel.

The separator inside lists is the control character U+001F; a value that holds it is taken apart by nobody: it becomes a space.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

SEPARATOR = "\x1f"
NUMBER_BYTES = 30  # the longest number, or a text's quotes, and a comma
IDS, START, END, LABEL, TYPE = ":ID", ":START_ID", ":END_ID", ":LABEL", ":TYPE"


@dataclass(frozen=True)
class SheetFiles:
    """The files of one sheet: header first, then data. `broken`: the one with line breaks in texts. `type`: of all its relations."""

    files: tuple[str, ...]
    broken: str | None
    type: str | None


class ToolSheet:
    """One table for the tool: a header file and up to two data files, written batch by batch. `longest`: bytes of the
    longest row, or a little more."""

    def __init__(self, folder: Path, stem: str, *, relation_type: str | None = None) -> None:
        self._folder, self._stem, self._type = folder, stem, relation_type
        self._files: dict[str, IO[bytes]] = {}
        self._names: list[str] | None = None
        self.rows = 0
        self.longest = 0

    def write(self, columns: dict[str, pa.Array]) -> None:
        """Some rows: {column of the tool's header: values}. All batches must have the same columns. The name of a property is
        safe for a header (kgeval.graph.load.table_files); its type is added from the values."""
        import pyarrow as pa

        if self._names is None:
            self._names = [name if name.startswith(":") else f"{name}:{_type(column.type)}" for name, column in columns.items()]
            with (self._folder / self._name("head")).open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerow(self._names)
        table = pa.table(list(map(_cells, columns.values())), names=self._names)
        if not table.num_rows:
            return
        self.rows += table.num_rows
        broken = self._broken(table)
        if broken is None:
            self._append("rows", table)
        else:
            import pyarrow.compute as pc

            self._append("rows", table.filter(pc.invert(broken)))
            self._append("lines", table.filter(broken))

    def close(self) -> SheetFiles | None:
        """Closes the files; None where nothing was written."""
        for file in self._files.values():
            file.close()
        if not self._files:
            return None
        files = (self._name("head"), *(self._name(part) for part in self._files))
        return SheetFiles(files, self._name("lines") if "lines" in self._files else None, self._type)

    def discard(self) -> None:
        """Closes the files and deletes them."""
        for file in self._files.values():
            file.close()
            Path(file.name).unlink()

    def _append(self, part: str, table: pa.Table) -> None:
        from pyarrow import csv as pcsv

        if table.num_rows:
            if part not in self._files:
                self._files[part] = (self._folder / self._name(part)).open("wb")
            # Arrow's "needed" quotes every text, so an empty one is told from a missing one, and no number
            pcsv.write_csv(table, self._files[part], pcsv.WriteOptions(include_header=False, quoting_style="needed"))

    def _name(self, part: str) -> str:
        return f"{self._stem}-{part}.csv"

    def _broken(self, table: pa.Table) -> Any:
        """Which rows hold a line break; None where none does."""
        import pyarrow as pa
        import pyarrow.compute as pc

        broken, longest = None, NUMBER_BYTES * len(table.columns)
        for column in table.columns:
            if not pa.types.is_string(column.type):
                continue
            longest += pc.max(pc.binary_length(column)).as_py() or 0
            self.longest = max(self.longest, longest)
            if not any(_has_break(chunk) for chunk in column.chunks):
                continue
            hit = pc.fill_null(pc.match_substring_regex(column, "[\r\n]"), False)
            broken = hit if broken is None else pc.or_(broken, hit)
        return None if broken is None or not pc.any(broken).as_py() else broken


def _has_break(column: pa.Array) -> bool:
    """Whether a line break stands anywhere in the column's texts; looks at the bytes once."""
    import numpy as np

    data = column.buffers()[2]
    if data is None:
        return False
    # the buffer of a slice holds its parent's texts too: a break that is not in the slice costs a look by the regex, no more
    bytes_ = np.frombuffer(data, np.uint8)
    return bool((bytes_ == 10).any() or (bytes_ == 13).any())


def _cells(column: pa.Array) -> pa.Array:
    """A column as the tool reads it: lists joined, floats with Java's word for infinity."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_list(column.type):
        texts = pa.types.is_string(column.type.value_type)
        items = pc.replace_substring(column.values, SEPARATOR, " ") if texts else _cells_of_numbers(column.values)
        return pc.binary_join(pa.ListArray.from_arrays(column.offsets, items, mask=pc.is_null(column)), SEPARATOR)
    return _cells_of_numbers(column) if pa.types.is_floating(column.type) else column


def _cells_of_numbers(column: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = column.cast(pa.string())
    if not pa.types.is_floating(column.type):
        return texts
    texts = pc.if_else(pc.is_inf(column), pc.replace_substring(texts, "inf", "Infinity"), texts)
    return pc.if_else(pc.is_nan(column), pa.scalar("NaN"), texts)


def _type(kind: pa.DataType) -> str:
    """The tool's word for a column's type."""
    import pyarrow as pa

    if pa.types.is_list(kind):
        return f"{_type(kind.value_type)}[]"
    if pa.types.is_boolean(kind):
        return "boolean"
    return "long" if pa.types.is_integer(kind) else "double" if pa.types.is_floating(kind) else "string"
