"""Reads a LightRAG folder: `graph_chunk_entity_relation.graphml` with the key-value stores, or the stores alone.

One name is one entity there, whatever the document; its documents and chunks are kept. LightRAG makes a node of type
UNKNOWN for an end that was never extracted: such an entity is marked `dangling`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kgeval.errors import InputError
from kgeval.graph.load import graphml
from kgeval.graph.load.gather import Gather
from kgeval.graph.load.model import Entity, Loaded, Relation, SourceChunk
from kgeval.graph.load.values import SEPARATOR, Misfit, distinct, needed, number, text, texts, whole_number
from kgeval.tables import read_json

GRAPH = "graph_chunk_entity_relation.graphml"
STORES = ("full_docs", "doc_status", "text_chunks", "full_entities", "full_relations", "entity_chunks", "relation_chunks")
NO_EVIDENCE = {"UNKNOWN", "manual_creation"}  # source ids that are no chunk's: an end that was never extracted, a person's own entry
Store = Mapping[str, Any]


def read(folder: Path) -> Loaded:
    """The graph in `folder`. Raises: InputError where neither the GraphML nor the stores of names are there."""
    paths = {name: path for name in STORES if (path := folder / f"kv_store_{name}.json").is_file()}
    graph = folder / GRAPH
    if not graph.is_file() and not ({"full_entities", "entity_chunks"} & set(paths)):
        raise InputError(
            f"{folder}: no {GRAPH}, no kv_store_full_entities.json and no kv_store_entity_chunks.json",
            fix="give LightRAG's working folder (the workspace's folder, where there are several)",
        )
    stores: dict[str, Store] = {}
    for name, path in paths.items():
        stores[name] = read_json(path)
        if not isinstance(stores[name], dict):
            kind = type(stores[name]).__name__
            raise InputError(f"{path}: a map of keys to values expected, found {kind}", fix="is it LightRAG's file?")
    # undirected: LightRAG merges a relation whichever way round it comes, and keeps the direction that came first
    gather = Gather("lightrag", [*([graph] if graph.is_file() else []), *paths.values()], undirected=True)
    _documents(gather, stores)
    _chunks(gather, stores)
    if graph.is_file():
        _from_graphml(gather, graph, stores)
    else:
        _from_stores(gather, stores)
    if "text_chunks" not in stores:
        gather.notes.append("no kv_store_text_chunks.json: chunks have ids but no text, checks that need texts will be skipped")
    return gather.finish()


def _rows(gather: Gather, stores: Mapping[str, Store], name: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Key, place and map of each entry; an entry that is no map is a fault."""
    for key, value in stores.get(name, {}).items():
        where = f"kv_store_{name}.json: {key[:80]}"
        if isinstance(value, dict):
            yield key, where, value
        else:
            gather.fault(where, f"a map expected, found {type(value).__name__}")


def _documents(gather: Gather, stores: Mapping[str, Store]) -> None:
    for name in ("doc_status", "full_docs"):
        for key, where, row in _rows(gather, stores, name):
            with gather.row(where):
                gather.add_document(needed(key, "id"), text(row.get("file_path"), "file_path"))


def _chunks(gather: Gather, stores: Mapping[str, Store]) -> None:
    for key, where, row in _rows(gather, stores, "text_chunks"):
        with gather.row(where):
            documents = texts(row.get("full_doc_id"), "full_doc_id")
            index = whole_number(row.get("chunk_order_index"), "chunk_order_index")
            gather.add_chunk(SourceChunk(needed(key, "id"), text(row.get("content"), "content"), index, documents), where)
    for key, where, row in _rows(gather, stores, "doc_status"):
        with gather.row(f"{where}: chunks_list"):
            for position, chunk in enumerate(texts(row.get("chunks_list"), "chunks_list")):
                known = gather.chunks.setdefault(chunk, SourceChunk(chunk, None, position))
                known.documents += [key] if key not in known.documents else []


def _from_graphml(gather: Gather, path: Path, stores: Mapping[str, Store]) -> None:
    graph = graphml.parse(path)
    for node in graph.nodes:
        with gather.row(f"{path.name}:{node.line}"):
            key = needed(node.attributes.get("id"), "id")
            kind = text(node.data.get("entity_type"), "entity_type")
            unknown = (kind or "").strip('"').upper() == "UNKNOWN"
            chunks = [*_sources(node.data), *_ids(stores, "entity_chunks", key)]
            gather.add_entity(Entity(
                key, text(node.data.get("entity_id"), "entity_id") or key, type=None if unknown else kind,
                description=text(node.data.get("description"), "description"), chunks=distinct(chunks), dangling=unknown,
            ), f"{path.name}:{node.line}")
    for edge in graph.edges:
        with gather.row(f"{path.name}:{edge.line}"):
            source, target = needed(edge.attributes.get("source"), "source"), needed(edge.attributes.get("target"), "target")
            chunks = [*_sources(edge.data), *_pair_ids(stores, source, target)]
            gather.add_relation(source, target, Relation(
                -1, -1, predicate=text(edge.data.get("keywords"), "keywords"), chunks=distinct(chunks),
                description=text(edge.data.get("description"), "description"), weight=number(edge.data.get("weight"), "weight"),
            ))
    rows = (row for row in stores.get("full_entities", {}).values() if isinstance(row, dict))
    lists = (row.get("entity_names") for row in rows)
    named = {name for names in lists if isinstance(names, list) for name in names if isinstance(name, str)}
    if lost := named - set(gather.entities):
        gather.notes.append(f"{len(lost)} names of kv_store_full_entities.json are not in the GraphML file and not loaded")


def _sources(data: Mapping[str, Any]) -> list[str]:
    return [chunk for chunk in texts(data.get("source_id"), "source_id") if chunk not in NO_EVIDENCE]


def _ids(stores: Mapping[str, Store], store: str, key: str) -> list[str]:
    row = stores.get(store, {}).get(key)
    return texts(row.get("chunk_ids"), "chunk_ids") if isinstance(row, dict) else []


def _pair_ids(stores: Mapping[str, Store], source: str, target: str) -> list[str]:
    """Relations have no direction in LightRAG: the pair may stand either way round."""
    return [chunk for pair in ((source, target), (target, source)) for chunk in _ids(stores, "relation_chunks", SEPARATOR.join(pair))]


def _from_stores(gather: Gather, stores: Mapping[str, Store]) -> None:
    documents: dict[str, list[str]] = {}
    for document, where, row in _rows(gather, stores, "full_entities"):
        with gather.row(where):
            gather.add_document(needed(document, "document id"))
            for name in texts(row.get("entity_names"), "entity_names"):
                documents.setdefault(name, []).append(document)
    for key, where, _ in _rows(gather, stores, "entity_chunks"):
        with gather.row(where):
            documents.setdefault(needed(key, "name"), [])
    for name, named_in in documents.items():
        with gather.row(f"kv_store_entity_chunks.json: {name[:80]}"):
            chunks = _ids(stores, "entity_chunks", name)
            reached = {d for c in chunks if c in gather.chunks for d in gather.chunks[c].documents}
            gather.add_entity(Entity(name, name, chunks=chunks, documents=[d for d in named_in if d not in reached]), name)
    # every pair once: the documents' lists first, then pairs that only the chunk store has
    seen: set[frozenset[str]] = set()
    for _, where, row in _rows(gather, stores, "full_relations"):
        pairs = row.get("relation_pairs") or []
        for pair in pairs if isinstance(pairs, list) else [pairs]:
            with gather.row(where):
                _add_pair(gather, stores, pair, seen)
    for key, where, _ in _rows(gather, stores, "relation_chunks"):
        with gather.row(where):
            _add_pair(gather, stores, key.split(SEPARATOR), seen)


def _add_pair(gather: Gather, stores: Mapping[str, Store], pair: Any, seen: set[frozenset[str]]) -> None:
    if not isinstance(pair, list) or len(pair) != 2:
        raise Misfit(f"a pair of two names expected, found {str(pair)[:80]}")
    source, target = needed(pair[0], "source"), needed(pair[1], "target")
    if frozenset((source, target)) not in seen:
        seen.add(frozenset((source, target)))
        gather.add_relation(source, target, Relation(-1, -1, chunks=distinct(_pair_ids(stores, source, target))))
