"""Reads triples: CSV, TSV, JSON or JSONL, with or without header, types, chunks and documents.

One name (and type, where types are given) is one entity; the same name under two types stays two entities. Every row is
one relation, also where rows repeat.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kgeval.errors import InputError
from kgeval.graph.load.gather import Gather
from kgeval.graph.load.model import Entity, Loaded, Relation, SourceChunk
from kgeval.graph.load.table_files import delimiter
from kgeval.graph.load.values import Misfit, distinct, needed, number, properties, text, texts, whole_number
from kgeval.tables import Line, read_json, read_jsonl, read_table
from kgeval.tables.fields import TRIPLES, columns
from kgeval.tables.plain import under

LISTS = ("triples", "relations", "relationships", "edges")
Row = tuple[str, Mapping[str, Any]]


def read(path: Path) -> Loaded:
    """The triples of a file. Raises: InputError for what is no table or list of triples."""
    gather = Gather("triples", [path])
    suffix = path.suffix.lower()
    lone: list[Row] = []
    if suffix in (".jsonl", ".ndjson"):
        rows = _from_lines(gather, read_jsonl(path))
    elif suffix in (".csv", ".tsv", ".txt", ".tab"):
        rows = _from_table(gather, path)
    else:
        data = read_json(path)
        rows, lone = _from_list(gather, path, data), _lone_entities(path, data)
    _Triples(gather).add(rows, lone)
    return gather.finish()


def _from_table(gather: Gather, path: Path) -> list[Row]:
    lines = list(read_table(path, delimiter(path)))
    first_row = next((first_row for first_row, line in enumerate(lines) if line.value), 0)
    first: Sequence[str] = lines[first_row].value if lines and lines[first_row].value else []
    fields = columns(first, TRIPLES)
    if {"subject", "object"} <= set(fields):
        # What stands before the header are faults, which have to be told too.
        header, body = [cell.strip() for cell in first], lines[:first_row] + lines[first_row + 1:]
    # Two known names are a header that lacks a column, and no triple.
    elif len(first) == 3 and len(fields) < 2:
        header, body = ["subject", "predicate", "object"], lines
        gather.notes.append("no header found: the three columns are taken as subject, predicate, object")
    else:
        raise InputError(
            f"{path}: no columns for subject and object; the first row is: {', '.join(cell[:40] for cell in first[:12])}",
            fix="name the columns subject, predicate, object (other names: kgeval help import), or give three columns without header",
        )
    return _from_lines(gather, (under(header, line) for line in body))


def _from_list(gather: Gather, path: Path, data: Any) -> list[Row]:
    if isinstance(data, dict):
        data = next((data[name] for name in LISTS if isinstance(data.get(name), list) and _looks(data[name])), None)
    if not isinstance(data, list) or not _looks(data):
        raise InputError(
            f"{path}: no list of triples", fix='triples are [{"subject": .., "predicate": .., "object": ..}, ...] or [[s, p, o], ...]'
        )
    return _from_lines(gather, (Line(f"{path.name}: item {position}", row) for position, row in enumerate(data, start=1)))


def _looks(rows: Sequence[Any]) -> bool:
    """True where the list holds at least one map or list (so that a list of numbers is refused as a whole)."""
    return any(isinstance(row, dict | list) for row in rows)


def _from_lines(gather: Gather, lines: Iterable[Line]) -> list[Row]:
    """Rows as maps with our field names; lines that are no triple are faults."""
    rows: list[Row] = []
    shapes: dict[tuple[Any, ...], dict[str, str]] = {}
    for line in lines:
        value = line.value
        if line.fault is None and isinstance(value, list) and len(value) == 3:
            rows.append((line.where, dict(zip(("subject", "predicate", "object"), value, strict=True))))
        elif line.fault is None and isinstance(value, dict):
            shape = tuple(value)
            if shape not in shapes:
                shapes[shape] = {name: field for field, name in columns(shape, TRIPLES).items()}
            names = shapes[shape]
            rows.append((line.where, {names.get(str(name), str(name)): cell for name, cell in value.items()}))
        else:
            gather.fault(line.where, line.fault or f"a triple expected, found {str(value)[:60]!r}")
    return rows


def _lone_entities(path: Path, data: Any) -> list[Row]:
    """Entities that a JSON file lists beside its triples (kg-gen does), so that isolated ones are kept."""
    listed = data.get("entities") if isinstance(data, dict) else None
    rows: list[Row] = []
    for position, row in enumerate(listed if isinstance(listed, list) else [], start=1):
        fields = row if isinstance(row, dict) else {"name": row}
        name, kind = fields.get("name", fields.get("id")), fields.get("type", fields.get("label"))
        # "subject", so that its type is gathered with those of the ends.
        entity = {"name": name, "subject": name, "subject_type": kind, "description": fields.get("description")}
        rows.append((f"{path.name}: entities, item {position}", entity))
    return rows


class _Triples:
    """Turns rows into entities, relations, chunks and documents."""

    def __init__(self, gather: Gather) -> None:
        self._gather = gather
        self._keys: dict[tuple[str, str | None], str] = {}
        # a name may have many types, and a chunk many documents: looked up, not searched for
        self._typed: dict[str, dict[str, None]] = {}
        self._documents_of: set[tuple[str, str]] = set()
        self._chunk_at: dict[str, str] = {}

    def add(self, rows: list[Row], lone: Sequence[Row] = ()) -> None:
        """All rows. Types are gathered first, so that a row without a type finds the typed entity of that name."""
        for _, row in (*lone, *rows):
            for end in ("subject", "object"):
                name, kind = row.get(end), row.get(f"{end}_type")
                if isinstance(name, str) and isinstance(kind, str) and kind.strip():
                    self._typed.setdefault(name, {})[kind] = None
        several = sum(len(kinds) > 1 for kinds in self._typed.values())
        if several:
            self._gather.notes.append(f"{several} names have more than one type; each name and type is an entity of its own")
        for where, row in lone:
            with self._gather.row(where):
                key = self._entity(needed(row["name"], "name"), text(row["subject_type"], "type"), [], None)
                self._gather.entities[key].description = text(row["description"], "description")
        for where, row in rows:
            with self._gather.row(where):
                self._triple(row, where)
        for entity in self._gather.entities.values():
            entity.chunks, entity.documents = distinct(entity.chunks), distinct(entity.documents)

    def _triple(self, row: Mapping[str, Any], where: str) -> None:
        subject, obj = needed(row.get("subject"), "subject"), needed(row.get("object"), "object")
        # Without the column relations have no predicate; with it, an empty cell is a fault.
        predicate = needed(row["predicate"], "predicate") if "predicate" in row else None
        subject_type, object_type = (text(row.get(field), field) for field in ("subject_type", "object_type"))
        relation = Relation(
            # The ends' places: `Gather.finish` knows them, when all entities are there.
            -1, -1, predicate, text(row.get("description"), "description"), number(row.get("weight"), "weight"),
            extra=properties(row, TRIPLES),
        )
        document = text(row.get("document"), "document")
        relation.chunks = self._chunks(row, document, where)
        if document is not None:
            self._gather.add_document(document, text(row.get("document_title"), "document_title"))
            relation.extra["document"] = document
        source = self._entity(subject, subject_type, relation.chunks, document)
        target = self._entity(obj, object_type, relation.chunks, document)
        self._gather.add_relation(source, target, relation)

    def _chunks(self, row: Mapping[str, Any], document: str | None, where: str) -> list[str]:
        """The row's chunk ids; a text without an id gets one made from document and text."""
        ids, body = texts(row.get("chunk_id"), "chunk_id", separators=";|"), text(row.get("chunk_text"), "chunk_text")
        index = whole_number(row.get("chunk_index"), "chunk_index")
        if body is not None and not ids:
            ids = ["chunk-" + hashlib.sha256(f"{document}\0{body}".encode()).hexdigest()[:32]]
        if body is not None and len(ids) > 1:
            raise Misfit("chunk_text: one text for several chunk ids")
        for key in ids:
            known = self._gather.chunks.setdefault(key, SourceChunk(key))
            if body is not None and known.text not in (None, body):
                raise Misfit(f"chunk_text: chunk {key[:80]!r} has another text at {self._chunk_at[key]}")
            if body is not None and known.text is None:
                known.text, self._chunk_at[key] = body, where
            known.index = index if known.index is None else known.index
            if document is not None and (key, document) not in self._documents_of:
                self._documents_of.add((key, document))
                known.documents.append(document)
        return ids

    def _entity(self, name: str, kind: str | None, chunks: list[str], document: str | None) -> str:
        """The id of the entity that name and type mean; it is made where it is new."""
        first = next(iter(self._typed.get(name, ())), None)
        kind = kind if kind is not None else first
        key = self._keys.get((name, kind))
        if key is None:
            key = name if first is None or kind == first else f"{name} [{kind}]"
            # `name [type]` may be some other entity's name, which may still come
            while key in self._gather.entities or (key != name and key in self._typed):
                key += "'"
            self._keys[(name, kind)] = key
            self._gather.entities[key] = Entity(key, name, kind)
        entity = self._gather.entities[key]
        entity.chunks += chunks
        entity.documents += [document] if document is not None and not chunks else []
        return key
