"""Numbers that stand beside each other: of one node, of a relation and the nodes at its ends, and of a node and all of its relations of a
type. Read once of a sample of nodes, for the checks that learn from it what the numbers have to do with each other."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kgeval.auditing.check import CheckRun
from kgeval.auditing.suspects import (
    NO_NUMBER,
    TEXT,
    KeptProperty,
    PropertyAt,
    Side,
    kept_properties,
    name_words,
    share_of_numbers,
)
from kgeval.graph.connect import Row
from kgeval.profiling.record import GraphProfile, LabelProfile

T = TypeVar("T")
Numbers = Sequence[float | None]
NUMBERS = 0.9  # share of values that are numbers, from which a property holds numbers
FRACTION = re.compile(r"\s*(\d{1,6})\s*/\s*(\d{1,6})\s*")
IN_DIGITS = re.compile(r"\s*[+-]?(0|[1-9]\d{0,14})([.]\d{1,15})?\s*")
SHORT = 7.0  # characters of a text in the median, up to which it may be a fraction
DISTINCT_FRACTIONS = 0.3  # share of values that differ, up to which texts may be fractions
NODES_OF_A_LABEL, RELATIONS_OF_A_NODE = 400, 40  # read of the sample
LEAST_NODES, RELATIONS_OF_A_LABEL = 60, 8_000  # the same of a label whose nodes have many relations
MOST_CENTRES, MOST_LINKS, MOST_KEYS = 30, 60, 8  # labels, relations between two labels, and properties of each that are read
LEAST = 20  # nodes or relations from which their numbers show anything
OFTEN = 0.02  # share of a type's relations between two labels, from which they are looked at


@dataclass(frozen=True)
class NumberTable:
    """Rows of numbers: of the nodes of a label (`start`), or of the relations of a type from a label to another one."""

    type: str | None
    start: str
    end: str | None
    columns: Sequence[PropertyAt]
    rows: Sequence[Numbers]

    def asked(self) -> dict[str, Any]:
        """As the queries take it."""
        return {"type": self.type, "start": self.start, "end": self.end}

    def is_across(self, columns: Iterable[int]) -> bool:
        """Whether the numbers are not all of a relation's one end: these are looked at as a node's."""
        return {self.columns[at].side for at in columns} not in ({"start"}, {"end"})


@dataclass(frozen=True)
class NumberGroup:
    """A node's own numbers, and those of each of its relations of a type and of the node at their other end."""

    own: Numbers
    lines: Sequence[Numbers]


@dataclass(frozen=True)
class GroupTable:
    """The nodes of a label with their relations of a type. `out`: the relations go out from them; `columns`: the nodes' own, `parts`: those
    of the relations and of the nodes of label `other`."""

    type: str
    centre: str
    other: str
    out: bool
    columns: Sequence[PropertyAt]
    parts: Sequence[PropertyAt]
    groups: Sequence[NumberGroup]


@dataclass(frozen=True)
class NumberSample:
    """The tables of a sample of the graph's nodes."""

    tables: Sequence[NumberTable] = ()
    groups: Sequence[GroupTable] = ()
    little: bool = True  # stays with the checks that come later


@dataclass(frozen=True)
class _Link:
    """Relations of a type between two labels, and the properties that are read of both and of themselves."""

    type: str
    start: str
    end: str
    count: float
    start_keys: Sequence[str]
    keys: Sequence[str]
    end_keys: Sequence[str]

    def asked(self, at: int, *, out: bool) -> dict[str, Any]:
        """As the query takes it, of the nodes at its start or end."""
        other, keys = (self.end, self.end_keys) if out else (self.start, self.start_keys)
        return {"at": at, "type": self.type, "out": out, "other": other, "keys": list(self.keys), "other_keys": list(keys)}


@dataclass
class _Read:
    """What was read of the relations of a link from one of its ends."""

    groups: list[NumberGroup] = field(default_factory=list)
    rows: list[Numbers] = field(default_factory=list)


def number_sample(check: CheckRun) -> NumberSample:
    """The numbers of the sample; read once for all checks that look at them, and not at all where no property holds numbers."""
    return check.read_once("number sample", lambda: _read(check))


def some_of(rows: Iterable[T], most: int | None = None) -> list[T]:
    """So many of the rows, all by default, in an order that has nothing to do with how they are stored, and is the same each time."""
    some = list(rows)
    random.Random(1).shuffle(some)  # noqa: S311
    return some[:most]


def dealt(values: Iterable[T]) -> list[T]:
    """The same values, each in the place of another one: what stands there by chance."""
    others = list(values)
    random.Random(2).shuffle(others)  # noqa: S311
    return others


def is_number(found: KeptProperty) -> bool:
    """Whether a property holds numbers that may be counted with: no codes or numbers of things."""
    words = name_words(found.values.key)
    return share_of_numbers(found.values) >= NUMBERS and bool(words) and NO_NUMBER.fullmatch(words[-1]) is None


def number_of(value: Any) -> float | None:
    """A stored number, a text of digits, or a fraction; else None."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return float(value) if math.isfinite(value) and abs(value) < 1e15 else None
    if not isinstance(value, str):
        return None
    if IN_DIGITS.fullmatch(value):
        return float(value)
    parts = FRACTION.fullmatch(value)
    return int(parts[1]) / int(parts[2]) if parts and int(parts[2]) else None


def _read(check: CheckRun) -> NumberSample:
    profile: GraphProfile | None = check.settings["profile"]
    keys = _keys_by_owner(check)
    links = list(_links(profile, keys))[:MOST_LINKS] if profile else []
    linked = {label for link in links for label in (link.start, link.end)}
    centres = [
        label for label in (profile.labels if profile else [])
        if label.nodes >= LEAST and (len(keys.get((label.label, False), ())) > 1 or label.label in linked)
    ][:MOST_CENTRES]
    if not centres:
        return NumberSample()
    asked = [_centre(label, keys.get((label.label, False), ()), links) for label in centres]
    rows = check.rows("number-rows", centres=asked, seed=profile.seed if profile else 0, most=RELATIONS_OF_A_NODE)
    return _tables(asked, links, rows)


def _keys_by_owner(check: CheckRun) -> Mapping[tuple[str, bool], list[str]]:
    """By label or type, and whether it is a type, its properties that hold numbers, the fullest first."""
    keys: dict[tuple[str, bool], list[str]] = {}
    for found in sorted(kept_properties(check), key=lambda found: (not is_number(found), -found.values.filled)):
        listed = keys.setdefault((found.owner, found.is_relation), [])
        if (is_number(found) or _may_be_fractions(found)) and len(listed) < MOST_KEYS:
            listed.append(found.values.key)
    return keys


def _may_be_fractions(found: KeptProperty) -> bool:
    """Whether a property holds short texts of few values that are nothing else. Of relations no length is known."""
    values, length = found.values, 3.0 if found.values.length is None else found.values.length
    return values.types.get(TEXT, 0.0) >= NUMBERS and not values.formats and values.distinct <= DISTINCT_FRACTIONS and 3 <= length <= SHORT


def _links(profile: GraphProfile, keys: Mapping[tuple[str, bool], Sequence[str]]) -> Iterator[_Link]:
    """Relations between two labels of which a number of one end may be looked at."""
    known = {owner for owner, is_relation in keys if not is_relation} | {label.label for label in profile.labels if _is_kept(label)}
    for relation in profile.types:
        for ends in relation.ends:
            if ends.share < OFTEN or relation.count * ends.share < LEAST or not {ends.start, ends.end} <= known:
                continue
            link = _Link(
                relation.type, ends.start, ends.end, relation.count * ends.share, keys.get((ends.start, False), ()),
                keys.get((relation.type, True), ()), keys.get((ends.end, False), ()),
            )
            if link.start_keys or link.end_keys or link.keys:
                yield link


def _is_kept(label: LabelProfile) -> bool:
    return bool(label.label) and label.role in ("entity", "record", "value") and not label.is_from_texts


def _centre(label: LabelProfile, keys: Sequence[str], links: Sequence[_Link]) -> dict[str, Any]:
    mine = [
        link.asked(at, out=out) for at, link in enumerate(links) for out in (True, False)
        if label.label == (link.start if out else link.end) and (keys or link.keys)
    ]
    degree = min(RELATIONS_OF_A_NODE, sum(links[one["at"]].count for one in mine) / label.nodes)
    wanted = max(LEAST_NODES, min(NODES_OF_A_LABEL, RELATIONS_OF_A_LABEL / max(1.0, degree)))
    return {
        "label": label.label, "share": min(1.0, wanted / label.nodes), "keys": list(keys), "types": sorted({one["type"] for one in mine}),
        "links": mine,
    }


def _tables(centres: Sequence[Mapping[str, Any]], links: Sequence[_Link], rows: Sequence[Row]) -> NumberSample:
    nodes: dict[int, list[Numbers]] = {}
    reads: dict[tuple[int, bool], _Read] = {}
    for row in rows:
        centre, own = centres[row["at"]], [number_of(value) for value in row["values"]]
        nodes.setdefault(row["at"], []).append(own)
        lines = _lines(row["relations"])
        is_whole = len(row["relations"]) < RELATIONS_OF_A_NODE
        for at, out in ((link["at"], link["out"]) for link in centre["links"]):
            read = reads.setdefault((at, out), _Read())
            mine = lines.get((at, out), [])
            if is_whole:
                read.groups.append(NumberGroup(own, [[*of_relation, *of_other] for of_relation, of_other in mine]))
            read.rows += [[*own, *of_relation, *of_other] if out else [*of_other, *of_relation, *own] for of_relation, of_other in mine]
    of_nodes = [
        NumberTable(None, centres[at]["label"], None, _at("node", centres[at]["label"], centres[at]["keys"]), found)
        for at, found in nodes.items() if len(centres[at]["keys"]) > 1 and len(found) >= LEAST
    ]
    of_types = [
        NumberTable(link.type, link.start, link.end, [
            *_at("start", link.start, link.start_keys), *_at("relation", link.type, link.keys), *_at("end", link.end, link.end_keys),
        ], found)
        for at, link in enumerate(links)
        if len(found := max((read.rows for (of, _), read in reads.items() if of == at), key=len, default=[])) >= LEAST
    ]
    groups = [_group(links[at], out, read.groups) for (at, out), read in reads.items() if len(read.groups) >= LEAST]
    return NumberSample([*of_nodes, *of_types], groups)


def _lines(relations: Sequence[Sequence[Any]]) -> dict[tuple[int, bool], list[tuple[Numbers, Numbers]]]:
    """The numbers of a node's relations and of their other ends, by place of the link and direction."""
    lines: dict[tuple[int, bool], list[tuple[Numbers, Numbers]]] = {}
    for at, out, of_relation, of_other in relations:
        lines.setdefault((at, out), []).append((list(map(number_of, of_relation)), list(map(number_of, of_other))))
    return lines


def _group(link: _Link, out: bool, groups: Sequence[NumberGroup]) -> GroupTable:
    centre, other = (link.start, link.end) if out else (link.end, link.start)
    own, others = (link.start_keys, link.end_keys) if out else (link.end_keys, link.start_keys)
    sides: tuple[Side, Side] = ("start", "end") if out else ("end", "start")
    parts = [*_at("relation", link.type, link.keys), *_at(sides[1], other, others)]
    return GroupTable(link.type, centre, other, out, _at(sides[0], centre, own), parts, groups)


def _at(side: Side, owner: str, keys: Sequence[str]) -> list[PropertyAt]:
    return [PropertyAt(side, owner, key) for key in keys]
