"""Reads what kgeval writes for Neo4j's import tool, as the tool does, and what the ordinary importer would write of the same tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kgeval.graph.load import naming, tables
from kgeval.graph.load.bulk.convert import ToolFiles
from kgeval.graph.load.bulk.sheets import SEPARATOR
from kgeval.graph.load.table_files import TableInputs
from kgeval.graph.load.writer import entity_properties
from kgeval.text.names import normalise

READ: dict[str, Callable[[str], Any]] = {
    "string": str, "long": int, "double": lambda cell: float(cell.replace("Infinity", "inf")), "boolean": lambda cell: cell == "true",
}


def graph_of(made: ToolFiles) -> tuple[list[Any], list[Any]]:
    """Nodes as (labels, properties) and relations as (id, type, properties, id), sorted: an end by its node's `id`."""
    nodes = {}
    for group in made.node_groups:
        for row in rows(made.folder, group.files):
            nodes[row.pop(":ID")] = (sorted(row.pop(":LABEL").split(SEPARATOR)), row)
    found = []
    for group in made.relation_groups:
        for row in rows(made.folder, group.files):
            ends = [nodes[row.pop(name)][1]["id"] for name in (":START_ID", ":END_ID")]
            found.append((ends[0], row.pop(":TYPE", group.type), row, ends[1]))
    return in_order(list(nodes.values())), in_order(found)


def rows(folder: Path, files: tuple[str, ...]) -> list[dict[str, Any]]:
    """The rows of one group: empty cells without quotes are null, as the tool has it."""
    head = next(csv.reader((folder / files[0]).open(encoding="utf-8", newline="")))
    out = []
    for name in files[1:]:
        text = (folder / name).read_bytes().decode("utf-8")
        lines = io.StringIO(text, newline="") if name.endswith("-lines.csv") else text.split("\n")  # else no row may span two lines
        for cells in filter(None, csv.reader(lines)):
            row = {}
            for column, cell in zip(head, cells, strict=True):
                stem, _, kind = column.rpartition(":")
                if not stem:
                    row[column] = cell
                elif cell != "":
                    read = READ[kind.removesuffix("[]")]
                    row[stem] = [read(part) for part in cell.split(SEPARATOR)] if kind.endswith("[]") else read(cell)
            out.append(row)
    return out


def graph_of_ordinary(inputs: TableInputs, name: str) -> tuple[list[Any], list[Any]]:
    """The same of the ordinary reader and writer."""
    found = tables.read(inputs)
    labels = naming.type_labels(found.entities, {name})
    types = naming.relation_types(found.relations)
    nodes: list[Any] = [(["Document", name], document.properties) for document in found.documents]
    nodes += [(["Chunk", name], chunk.properties) for chunk in found.chunks]
    nodes += [
        (["__Entity__", name, *([e.type] if e.type in labels else [])], {**e.extra, **entity_properties(e, normalise)})
        for e in found.entities
    ]
    joined: list[Any] = [(c.id, "FROM_DOCUMENT", {}, d) for c in found.chunks for d in c.documents]
    joined += [(a, "NEXT_CHUNK", {}, b) for a, b in found.next_chunks]
    joined += [(e.id, "FROM_CHUNK", {}, c) for e in found.entities for c in e.chunks]
    joined += [
        (found.entities[r.source].id, types.get(r.predicate or "", "RELATED"), {**r.extra, **r.properties},
         found.entities[r.target].id)
        for r in found.relations
    ]
    return in_order([(sorted(labels_), own) for labels_, own in nodes]), in_order(joined)


def in_order(items: list[Any]) -> list[Any]:
    return sorted(items, key=repr_of)


def repr_of(item: Any) -> str:
    return repr([sorted(part.items()) if isinstance(part, dict) else part for part in item])
