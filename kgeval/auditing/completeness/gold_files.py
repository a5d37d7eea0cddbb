"""Reads gold sets: GraphRAG-Bench question files, entities and triples as JSON, JSONL, CSV, TSV or Parquet.

What cannot be read is a fault with its file and place; a file of which nothing can be read is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kgeval.auditing.completeness.gold import Gold, GoldItems, distinct
from kgeval.errors import InputError
from kgeval.graph.load.table_files import delimiter
from kgeval.graph.load.values import Misfit, needed, text, texts
from kgeval.records import GoldEntity, GoldTriple
from kgeval.tables import Line, read_json, read_jsonl, read_parquet, read_table
from kgeval.tables.evidence import groups_of, parts_of
from kgeval.tables.fields import GOLD, TRIPLES, columns
from kgeval.tables.plain import under

EVIDENCE = "evidence_triple"
FIX = (
    "gold is JSONL of {name, type, aliases, document} and {subject, predicate, object, document}, a table of triples, "
    "or a GraphRAG-Bench question file; kgeval help completeness shows each"
)


def read_gold(paths: Sequence[Path], *, label: str = "gold") -> Gold:
    """The gold set of one or more files, everything in them counted once.

    Raises: InputError: a file is missing, empty or of another kind, or nothing in it can be read (with every fault).
    """
    items = GoldItems()
    for path in paths:
        known, faults, silent = len(items.entities) + len(items.triples), len(items.faults), 0
        items.inputs.append(path)
        for line in _lines(path):
            try:
                silent += _add(line, items)
            except Misfit as misfit:
                items.faults.append(f"{line.where}: {misfit}")
        if silent:
            items.notes.append(f"{path.name}: {silent} questions have no {EVIDENCE}")
        if len(items.entities) + len(items.triples) > known:
            continue
        if len(items.faults) > faults:
            raise InputError(f"{path}: every gold item is broken", fix=FIX, faults=items.faults[faults:])
        if silent:
            fix = "questions with evidence sentences only are measured by --facts"
            raise InputError(f"{path}: none of its {silent} questions has an {EVIDENCE}", fix=fix)
        raise InputError(f"{path}: holds no gold item", fix=FIX)
    return distinct(items, label=label)


def _lines(path: Path) -> Iterator[Line]:
    """The items of a file, each with its place."""
    suffix = path.suffix.lower()
    if suffix in (".jsonl", ".ndjson"):
        yield from read_jsonl(path)
    elif suffix in (".csv", ".tsv", ".txt", ".tab"):
        yield from _table(path)
    elif suffix == ".parquet":
        yield from (Line(f"{path.name}: row {number}", row) for number, row in enumerate(read_parquet(path), start=1))
    else:
        yield from _listed(path, read_json(path))


def _listed(path: Path, data: Any) -> Iterator[Line]:
    """A list of items, or a map whose lists hold items (entities and triples, or questions by type)."""
    if isinstance(data, list):
        yield from (Line(f"{path.name}: item {number}", value) for number, value in enumerate(data, start=1))
    elif isinstance(data, dict) and any(isinstance(part, list) for part in data.values()):
        for name, part in data.items():
            for number, value in enumerate(part if isinstance(part, list) else [], start=1):
                lone = name == "entities" and isinstance(value, str)
                yield Line(f"{path.name}: {name}, item {number}", {"name": value} if lone else value)
    else:
        raise InputError(f"{path}: a list of gold items expected", fix=FIX)


def _table(path: Path) -> Iterator[Line]:
    """The rows of a table under its header; three columns without a header are subject, predicate, object."""
    lines = list(read_table(path, delimiter(path)))
    head: Sequence[str] = next((line.value for line in lines if line.value), [])
    fields = columns(head, TRIPLES)
    named = {cell.strip().lower() for cell in head}
    if {"subject", "object"} <= set(fields) or named & set(GOLD["name"]):
        header = [cell.strip().lower() for cell in head]
        # By identity: another row may have the same words.
        lines = [line for line in lines if line.value is not head]
    elif len(head) == 3:
        header = ["subject", "predicate", "object"]
    else:
        raise InputError(f"{path}: no columns subject and object, and no column name, in: {', '.join(head)[:200]}", fix=FIX)
    yield from (under(header, line) for line in lines)


def _add(line: Line, items: GoldItems) -> bool:
    """Adds what one row holds; true for a question without triples. Raises Misfit for a row that is no gold item."""
    if line.fault is not None:
        raise Misfit(line.fault)
    row = line.value
    if isinstance(row, list) and len(row) == 3:
        row = dict(zip(("subject", "predicate", "object"), row, strict=True))
    if not isinstance(row, Mapping):
        raise Misfit(f"an entity, a triple or a question expected, found {str(row)[:60]!r}")
    if EVIDENCE in row or "question" in row:
        return _question(line.where, row, items)
    fields = {field: row[name] for field, name in columns(map(str, row), TRIPLES).items()}
    if any(fields.get(end) not in (None, "") for end in ("subject", "object")):  # a table of both kinds leaves these empty for an entity
        subject, obj = needed(fields.get("subject"), "subject").strip(), needed(fields.get("object"), "object").strip()
        items.triples.append(GoldTriple(
            subject=subject, predicate=text(fields.get("predicate"), "predicate"), object=obj,
            document=text(fields.get("document"), "document"), aliases=_aliases(row, subject, obj),
        ))
    elif _first(row, GOLD["name"]) is not None:
        items.entities.append(GoldEntity(
            name=needed(_first(row, GOLD["name"]), "name"), type=text(_first(row, GOLD["type"]), "type"),
            document=text(fields.get("document"), "document"),
            aliases=texts(_first(row, GOLD["aliases"]), "aliases", separators=";|"),
        ))
    else:
        raise Misfit(f"no name, and no subject and object, among: {', '.join(map(str, row))[:100]}")
    return False


def _aliases(row: Mapping[str, Any], subject: str, obj: str) -> dict[str, list[str]]:
    """`aliases` by the name or by subject and object, or the columns subject_aliases and object_aliases."""
    written = row.get("aliases") or {}
    if not isinstance(written, Mapping):
        raise Misfit('aliases: of a triple a map is needed: {"subject": [..], "object": [..]}, or by name')
    aliases_of: dict[str, list[str]] = {}
    for end, name in (("subject", subject), ("object", obj)):
        for value in (written.get(name), written.get(end), row.get(f"{end}_aliases")):
            aliases_of[name] = [*aliases_of.get(name, []), *texts(value, "aliases", separators=";|")]
    return {name: aliases for name, aliases in aliases_of.items() if aliases}


def _question(where: str, row: Mapping[str, Any], items: GoldItems) -> bool:
    """The triples of a GraphRAG-Bench question; broken ones become faults. True where it has none at all."""
    value = row.get(EVIDENCE)
    groups = groups_of(value if isinstance(value, list) else [value])
    name, document = text(row.get("id"), "id"), text(row.get("source"), "source")
    for number, group in enumerate(groups, start=1):
        parts = group if isinstance(group, list) else parts_of(group)
        if parts is None or len(parts) != 3 or not all(isinstance(part, str) and part.strip() for part in parts):
            what = "no (subject, predicate, object)" if parts is None else f"{len(parts)} parts between commas, 3 are needed, none empty"
            items.faults.append(f"{where}{f' ({name})' if name else ''}: {EVIDENCE}, group {number}: {what}: {str(group)[:160]}")
        else:
            subject, predicate, obj = (part.strip() for part in parts)
            items.triples.append(GoldTriple(subject=subject, predicate=predicate, object=obj, document=document))
    return not groups


def _first(row: Mapping[str, Any], keys: Sequence[str]) -> Any:
    """The value of the first key that is there, whatever its letter case."""
    lower = {str(key).strip().lower(): value for key, value in row.items()}
    return next((lower[key] for key in keys if lower.get(key) not in (None, "", [])), None)
