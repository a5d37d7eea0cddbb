"""Values that go with each other: a postal code and its town, an ingredient and its unit, a status and what a thing of it has, an
attendance and the seats there are."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from math import comb
from statistics import median
from typing import TypeVar

from kgeval.profiling.labels import TypeGroup
from kgeval.profiling.reads import Labels, SampledNode, SampledRelation, Value
from kgeval.profiling.record import Dependency, Part, ValueAt

LEAST_ROWS, LEAST_GROUPS = 30, 2  # rows that show a dependency, and values of the first that stand in several of them
LEAST_OF_GROUP = 3  # rows of one value of the first, from which they show what goes with it
BROKEN, ALWAYS = 0.02, 2  # share of rows that may go against it in the sample; two always may
PURE = 0.9  # share of the groups that hold one value
BY_CHANCE, LEAST_BY_CHANCE = 0.1, 10  # share of rows that would go against it by chance, and how many, at least
LIFT = 0.1  # of these, how many do, at most
EQUAL, EQUAL_BY_CHANCE, LEAST_EQUAL, LEAST_VALUES = 0.95, 0.5, 20, 5  # shares of rows of which both values are equal; rows, and values
OVERLAP = 0.8  # share of the values of one that the other has, too, where they may be equal
STATES = 12  # values of what says how a thing stands, at most
LEAST_OF_STATE, BROKEN_STATE = 10, 0.2  # rows of one state that say what goes with it, and the share that may go against it in any case
SHARP = 0.9  # share of the other rows of which the opposite holds, of relations: these are there, or not, for many a reason
NO_CHANCE = 1e-6  # probability that the rows of a state would keep it by chance, at most
ORDERED, ORDERED_BY_CHANCE = 0.98, 0.9  # shares of rows of which one number is at most the other: at least; by chance at most
BELOW, NEAR, NEAR_BY = 0.5, 0.05, 1.25  # shares of rows of which it is less, and of which the last is at most so many times as much
NUMBERS = 0.95  # share of values that are numbers
LONGEST = 60  # characters of a value, in the median: longer ones are texts
MOST_ROWS = 600  # rows of a table that are looked at
MOST_COLUMNS, MOST_OF_TABLE, MOST = 40, 30, 150  # columns of a table; dependencies of it, and in all, the surest first
NO_VALUE = ("LIST", "POINT", "VECTOR", "DURATION")
DERIVED = 0.9  # share of values that have a part
PARTS: dict[Part, re.Pattern[str]] = {
    "year": re.compile(r"(?:.*[-_/. ])?((?:19|20)\d\d)(?:[-_/. t].*)?"),
    "letters": re.compile(r"([a-z]{1,6})(?:[-_/. ]?\d.*)"),
    "last part": re.compile(r".*[^-_/ ][-_/]([^-_/ ]{1,8})"),
}
DATE = re.compile(r"\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{2,4}")
YES, NO = "true", "false"
T = TypeVar("T")
_Pairs = Counter[tuple[str | None, str | None]]  # how often two values stand together


@dataclass
class _Column:
    at: ValueAt
    values: list[str | None] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, value: Value | None) -> None:
        self.values.append(None if value is None or value.text is None else value.text.strip().lower())
        if value is not None:
            self.kinds[value.type.split("<")[0].split(" ")[0]] += 1

    @cached_property
    def told(self) -> list[str]:
        return [value for value in self.values if value is not None]

    @cached_property
    def distinct(self) -> frozenset[str]:
        return frozenset(self.told)

    @property
    def repeats(self) -> bool:
        """Whether its values stand twice and more, on average."""
        return 2 * len(self.distinct) <= len(self.told)

    @cached_property
    def has_words(self) -> bool:
        """Whether its values are words, such as those that say how a thing stands: few, and hardly any with a digit."""
        return len(self.distinct) <= STATES and sum(any(map(str.isdigit, value)) for value in self.distinct) <= len(self.distinct) / 2

    @property
    def is_asked(self) -> bool:
        """Whether its values are short, and may be compared."""
        told = self.told
        return len(told) >= LEAST_EQUAL and median(map(len, told)) <= LONGEST and not any(self.kinds[kind] for kind in NO_VALUE)

    def numbers(self) -> list[float | None] | None:
        """Its values as numbers, where nearly all are."""
        found = [None if value is None else _number(value) for value in self.values]
        told = len(self.told)
        return found if told and sum(one is not None for one in found) >= NUMBERS * told else None

    @cached_property
    def is_date(self) -> bool:
        """Whether nearly all its values are dates: of two dates the year is the same, or not."""
        return sum(DATE.match(value) is not None for value in self.told) >= DERIVED * len(self.told)

    def parts(self) -> Iterator[_Column]:
        """What stands in its values, where nearly all have it; in dates the year alone."""
        told = self.told
        for part, pattern in PARTS.items():
            if self.is_date and part != "year":
                continue
            found = [None if value is None or (of := pattern.fullmatch(value)) is None else of[1] for value in self.values]
            values = {value for value in found if value is not None}
            is_whole = part == "year" and all(len(value) == 4 for value in told)
            if len(values) > 1 and not is_whole and sum(value is not None for value in found) >= DERIVED * len(told):
                column = _Column(self.at.model_copy(update={"part": part}), found, self.kinds)
                column.is_date = self.is_date
                yield column


@dataclass
class _Table:
    """Rows of values: of the nodes of a label, or of the relations of a type between two labels."""

    type: str | None
    start: str
    end: str | None
    columns: dict[tuple[str, str | None, Part], _Column] = field(default_factory=dict)
    size: int = 0
    known: Counter[str] = field(default_factory=Counter)  # rows of which a side is known

    def add(self, sides: Mapping[str, tuple[str, Mapping[str, Value]]], cells: Iterable[tuple[str, str | None, Part, str, str]]) -> None:
        """A row. `sides`: by side the owner and the values; `cells`: side, key, part, owner and text of what is no property."""
        row: list[tuple[str, str | None, Part, str, Value]] = [
            (side, key, "value", owner, value) for side, (owner, values) in sides.items() for key, value in values.items()
        ]
        row += [(side, key, part, owner, Value("TEXT", text)) for side, key, part, owner, text in cells]
        for side, key, part, owner, value in row:
            column = self.columns.get((side, key, part))
            if column is None:
                at = ValueAt.model_validate({"side": side, "owner": owner, "key": key, "part": part})
                column = self.columns[side, key, part] = _Column(at, [None] * self.size)
            column.add(value)
        self.size += 1
        self.known.update(sides.keys())
        for column in self.columns.values():
            if len(column.values) < self.size:
                column.add(None)

    def asked(self) -> list[_Column]:
        """Its columns that may go with each other, the fullest first."""
        own = (one for one in self.columns.values() if one.at.part == "value" and one.is_asked)
        known = sorted(own, key=lambda one: (one.at.key is not None, -len(one.told)))[:MOST_COLUMNS]
        parts = [part for one in known if one.at.key is not None for part in one.parts()]
        return [*known, *parts, *self._presences()]

    def dependency(self, kind: str, first: ValueAt, last: ValueAt, *, rows: int, groups: int = 0, only: str | None = None) -> Dependency:
        """Two of its columns that go with each other."""
        return Dependency.model_validate({
            "kind": kind, "type": self.type, "start": self.start, "end": self.end, "first": first, "last": last, "only": only, "rows": rows,
            "groups": groups,
        })

    def _presences(self) -> Iterator[_Column]:
        """Whether there is a value, or a relation, that some nodes, or relations, have and some have not."""
        for (side, key, part), column in self.columns.items():
            have, of = sum(value is not None for value in column.values), self.known[side]
            if key is not None and side in ("node", "relation") and 0 < have < of:
                at = column.at if part != "value" else column.at.model_copy(update={"part": "presence"})
                yield _Column(at, [NO if value is None else YES for value in column.values])


def dependencies(groups: Iterable[TypeGroup], nodes: Sequence[SampledNode], kept: Collection[str]) -> list[Dependency]:
    """Those that nearly all rows of the sample keep, and that would not be kept by chance; the surest first. `kept`: the labels whose nodes
    people keep."""
    type_of = {labels: group.label for group in groups for labels in group.sets if group.label in kept}
    found = [one for table in _tables(nodes, type_of) for one in _surest(_of_table(table))[:MOST_OF_TABLE]]
    return _surest(found)[:MOST]


def _surest(found: Iterable[Dependency]) -> list[Dependency]:
    return sorted(found, key=lambda one: (-one.rows, one.type or "", one.start, str(one.first.key), str(one.last.key), one.only or ""))


def _tables(nodes: Sequence[SampledNode], type_of: Mapping[Labels, str]) -> Iterator[_Table]:
    by_id = {node.id: node for node in nodes}
    of_labels: dict[str, _Table] = {}
    of_types: dict[tuple[str, str, str], _Table] = {}
    for node in nodes:
        label = type_of.get(node.labels)
        if label is None:
            continue
        out: list[tuple[str, str | None, Part, str, str]] = [("node", key, "outgoing", label, YES) for key in node.outgoing]
        into: list[tuple[str, str | None, Part, str, str]] = [("node", key, "incoming", label, YES) for key in node.incoming]
        of_labels.setdefault(label, _Table(None, label, None)).add({"node": (label, node.values)}, [*out, *into])
        for relation in node.relations:
            end = type_of.get(relation.ends or ())
            if end is not None and not relation.loop:
                table = of_types.setdefault((relation.type, label, end), _Table(relation.type, label, end))
                if table.size < MOST_ROWS:
                    _add_relation(table, node, relation, by_id.get(relation.other))
    yield from of_labels.values()
    yield from of_types.values()


def _add_relation(table: _Table, start: SampledNode, relation: SampledRelation, end: SampledNode | None) -> None:
    sides = {"start": (table.start, start.values), "relation": (table.type or "", relation.values)}
    if end is not None:
        sides["end"] = (table.end or "", end.values)
    table.add(sides, [("start", None, "value", table.start, start.id), ("end", None, "value", table.end or "", relation.other)])


def _of_table(table: _Table) -> Iterator[Dependency]:
    """Its dependencies. Of a side whose node says something, or is said, its properties are not told besides."""
    columns = [one for one in table.asked() if len(one.distinct) > 1]
    numbers = {id(one): one.numbers() for one in columns if one.at.part == "value" and one.at.key is not None}
    equal: set[tuple[ValueAt, ValueAt]] = set()
    said: set[tuple[str, str | None, str, str | None]] = set()
    for first, last in permutations(columns, 2):
        one, other = first.at, last.at
        if one.side == other.side and (one.side in ("start", "end") or one.key == other.key):
            continue
        if (other.is_presence and (one.side != other.side or one.part in PARTS)) or (first.is_date and last.is_date):
            continue
        if one.side != other.side and "year" in (one.part, other.part):  # what follows may fall into the next year
            continue
        x, y = numbers.get(id(first)), numbers.get(id(last))
        if x is not None and y is not None and (of := _in_order(x, y)):
            yield table.dependency("at most", one, other, rows=of)
        is_told = any((one.side, x, other.side, y) in said for x in (None, one.key) for y in (None, other.key))
        if is_told or (other, one) in equal or one.is_presence > other.is_presence:
            continue
        may_equal = not (one.is_presence or other.is_presence or one.key is None or other.key is None) and _overlap(first, last)
        may_say = first.repeats and last.repeats
        if not may_equal and not may_say:
            continue
        rows = Counter(zip(first.values, last.values, strict=True))
        if may_equal and _are_equal(rows):
            equal.add((one, other))
            yield table.dependency("equals", one, other, rows=_size(rows))
            continue
        is_law = may_say and _known(rows) <= len(first.distinct) + max(ALWAYS, BROKEN * len(first.values))
        is_state = may_say and other.is_presence and one.part == "value" and one.key is not None and first.has_words
        for found in _said(table, one, other, rows, is_state=is_state) if is_law or is_state else ():
            yield found
            if found.only is None and not other.is_presence:
                said.add((one.side, one.key, other.side, other.key))


def _known(rows: _Pairs) -> int:
    """How many different pairs there are of two values."""
    return sum(x is not None and y is not None for x, y in rows)


def _overlap(first: _Column, last: _Column) -> bool:
    """Whether nearly all values of the first stand in the last, too."""
    return len(first.distinct) >= LEAST_VALUES and len(first.distinct & last.distinct) >= OVERLAP * len(first.distinct)


def _said(table: _Table, first: ValueAt, last: ValueAt, rows: _Pairs, *, is_state: bool) -> Iterator[Dependency]:
    """That the first says what the last is: all its values, or some of a few."""
    by_first = _by_first(rows)
    of = sum(counts.total() for counts in by_first.values())
    values = {value for counts in by_first.values() for value in counts}
    if of < LEAST_ROWS or len(values) < 2 or 2 * len(values) > of or 2 * len(by_first) > of:
        return
    groups = {value: counts for value, counts in by_first.items() if counts.total() >= LEAST_OF_GROUP}
    if _is_said(list(groups.values()), rows):
        of_groups = sum(counts.total() for counts in groups.values())
        yield table.dependency("says", first, last, rows=of_groups, groups=len(groups))
    elif is_state:
        for state, counts in sorted(groups.items()):
            if counts.total() >= LEAST_OF_STATE and _is_state(by_first, state, is_sharp=last.part != "presence"):
                yield table.dependency("says", first, last, rows=counts.total(), groups=1, only=state)


def _size(rows: _Pairs) -> int:
    return sum(times for (x, y), times in rows.items() if x is not None and y is not None)


def _are_equal(rows: _Pairs) -> bool:
    """Whether one value repeats the other, but for slips."""
    of = _size(rows)
    same = sum(times for (x, y), times in rows.items() if x is not None and x == y)
    if of < LEAST_EQUAL or same < min(EQUAL * of, of - 1):
        return False
    return len({x for x, _ in rows if x is not None}) >= LEAST_VALUES and sum(x == y for x, y in _dealt(rows)) <= EQUAL_BY_CHANCE * of


def _is_said(groups: Sequence[Counter[str]], rows: _Pairs) -> bool:
    """Whether each value of the first, of groups that show it, has one of the last, but for slips, and would not by chance."""
    of, against = sum(counts.total() for counts in groups), _against(groups)
    if of < LEAST_ROWS or len(groups) < LEAST_GROUPS or against > max(ALWAYS, BROKEN * of):
        return False
    if sum(len(counts) == 1 for counts in groups) < PURE * len(groups) - 1:
        return False
    dealt = _by_first(Counter(_dealt(rows)))
    chance = _against([counts for counts in dealt.values() if counts.total() >= LEAST_OF_GROUP])
    return chance >= max(LEAST_BY_CHANCE, BY_CHANCE * of) and against <= LIFT * chance


def _is_state(by_first: Mapping[str, Counter[str]], state: str, *, is_sharp: bool) -> bool:
    """Whether nearly all rows of a state have a value, or have none, where that is otherwise elsewhere (`is_sharp`: nearly always)."""
    here = by_first[state]
    times = here.total()
    usual, often = here.most_common(1)[0]
    against = times - often
    if against > max(ALWAYS, BROKEN * times) or against > BROKEN_STATE * times:
        return False
    elsewhere = sum((counts for first, counts in by_first.items() if first != state), Counter[str]())
    if elsewhere.total() < LEAST_OF_STATE or (is_sharp and elsewhere[usual] > (1 - SHARP) * elsewhere.total()):
        return False
    share = (elsewhere[usual] + 1) / (elsewhere.total() + 2)
    return sum(comb(times, at) * share ** (times - at) * (1 - share) ** at for at in range(against + 1)) <= NO_CHANCE


def _in_order(x: Sequence[float | None], y: Sequence[float | None]) -> int:
    """Rows with both numbers, where the first is at most the last in nearly all, and would not be by chance; else 0."""
    rows = [(a, b) for a, b in zip(x, y, strict=True) if a is not None and b is not None]
    of = len(rows)
    if of < LEAST_ROWS or sum(a <= b for a, b in rows) < min(ORDERED * of, of - 1) or sum(a < b for a, b in rows) < BELOW * of:
        return 0
    if sum(0 < a <= b <= NEAR_BY * a for a, b in rows) < NEAR * of:
        return 0
    by_chance = sum(a <= b for (a, _), b in zip(rows, _shuffled([b for _, b in rows]), strict=True))
    return of if by_chance <= ORDERED_BY_CHANCE * of else 0


def _by_first(rows: Mapping[tuple[str | None, str | None], int]) -> dict[str, Counter[str]]:
    """How often each value of the last stands with each of the first."""
    by_first: dict[str, Counter[str]] = defaultdict(Counter)
    for (x, y), times in rows.items():
        if x is not None and y is not None:
            by_first[x][y] += times
    return by_first


def _against(by_first: Sequence[Counter[str]]) -> int:
    return sum(counts.total() - max(counts.values()) for counts in by_first)


def _dealt(rows: _Pairs) -> list[tuple[str, str]]:
    """The same values with what they would stand with by chance."""
    known = [(x, y) for (x, y), times in rows.items() if x is not None and y is not None for _ in range(times)]
    return [(x, y) for (x, _), y in zip(known, _shuffled([y for _, y in known]), strict=True)]


def _shuffled(values: list[T]) -> list[T]:
    """The same values in another order; the same one for as many."""
    random.Random(len(values)).shuffle(values)  # noqa: S311
    return values


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if abs(found) < 1e300 else None
