"""Columns of strangers' tables as text, numbers and lists: what kgeval.graph.load.values does to one cell, done to a whole column.

Each function gives the column and {position: what is wrong with it}; what is common goes through vectorised steps, the rest
through the function for one cell, so that both importers mean the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kgeval.graph.load import values
from kgeval.graph.load.values import Misfit
from kgeval.tables.cells import EXACT, unfloated

if TYPE_CHECKING:
    import pyarrow as pa

CellFaults = dict[int, str]  # position in the column -> what is wrong there
NUMBER = r"^\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"


def text(column: pa.Array, field: str) -> tuple[pa.Array, CellFaults]:
    """The column as text; blank cells are null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_integer(column.type):
        return column.cast(pa.string()), {}
    if not pa.types.is_string(column.type):
        return each(column, lambda cell: values.text(cell, field), pa.string())
    blank = pc.or_(pc.utf8_is_space(column), pc.equal(pc.binary_length(column), 0))
    return pc.if_else(blank, pa.scalar(None, pa.string()), column), {}


def description(column: pa.Array, field: str) -> tuple[pa.Array, CellFaults]:
    """The column as text, the pieces of a description one a line."""
    import pyarrow as pa
    import pyarrow.compute as pc

    lines, faults = text(column, field)
    if not pc.any(pc.match_substring(lines, values.SEPARATOR)).as_py():
        return lines, faults
    return pa.array([values.one_a_line(cell) for cell in lines.to_pylist()], pa.string()), faults


def needed(column: pa.Array, field: str) -> tuple[pa.Array, CellFaults]:
    """The column as text; a missing or blank cell is a fault."""
    import pyarrow.compute as pc

    column_text, faults = text(column, field)
    for position in pc.indices_nonzero(pc.is_null(column_text)).to_pylist():
        faults.setdefault(position, f"{field}: missing or empty")
    return column_text, faults


def key(column: pa.Array, field: str) -> tuple[pa.Array, CellFaults]:
    """The column as ids; a missing or blank cell is a fault. Whole floats are ids without a fraction (kgeval.graph.load.values.key)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
        # above EXACT (2^53) a float does not tell whole numbers apart: such a column is read cell by cell, as the other importer does
        whole = pc.and_(pc.equal(pc.floor(column), column), pc.less(pc.abs(column), float(EXACT)))
        # min_count=0: a column of nulls alone would answer null
        if pc.all(whole, min_count=0).as_py():
            column = column.cast(pa.int64())
        else:
            column, _ = each(column, lambda cell: str(unfloated(cell)), pa.string())
    return needed(column, field)


def number(column: pa.Array, field: str) -> tuple[pa.Array, CellFaults]:
    """The column as floats; blank cells and NaN are null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(column.type):
        column, _ = text(column, field)
        if not pc.all(pc.match_substring_regex(column, NUMBER)).as_py():
            return each(column, lambda cell: values.number(cell, field), pa.float64())
        column = pc.utf8_trim_whitespace(column)
        # Arrow's cast knows no leading plus
        column = pc.if_else(pc.starts_with(column, "+"), pc.utf8_slice_codeunits(column, 1), column)
    elif not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return each(column, lambda cell: values.number(cell, field), pa.float64())
    out = column.cast(pa.float64())
    return pc.if_else(pc.is_nan(out), pa.scalar(None, pa.float64()), out), {}


def whole_number(column: pa.Array, field: str) -> tuple[pa.Array, CellFaults]:
    """The column as whole numbers."""
    import pyarrow as pa

    if pa.types.is_integer(column.type):
        return column, {}
    return each(column, lambda cell: values.whole_number(cell, field), pa.int64())


def texts(column: pa.Array, field: str, *, separators: str = "") -> tuple[pa.Array, CellFaults]:
    """The column as lists of distinct texts; empty ones are null."""
    import pyarrow as pa

    return each(column, lambda cell: values.texts(cell, field, separators=separators) or None, pa.list_(pa.string()))


def numbers(column: pa.Array, field: str) -> tuple[pa.Array, CellFaults]:
    """The column as lists of floats (an embedding): a list, or JSON text of one."""
    import pyarrow as pa

    if pa.types.is_list(column.type) and pa.types.is_floating(column.type.value_type):
        return column, {}
    return each(column, lambda cell: values.numbers(cell, field), pa.list_(pa.float64()))


def each(column: pa.Array, read: Callable[[Any], Any], kind: pa.DataType) -> tuple[pa.Array, CellFaults]:
    """The column cell by cell; a text that comes again is read once."""
    import pyarrow as pa

    if pa.types.is_string(column.type):
        coded = column.dictionary_encode()
        values_read, faults = _each(coded.dictionary.to_pylist(), read)
        if not faults:
            return pa.array(values_read, kind).take(coded.indices), {}
    values_read, faults = _each(column.to_pylist(), read)
    return pa.array(values_read, kind), faults


def _each(cells: list[Any], read: Callable[[Any], Any]) -> tuple[list[Any], CellFaults]:
    values_read, faults = [], {}
    for position, cell in enumerate(cells):
        try:
            values_read.append(None if cell is None else read(cell))
        except Misfit as misfit:
            values_read.append(None)
            faults[position] = str(misfit)
    return values_read, faults
