"""What tells two nodes of one name apart in a graph that people made: what never changes (a date of birth, an ISBN), and other values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from difflib import SequenceMatcher

from kgeval.auditing.check import CheckRun
from kgeval.auditing.contexts import Contexts
from kgeval.graph.connect import Row
from kgeval.graph.layouts.entity_names import ID
from kgeval.names.forms import without_marks
from kgeval.profiling.record import GraphProfile, LabelProfile, PropertyProfile
from kgeval.text.wordlists import word_list

SHORTEST = 2  # letters of a word that is known only as it is written


def _constant_words() -> list[str]:
    """The words for what never changes, with and without the marks on their letters; two letters only with them (né is no ne)."""
    words = word_list("constant")
    return sorted({*words, *(without_marks(word) for word in words if len(word) > SHORTEST)})


_FORMS = [form for word in _constant_words() for form in (word, word.capitalize(), word.upper())]
_WRITTEN, _INSIDE = "|".join(_FORMS), "|".join(form for form in _FORMS if not form.islower())
# a word of a key, however the key is written: born, Born, date_of_birth, birthDate, IMDB_ID, hasISBN; for Python and for Java
CONSTANT = re.compile(rf"(?:(?<![A-Za-zÀ-ÿ])(?:{_WRITTEN})|(?<=[a-z0-9ß-ÿ])(?:{_INSIDE}))(?![a-zß-ÿ])")
OF_THE_RECORD = re.compile(
    r"creat|updat|modif|import|load|insert|chang|seen|sync|version|timestamp|^(?:from|to|since|until)$", re.IGNORECASE,
)
NAME_PART = re.compile(r"name$|^(?:title|label|full_?name.*|sort_?name.*|alias.*)$", re.IGNORECASE)
CLOCK = re.compile(r"\d{4}-\d\d-\d\d[t ]\d\d:\d\d", re.IGNORECASE)
ZONE = re.compile(r"\[.*\]$|(?<=\.\d{6})\d+")  # of a time as Neo4j writes it, what Python does not read
MOST = 10  # nodes of one name that are held against each other
BATCH = 1_000
SAYS_SAME = re.compile(r"same|similar|duplicate|alias|match|equal|identical|equivalent", re.IGNORECASE)  # a relation between two records
OFTEN = 0.05  # share of nodes of a label with a repeated name, above which an equal name alone is no sign of one thing
LARGE, RARE = 200, 0.01  # nodes of a label, and the share of them with a repeated name, up to which only constants tell two apart
TELLING = 0.8  # share of values that differ, from which one that differs tells two nodes apart
TELLING_CONSTANT = 0.5  # of a date of birth less are enough: two of one name seldom share it
LONGEST = 200  # characters of a value that is compared
APART = 3  # values, in which nearly all nodes differ, that tell two namesakes apart where none agrees, whatever they share
SLIP = 2  # digits of a number or date, and letters of a text, up to which two values may be one with a slip
ALIKE = 0.6  # of two texts, from which they may be one that was written twice
NEAR = 0.02  # of two numbers, up to which they may be one that was measured twice
MAIL = re.compile(r"[^@\s]+@([^@\s]+)")


@dataclass(frozen=True)
class ComparedKeys:
    """The properties of a label that two of its nodes are compared by. `constant`: they never change; `telling`: nearly all nodes differ in
    them (of constants: most); `others`: the rest. `own`: keys that are more than the number of a record (a mail address, a number of
    staff), and long texts: two namesakes differ in them."""

    constant: frozenset[str] = frozenset()
    telling: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()

    @property
    def every(self) -> frozenset[str]:
        """All of them but `own`."""
        return self.constant | self.telling | self.others


@dataclass(frozen=True)
class NodeComparison:
    """Whether two nodes may be one thing, by their values. Labels that a writer extracted from texts are not compared: their nodes may."""

    check: CheckRun
    by_label: Mapping[str, ComparedKeys]
    values: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def read(self, element_ids: Iterable[str]) -> None:
        """Reads the values of nodes."""
        keys = sorted({key for compared in self.by_label.values() for key in compared.every | compared.own})
        for row in self.check.rows_of("entity-values", element_ids, size=BATCH, keys=keys):
            filled = {key: value.strip().casefold() for key, value in zip(keys, row["values"], strict=True) if value and value.strip()}
            self.values[row["element_id"]] = filled

    def differ_in_constants(self, first: str, second: str, label: str | None) -> bool:
        """Whether two nodes (element ids) of a label have different values of what never changes."""
        keys = self.by_label.get(label or "", ComparedKeys())
        a, b = self.values.get(first, {}), self.values.get(second, {})
        return any(not _is_one_value(a[key], b[key]) for key in keys.constant & a.keys() & b.keys())

    def differ_in_telling(self, first: str, second: str, label: str | None) -> bool:
        """Whether two nodes of a label have different values of what nearly all nodes differ in."""
        keys = self.by_label.get(label or "", ComparedKeys())
        a, b = self.values.get(first, {}), self.values.get(second, {})
        return any(a[key] != b[key] for key in keys.telling & a.keys() & b.keys())

    def speak_for_one(self, first: str, second: str, label: str | None) -> bool:
        """Whether the values of two namesakes of a label say that they are one thing: none of what never changes differs, and they share a
        value in which nearly all nodes differ; or all values that both have are the same, their own keys and long texts too."""
        keys = self.by_label.get(label or "", ComparedKeys())
        a, b = self.values.get(first, {}), self.values.get(second, {})
        both = a.keys() & b.keys()
        agreeing = {key for key in both if a[key] == b[key]}
        if self.differ_in_constants(first, second, label):
            return False
        return bool(keys.telling & agreeing) or (bool(keys.every & both) and (keys.every | keys.own) & both <= agreeing)

    def may_be_one(self, first: str, second: str, label: str | None, *, share_neighbours: bool = False) -> bool:
        """Whether nothing tells two nodes (element ids) of a label apart: a constant that differs; several values in which nearly all nodes
        do, and none of them agrees; or, where they share no neighbour and no value in which nearly all nodes differ, other values: two
        differ in which nearly all nodes do, or the only one that both have, or more differ than agree."""
        keys = self.by_label.get(label or "")
        if keys is None:
            return True
        a, b = self.values.get(first, {}), self.values.get(second, {})
        both = keys.every & a.keys() & b.keys()
        differing = {key for key in both if a[key] != b[key]}
        if self.differ_in_constants(first, second, label) or _are_two(keys, a, b):
            return False
        if share_neighbours or keys.telling & both - differing:
            return True
        if len(keys.telling & differing) > 1:
            return False
        if len(both) == 1 and not differing <= keys.telling:
            return True
        return 2 * len(differing) <= len(both)


def _are_two(keys: ComparedKeys, a: Mapping[str, str], b: Mapping[str, str]) -> bool:
    """Whether two nodes differ clearly in three values in which nearly all nodes do (in two, and in half of what is said of many),
    and agree in none of them: two people who work in one room."""
    both = {key for key in a.keys() & b.keys() if max(len(a[key]), len(b[key])) <= LONGEST}
    telling = both & (keys.telling | keys.own | keys.constant)
    if any(a[key] == b[key] for key in telling):
        return False
    apart = sum(_differ_clearly(a[key], b[key]) for key in telling)
    others = both & keys.others
    equal = sum(a[key] == b[key] for key in others)
    return apart >= APART or (apart == APART - 1 and bool(others) and 2 * equal <= len(others))


def _differ_clearly(a: str, b: str) -> bool:
    """Whether two values are not one that was written in two ways, or with a slip. Two mail addresses at one place are two."""
    if (mail := MAIL.fullmatch(a)) and (other := MAIL.fullmatch(b)):
        return a != b and mail[1] == other[1]
    if (number := _number(a)) is not None and (second := _number(b)) is not None:
        return abs(number - second) > NEAR * max(abs(number), abs(second))
    x, y = ("".join(filter(str.isdecimal, text)) for text in (a, b))
    if len(x) > SLIP and len(y) > SLIP:
        return sorted(x) != sorted(y) and _edits(x, y) > SLIP and not (x.endswith(y[-6:]) and len(y) >= 6)
    return SequenceMatcher(None, a, b, autojunk=False).ratio() < ALIKE


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _edits(a: str, b: str) -> int:
    """Signs in which two texts differ: of one length place by place, else of the longer rest, those that have no fellow in the other."""
    if len(a) == len(b):
        return sum(x != y for x, y in zip(a, b, strict=True))
    same = sum(block.size for block in SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks())
    return max(len(a), len(b)) - same


def told_apart(relations: Iterable[str]) -> bool:
    """Whether a relation between two nodes tells them apart: nobody is his own father. One that says that they are the same does not."""
    return any(SAYS_SAME.search(name) is None for name in relations)


def _is_one_value(a: str, b: str) -> bool:
    """Whether two values of what never changes are the same: equal, one time, or a word and its first letter (F, female)."""
    short, long = sorted((a, b), key=len)
    return a == b or is_one_time(a, b) or (len(short) == 1 and short.isalpha() and long.isalpha() and long.startswith(short))


def is_one_time(a: str, b: str) -> bool:
    """Whether two texts are times, with hours and minutes, less than a day apart: of one thing that was entered twice."""
    if not (CLOCK.match(a) and CLOCK.match(b)):
        return False
    try:
        first, second = (datetime.fromisoformat(ZONE.sub("", text).upper()).replace(tzinfo=None) for text in (a, b))
    except ValueError:
        return False
    return abs(first - second) < timedelta(days=1)


def node_comparison(check: CheckRun) -> NodeComparison:
    """What nodes of this graph are compared by. Nothing is read yet."""
    profile: GraphProfile | None = check.settings["profile"]
    labels = [label for label in profile.labels if label.label and not label.is_from_texts] if profile else []
    return NodeComparison(check, {label.label: _compared_keys(label) for label in labels})


def parted_by_values(check: CheckRun, groups: Mapping[int, list[Row]], sizes: Mapping[int, int]) -> dict[int, list[list[Row]]]:
    """Of groups of nodes with one name, those that values, or a relation between two nodes, tell apart: by code the parts that may each be
    one thing.

    Groups of labels that a writer extracted from texts, and of more than ten nodes, are not looked at.
    """
    compared = node_comparison(check)
    looked_at = {
        code: rows for code, rows in groups.items() if sizes[code] == len(rows) <= MOST and rows[0]["type"] in compared.by_label
    }
    if not looked_at:
        return {}
    every = [row["element_id"] for rows in looked_at.values() for row in rows]
    compared.read(every)
    profile: GraphProfile = check.settings["profile"]
    bearers = Counter(row["type"] for rows in looked_at.values() for row in rows)
    rare, often = _rarely_repeated(profile, bearers), _often_repeated(profile, bearers)
    at = {element_id: number for number, element_id in enumerate(every)}
    contexts = Contexts(check, dict(enumerate(every)))

    def may_be_one(row: Row, other: Row) -> bool:
        a, b, label = row["element_id"], other["element_id"], row["type"]
        if told_apart(contexts.between(at[a], at[b])):
            return False
        if label in often:
            return compared.speak_for_one(a, b, label)
        near = label in rare or contexts.shared(at[a], at[b]).neighbours > 0
        return compared.may_be_one(a, b, label, share_neighbours=near)

    parts = {code: _parts(rows, may_be_one) for code, rows in looked_at.items()}
    return {code: found for code, found in parts.items() if len(found) > 1}


def _rarely_repeated(profile: GraphProfile, bearers: Mapping[str | None, int]) -> set[str]:
    """Labels of 200 nodes or more of which at most one in a hundred bears a name that another one has: there an equal name is no chance."""
    return {one.label for one in profile.labels if one.nodes >= LARGE and bearers.get(one.label, 0) <= RARE * one.nodes}


def _often_repeated(profile: GraphProfile, bearers: Mapping[str | None, int]) -> set[str]:
    """Labels of which more than one node in twenty bears a name that another one has, though names identify and are no key: there are
    namesakes among them."""
    named = [one for one in profile.labels if one.names_identify and not {*one.name} & {*one.keys}]
    return {one.label for one in named if bearers.get(one.label, 0) > OFTEN * one.nodes}


def _compared_keys(label: LabelProfile) -> ComparedKeys:
    named = tuple(f"{name}_" for name in label.name)
    names = {*label.name, *(found.key for found in label.properties if found.key.startswith(named))}  # name_key: the name again
    own = {*label.keys, *names, *label.embeddings}
    constant = {found.key for found in label.properties if CONSTANT.search(found.key) and found.key not in label.name}
    rest = [found for found in label.properties if found.key not in own | constant and _is_compared(found)]
    telling = {found.key for found in rest if found.distinct >= TELLING}
    telling |= {found.key for found in label.properties if found.key in constant and found.distinct >= TELLING_CONSTANT}
    others = {found.key for found in rest} - telling
    numbered = {key for key in own if key in names or key in label.embeddings or ID.search(key)}
    long = {found.key for found in label.properties if (found.length or 0) > LONGEST and found.distinct >= TELLING}
    return ComparedKeys(frozenset(constant), frozenset(telling), frozenset(others), frozenset((own - numbered) | long - constant))


def _is_compared(found: PropertyProfile) -> bool:
    """Whether a property says something of the thing, and not when its record was written; and is no essay."""
    if any(kind.startswith("LIST") for kind in found.types) or NAME_PART.search(found.key):
        return False
    return (found.length or 0) <= LONGEST and OF_THE_RECORD.search(found.key) is None


def _parts(rows: Sequence[Row], may_be_one: Callable[[Row, Row], bool]) -> list[list[Row]]:
    """The rows in parts, each with those before it that nothing tells it apart from."""
    parts: list[list[Row]] = []
    for row in rows:
        fitting = (part for part in parts if all(may_be_one(row, other) for other in part))
        part = next(fitting, None)
        if part is None:
            parts.append([row])
        else:
            part.append(row)
    return parts
