"""Reads the Parquet folder of Microsoft GraphRAG: 3.x (`entities.parquet`) and before (`create_final_entities.parquet`).

Relations name their ends by title. An entity keeps its id; several entities may share a title.
Relations have no predicate there, only a description.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kgeval.errors import InputError
from kgeval.graph.load.gather import Gather
from kgeval.graph.load.model import Entity, Loaded, Relation, SourceChunk
from kgeval.graph.load.values import Misfit, needed, number, text, texts
from kgeval.tables import parquet_columns, read_parquet

TABLES = ("entities", "relationships", "text_units", "documents", "communities", "community_reports", "covariates")
_NEEDED = {"entities": ("title|name",), "relationships": ("source", "target"), "text_units": ("id", "text"), "documents": ("id",)}
_COLUMNS = {
    "entities": ("id", "title", "name", "type", "description", "text_unit_ids"),
    "relationships": ("source", "target", "description", "weight", "text_unit_ids"),
    "text_units": ("id", "text", "document_id", "document_ids"),
    "documents": ("id", "title", "text_unit_ids"),
}


def tables(folder: Path) -> dict[str, Path]:
    """The tables that the folder holds, by name. `create_final_nodes` and the like are not among them."""
    paths: dict[str, Path] = {}
    for name in TABLES:
        for stem in (name, f"create_final_{name}"):
            path = folder / f"{stem}.parquet"
            if path.is_file():
                # The name of version 3 is first, and counts where a folder has both.
                paths.setdefault(name, path)
    return paths


def read(folder: Path) -> Loaded:
    """The index in `folder`. Raises: InputError where a table is missing, is no Parquet file, or lacks a column."""
    paths = tables(folder)
    missing = [name for name in ("entities", "relationships") if name not in paths]
    if missing:
        raise InputError(f"{folder}: no {' and no '.join(missing)} table (.parquet)", fix="give GraphRAG's output folder")
    # by name: relations hold the titles of their ends, which several entities may share
    gather = Gather("msgraphrag", [paths[name] for name in _NEEDED if name in paths], by_name=True, undirected=True)
    _check_columns(paths)
    order = _documents(gather, paths)
    _chunks(gather, paths, order)
    _entities(gather, paths["entities"])
    _relations(gather, paths["relationships"])
    left = [name for name in paths if name not in _NEEDED]
    if left:
        gather.notes.append(f"not loaded: {', '.join(left)} (kgeval computes communities itself)")
    if "text_units" not in paths:
        gather.notes.append("no text_units table: chunks have ids but no text, checks that need texts will be skipped")
    return gather.finish()


def _check_columns(paths: dict[str, Path]) -> None:
    faults = []
    for name, wanted in _NEEDED.items():
        if name in paths:
            have = set(parquet_columns(paths[name]))
            faults += [f"{paths[name].name}: no column {column}" for column in wanted if not have & set(column.split("|"))]
    if faults:
        raise InputError("columns are missing", faults=faults, fix="is this GraphRAG's output? see kgeval help import")


def _rows(paths: dict[str, Path], name: str) -> list[tuple[str, dict[str, Any]]]:
    if name not in paths:
        return []
    path = paths[name]
    return [(f"{path.name}: row {n}", row) for n, row in enumerate(read_parquet(path, _COLUMNS[name]), start=1)]


def _documents(gather: Gather, paths: dict[str, Path]) -> dict[str, int]:
    """Adds the documents; returns the place of each text unit in its document."""
    order: dict[str, int] = {}
    for where, row in _rows(paths, "documents"):
        with gather.row(where):
            gather.add_document(needed(row["id"], "id"), text(row.get("title"), "title"))
            order.update({unit: position for position, unit in enumerate(texts(row.get("text_unit_ids"), "text_unit_ids"))})
    return order


def _chunks(gather: Gather, paths: dict[str, Path], order: dict[str, int]) -> None:
    for position, (where, row) in enumerate(_rows(paths, "text_units")):
        with gather.row(where):
            key = needed(row["id"], "id")
            documents = texts(row.get("document_id"), "document_id") or texts(row.get("document_ids"), "document_ids")
            # Without a list in its document a chunk has the place of its row.
            gather.add_chunk(SourceChunk(key, text(row["text"], "text"), order.get(key, position), documents), where)


def _entities(gather: Gather, path: Path) -> None:
    for where, row in _rows({"entities": path}, "entities"):
        with gather.row(where):
            name = text(row.get("title", row.get("name")), "title")
            key = text(row.get("id"), "id") or name
            if key is None:
                raise Misfit("id and title are both missing")
            gather.add_entity(Entity(
                key, name, type=text(row.get("type"), "type"), description=text(row.get("description"), "description"),
                chunks=texts(row.get("text_unit_ids"), "text_unit_ids"),
            ), where)


def _relations(gather: Gather, path: Path) -> None:
    for where, row in _rows({"relationships": path}, "relationships"):
        with gather.row(where):
            gather.add_relation(needed(row["source"], "source"), needed(row["target"], "target"), Relation(
                -1, -1, description=text(row.get("description"), "description"), weight=number(row.get("weight"), "weight"),
                chunks=texts(row.get("text_unit_ids"), "text_unit_ids"),
            ))
