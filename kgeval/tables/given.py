"""Tables of judges, people and scores of any tool: which field is what, and every fault with file, line and field."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kgeval.errors import InputError, UsageError
from kgeval.tables.cells import Misfit
from kgeval.tables.fields import Fields, coerced
from kgeval.tables.plain import Line
from kgeval.tables.stream import STDIN, stream


@dataclass
class Faults:
    """Faults of files, gathered so that all come at once.

    `fixes`: what to do about them, each once. `places`: what may be there once -> where it was first.
    """

    found: list[str] = field(default_factory=list)
    fixes: list[str] = field(default_factory=list)
    places: dict[Hashable, str] = field(default_factory=dict)

    def add(self, where: str, name: str, what: str, fix: str = "") -> None:
        """Notes a fault: `file:line: field: what`."""
        self.found.append(f"{where}: {name}: {what}" if name else f"{where}: {what}")
        if fix and fix not in self.fixes:
            self.fixes.append(fix)

    def once(self, key: Hashable, where: str, what: str, fix: str) -> None:
        """Notes a fault where something else has this key already: `what` for the place of the first."""
        if key in self.places:
            self.add(where, "", f"{what} for the place of {self.places[key]}", fix)
        self.places.setdefault(key, where)

    def stop(self, what: str) -> None:
        """Raises: InputError with all faults, if there is one."""
        if self.found:
            count = "1 fault" if len(self.found) == 1 else f"{len(self.found)} faults"
            raise InputError(f"{what}: {count}", fix="; ".join(self.fixes) or "correct these rows", faults=self.found)


@dataclass(frozen=True)
class Sheet:
    """The rows of a file in their order, and the names of its fields in the order in which they turn up.

    `known`: kgeval's fields of such files; `fields`: those that it has, kgeval's name -> its own.
    """

    path: Path
    rows: tuple[Line, ...]
    names: tuple[str, ...]
    known: Fields = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def stem(self) -> str:
        """The file's name without its ending: what a system is called where nothing else tells."""
        return "stdin" if self.path == STDIN else self.path.stem

    @property
    def file(self) -> str:
        """The file's name, as messages have it."""
        return "stdin" if self.path == STDIN else self.path.name

    def texts(self, name: str) -> Iterable[Any]:
        """Every value of a field of the file, None where a row has none."""
        return (row.value.get(name) for row in self.rows)

    def lacks(self, needed: Iterable[str]) -> list[str]:
        """Those of kgeval's fields that the file has not."""
        return [name for name in needed if name not in self.fields]

    def refused(self, what: str, lacking: Iterable[str]) -> str:
        """A fault's text: what the file is not, the fields that it lacks, and what it has."""
        names = ", ".join(f"{name} ({self.known[name].meaning})" for name in lacking)
        return f"{what}: no field for {names}; its fields are: {', '.join(self.names[:30]) or 'none'}"

    def read(self, line: Line, faults: Faults) -> dict[str, Any]:
        """A row by kgeval's names, as their fields read it. A value that does not fit is a fault, and left out."""
        values, misfits = coerced(zip(self.fields, map(line.value.get, self.fields.values()), strict=True), self.known)
        for name, misfit in misfits.items():
            faults.add(line.where, self.fields[name], str(misfit), misfit.fix)
        return values

    def whole(self, line: Line, faults: Faults) -> dict[str, Any] | None:
        """As `read`; None where a value does not fit."""
        values = self.read(line, faults)
        return values if len(values) == len(self.fields) else None


def sheet_of(path: Path, faults: Faults) -> Sheet:
    """The rows of a file: JSONL, JSON, CSV, TSV, Parquet or YAML; `-` is JSONL on standard input.

    Rows that cannot be read go to `faults`. Raises: InputError for a file that is missing, empty, packed or not UTF-8.
    """
    rows: list[Line] = []
    names: dict[str, None] = {}
    for line in stream(path):
        if line.fault is not None:
            faults.add(line.where, "", line.fault)
            continue
        rows.append(line)
        names.update(dict.fromkeys(map(str, line.value)))
    return Sheet(path, tuple(rows), tuple(names))


def open_sheets(
    paths: Sequence[Path], known: Fields, maps: Mapping[str, str], faults: Faults, *, what: str = "", fix: str = "",
) -> list[Sheet]:
    """The files with their fields found. One that lacks a needed field is a fault (`what` it is not, and `fix`), and left out.

    Raises: as sheet_of; UsageError where --map names a field that is not ours, or one that no file has.
    """
    sheets = [sheet_of(path, faults) for path in paths]
    wrong = [f"'{name}' is none of {', '.join(known)}" for name in maps if name not in known]
    names = dict.fromkeys(name for sheet in sheets for name in sheet.names)
    wrong += [f"no file has a field '{theirs}'" for theirs in maps.values() if theirs not in names]
    if wrong:
        shown = ", ".join(list(names)[:30])
        raise UsageError("--map: " + "; ".join(wrong), fix=f"write NAME=FIELD; the fields of the files are: {shown}")
    complete = []
    for opened in sheets:
        sheet = replace(opened, known=known, fields=fields_of(opened, known, maps))
        if missing := sheet.lacks(name for name, field in known.items() if field.needed):
            faults.add(sheet.file, "", sheet.refused(what, missing), fix)
        else:
            complete.append(sheet)
    return complete


def fields_of(sheet: Sheet, known: Fields, maps: Mapping[str, str]) -> dict[str, str]:
    """Our name -> the file's: by `maps` where that names one of its fields, else the first of the known names that it has."""
    matched = {ours: theirs for ours, theirs in maps.items() if ours in known and theirs in sheet.names}
    # A field that --map names means that alone, also where its name is known for something else.
    mapped = set(matched.values())
    for ours, known_field in known.items():
        theirs = next((name for name in known_field.names if name in sheet.names and name not in mapped), None)
        if ours not in matched and theirs is not None and theirs not in matched.values():
            matched[ours] = theirs
    return matched


def check_range(value: float | None, bounds: tuple[float, float] | None) -> None:
    """Raises: Misfit for a value outside the bounds, both ends included."""
    if value is not None and bounds is not None and not bounds[0] <= value <= bounds[1]:
        raise Misfit(f"{value:g} is outside the range {bounds[0]:g} to {bounds[1]:g}")
