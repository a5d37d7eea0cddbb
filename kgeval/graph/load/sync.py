"""Brings a built graph to a wanted state: reads what is there, and writes the difference only, in batches.

Each document is written in one transaction, so that after an interruption every document is either old or new. Entities,
relations and merges follow from the documents: whatever an interruption left of them, the next run sets right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kgeval.graph.load import naming, writer
from kgeval.graph.load.built import UNDONE, BuildTarget, Changes, ChunkRow, Derived, DocumentRow, EntityRow, MergeRow, predicate_key
from kgeval.graph.load.model import Entity, Relation, known
from kgeval.graph.load.naming import CHUNK, DOCUMENT, ENTITY
from kgeval.graph.load.writer import batches
from kgeval.graph.queries import all_queries

MERGE = "__KgevalMerge__"
Step = tuple[str, list[Any], str]  # a query, its rows, what they are counted as
DOCUMENTS_A_DELETION = 20
ORDER = {"drop-merges": 0, "drop-relations": 0, "delete-nodes": 1, "create-nodes": 2, "update-nodes": 3}  # what joins nodes comes last


@dataclass(frozen=True, slots=True)
class NewEnd:
    """An end that is not written yet: the entity's id stands for its element id."""

    id: str


class _Difference:
    """Compares what is there with what is wanted."""

    def __init__(self, target: BuildTarget, wanted: Derived) -> None:
        self._target = target
        self._wanted = wanted
        self._labels = naming.type_labels([Entity(e.id, type=e.type) for e in wanted.entities], {target.name, *target.others})
        predicates = dict.fromkeys(r.predicate for r in wanted.relations)
        self._types = naming.relation_types(Relation(0, 0, predicate=p) for p in predicates)
        self._keys = {p: predicate_key(p) for p in predicates}
        self._ends: dict[str, str | NewEnd] = {}

    def changes(self) -> Changes:
        """Everything, in the order in which it must be written."""
        entities, changes = self._entities(), Changes()  # first: the others ask which ends are there
        for query, rows, what in [*self._merges(), *self._relations(), *self._sources(), *entities]:
            changes.add(query, rows, what)
        changes.steps.sort(key=lambda step: ORDER.get(step[0], 4))
        return changes

    def _compare(
        self, query: str, wanted: Mapping[Any, Any], key_of: Callable[[dict[str, Any]], Hashable],
        change_of: Callable[[Any, dict[str, Any]], list[Any] | None], *, stays: Callable[[dict[str, Any]], bool] = lambda _row: False,
    ) -> tuple[list[Any], list[Any], dict[Any, str]]:
        """What of the stored rows goes and what changes, as rows for the writing queries, and the element id of each key that is there.
        A row goes where nobody wants its key, unless it `stays`, and where its key came before."""
        gone: list[Any] = []
        update: list[Any] = []
        there: dict[Any, str] = {}
        for row in self._target.graph.stream(all_queries()[query], {"graph": self._target.name}):
            element_id, key = row.pop("element_id"), key_of(row)
            if key in there or (key not in wanted and not stays(row)):
                gone.append([element_id])
                continue
            there[key] = element_id
            change = change_of(wanted[key], row) if key in wanted else None
            if change is not None:
                update.append([element_id, *change])
        return gone, update, there

    def _entities(self) -> list[Step]:
        wanted = {entity.id: entity for entity in self._wanted.entities}
        gone, update, there = self._compare("built-entities", wanted, lambda row: str(row["id"]), self._entity_change)
        new = [entity for entity in self._wanted.entities if entity.id not in there]
        self._ends = {**there, **{entity.id: NewEnd(entity.id) for entity in new}}
        return [
            ("delete-nodes", gone, "entities deleted"),
            ("create-nodes", [[0, self._all_labels(e), known(e.properties), {}] for e in new], "entities created"),
            ("update-nodes", update, "entities updated"),
        ]

    def _all_labels(self, entity: EntityRow) -> list[str]:
        return [ENTITY, self._target.name, *([entity.type] if entity.type in self._labels and entity.type else [])]

    def _entity_change(self, entity: EntityRow, row: dict[str, Any]) -> list[Any] | None:
        """Properties, labels to take away, labels to add; None where nothing differs. Other graphs' labels are left alone."""
        labels, right = row.pop("labels"), self._all_labels(entity)
        wrong = [label for label in labels if label not in right and label == row["type"]]
        missing = [label for label in right if label not in labels]
        return [entity.properties, wrong, missing] if entity.properties != row or wrong or missing else None

    def _relations(self) -> list[Step]:
        ids = {end: key for key, end in self._ends.items() if isinstance(end, str)}
        types = {p: self._types.get(p, naming.NO_PREDICATE) for p in self._keys}
        wanted = {(r.source, r.target, self._keys[r.predicate], types[r.predicate]): r for r in self._wanted.relations}

        def key_of(row: dict[str, Any]) -> Hashable:
            source, target, predicate = ids.get(row.pop("source"), ""), ids.get(row.pop("target"), ""), row["predicate"] or ""
            return source, target, self._keys.get(predicate) or predicate_key(predicate), row.pop("type")

        gone, update, there = self._compare("built-relations", wanted, key_of, lambda r, row: _changed(r.properties, row))
        return [
            ("drop-relations", gone, "relations deleted"),
            ("create-relations", [
                [self._ends[r.source], self._ends[r.target], types[r.predicate], known(r.properties), {}]
                for key, r in wanted.items() if key not in there
            ], "relations created"),
            ("update-relations", update, "relations updated"),
        ]

    def _sources(self) -> list[Step]:
        rows = self._target.graph.stream(all_queries()["imported-nodes"], {"graph": self._target.name})
        chunks = {row["id"]: row["element_id"] for row in rows if row["kind"] == CHUNK}
        wanted = {
            (self._ends[e.id], chunks[c]): {"mentions": n, "start": start, "end": end}
            for e in self._wanted.entities for c, (n, start, end) in e.sources.items() if c in chunks  # else: just deleted by another build
        }
        gone, update, there = self._compare("built-mentions", wanted, lambda row: (row.pop("entity"), row.pop("chunk")), _changed)
        return [
            ("drop-relations", gone, "mentions deleted"),
            ("link-sources", [[*ends, known(own)] for ends, own in wanted.items() if ends not in there], "mentions created"),
            ("update-relations", update, "mentions updated"),
        ]

    def _merges(self) -> list[Step]:
        """Applied merges follow from the texts; those that a person took back stay, whatever the texts hold now."""
        wanted = {merge.id: merge for merge in self._wanted.merges}
        gone, update, there = self._compare(
            "built-merges", wanted, lambda row: str(row["id"]), lambda merge, row: _changed(merge.properties, row, [], []),
            stays=lambda row: row["status"] == UNDONE,
        )
        return [
            ("drop-merges", gone, "merges deleted"),
            ("create-nodes", [
                [0, [MERGE], known(merge.properties) | {"graph": self._target.name}, {}]
                for key, merge in wanted.items() if key not in there
            ], "merges created"),
            ("update-nodes", update, "merges updated"),
        ]


def _changed(properties: dict[str, Any], row: dict[str, Any], *labels: list[str]) -> list[Any] | None:
    return None if properties == row else [properties, *labels]


@dataclass(frozen=True)
class StoredDocuments:
    """The documents that are there, by id, texts left out; `orphans`: element ids of chunks that lost their document."""

    documents: dict[str, DocumentRow]
    orphans: list[str]


def read_documents(target: BuildTarget) -> StoredDocuments:
    """The documents that are there with their chunks and what was extracted from these."""
    chunks: dict[str | None, list[ChunkRow]] = {}
    for row in target.graph.stream(all_queries()["built-chunks"], {"graph": target.name}):
        holder = row.pop("document")
        chunks.setdefault(holder, []).append(ChunkRow(text=None, **{**row, "hash": row["hash"] or ""}))
    documents = {}
    for row in target.graph.stream(all_queries()["built-documents"], {"graph": target.name}):
        own = tuple(sorted(chunks.pop(row["element_id"], []), key=lambda c: (c.index, c.id)))
        row["title"] = None if row["title"] == row["id"] else row["title"]
        documents[row["id"]] = DocumentRow(whole=row.pop("chunks") == len(own), chunks=own, **row)
    return StoredDocuments(documents, [str(chunk.element_id) for left in chunks.values() for chunk in left])


def read_decisions(target: BuildTarget) -> list[MergeRow]:
    """The merges that are there, applied and undone, by id."""
    rows = target.graph.read(all_queries()["built-merges"], {"graph": target.name})
    return [MergeRow(**{key: value for key, value in row.items() if key != "element_id"}) for row in rows]


def document_changes(stored: StoredDocuments, wanted: Mapping[str, DocumentRow], removed: Iterable[str]) -> Counter[str]:
    """What writing would do, counted as "documents created", "chunks deleted" and so on. Nothing is written."""
    there = stored.documents
    counts: Counter[str] = Counter({"chunks deleted": len(stored.orphans)})
    for key, document in wanted.items():
        old = there.get(key)
        if old is not None and old.content == document.content:
            continue
        counts["documents updated" if old else "documents created"] += 1
        before, after = ({chunk.id: chunk.content for chunk in version.chunks} if version else {} for version in (old, document))
        counts["chunks created"] += len(after.keys() - before.keys())
        counts["chunks deleted"] += len(before.keys() - after.keys())
        counts["chunks updated"] += sum(before[c] != after[c] for c in after.keys() & before.keys())
    for key in removed:
        counts["documents deleted"] += 1
        counts["chunks deleted"] += len(there[key].chunks)
    # unary plus leaves out what is 0
    return +counts


def write_documents(target: BuildTarget, stored: StoredDocuments, wanted: Mapping[str, DocumentRow], removed: Iterable[str]) -> None:
    """Writes the documents that differ and deletes the removed ones; each document in one transaction."""
    queries, there = all_queries(), stored.documents
    if stored.orphans:
        writer.delete_nodes(target.graph, target.name, stored.orphans, batch=target.batch)
    gone = [str(there[key].element_id) for key in removed]
    for start in range(0, len(gone), DOCUMENTS_A_DELETION):
        target.graph.write(queries["delete-documents"], {"graph": target.name, "ids": gone[start:start + DOCUMENTS_A_DELETION]})
    changed = [d for key, d in wanted.items() if key not in there or there[key].content != d.content]
    done = 0
    for part in batches(changed, target.batch, _size_of_document):
        target.graph.write(queries["write-documents"], {"rows": [_document_row(target, d, there.get(d.id)) for d in part]})
        done += len(part)
        target.progress("documents", done, len(changed))


def _size_of_document(document: DocumentRow) -> tuple[int, int]:
    return len(document.chunks), sum(len(c.text or "") + len(c.extraction or "") for c in document.chunks)


def _document_row(target: BuildTarget, document: DocumentRow, old: DocumentRow | None) -> dict[str, Any]:
    """A row of write-documents: new chunks, kept ones that differ, and those that are gone."""
    before = {chunk.id: chunk for chunk in old.chunks} if old else {}
    after = {chunk.id for chunk in document.chunks}
    return {
        "element_id": old.element_id if old else None, "labels": [DOCUMENT, target.name], "chunk_labels": [CHUNK, target.name],
        "properties": document.properties, "gone": [c.element_id for c in before.values() if c.id not in after],
        "kept": [
            [before[c.id].element_id, c.properties] for c in document.chunks
            if c.id in before and before[c.id].content != c.content
        ],
        "new": [c.properties for c in document.chunks if c.id not in before],
    }


def derived_changes(target: BuildTarget, wanted: Derived) -> Changes:
    """What has to be written so that entities, their sources, relations and merges are as wanted. Nothing is written here."""
    return _Difference(target, wanted).changes()


def write_changes(target: BuildTarget, changes: Changes) -> None:
    """Writes the changes: deletions first, then nodes, then what joins them."""
    created: dict[str, str] = {}  # entity's id -> its element id

    def with_ends(row: list[Any]) -> list[Any]:
        return [*(created[end.id] if type(end) is NewEnd else end for end in row[:2]), *row[2:]]

    for query, what, rows in changes.steps:
        done = 0
        for part in batches(map(with_ends, rows), writer.NODES_A_DELETION if query == "delete-nodes" else target.batch):
            ids = [row[0] for row in part]
            if query in ("drop-relations", "drop-merges"):
                target.graph.write(all_queries()[query], {"ids": ids})
            elif query == "delete-nodes":
                writer.delete_nodes(target.graph, target.name, ids, batch=target.batch)
            elif query == "create-nodes":
                numbered = [[number, *row[1:]] for number, row in enumerate(part)]
                for row in target.graph.write(all_queries()[query], {"rows": numbered}):
                    created[part[row["at"]][2]["id"]] = row["element_id"]
            else:
                target.graph.write(all_queries()[query], {"rows": part})
            done += len(part)
            target.progress(what, done, len(rows))


def delete_graph(target: BuildTarget) -> int:
    """Deletes all nodes of this graph but the decisions that a person took back. Returns the number of nodes."""
    return writer.delete_graph(target.graph, target.name, batch=target.batch, progress=target.progress)


def decide(target: BuildTarget, ids: list[str], status: str) -> None:
    """Keeps a person's decision about merges: undone, or applied again."""
    target.graph.write(all_queries()["decide-merges"], {"graph": target.name, "ids": ids, "status": status})


def finish_schema(target: BuildTarget) -> None:
    """The index of names, as the importer makes it."""
    target.graph.schema_command(all_queries()["create-name-index"])


def drop_applied(target: BuildTarget) -> None:
    """Deletes the applied merges of this graph; what a person took back stays."""
    writer.drop_merges(target.graph, target.name, but=UNDONE, batch=target.batch)
