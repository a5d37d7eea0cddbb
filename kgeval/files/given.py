"""Rows of files that other tools wrote, for statistics: which field is what, and every fault with file, line and field."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgeval.errors import InputError, UsageError
from kgeval.files.cells import Misfit, absent
from kgeval.files.plain import Line
from kgeval.files.stream import STDIN, stream

Names = Mapping[str, tuple[str, ...]]


@dataclass
class Faults:
    """Faults of files, gathered so that all are told at once. `fixes`: what to do about them, each once."""

    found: list[str] = field(default_factory=list)
    fixes: list[str] = field(default_factory=list)

    def add(self, where: str, name: str, what: str, fix: str = "") -> None:
        """Notes a fault: `file:line: field: what`."""
        self.found.append(f"{where}: {name}: {what}" if name else f"{where}: {what}")
        if fix and fix not in self.fixes:
            self.fixes.append(fix)

    def stop(self, what: str) -> None:
        """Raises: InputError with all faults, if there is one."""
        if self.found:
            count = "1 fault" if len(self.found) == 1 else f"{len(self.found)} faults"
            raise InputError(f"{what}: {count}", fix="; ".join(self.fixes) or "mend these rows", faults=self.found)


@dataclass(frozen=True)
class Sheet:
    """The rows of a file in their order, and the names of its fields in the order in which they turn up."""

    path: Path
    rows: tuple[Line, ...]
    names: tuple[str, ...]

    @property
    def stem(self) -> str:
        """The file's name without its ending: what a system is called where nothing else tells."""
        return "stdin" if self.path == STDIN else self.path.stem

    @property
    def file(self) -> str:
        """The file's name, as messages have it."""
        return "stdin" if self.path == STDIN else self.path.name

    def texts(self, name: str) -> Iterable[Any]:
        """Every value of a field, null where a row has none."""
        return (row.value.get(name) for row in self.rows)


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


def fields_of(sheet: Sheet, known: Names, maps: Mapping[str, str]) -> dict[str, str]:
    """Our name -> the file's: by `maps` where that names one of its fields, else the first of the known names that it has."""
    mapped = {ours: theirs for ours, theirs in maps.items() if ours in known and theirs in sheet.names}
    free = [name for name in sheet.names if name not in mapped.values()]
    found = dict(mapped)
    for ours, names in known.items():
        theirs = next((name for name in names if name in free), None)
        if ours not in found and theirs is not None and theirs not in found.values():
            found[ours] = theirs
    return found


def check_maps(maps: Mapping[str, str], known: Iterable[str], sheets: Sequence[Sheet]) -> None:
    """Raises: UsageError where --map names a field that is not ours, or one that no file has."""
    ours = list(known)
    wrong = [f"'{name}' is none of {', '.join(ours)}" for name in maps if name not in ours]
    there = {name for sheet in sheets for name in sheet.names}
    wrong += [f"no file has a field '{theirs}'" for theirs in maps.values() if theirs not in there]
    if wrong:
        shown = ", ".join(list(dict.fromkeys(name for sheet in sheets for name in sheet.names))[:30])
        raise UsageError("--map: " + "; ".join(wrong), fix=f"write NAME=FIELD; the fields of the files are: {shown}")


def lacking(sheet: Sheet, what: str, needed: Mapping[str, str]) -> str:
    """A fault's text: fields that a file lacks. `needed`: our name -> what it is, for those that are lacking."""
    told = ", ".join(f"{name} ({meaning})" for name, meaning in needed.items())
    return f"{what}: no field for {told}; its fields are: {', '.join(sheet.names[:30]) or 'none'}"


def signed(value: Any) -> float | None:
    """A finite number, null where the cell is empty or says nan; yes/no words and truth values are 1 and 0. Raises: Misfit."""
    if absent(value):
        return None
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        word = value.strip().lower()
        if word in ("nan", "none", "null", "n/a", "na", "-"):
            return None
        if word in TRUTH:
            return TRUTH[word]
    if not isinstance(value, str | int | float):
        raise Misfit(f"a number expected, found {type(value).__name__}")
    try:
        number = float(value)
    except (ValueError, OverflowError) as cause:
        raise Misfit(f"a number expected, found {str(value)[:40]!r}") from cause
    if math.isnan(number):
        return None
    if math.isinf(number):
        raise Misfit("a finite number expected, found an infinite one")
    return number


TRUTH = {"true": 1.0, "yes": 1.0, "pass": 1.0, "passed": 1.0, "false": 0.0, "no": 0.0, "fail": 0.0, "failed": 0.0}


def counted(value: Any, *, least: int = 0) -> int | None:
    """A whole number of at least `least`, null where the cell is empty. Raises: Misfit."""
    number = signed(value)
    if number is None:
        return None
    if not number.is_integer() or number < least:
        raise Misfit(f"a whole number of {least} or more expected, found {str(value)[:40]!r}")
    return int(number)
