"""Tables of nodes and relations (CSV or Parquet): which files, which column holds which field, which further ones are kept.

Both readers of such files work from here: `kgeval import` (row by row, kgeval.graph.load.tables) and `kgeval import --bulk`
(column by column, kgeval.graph.load.bulk).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kgeval.errors import InputError, named_again
from kgeval.graph.load.values import LONGEST_NAME
from kgeval.tables import check_readable, parquet_columns
from kgeval.tables.fields import columns as fields_of

FORM = "tables"
NODES, RELATIONS, CHUNKS, DOCUMENTS = "nodes", "relations", "chunks", "documents"
SEPARATORS = ";|"  # between the items of a cell that lists something
SUFFIXES = (".parquet", ".csv", ".tsv")
FILE_NAMES = {
    NODES: ("nodes", "entities"), RELATIONS: ("relations", "relationships", "edges"), CHUNKS: ("chunks",), DOCUMENTS: ("documents",),
}
FIELDS: dict[str, dict[str, tuple[str, ...]]] = {
    NODES: {
        "id": ("id", "node_id", "entity_id", "key"),
        "name": ("name", "title", "label", "entity_name", "display_name"),
        "type": ("type", "entity_type", "category", "kind", "class", "node_type", "labels", "label"),
        "description": ("description", "desc", "summary", "definition"),
        "aliases": ("aliases", "alias", "also_known_as"),
        "chunk_ids": ("chunk_ids", "text_unit_ids", "source_chunk_ids", "chunk_id", "source_id"),
        "document_ids": ("document_ids", "documents", "document_id", "document", "doc_id"),
        "embedding": ("embedding", "vector"),
    },
    RELATIONS: {
        "source": ("source", "subject", "head", "subj", "from", "start", "source_id", "head_entity", "source_entity", "s"),
        "target": ("target", "object", "tail", "obj", "to", "end", "target_id", "tail_entity", "target_entity", "o"),
        "predicate": (
            "predicate", "type", "relation", "relationship", "rel", "relation_type", "rel_type", "label", "edge", "property", "p",
        ),
        "description": ("description", "desc", "fact"),
        "weight": ("weight", "strength", "score"),
        "chunk_ids": ("chunk_ids", "text_unit_ids", "source_chunk_ids", "chunk_id", "chunk"),
    },
    CHUNKS: {
        "id": ("id", "chunk_id", "text_unit_id"), "text": ("text", "chunk_text", "content"),
        "index": ("index", "chunk_index", "chunk_order_index", "position"),
        "documents": ("document", "document_id", "document_ids", "documents", "doc_id"),
    },
    DOCUMENTS: {"id": ("id", "document_id", "document"), "title": ("title", "name", "document_title")},
}
NEEDED = {NODES: ("id",), RELATIONS: ("source", "target"), CHUNKS: ("id",), DOCUMENTS: ("id",)}
OWN = {  # properties that kgeval writes itself; a further column of that name would contradict it
    NODES: {"id", "name", "name_key", "type", "description", "aliases", "document_ids", "embedding", "dangling"},
    RELATIONS: {"predicate", "description", "weight", "chunk_ids"},
}
MOST_FURTHER = 200
# what means something in a header of Neo4j's import tool (name:type{...}), in its lists of files, or ends a line
_UNSAFE = re.compile(r"[:{}\[\]\"'`,;\\\x00-\x1f\x7f\x85\u2028\u2029]")


@dataclass(frozen=True)
class TableInputs:
    """The files of one graph. Relations are needed; without nodes every end of a relation is an entity of that name."""

    nodes: tuple[Path, ...] = ()
    relations: tuple[Path, ...] = ()
    chunks: tuple[Path, ...] = ()
    documents: tuple[Path, ...] = ()

    def of(self, kind: str) -> tuple[Path, ...]:
        """The files of one kind."""
        paths: tuple[Path, ...] = getattr(self, kind)
        return paths

    @property
    def all(self) -> list[Path]:
        """Every file, in the order in which they are named."""
        return [*self.nodes, *self.relations, *self.chunks, *self.documents]


@dataclass(frozen=True)
class Columns:
    """What one file holds: its column names in order, {field: column}, and {further column: property's name}."""

    names: tuple[str, ...]
    fields: Mapping[str, str]
    further: Mapping[str, str]
    notes: tuple[str, ...] = field(default=())


def in_folder(folder: Path) -> TableInputs:
    """The tables that a folder holds: nodes.csv, relations.parquet and so on; none where there are none.

    Raises: InputError where one table is there in two forms.
    """
    paths_by_kind: dict[str, tuple[Path, ...]] = {}
    for kind, stems in FILE_NAMES.items():
        paths = [folder / f"{stem}{suffix}" for stem in stems for suffix in SUFFIXES if (folder / f"{stem}{suffix}").is_file()]
        if len(paths) > 1:
            raise InputError(f"{folder}: {kind} are there twice ({', '.join(p.name for p in paths)})", fix=f"choose one with --{kind}")
        paths_by_kind[kind] = tuple(paths)
    return TableInputs(**paths_by_kind)


def seen(folder: Path) -> list[str]:
    """The names by which a folder of tables is known: nodes.* or relations.* (MS GraphRAG's own names are not among them)."""
    stems = [f"{kind}{suffix}" for kind in (NODES, RELATIONS) for suffix in SUFFIXES]
    return [name for name in stems if (folder / name).is_file()]


def columns(path: Path, kind: str) -> Columns:
    """The columns of one file. Raises: InputError where a needed one is missing, one is there twice, or it is no table."""
    names = _names(path)
    if twice := named_again(names):
        raise InputError(f"{path}: two columns are called {twice[0][:60]!r}", fix="give each column a name of its own")
    fields = fields_of(names, FIELDS[kind])
    missing = [name for name in NEEDED[kind] if name not in fields]
    if missing:
        also = "; ".join(f"{name} (or {', '.join(FIELDS[kind][name][1:5])})" for name in missing)
        raise InputError(
            f"{path}: no column for {' and '.join(missing)}; it has: {', '.join(name[:40] for name in names[:12])}",
            fix=f"a table of {kind} needs {also}; see kgeval help import-bulk",
        )
    further, notes = _further(path, kind, [name for name in names if name and name not in fields.values()])
    return Columns(tuple(names), fields, further, tuple(notes))


def _names(path: Path) -> list[str]:
    if path.suffix.lower() == ".parquet":
        return list(parquet_columns(path))
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: neither .parquet nor .csv nor .tsv", fix="export the table as Parquet or CSV")
    return [name.strip() for name in header(path)]


def header(path: Path) -> list[str]:
    """The first row of a CSV file. Raises: InputError where it is empty or not UTF-8."""
    check_readable(path)
    try:
        with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            names = next((row for row in csv.reader(file, delimiter=delimiter(path)) if row), [])
    except csv.Error as cause:
        raise InputError(f"{path}:1: no header of a table: {cause}", fix="is this a CSV file?") from cause
    if any("\udc80" <= letter <= "\udcff" for name in names for letter in name):
        raise InputError(f"{path}:1: the header is not UTF-8", fix="save the file as UTF-8")
    return names


def delimiter(path: Path) -> str:
    """Tab for .tsv and .tab; else the most frequent of comma, tab, semicolon and bar in the first line that is not empty.

    Raises: InputError for what cannot be read.
    """
    if path.suffix.lower() in (".tsv", ".tab"):
        return "\t"
    check_readable(path)
    with path.open("rb") as file:
        start = file.read(1 << 20).lstrip(b"\xef\xbb\xbf\r\n")
    head = re.split(rb"[\r\n]", start, maxsplit=1)[0].decode("utf-8", errors="replace")
    return max(",\t;|", key=lambda mark: (head.count(mark), mark == ","))


def _further(path: Path, kind: str, names: list[str]) -> tuple[dict[str, str], list[str]]:
    """Further columns and the properties that they become, with notes on those that cannot be taken as they are."""
    if kind not in OWN:
        return {}, [f"{path.name}: columns left out: {', '.join(n[:40] for n in names[:5])}"] if names else []
    if len(names) > MOST_FURTHER:
        raise InputError(f"{path}: {len(names)} further columns", fix=f"at most {MOST_FURTHER} can become properties; leave some out")
    kept: dict[str, str] = {}
    notes = []
    for name in names:
        if len(name) > LONGEST_NAME:
            raise InputError(f"{path}: the name of a column has {len(name):,} characters: {name[:40]!r}", fix=f"at most {LONGEST_NAME:,}")
        safe = _UNSAFE.sub("_", name)
        if safe in OWN[kind]:
            notes.append(f"{path.name}: column {name[:40]!r} is left out: kgeval writes this property itself")
        elif safe in kept.values():
            raise InputError(f"{path}: two columns would become the property {safe[:60]!r}", fix="rename one of them")
        else:
            kept[name] = safe
            notes += [f"{path.name}: column {name[:40]!r} becomes the property {safe[:40]!r}"] if safe != name else []
    return kept, notes
