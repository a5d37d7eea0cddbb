"""Whether two results of Cypher say the same. Pure.

The gold columns must be found among the other result's columns, by their content: names play no part. Rows count as often as they
come; their order counts only where it is asked for. Numbers are the same where they differ by at most 1e-8 (or by 1e-13 of their
size); two integers only where they are equal. Nodes and relations are the same by their element ids, null equals null.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isnan

from kgeval.graph.foreign import Cell, Table

ABSOLUTE, RELATIVE = 1e-8, 1e-13
MOST_WORK = 1_000_000  # rows looked at while columns are paired
Column = tuple[int, ...]  # one code a row; equal codes are equal values


class TooManyWaysError(Exception):
    """The columns look so much alike that too many ways of pairing them would have to be tried."""


@dataclass(frozen=True)
class Comparison:
    """Whether the results match, and the names of the columns that the gold result does not have."""

    matches: bool
    extra_columns: tuple[str, ...] = ()


def compare(found: Table, gold: Table, *, ordered: bool) -> Comparison:
    """The found result against the gold one. `ordered`: rows, and the items of lists, must come in the same order.

    Raises: TooManyWaysError.
    """
    if len(found.columns) < len(gold.columns) or len(found.rows) != len(gold.rows):
        return Comparison(False)
    codes = _Codes()
    numbers = _groups(_numbers([*found.rows, *gold.rows]))
    mine, theirs = (_columns(table, numbers, codes, ordered=ordered) for table in (found, gold))
    paired = _Pairing(theirs, mine, codes, ordered=ordered).search()
    if paired is None:
        return Comparison(False)
    return Comparison(True, tuple(name for at, name in enumerate(found.columns) if at not in paired))


class _Codes:
    """A number for each value, in the order in which they came up: rows of numbers are quick to compare."""

    def __init__(self) -> None:
        self._of: dict[Hashable, int] = {}

    def of(self, value: Hashable) -> int:
        return self._of.setdefault(value, len(self._of))

    def joined(self, rows: Column, column: Column) -> Column:
        """Each row with one more value, as one code."""
        return tuple(self.of(pair) for pair in zip(rows, column, strict=True))


def _columns(table: Table, numbers: dict[float, int], codes: _Codes, *, ordered: bool) -> list[Column]:
    """Each column in codes. Without rows all columns are alike."""
    rows = [[codes.of(_key(cell, numbers, ordered=ordered)) for cell in row] for row in table.rows]
    return [tuple(row[at] for row in rows) for at in range(len(table.columns))]


class _Pairing:
    """Which found column stands for each gold column, so that all rows agree.

    Columns are added one by one, and the rows made so far compared, so that a wrong pair ends its branch at once.
    """

    def __init__(self, gold: Sequence[Column], found: Sequence[Column], codes: _Codes, *, ordered: bool) -> None:
        self._gold, self._found, self._codes, self._ordered = gold, found, codes, ordered
        self._work = 0

    def search(self) -> tuple[int, ...] | None:
        """The places of the found columns, in the order of the gold columns; null if there are none. Raises: TooManyWaysError."""
        rows = (0,) * (len(self._gold[0]) if self._gold else 0)
        return self._extend((), rows, rows)

    def _extend(self, taken: tuple[int, ...], made: Column, wanted: Column) -> tuple[int, ...] | None:
        if len(taken) == len(self._gold):
            return taken
        target = self._codes.joined(wanted, self._gold[len(taken)])
        goal = self._bag(target)
        seen: set[Column] = set()
        for at, column in enumerate(self._found):
            if at in taken or column in seen:
                continue
            seen.add(column)  # of columns with the same content one is enough
            self._work += len(column)
            if self._work > MOST_WORK:
                raise TooManyWaysError
            joined = self._codes.joined(made, column)
            if self._bag(joined) == goal and (done := self._extend((*taken, at), joined, target)) is not None:
                return done
        return None

    def _bag(self, rows: Column) -> object:
        return rows if self._ordered else sorted(rows)


def _key(cell: Cell, numbers: dict[float, int], *, ordered: bool) -> Hashable:
    """The cell as something that is equal where cells are the same."""
    kind, content = cell
    if kind in ("int", "float"):
        return ("number", "nan" if isnan(content) else numbers[content])
    if kind == "list":
        items = [_key(part, numbers, ordered=ordered) for part in content]
        return ("list", tuple(items) if ordered else frozenset(Counter(items).items()))
    if kind == "map":
        return ("map", tuple((key, _key(part, numbers, ordered=ordered)) for key, part in content))
    if kind in ("path", "point"):
        return (kind, tuple(_key(part, numbers, ordered=ordered) for part in content))
    return (kind, content)


def _numbers(rows: Iterable[Sequence[Cell]]) -> set[float]:
    """All numbers in the rows, but NaN. An integer and a float of one value are one number."""
    return {number for row in rows for cell in row for number in _within(cell)}


def _within(cell: Cell) -> Iterator[float]:
    kind, content = cell
    if kind in ("int", "float"):
        yield from () if isnan(content) else (content,)
    elif kind in ("list", "path", "point"):
        for part in content:
            yield from _within(part)
    elif kind == "map":
        for _, part in content:
            yield from _within(part)


def _groups(numbers: set[float]) -> dict[float, int]:
    """Number -> the group of numbers that count as the same: neighbours in order that are near enough."""
    group: dict[float, int] = {}
    before: float | None = None
    at = 0
    for number in sorted(numbers):
        if before is not None and not _near(before, number):
            at += 1
        group[number], before = at, number
    return group


def _near(a: float, b: float) -> bool:
    """Whether a number and the next larger one are the same but for rounding. Integers are exact."""
    if isinstance(a, int) and isinstance(b, int):
        return False
    if a in (float("-inf"), float("inf")) or b in (float("-inf"), float("inf")):
        return False
    return b - a <= max(ABSOLUTE, RELATIVE * abs(b))
