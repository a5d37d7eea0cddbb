"""Reads tables of nodes and relations row by row. For large ones there is kgeval.graph.load.bulk, which means the same by them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kgeval.errors import InputError
from kgeval.graph.load import nodes, table_files
from kgeval.graph.load.gather import Gather
from kgeval.graph.load.model import Entity, Loaded, Relation, SourceChunk, SourceDocument
from kgeval.graph.load.table_files import FORM, SEPARATORS, TableInputs
from kgeval.graph.load.values import Misfit, needed, number, numbers, properties, text, texts, whole_number
from kgeval.graph.load.values import key as key_of
from kgeval.tables import read_table

UNNAMED = {"unknown_source", "unknown", "no-file-path"}  # what writers put where a document has no file; LightRAG's is unknown_source


def read(inputs: TableInputs) -> Loaded:
    """The graph in the tables. Raises: InputError for what is no table, or lacks a column."""
    gather = Gather(FORM, inputs.all, where_first=False)  # as the bulk importer, which does not keep where each id stood
    for where, row, _ in _rows(gather, inputs.documents, table_files.DOCUMENTS):
        with gather.row(where):
            key = key_of(row.get("id"), "id")
            _once(key, key in gather.documents, "document")
            gather.add_document(key, text(row.get("title"), "title"))
    for where, row, _ in _rows(gather, inputs.chunks, table_files.CHUNKS):
        with gather.row(where):
            key = key_of(row.get("id"), "id")
            documents = texts(row.get("documents"), "documents", separators=SEPARATORS)
            gather.add_chunk(SourceChunk(key, text(row.get("text"), "text"), whole_number(row.get("index"), "index"), documents), where)
    for where, row, further in _rows(gather, inputs.nodes, table_files.NODES):
        with gather.row(where):
            _node(gather, row, further, where)
    for where, row, further in _rows(gather, inputs.relations, table_files.RELATIONS):
        with gather.row(where):
            _relation(gather, row, further, listed=bool(inputs.nodes))
    return gather.finish()


def titled(loaded: Loaded, paths: tuple[Path, ...]) -> Loaded:
    """The input with the titles that tables (columns id, title) give its documents, by their id or by the title that they have.

    Raises: InputError with every row that is faulty, or names no document of the input.
    """
    if not paths:
        unnamed = sum((document.title or "").strip().lower() in UNNAMED for document in loaded.documents)
        if unnamed:
            note = f"{unnamed} documents have no name of their own; gold sets by document need one: --documents map.csv (id, title)"
            return replace(loaded, notes=[*loaded.notes, note])
        return loaded
    gather = Gather(FORM, list(paths))
    by_name: dict[str, list[SourceDocument]] = {}
    for document in loaded.documents:
        for name in {document.id, document.title or document.id}:
            by_name.setdefault(name, []).append(document)
    titles: dict[str, str] = {}
    for where, row, _ in _rows(gather, paths, table_files.DOCUMENTS):
        with gather.row(where):
            key = key_of(row.get("id"), "id")
            bearers = by_name.get(key, [])
            if len(bearers) != 1:
                raise Misfit(f"{len(bearers) or 'no'} documents of the input are called {key[:80]!r}")
            _once(key, bearers[0].id in titles, "document")
            titles[bearers[0].id] = needed(row.get("title"), "title")
    if gather.faults:
        raise InputError(f"{paths[0]}: {len(gather.faults)} rows do not fit the documents that are loaded", faults=gather.faults)
    left = len(loaded.documents) - len(titles)
    notes = [*loaded.notes, f"{left} documents are not in {paths[0].name} and keep their names"] if left else loaded.notes
    documents = [SourceDocument(document.id, titles.get(document.id, document.title)) for document in loaded.documents]
    return replace(loaded, documents=documents, notes=notes, inputs=[*loaded.inputs, *paths])


def _node(gather: Gather, row: Mapping[str, Any], further: Mapping[str, Any], where: str) -> None:
    key = key_of(row.get("id"), "id")
    entity = Entity(
        key, text(row["name"], "name") if "name" in row else key, type=nodes.type_of(row.get("type"), "type"),
        description=text(row.get("description"), "description"), aliases=texts(row.get("aliases"), "aliases", separators=SEPARATORS),
        chunks=texts(row.get("chunk_ids"), "chunk_ids", separators=SEPARATORS),
        documents=texts(row.get("document_ids"), "document_ids", separators=SEPARATORS), extra=properties(further, ()),
    )
    embedding = numbers(row.get("embedding"), "embedding")
    if embedding is not None:
        entity.extra["embedding"] = embedding
    gather.add_entity(entity, where)


def _relation(gather: Gather, row: Mapping[str, Any], further: Mapping[str, Any], *, listed: bool) -> None:
    source, target = key_of(row.get("source"), "source"), key_of(row.get("target"), "target")
    relation = Relation(
        -1, -1, needed(row["predicate"], "predicate") if "predicate" in row else None, text(row.get("description"), "description"),
        number(row.get("weight"), "weight"), texts(row.get("chunk_ids"), "chunk_ids", separators=SEPARATORS),
        extra=properties(further, ()),
    )
    for end in () if listed else (source, target):
        gather.entities.setdefault(end, Entity(end, end))
    gather.add_relation(source, target, relation)


def _once(key: str, known: bool, what: str) -> None:
    if known:
        raise Misfit(f"the {what} id {key[:80]!r} was given before; ids must be unique")


def _rows(gather: Gather, paths: tuple[Path, ...], kind: str) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Where each row is, its fields, and its further columns by the properties that they become."""
    for path in paths:
        columns = table_files.columns(path, kind)
        gather.notes += [note for note in columns.notes if note not in gather.notes]
        for where, row in _parquet(path, columns.names) if path.suffix.lower() == ".parquet" else _csv(gather, path, columns.names):
            own = {field: row[name] for field, name in columns.fields.items()}
            yield where, own, {prop: row[name] for name, prop in columns.further.items()}


def _parquet(path: Path, names: tuple[str, ...]) -> Iterator[tuple[str, dict[str, Any]]]:
    from kgeval.graph.load.bulk.source import InputTable

    for batch in InputTable(path, names).batches():
        for row_number, row in enumerate(batch.data.to_pylist(), start=batch.first + 1):
            yield f"{path.name}: row {row_number}", row


def _csv(gather: Gather, path: Path, names: tuple[str, ...]) -> Iterator[tuple[str, dict[str, Any]]]:
    lines = read_table(path, table_files.delimiter(path))
    next(lines, None)
    for line in lines:
        if line.fault or len(line.value) != len(names):
            gather.fault(line.where, line.fault or f"{len(line.value)} cells, the header has {len(names)}")
        else:
            yield line.where, dict(zip(names, line.value, strict=True))
