"""Reads node-link JSON, as networkx writes it: `{"nodes": [{"id": ...}], "links" or "edges": [{"source": ..., "target": ...}]}`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kgeval.errors import InputError
from kgeval.graph.load import nodes
from kgeval.graph.load.gather import Gather
from kgeval.graph.load.model import Loaded, SourceChunk
from kgeval.graph.load.values import needed, text, whole_number
from kgeval.tables import read_json

_ENDS = {"source": ("source", "from", "start", "head", "subject"), "target": ("target", "to", "end", "tail", "object")}


def read(path: Path) -> Loaded:
    """The graph in a node-link file. Raises: InputError where the file is no JSON or has no such lists."""
    data = read_json(path)
    gather = Gather("json", [path])
    node_rows, edge_rows = _list(data, path, "nodes"), _list(data, path, "links", "edges")
    _head(data.get("graph"), gather, path.name)
    names = nodes.names_of(row for row in node_rows if isinstance(row, dict))
    for number, row in enumerate(node_rows, start=1):
        where = f"{path.name}: nodes, item {number}"
        with gather.row(where):
            nodes.add_node(gather, row if isinstance(row, dict) else {"id": row}, where, names)
    for number, row in enumerate(edge_rows, start=1):
        where = f"{path.name}: edges, item {number}"
        if not isinstance(row, dict):
            gather.fault(where, f"a map with source and target expected, found {type(row).__name__}")
            continue
        with gather.row(where):
            nodes.add_edge(gather, _with_ends(row))
    if data.get("directed") is False:
        gather.without_direction()
    return gather.finish()


def _head(head: Any, gather: Gather, name: str) -> None:
    """The documents `{id, title}` and chunks `{id, document, index, text}` that the file's `graph` attribute may list."""
    for kind in ("documents", "chunks"):
        rows = head.get(kind) if isinstance(head, dict) else None
        for number, row in enumerate(rows if isinstance(rows, list) else [], start=1):
            where = f"{name}: {kind}, item {number}"
            if not isinstance(row, dict):
                gather.fault(where, f"a map with an id expected, found {type(row).__name__}")
                continue
            with gather.row(where):
                key = needed(row.get("id"), "id")
                if kind == "documents":
                    gather.add_document(key, text(row.get("title"), "title"))
                    continue
                document, body = text(row.get("document"), "document"), text(row.get("text"), "text")
                index = whole_number(row.get("index"), "index")
                gather.add_chunk(SourceChunk(key, body, index, [document] if document else []), where)


def _list(data: Any, path: Path, *names: str) -> list[Any]:
    rows = next((data[name] for name in names if name in data), None) if isinstance(data, dict) else None
    if not isinstance(rows, list):
        raise InputError(f"{path}: no list '{' or '.join(names)}'", fix='node-link JSON is {"nodes": [...], "links": [...]}')
    return rows


def _with_ends(row: dict[str, Any]) -> dict[str, Any]:
    out = dict(row)
    for end, names in _ENDS.items():
        used = nodes.first(row, names)
        if used and used != end:
            out[end] = out.pop(used)
    return out
