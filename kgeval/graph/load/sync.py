"""Brings a built graph to a wanted state: reads what is there, and writes the difference only, in batches.

Each document is written in one transaction, so that after an interruption every document is either old or new. Entities,
relations and merges follow from the documents: whatever an interruption left of them, the next run sets right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kgeval.graph.load import deletion, naming
from kgeval.graph.load.built import UNDONE, Changes, ChunkRow, Derived, DocumentRow, EntityRow, MergeRow, Place, RelationRow, predicate_key
from kgeval.graph.load.model import Entity, Relation
from kgeval.graph.load.naming import CHUNK, DOCUMENT, ENTITY
from kgeval.graph.load.writer import LARGEST_BATCH, batches
from kgeval.graph.queries import all_queries

# What differs between the entities, sources, relations and merges that are there and those that are wanted.

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


DOCUMENTS_A_DELETION = 20


@dataclass(frozen=True)
class Stored:
    """The documents that are there, by id, texts left out; `orphans`: element ids of chunks that lost their document."""

    documents: dict[str, DocumentRow]
    orphans: list[str]


def read_documents(place: Place) -> Stored:
    """The documents that are there with their chunks and what was extracted from these."""
    asked = {"graph": place.name}
    chunks: dict[str | None, list[ChunkRow]] = {}
    for row in place.graph.stream(all_queries()["built-chunks"], asked):
        holder = row.pop("document")
        chunks.setdefault(holder, []).append(ChunkRow(text=None, **{**row, "hash": row["hash"] or ""}))
    found = {}
    for row in place.graph.stream(all_queries()["built-documents"], asked):
        own = tuple(sorted(chunks.pop(row["element_id"], []), key=lambda c: (c.index, c.id)))
        row["title"] = None if row["title"] == row["id"] else row["title"]
        found[row["id"]] = DocumentRow(whole=row.pop("chunks") == len(own), chunks=own, **row)
    return Stored(found, [str(chunk.element_id) for left in chunks.values() for chunk in left])


def read_decisions(place: Place) -> list[MergeRow]:
    """The merges that are there, applied and undone, by id."""
    rows = place.graph.read(all_queries()["built-merges"], {"graph": place.name})
    return [MergeRow(**{key: value for key, value in row.items() if key != "element_id"}) for row in rows]


def document_changes(stored: Stored, wanted: Mapping[str, DocumentRow], removed: Iterable[str]) -> Counter[str]:
    """What writing would do, counted as "documents created", "chunks deleted" and so on. Nothing is written."""
    there = stored.documents
    counts: Counter[str] = Counter({"chunks deleted": len(stored.orphans)})
    for key, document in wanted.items():
        old = there.get(key)
        if old is not None and old.content == document.content:
            continue
        counts["documents updated" if old else "documents created"] += 1
        before, after = _contents(old), _contents(document)
        counts["chunks created"] += len(after.keys() - before.keys())
        counts["chunks deleted"] += len(before.keys() - after.keys())
        counts["chunks updated"] += sum(before[c] != after[c] for c in after.keys() & before.keys())
    for key in removed:
        counts["documents deleted"] += 1
        counts["chunks deleted"] += len(there[key].chunks)
    return +counts


def _contents(document: DocumentRow | None) -> dict[str, Any]:
    return {chunk.id: chunk.content for chunk in document.chunks} if document else {}


def write_documents(place: Place, stored: Stored, wanted: Mapping[str, DocumentRow], removed: Iterable[str]) -> None:
    """Writes the documents that differ and deletes the removed ones; each document in one transaction."""
    queries, there = all_queries(), stored.documents
    if stored.orphans:
        deletion.delete_nodes(place.graph, place.name, stored.orphans, batch=place.batch)
    gone = [str(there[key].element_id) for key in removed]
    for start in range(0, len(gone), DOCUMENTS_A_DELETION):
        place.graph.write(queries["delete-documents"], {"graph": place.name, "ids": gone[start:start + DOCUMENTS_A_DELETION]})
    changed = [d for key, d in wanted.items() if key not in there or there[key].content != d.content]
    done = 0
    for part in _whole_documents(changed, place.batch):
        place.graph.write(queries["write-documents"], {"rows": [_document_row(place, d, there.get(d.id)) for d in part]})
        done += len(part)
        place.progress("documents", done, len(changed))


def _whole_documents(documents: list[DocumentRow], most: int) -> Iterator[list[DocumentRow]]:
    """Documents in groups of about `most` chunks and 8 million characters; a larger one goes alone."""
    part: list[DocumentRow] = []
    rows = size = 0
    for document in documents:
        part.append(document)
        rows += len(document.chunks)
        size += sum(len(c.text or "") + len(c.extraction or "") for c in document.chunks)
        if rows >= most or size > LARGEST_BATCH:
            yield part
            part, rows, size = [], 0, 0
    if part:
        yield part


def _document_row(place: Place, document: DocumentRow, old: DocumentRow | None) -> dict[str, Any]:
    """A row of write-documents: new chunks, kept ones that differ, and those that are gone."""
    before = {chunk.id: chunk for chunk in old.chunks} if old else {}
    after = {chunk.id for chunk in document.chunks}
    return {
        "element_id": old.element_id if old else None, "labels": [DOCUMENT, place.name], "chunk_labels": [CHUNK, place.name],
        "properties": document.properties, "gone": [c.element_id for c in before.values() if c.id not in after],
        "kept": [
            [before[c.id].element_id, c.properties] for c in document.chunks
            if c.id in before and before[c.id].content != c.content
        ],
        "new": [c.properties for c in document.chunks if c.id not in before],
    }


def derived_changes(place: Place, wanted: Derived) -> Changes:
    """What has to be written so that entities, their sources, relations and merges are as wanted. Nothing is written here."""
    return Difference(place, wanted).changes()


def write_changes(place: Place, changes: Changes) -> None:
    """Writes the changes: deletions first, then nodes, then what joins them."""
    made: dict[str, str] = {}
    for query, what, rows in changes.steps:
        done = 0
        for part in batches(with_ends(rows, made), deletion.NODES_A_DELETION if query == "delete-nodes" else place.batch):
            _write(place, query, part, made)
            done += len(part)
            place.progress(what, done, len(rows))


def _write(place: Place, query: str, part: list[list[Any]], made: dict[str, str]) -> None:
    if query in ("drop-relations", "drop-merges"):
        place.graph.write(all_queries()[query], {"ids": [row[0] for row in part]})
    elif query == "delete-nodes":
        deletion.delete_nodes(place.graph, place.name, [row[0] for row in part], batch=place.batch)
    elif query == "create-nodes":
        keys = [row[2]["id"] for row in part]
        numbered = [[at, *row[1:]] for at, row in enumerate(part)]
        for row in place.graph.write(all_queries()[query], {"rows": numbered}):
            made[keys[row["at"]]] = row["element_id"]
    else:
        place.graph.write(all_queries()[query], {"rows": part})


def delete_graph(place: Place) -> int:
    """Deletes all nodes of this graph but the decisions that a person took back. Returns the number of nodes."""
    return deletion.delete_graph(place.graph, place.name, batch=place.batch, progress=place.progress)


def decide(place: Place, ids: list[str], status: str) -> None:
    """Keeps a person's decision about merges: undone, or applied again."""
    place.graph.write(all_queries()["decide-merges"], {"graph": place.name, "ids": ids, "status": status})


def finish_schema(place: Place) -> None:
    """The index of names, as the importer makes it."""
    place.graph.schema_command(all_queries()["create-name-index"])


def drop_applied(place: Place) -> None:
    """Deletes the applied merges of this graph; what a person took back stays."""
    rows = place.graph.read(all_queries()["built-merges"], {"graph": place.name})
    ids = [row["element_id"] for row in rows if row["status"] != UNDONE]
    deletion.drop_merges(place.graph, ids, batch=place.batch)
