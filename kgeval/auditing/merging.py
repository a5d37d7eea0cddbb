"""Which entities of a finding are surely one thing, so that a merge may be offered for them, and what of each group stays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from pydantic import JsonValue

from kgeval.auditing.constants import CONSTANT
from kgeval.auditing.graph_reader import GraphReader
from kgeval.format import plural
from kgeval.names import compare_names
from kgeval.profiling.reads import read_constraints
from kgeval.records import Example, GraphRef, Layout

CUT = 200  # a longer name may have been cut: of what is left nothing is sure
MOST = 50  # of one group; each pair is compared
BATCH = 1_000
UNIQUE = "unique"  # what is known of a database's constraints under this name is as `declared_unique` has it
OURS = "__Kgeval"  # begins the labels of what kgeval itself keeps beside a graph
STAYS = "the first of each group stays: the one with most relations, then the oldest"
Unique = dict[str, JsonValue]


@dataclass(frozen=True)
class EntityEvidence:
    """`relations`: how many it has, of any type. `said`: its values, as text, of properties that tell things apart."""

    relations: int = 0
    said: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RepairEvidence:
    """What is to be known of a graph before a repair is offered. `unique`: the uniqueness constraints, as `declared_unique` has them; None
    where they could not be read. `entities`: of a merge, by element id. `made`: types that people made, of which names tell nothing."""

    unique: Sequence[Unique] | None = ()
    entities: Mapping[str, EntityEvidence] = field(default_factory=dict)
    made: frozenset[str] = frozenset()


@dataclass(frozen=True)
class MergeOffer:
    """`groups`: element ids of entities that are one thing, the one that stays first. `left`: how many of the examples are not among them,
    by the reason."""

    groups: list[list[str]]
    left: Mapping[str, int]

    def why_left(self) -> str:
        """`2 of names that are likely one thing, 1 that differ in born`; "" where none is left."""
        return ", ".join(f"{n} {why}" for why, n in sorted(self.left.items()))

    def note(self) -> str:
        """What is merged, what stays, and what is only to be looked at."""
        left = f" Not merged, only to look at: {self.why_left()}." if self.left else ""
        return f"{plural(len(self.groups), 'group')} of what is surely one thing; {STAYS}.{left}"


def declared_unique(rows: Iterable[Mapping[str, object]], layout: Layout) -> list[Unique]:
    """What constraints declare unique: label or relation type (`on`), properties, and whether two entities that differ in them are two
    things (`tells`). A writer's own handle does not tell: an id of each node, and the name that its loads are merged by.

    `rows`: of `read_constraints`.
    """
    handles = {"id", "uuid", *layout.name_keys, *layout.chunk_id_keys, layout.key_property, layout.type_key, layout.scope_property}
    found: list[Unique] = []
    for row in rows:
        if not str(row.get("type")).endswith(("UNIQUENESS", "_KEY")):
            continue
        labels, keys = row.get("labelsOrTypes"), row.get("properties")
        if isinstance(labels, list) and isinstance(keys, list):
            tells = row.get("entityType") == "NODE" and not {*map(str, keys)} & handles
            properties: list[JsonValue] = [str(key) for key in keys]
            own = [str(label) for label in labels if not str(label).startswith(OURS)]
            found += [{"on": label, "properties": properties, "tells": tells} for label in own]
    return found


def read_unique(reader: GraphReader) -> list[Unique]:
    """The uniqueness constraints of the database, as `declared_unique` has them."""
    return declared_unique(read_constraints(reader.graph, reader.layout, timeout=reader.timeout), reader.layout)


def read_entities(reader: GraphReader, examples: Sequence[Example], unique: Sequence[Unique]) -> dict[str, EntityEvidence]:
    """What tells the entities of examples apart."""
    ids = [item.element_id for example in examples for item in example.items if item.element_id]
    keys = sorted(_telling(unique))
    rows = reader.rows_of("merge-evidence", ids, size=BATCH, keys=keys, constant=f".*(?:{CONSTANT.pattern}).*")
    return {
        row["element_id"]: EntityEvidence(row["relations"], {key: value for key, value in row["said"] if value is not None}) for row in rows
    }


def merge_offer(examples: Sequence[Example], layout: Layout, evidence: RepairEvidence) -> MergeOffer:
    """The groups of examples whose entities are surely one thing: each pair of names is, types are the same, and nothing else tells them
    apart. Examples that share an entity are one group, where that holds for all of them together; else none of them is offered."""
    left: Counter[str] = Counter()
    sure: list[list[GraphRef]] = []
    for example in examples:
        items = list({item.element_id: item for item in example.items if item.element_id}.values())
        if why := _why_unsure(items, layout, evidence):
            left[why] += 1
        else:
            sure.append(items)
    groups = []
    for joined, members in _joined(sure):
        if why := "" if joined == 1 else _why_unsure(members, layout, evidence):
            left[f"that share an entity and are together {why.removeprefix('that ')}"] += joined
        else:
            groups.append([str(item.element_id) for item in sorted(members, key=lambda item: _rank(str(item.element_id), evidence))])
    return MergeOffer(groups, left)


def _rank(element_id: str, evidence: RepairEvidence) -> tuple[int, int, str]:
    number = element_id.rpartition(":")[2]
    relations = evidence.entities.get(element_id, EntityEvidence()).relations
    return -relations, int(number) if number.isdecimal() else 0, element_id


def _why_unsure(items: Sequence[GraphRef], layout: Layout, evidence: RepairEvidence) -> str:
    """Why entities are not surely one thing; "" where they are."""
    if len(items) < 2:
        return "of one entity"
    if len(items) > MOST:
        return f"of more than {MOST} entities"
    if evidence.unique is None:
        return "in a database whose constraints could not be read"
    if any((item.type or "") in evidence.made for item in items):
        return "of a type that no writer extracted"
    return next((why for a, b in combinations(items, 2) if (why := _why_two(a, b, layout, evidence))), "")


def _why_two(a: GraphRef, b: GraphRef, layout: Layout, evidence: RepairEvidence) -> str:
    types = [item.type for item in (a, b) if item.type and item.type not in layout.placeholder_values]
    if len({type_.strip().casefold() for type_ in types}) > 1:
        return "of several types"
    if max(len(a.name), len(b.name)) >= CUT:
        return "of names that are cut"
    certainty = compare_names(a.name, b.name, type=next(iter(types), None)).certainty
    if certainty != "sure":
        return "of names that are likely one thing" if certainty == "likely" else "of names that alone do not say one thing"
    x, y = (evidence.entities.get(str(item.element_id), EntityEvidence()).said for item in (a, b))
    differing = sorted(key for key in x.keys() & y.keys() if x[key].strip().casefold() != y[key].strip().casefold())
    return f"that differ in {', '.join(differing)[:80]}" if differing else ""


def _telling(unique: Sequence[Unique]) -> set[str]:
    lists = [one["properties"] for one in unique if one["tells"]]
    return {str(key) for keys in lists if isinstance(keys, list) for key in keys}


def _joined(groups: Sequence[Sequence[GraphRef]]) -> list[tuple[int, list[GraphRef]]]:
    """Groups that share an entity as one: how many they are, and all members."""
    parts: list[tuple[int, dict[str, GraphRef]]] = []
    part_of: dict[str, int] = {}
    for group in groups:
        members = {str(item.element_id): item for item in group}
        joined = 1
        for at in sorted({part_of[element_id] for element_id in members if element_id in part_of}):
            joined += parts[at][0]
            members = {**parts[at][1], **members}
            parts[at] = (0, {})
        part_of.update(dict.fromkeys(members, len(parts)))
        parts.append((joined, members))
    return [(joined, [*members.values()]) for joined, members in parts if members]
