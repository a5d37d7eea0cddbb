"""Blind sheets for people: CSV that no spreadsheet takes for formulas, never written over labels, read back with all faults.

A sheet is comment lines (`# ...`), a header, and a row an item with an id; people fill one or more columns. What they wrote means
is known where the sheet comes from (accuracy, agree, questions, the ideal graph).
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from kgeval.errors import UsageError
from kgeval.tables.cells import Misfit, text
from kgeval.tables.given import Faults, sheet_of
from kgeval.tables.output import replacing, restore_cell, write_cells
from kgeval.tables.plain import Line, read_text, table_rows


def without_controls(cell: str) -> str:
    """Text without control characters, which spreadsheets refuse or misread."""
    # "replace": half a surrogate pair, which a model's JSON can hold, cannot be written as UTF-8.
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", " ", cell.replace("\r\n", "\n")).encode("utf-8", "replace").decode()


def write_sheet(
    path: Path, columns: Sequence[str], rows: Iterable[Iterable[str]], *, head: Iterable[str] = (), holds: str = "labels",
    line_end: str = "\n",
) -> None:
    """A sheet for its owner's eyes only (0600): it quotes texts. `head`: comment lines, which begin with `#`.

    Raises: UsageError where the file exists and may hold what people wrote (`holds`); InputError where it cannot be written.
    """
    if path.exists():
        raise UsageError(f"{path}: is there already, and may hold {holds}", fix="choose another name, or move the file away")
    with replacing(path) as file:
        write_cells(file, chain(([line] for line in head), [columns], rows), line_end=line_end)


class FilledSheet:
    """A sheet that comes back: a table, cells parted by commas, semicolons or tabs (which spreadsheets of some countries write),
    or rows with named fields.

    `head`: place and text of each comment line. `columns`: the header in lower case, empty where there is none; `where`: its place.
    What is wrong goes to `faults`, with file and line. Raises: InputError for a file that cannot be read.
    """

    def __init__(self, path: Path, faults: list[str]) -> None:
        self.name = path.name
        self.head: list[tuple[str, str]] = []
        self.columns: list[str] = []
        self.where = ""
        self._faults = faults
        self._lines = table_lines(path)
        for line in self._lines:
            first = str(line.value[0]).strip() if line.fault is None else ""
            if line.fault is not None:
                faults.append(f"{line.where}: {line.fault}")
            elif first.startswith("#"):
                self.head.append((line.where, first))
            else:
                self.columns = [cell.strip().casefold() for cell in line.value]
                self.where = line.where
                break

    def has(self, *names: str) -> bool:
        """Whether the header has these columns; a fault where not."""
        missing = [name for name in names if name not in self.columns]
        if not self.columns:
            self._faults.append(f"{self.name}: no header with the column{'s' * (len(names) > 1)} {' and '.join(names)}")
        elif missing:
            self._faults.append(f"{self.where}: the header lacks {', '.join(missing)}; it has {', '.join(self.columns)[:200]}")
        return not missing

    def rows(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Each row's place, and its cells by column."""
        for line in self._lines:
            if line.fault is not None:
                self._faults.append(f"{line.where}: {line.fault}")
            else:
                yield line.where, {name: restore_cell(cell) for name, cell in zip(self.columns, line.value, strict=False)}


def table_lines(path: Path, delimiter: str = "") -> Iterator[Line]:
    """The rows of a table as lists of cells, the header first; also of rows with named fields (JSONL, JSON, Parquet), as texts.

    `delimiter`: what parts the cells; where it is not given, the most frequent mark of the header, which begins with the column id.
    Raises: InputError for a file that cannot be read.
    """
    if path.suffix.casefold() not in (".jsonl", ".json", ".parquet"):
        body = read_text(path)
        if not delimiter:
            heads = (line for line in body.splitlines() if line.strip().lstrip('"').casefold().startswith("id"))
            delimiter = max(",;\t", key=next(heads, "").count)
        yield from table_rows(io.StringIO(body, newline=""), path.name, delimiter)
        return
    faults = Faults()
    sheet = sheet_of(path, faults)
    for fault in faults.found:
        where, _, what = fault.partition(": ")
        yield Line(where, fault=what)
    if sheet.rows:
        yield Line(path.name, list(sheet.names))
    for row in sheet.rows:
        try:
            yield Line(row.where, [text(row.value.get(name)) or "" for name in sheet.names])
        except Misfit as misfit:
            yield Line(row.where, fault=str(misfit))
