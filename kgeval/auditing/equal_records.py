"""Nodes of one label that people keep, and that agree in everything but their keys: one record that was entered twice."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from kgeval.auditing.check import CheckRun
from kgeval.auditing.suspects import TEXT
from kgeval.graph.connect import Row
from kgeval.graph.layouts.entity_names import ID
from kgeval.profiling.record import LabelProfile, PropertyProfile
from kgeval.profiling.values import FORMATS
from kgeval.records import GraphRef

MOST_NEIGHBOURS = 200
LEAST_VALUES = 3  # that two nodes must have in common, beside what only counts or says yes or no
NEARLY, LEAST_NODES = 0.9, 20  # share of values that differ, from which an equal one is no chance; nodes from which that says something
NUMBERED, CALLED_ID = 0.98, re.compile(r"(?:[a-z0-9](?:Code|Nr|No|Key)|_(?:code|nr|no|number|key))$")
# when a record was written or shown first, whatever it is of
OF_THE_RECORD = re.compile(
    r"creat|updat|modif|import|load|insert|chang|sync|timestamp|publish|submit|posted|entered|added|regist", re.IGNORECASE,
)
PART = re.compile(r"(.*\d)[-_. ]?[A-Za-z]?")  # a key, and the letter of one of several parts: L110, L110B


@dataclass(frozen=True)
class ComparedRecords:
    """What nodes of a label are compared in, and the property of these in which nearly all differ. `is_text`: it holds texts."""

    keys: Sequence[str]
    by: str
    is_text: bool
    counted: frozenset[str]


@dataclass(frozen=True)
class EqualPair:
    """Two nodes that agree in all but their keys: in `values` values that say something."""

    first: GraphRef
    second: GraphRef
    values: int


def compared_records(label: LabelProfile) -> ComparedRecords | None:
    """What the nodes of a label are compared in; None where they hold too little, or nothing in which they differ."""
    left_out = {*label.keys, *label.embeddings}
    kept = [one for one in label.properties if one.key not in left_out and not OF_THE_RECORD.search(one.key) and not _is_own_key(one)]
    counted = [one for one in kept if not one.types.get("BOOLEAN") and one.distinct * one.filled * label.sampled > 1.5]
    telling = [one for one in counted if one.distinct >= NEARLY and one.filled >= 0.5 and not _is_list(one)]
    if len(counted) < LEAST_VALUES or label.sampled < LEAST_NODES or not telling:
        return None
    best = max(telling, key=lambda one: (_is_text(one), one.filled, one.distinct, one.key))
    return ComparedRecords([one.key for one in kept], best.key, _is_text(best), frozenset(one.key for one in counted))


def own_keys(label: LabelProfile) -> list[str]:
    """The properties that tell the label's nodes apart, which are not compared."""
    return sorted({*label.keys, *(one.key for one in label.properties if _is_own_key(one))})


def equal_pairs(check: CheckRun, labels: Mapping[str, ComparedRecords], most: int) -> Iterator[EqualPair]:
    """Pairs of nodes that agree in all that is compared, and in what they are related to as far as both are: by a text, or by all."""
    params = {"keys": {name: list(one.keys) for name, one in labels.items()}, "by": {name: one.by for name, one in labels.items()}}
    groups: dict[tuple[str, tuple[str | None, ...]], list[Row]] = defaultdict(list)
    for row in check.stream("equal-records", most=most, neighbours=MOST_NEIGHBOURS, **params):
        groups[row["label"], tuple(row["values"])].append(row)
    found = []
    for (label, values), rows in groups.items():
        held = labels[label]
        same = sum(key in held.counted and _says_something(value) for key, value in zip(held.keys, values, strict=True))
        if len(rows) > 1 and same >= LEAST_VALUES and _says_something(values[list(held.keys).index(held.by)]):
            found += [(a, b, same, held) for a, b in combinations(rows, 2) if not _are_parts(a["key"], b["key"])]
    for a, b, same, held in found:
        mine, yours = set(a["near"]), set(b["near"])
        common, fewest = len(mine & yours), min(len(mine), len(yours))
        enough = fewest == 0 or common > 0 if held.is_text else common >= max(1, fewest)
        if enough and b["element_id"] not in mine and a["element_id"] not in yours:
            yield EqualPair(_reference(a), _reference(b), same)


def _is_own_key(one: PropertyProfile) -> bool:
    return one.distinct >= NUMBERED and (ID.search(one.key) is not None or CALLED_ID.search(one.key) is not None)


def _is_text(one: PropertyProfile) -> bool:
    return one.types.get(TEXT, 0.0) > 0.9 and one.formats.get("number", 0.0) + one.formats.get("date", 0.0) < 0.5


def _is_list(one: PropertyProfile) -> bool:
    return any(kind.startswith("LIST") for kind in one.types)


def _says_something(value: str | None) -> bool:
    return value is not None and value.strip() not in ("", "0", "0.0") and FORMATS["null word"].fullmatch(value.strip()) is None


def _are_parts(a: str, b: str) -> bool:
    """Whether two keys differ in a letter at the end only, as those of parts do."""
    x, y = PART.fullmatch(a), PART.fullmatch(b)
    return a != b and x is not None and y is not None and x[1] == y[1]


def _reference(row: Row) -> GraphRef:
    return GraphRef(element_id=row["element_id"], key=row["key"][:200], name=row["name"][:200], type=row["label"])
