"""Values that go with each other: a postal code and its town, an ingredient and its unit, a number on an invoice and on its order."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from statistics import median

from kgeval.profiling.labels import TypeGroup
from kgeval.profiling.reads import Labels, SampledNode, SampledRelation, Value
from kgeval.profiling.record import Dependency, ValueAt

LEAST_ROWS, LEAST_GROUPS = 30, 5  # rows that show a dependency, and values of the first that stand in several of them
LEAST_OF_GROUP = 3  # rows of one value of the first, from which they show what goes with it
BROKEN, ALWAYS = 0.02, 2  # share of rows that may go against it in the sample; two always may
PURE = 0.9  # share of the groups that hold one value
BY_CHANCE, LIFT = 0.25, 0.1  # share of rows that would go against it by chance, at least; and how many of these do, at most
EQUAL, EQUAL_BY_CHANCE, LEAST_EQUAL = 0.95, 0.5, 20  # shares of rows of which both values are equal, and rows that show it
LONGEST = 60  # characters of a value, in the median: longer ones are texts
MOST_COLUMNS, MOST = 14, 80  # columns of a table; dependencies that are told, the surest first
NO_VALUE = ("LIST", "POINT", "VECTOR", "DURATION")


@dataclass
class _Column:
    at: ValueAt
    values: list[str | None] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, value: Value | None) -> None:
        self.values.append(None if value is None or value.text is None else value.text.strip().casefold())
        if value is not None:
            self.kinds[value.type.split("<")[0].split(" ")[0]] += 1

    @property
    def told(self) -> list[str]:
        return [value for value in self.values if value is not None]

    @property
    def is_asked(self) -> bool:
        """Whether its values are short, and may be compared."""
        told = self.told
        return len(told) >= LEAST_EQUAL and median(map(len, told)) <= LONGEST and not any(self.kinds[kind] for kind in NO_VALUE)


@dataclass
class _Table:
    """Rows of values: of the nodes of a label, or of the relations of a type between two labels."""

    type: str | None
    start: str
    end: str | None
    columns: dict[tuple[str, str | None], _Column] = field(default_factory=dict)
    size: int = 0

    def add(self, sides: Mapping[str, tuple[str, Mapping[str, Value]]], things: Mapping[str, tuple[str, str]]) -> None:
        """A row. `sides`: by side the owner and the values; `things`: by side the owner and which node stands there."""
        cells = [(side, key, owner, value) for side, (owner, values) in sides.items() for key, value in values.items()]
        cells += [(side, None, owner, Value("ID", which)) for side, (owner, which) in things.items()]
        for side, key, owner, value in cells:
            column = self.columns.get((side, key))
            if column is None:
                at = ValueAt.model_validate({"side": side, "owner": owner, "key": key})
                column = self.columns[side, key] = _Column(at, [None] * self.size)
            column.add(value)
        self.size += 1
        for column in self.columns.values():
            if len(column.values) < self.size:
                column.add(None)

    def asked(self) -> list[_Column]:
        """Its columns that may go with each other, the fullest first."""
        known = sorted((one for one in self.columns.values() if one.is_asked), key=lambda one: (one.at.key is not None, -len(one.told)))
        return known[:MOST_COLUMNS]


def dependencies(groups: Iterable[TypeGroup], nodes: Sequence[SampledNode], kept: Collection[str]) -> list[Dependency]:
    """Those that nearly all rows of the sample keep, and that would not be kept by chance; the surest first. `kept`: the labels whose nodes
    people keep."""
    type_of = {labels: group.label for group in groups for labels in group.sets if group.label in kept}
    found = [one for table in _tables(nodes, type_of) for one in _of_table(table)]
    return sorted(found, key=lambda one: (-one.rows, one.type or "", one.start, str(one.first.key), str(one.last.key)))[:MOST]


def _tables(nodes: Sequence[SampledNode], type_of: Mapping[Labels, str]) -> Iterator[_Table]:
    by_id = {node.id: node for node in nodes}
    of_labels: dict[str, _Table] = {}
    of_types: dict[tuple[str, str, str], _Table] = {}
    for node in nodes:
        label = type_of.get(node.labels)
        if label is None:
            continue
        of_labels.setdefault(label, _Table(None, label, None)).add({"node": (label, node.values)}, {})
        for relation in node.relations:
            end = type_of.get(relation.ends or ())
            if end is not None and not relation.loop:
                table = of_types.setdefault((relation.type, label, end), _Table(relation.type, label, end))
                _add_relation(table, node, relation, by_id.get(relation.other))
    yield from of_labels.values()
    yield from of_types.values()


def _add_relation(table: _Table, start: SampledNode, relation: SampledRelation, end: SampledNode | None) -> None:
    assert table.type is not None and table.end is not None  # noqa: S101
    sides = {"start": (table.start, start.values), "relation": (table.type, relation.values)}
    if end is not None:
        sides["end"] = (table.end, end.values)
    table.add(sides, {"start": (table.start, start.id), "end": (table.end, relation.other)})


def _of_table(table: _Table) -> Iterator[Dependency]:
    columns = table.asked()
    equal = set()
    for first, last in permutations(columns, 2):
        one, other = first.at, last.at
        if (one.side == other.side and one.side not in ("node", "relation")) or other.key is None:
            continue
        rows = [(x, y) for x, y in zip(first.values, last.values, strict=True) if x is not None and y is not None]
        if (other, one) in equal or (one, other) in equal:
            continue
        if one.key is not None and _are_equal(rows):
            equal.add((one, other))
            yield _dependency(table, one, other, rows, len({x for x, _ in rows}), equal=True)
        elif (groups := _groups(rows)) is not None:
            yield _dependency(table, one, other, rows, groups, equal=False)


def _dependency(table: _Table, first: ValueAt, last: ValueAt, rows: Sequence[tuple[str, str]], groups: int, *, equal: bool) -> Dependency:
    return Dependency(type=table.type, start=table.start, end=table.end, first=first, last=last, equal=equal, rows=len(rows), groups=groups)


def _are_equal(rows: Sequence[tuple[str, str]]) -> bool:
    """Whether one value repeats the other, but for slips."""
    if len(rows) < LEAST_EQUAL or len({x for x, _ in rows}) < LEAST_GROUPS:
        return False
    same = sum(x == y for x, y in rows)
    return same >= min(EQUAL * len(rows), len(rows) - 1) and sum(x == y for x, y in _shuffled(rows)) <= EQUAL_BY_CHANCE * len(rows)


def _groups(rows: Sequence[tuple[str, str]]) -> int | None:
    """How many values of the first show what goes with them, where it says what the last is, but for slips."""
    by_first = _by_first(rows)
    of = sum(counts.total() for counts in by_first)
    if of < LEAST_ROWS or len(by_first) < LEAST_GROUPS or len({y for _, y in rows}) < 2:
        return None
    against = _against(by_first)
    if against > max(ALWAYS, BROKEN * of) or sum(len(counts) == 1 for counts in by_first) < PURE * len(by_first) - 1:
        return None
    chance = _against(_by_first(_shuffled(rows)))
    return len(by_first) if chance >= BY_CHANCE * of and against <= LIFT * chance else None


def _by_first(rows: Sequence[tuple[str, str]]) -> list[Counter[str]]:
    """The values of the last of each value of the first that stands in several rows."""
    by_first: dict[str, Counter[str]] = defaultdict(Counter)
    for x, y in rows:
        by_first[x][y] += 1
    return [counts for counts in by_first.values() if counts.total() >= LEAST_OF_GROUP]


def _against(by_first: Sequence[Counter[str]]) -> int:
    return sum(counts.total() - max(counts.values()) for counts in by_first)


def _shuffled(rows: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The same values with what they would stand with by chance; the same for the same rows."""
    lasts = [y for _, y in rows]
    random.Random(len(rows)).shuffle(lasts)  # noqa: S311
    return [(x, y) for (x, _), y in zip(rows, lasts, strict=True)]
