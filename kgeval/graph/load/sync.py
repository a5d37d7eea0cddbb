"""Brings a built graph to a wanted state: reads what is there, and writes the difference only, in batches.

Each document is written in one transaction, so that after an interruption every document is either old or new. Entities,
relations and merges follow from the documents: whatever an interruption left of them, the next run sets right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kgeval.graph.load import deletion
from kgeval.graph.load.built import UNDONE, Changes, ChunkRow, Derived, DocumentRow, MergeRow, Place
from kgeval.graph.load.difference import Difference, with_ends
from kgeval.graph.load.naming import CHUNK, DOCUMENT
from kgeval.graph.load.writer import LARGEST_BATCH, batches
from kgeval.graph.queries import all_queries

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
