"""same-record: two nodes of a label that share what hardly any two of it share (a telephone, a code) and whose names may be one; or that
agree in everything but their keys."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.code_shapes import are_codes, may_be_called_code
from kgeval.auditing.constants import node_comparison
from kgeval.auditing.contexts import Contexts
from kgeval.auditing.entity_columns import EntityColumns
from kgeval.auditing.equal_records import EqualPair, compared_records, equal_pairs, own_keys
from kgeval.auditing.same_names import code, repeated
from kgeval.auditing.suspects import TEXT
from kgeval.names import compare_names
from kgeval.names.forms import form
from kgeval.profiling.record import GraphProfile, LabelProfile, PropertyProfile
from kgeval.profiling.values import FORMATS
from kgeval.records import Example

TELLING = 0.8  # share of values that differ: less than all, for each record that stands twice takes one away
FEW_NAMES = 0.5  # share of names that differ, below which they are headings
SHAPED = 1_000  # values that tell whether integers are codes
NUMBERED = ("number", "date", "true or false", "null word")  # formats whose values meet by chance
TELLING_NUMBER = 0.95  # the same of integers, which must be codes by their shape
Found = tuple[frozenset[str], Example]  # a pair of nodes by their element ids, and what is said of it
BATCH = 1_000  # nodes a query
OF_ONE_LINE = 7  # characters from which a number in text is no measure but a line: a telephone


@dataclass(frozen=True)
class SharedValues:
    """Two nodes (numbers) of one label, and the properties whose values they share."""

    first: int
    second: int
    keys: tuple[str, ...]


class RecordValues:
    """The nodes of some labels: who they are, and one 64-bit code for each value that tells them apart (0: none)."""

    def __init__(self, check: CheckRun, labels: Mapping[str, LabelProfile]) -> None:
        self.roll = EntityColumns()
        self._named = {name for name, label in labels.items() if label.name and not _are_headings(label)}
        keys = {name: telling_values(label) for name, label in labels.items()}
        self.places: dict[str, array[int]] = defaultdict(lambda: array("q"))
        self.codes: dict[tuple[str, str], array[int]] = defaultdict(lambda: array("Q"))
        shapes: dict[tuple[str, str], list[str]] = {
            (name, one.key): [] for name, label in labels.items() for one in label.properties if one.key in keys[name] and _is_number(one)
        }
        for row in check.sliced_rows("same-record", keys=keys):
            label = row["label"]
            self.places[label].append(len(self.roll))
            self.roll.append(row["element_id"], row["key"], row["name"][:300], label)
            for key, value in zip(keys[label], row["values"], strict=True):
                self.codes[label, key].append(_value_code(value))
                if (label, key) in shapes and value is not None and len(shapes[label, key]) < SHAPED:
                    shapes[label, key].append(value)
        for of, values in shapes.items():
            if not are_codes(values):
                self.codes.pop(of, None)

    def name(self, at: int) -> str:
        """The node's name; "" where nodes of its label have none, and are shown by their key."""
        return self.roll.names[at] if self.roll.kind(at) in self._named else ""

    def shared(self, most: int) -> Iterator[SharedValues]:
        """Pairs of nodes with a value that 2 to `most` nodes have."""
        found: dict[tuple[int, int], list[str]] = defaultdict(list)
        for (label, key), codes in self.codes.items():
            for places in _repeated(codes, most):
                for a, b in combinations(places, 2):
                    found[self.places[label][a], self.places[label][b]].append(key)
        for (a, b), keys in sorted(found.items()):
            yield SharedValues(a, b, tuple(keys))


def run(check: CheckRun) -> CheckOutcome:
    """`count`: nodes in at least one listed pair; `total`: nodes of labels that have such properties. Each example is one pair."""
    profile: GraphProfile | None = check.settings["profile"]
    asked = _asked(profile)
    labels = {label.label: label for label in asked if telling_values(label)}
    whole = {label.label: held for label in asked if (held := compared_records(label)) is not None}
    if not labels and not whole:
        return CheckOutcome(0, 0)
    most = int(check.settings["max_nodes"])
    equal = _apart_by_nothing(check, list(equal_pairs(check, whole, most))) if whole else []
    found = [(_ids(pair), example) for pair, example in zip(equal, _equal_examples(check, asked, equal), strict=True)]
    known, total = {ids for ids, _ in found}, sum(label.nodes for label in asked if label.label in whole.keys() - labels.keys())
    if labels:
        records = RecordValues(check, labels)
        found += [(ids, example) for ids, example in _sharing(check, records, most) if ids not in known]
        total += len(records.roll)
    examples = [example for _, example in found]
    return CheckOutcome(len({at for ids, _ in found for at in ids}), total, examples[: check.sample], None, len(found))


def _sharing(check: CheckRun, records: RecordValues, most: int) -> list[Found]:
    """The pairs of nodes that share what hardly any two share, and whose names may be one; those that share most first."""
    likely = [pair for pair in records.shared(most) if _may_be_one(records, pair)]
    listed = _without_related(check, records, _without_differing(check, records, likely))
    listed.sort(key=lambda pair: (-len(pair.keys), not _is_one_name(records, pair), records.roll.names[pair.first], pair.first))
    return [
        (frozenset(records.roll.element_id(at) for at in (pair.first, pair.second)), Example(
            items=[records.roll.reference(at) for at in (pair.first, pair.second)], why=f"the same {' and '.join(pair.keys)[:200]}",
        ))
        for pair in listed
    ]


def _ids(pair: EqualPair) -> frozenset[str]:
    return frozenset(one.element_id or "" for one in (pair.first, pair.second))


def _equal_examples(check: CheckRun, labels: Sequence[LabelProfile], pairs: Sequence[EqualPair]) -> list[Example]:
    """Each pair, with whether even their keys are the same."""
    keys_of = {label.label: own_keys(label) for label in labels}
    keys = sorted({key for pair in pairs for key in keys_of.get(pair.first.type or "", ())})
    ids = {id for pair in pairs for id in _ids(pair)}
    rows = check.rows_of("entity-values", sorted(ids), size=BATCH, keys=keys) if keys else []
    held = {row["element_id"]: dict(zip(keys, row["values"], strict=True)) for row in rows}
    return [Example(items=[pair.first, pair.second], why=_why_equal(pair, keys_of.get(pair.first.type or "", ()), held)) for pair in pairs]


def _why_equal(pair: EqualPair, keys: Sequence[str], held: Mapping[str, Mapping[str, str | None]]) -> str:
    a, b = (held.get(one.element_id or "", {}) for one in (pair.first, pair.second))
    said = f"the same in all {pair.values} values that say something"
    differing = [key for key in keys if a.get(key) != b.get(key)]
    if differing:
        return f"{said}; only their keys differ"
    equal = [key for key in keys if a.get(key) is not None]
    return f"{said}, and in {' and '.join(equal)[:100]}" if equal else f"{said}; they have no key that could differ"


def _apart_by_nothing(check: CheckRun, pairs: list[EqualPair]) -> list[EqualPair]:
    """The pairs without those that differ in what never changes, as two editions do in their ISBN."""
    compared = node_comparison(check)
    compared.read(one.element_id or "" for pair in pairs for one in (pair.first, pair.second))
    return [
        pair for pair in pairs
        if not compared.differ_in_constants(pair.first.element_id or "", pair.second.element_id or "", pair.first.type)
    ]


def telling_values(label: LabelProfile) -> list[str]:
    """The properties of a label whose values hardly any two of its nodes share, though nothing declares them keys."""
    own = {*label.keys, *label.name, *label.embeddings}
    return [found.key for found in label.properties if found.key not in own and _tells(found, label)]


def _are_headings(label: LabelProfile) -> bool:
    """Whether most of its nodes bear a name that others have, as headings are: that two names are alike says nothing then."""
    return len(label.name) == 1 and any(one.key == label.name[0] and one.distinct < FEW_NAMES for one in label.properties)


def _asked(profile: GraphProfile | None) -> list[LabelProfile]:
    labels = profile.labels if profile else []
    return [label for label in labels if label.label and not label.is_from_texts and label.role in ("entity", "record")]


def _is_number(found: PropertyProfile) -> bool:
    """Whether a property holds integers that may be codes: nearly all differ, and its name does not speak of an amount or a time."""
    return found.types.get("INTEGER", 0.0) > 0.9 and found.distinct >= TELLING_NUMBER and may_be_called_code(found.key)


def _tells(found: PropertyProfile, label: LabelProfile) -> bool:
    """Whether a property holds texts, on 20 sampled nodes at least, nearly all of them different, and no measures, times or essays; or
    integers that may be codes."""
    if _is_number(found):
        return found.filled * label.sampled >= 20
    chance = sum(found.formats.get(name, 0.0) for name in NUMBERED)
    long_numbers = found.formats.get("number", 0.0) > 0.5 and (found.length or 0) >= OF_ONE_LINE
    return (
        found.types.get(TEXT, 0.0) > 0.9 and found.filled * label.sampled >= 20 and found.distinct >= TELLING and (found.length or 0) <= 200
        and (chance < 0.5 or long_numbers)
    )


def _value_code(value: str | None) -> int:
    text = "".join((value or "").casefold().split())
    return 0 if len(text) < 5 or FORMATS["null word"].fullmatch(text) else code(text)


def _repeated(codes: array[int], most: int) -> Iterator[list[int]]:
    """The places of codes that stand 2 to `most` times."""
    import numpy as np

    values = np.frombuffer(codes, dtype=np.uint64)
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    for start, size in zip(*repeated(ascending), strict=True):
        if ascending[start] and size <= most:
            yield order[start:start + size].tolist()


def _is_one_name(records: RecordValues, pair: SharedValues) -> bool:
    a, b = records.name(pair.first), records.name(pair.second)
    return bool(form(a).identity) and form(a).identity == form(b).identity


def _may_be_one(records: RecordValues, pair: SharedValues) -> bool:
    """Whether the names of two nodes may be one: a form joins them, or they are spelled much alike; the more they share, the less alike.
    Nodes without a name must share two values."""
    kind = records.roll.kind(pair.first)
    a, b = records.name(pair.first), records.name(pair.second)
    if not a or not b:
        return len(pair.keys) > 1
    verdict = compare_names(a, b, type=kind)
    if verdict.certainty == "apart":
        return False
    alike = SequenceMatcher(None, form(a).compact, form(b).compact, autojunk=False).ratio()
    return verdict.joins or alike >= (0.7 if len(pair.keys) > 1 else 0.75)


def _without_differing(check: CheckRun, records: RecordValues, pairs: list[SharedValues]) -> list[SharedValues]:
    """The pairs without those that differ in what never changes. (What they share outweighs whatever else differs.)"""
    compared = node_comparison(check)
    compared.read(records.roll.element_id(at) for pair in pairs for at in (pair.first, pair.second))
    ids = [(pair, records.roll.element_id(pair.first), records.roll.element_id(pair.second)) for pair in pairs]
    return [pair for pair, a, b in ids if not compared.differ_in_constants(a, b, records.roll.kind(pair.first))]


def _without_related(check: CheckRun, records: RecordValues, pairs: list[SharedValues]) -> list[SharedValues]:
    """The pairs without those between which a relation says already what they are to each other."""
    contexts = Contexts(check, {at: records.roll.element_id(at) for pair in pairs for at in (pair.first, pair.second)})
    return [pair for pair in pairs if not contexts.shared(pair.first, pair.second).related]
