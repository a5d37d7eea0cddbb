"""What differs between the entities, sources, relations and merges that are there and those that are wanted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kgeval.graph.load import naming
from kgeval.graph.load.built import UNDONE, Changes, Derived, EntityRow, Place, RelationRow, predicate_key
from kgeval.graph.load.model import Entity, Relation
from kgeval.graph.load.naming import CHUNK, ENTITY
from kgeval.graph.queries import all_queries

MERGE = "__KgevalMerge__"
Step = tuple[str, str, list[Any]]


@dataclass(frozen=True, slots=True)
class New:
    """An end that is not written yet: the entity's id stands for its element id."""

    id: str


def with_ends(rows: Iterable[Any], made: Mapping[str, str]) -> Iterator[list[Any]]:
    """The rows with the element ids of nodes that were created meanwhile."""
    for row in rows:
        ends = [made[end.id] if type(end) is New else end for end in row[:2]]
        yield [*ends, *row[2:]]


class Difference:
    """Compares what is there with what is wanted."""

    def __init__(self, place: Place, wanted: Derived) -> None:
        self._place = place
        self._wanted = wanted
        types = [Entity(e.id, type=e.type) for e in wanted.entities]
        self._labels = naming.type_labels(types, {place.name, *place.others})
        predicates = dict.fromkeys(r.predicate for r in wanted.relations)
        self._types = naming.relation_types(Relation(0, 0, predicate=p) for p in predicates)
        self._keys = {p: predicate_key(p) for p in predicates}
        self._ends: dict[str, str | New] = {}
        self._changes = Changes()

    def changes(self) -> Changes:
        """Everything, deletions first."""
        nodes, late = self._entities()
        relations = self._relations()
        sources = self._sources()
        merges = self._merges()
        for query, what, rows in [*merges, *relations, *sources, *nodes, *late]:
            self._changes.add(query, rows, what)
        order = {"drop-merges": 0, "drop-relations": 0, "delete-nodes": 1, "create-nodes": 2, "update-nodes": 3}
        self._changes.steps.sort(key=lambda step: order.get(step[0], 4))
        return self._changes

    def _read(self, query: str) -> Iterator[dict[str, Any]]:
        return self._place.graph.stream(all_queries()[query], {"graph": self._place.name})

    def _entities(self) -> tuple[list[Step], list[Step]]:
        wanted = {entity.id: entity for entity in self._wanted.entities}
        update: list[Any] = []
        gone: list[Any] = []
        for row in self._read("built-entities"):
            key, at, labels = row["id"], row.pop("element_id"), row.pop("labels")
            if key not in wanted or key in self._ends:
                gone.append([at])
                continue
            self._ends[key] = at
            change = self._entity_change(wanted[key], row, labels)
            if change:
                update.append([at, *change])
        new = [e for e in self._wanted.entities if e.id not in self._ends]
        rows = [[0, self._all_labels(e), _known(e.properties), {}] for e in new]
        self._ends |= {e.id: New(e.id) for e in new}
        return (
            [("delete-nodes", "entities deleted", gone), ("create-nodes", "entities created", rows)],
            [("update-nodes", "entities updated", update)],
        )

    def _all_labels(self, entity: EntityRow) -> list[str]:
        return [ENTITY, self._place.name, *([entity.type] if entity.type in self._labels and entity.type else [])]

    def _entity_change(self, entity: EntityRow, row: dict[str, Any], labels: list[str]) -> list[Any] | None:
        """Properties, labels to take away, labels to add; null where nothing differs. Other graphs' labels are left alone."""
        properties, right = entity.properties, self._all_labels(entity)
        wrong = [label for label in labels if label not in right and label == row["type"]]
        missing = [label for label in right if label not in labels]
        if properties == row and not wrong and not missing:
            return None
        return [properties, wrong, missing]

    def _relations(self) -> list[Step]:
        wanted = {(r.source, r.target, self._keys[r.predicate]): r for r in self._wanted.relations}
        ids = {at: key for key, at in self._ends.items() if isinstance(at, str)}
        seen: set[tuple[str, str, str]] = set()
        update, gone = [], []
        for row in self._read("built-relations"):
            at, kind, source, target = (row.pop(name) for name in ("element_id", "type", "source", "target"))
            key = (ids.get(source, ""), ids.get(target, ""), self._key(row["predicate"] or ""))
            right = wanted.get(key)
            if right is None or key in seen or kind != self._type(right):
                gone.append([at])
                continue
            seen.add(key)
            if right.properties != row:
                update.append([at, right.properties])
        new = [
            [self._ends[r.source], self._ends[r.target], self._type(r), _known(r.properties), {}]
            for key, r in wanted.items() if key not in seen
        ]
        return [
            ("drop-relations", "relations deleted", gone), ("create-relations", "relations created", new),
            ("update-relations", "relations updated", update),
        ]

    def _key(self, predicate: str) -> str:
        return self._keys.get(predicate) or predicate_key(predicate)

    def _type(self, relation: RelationRow) -> str:
        return self._types.get(relation.predicate, naming.NO_PREDICATE)

    def _sources(self) -> list[Step]:
        chunks = {row["id"]: row["element_id"] for row in self._read("imported-nodes") if row["kind"] == CHUNK}
        wanted = {
            (self._ends[e.id], chunks[c]): {"mentions": n, "start": start, "end": end}
            for e in self._wanted.entities for c, (n, start, end) in e.sources.items() if c in chunks  # else: just deleted by another build
        }
        seen: set[Any] = set()
        update, gone = [], []
        for row in self._read("built-mentions"):
            at, ends = row.pop("element_id"), (row.pop("entity"), row.pop("chunk"))
            if ends not in wanted or ends in seen:
                gone.append([at])
                continue
            seen.add(ends)
            if wanted[ends] != row:
                update.append([at, wanted[ends]])
        new = [[*ends, _known(properties)] for ends, properties in wanted.items() if ends not in seen]
        return [
            ("drop-relations", "mentions deleted", gone), ("link-sources", "mentions created", new),
            ("update-relations", "mentions updated", update),
        ]

    def _merges(self) -> list[Step]:
        """Applied merges follow from the texts; those that a person took back stay, whatever the texts hold now."""
        wanted = {merge.id: merge for merge in self._wanted.merges}
        seen: set[str] = set()
        update, gone = [], []
        for row in self._read("built-merges"):
            at, key = row.pop("element_id"), row["id"]
            if key in seen or (key not in wanted and row["status"] != UNDONE):
                gone.append([at])
                continue
            seen.add(key)
            if key in wanted and wanted[key].properties != row:
                update.append([at, wanted[key].properties, [], []])
        new = [
            [0, [MERGE], _known(merge.properties) | {"graph": self._place.name}, {}]
            for key, merge in wanted.items() if key not in seen
        ]
        return [
            ("drop-merges", "merges deleted", gone), ("create-nodes", "merges created", new), ("update-nodes", "merges updated", update),
        ]


def _known(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in properties.items() if value is not None}
