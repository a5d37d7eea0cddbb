"""Nodes and edges with free attributes (GraphML, node-link JSON): which attribute is the name, the type, the predicate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from kgeval.graph.load.gather import Gather
from kgeval.graph.load.model import Entity, Relation
from kgeval.graph.load.values import Misfit, needed, number, properties, text, texts

NAME = ("name", "title", "label", "entity_name", "display_name", "entity_id")
TYPE = ("type", "entity_type", "category", "kind", "class", "node_type", "labels", "label")
DESCRIPTION = ("description", "desc", "summary", "definition")
PREDICATE = ("predicate", "relation", "relationship", "relation_type", "rel_type", "label", "type", "name", "title", "keywords")
WEIGHT = ("weight", "strength", "score")
CHUNKS = ("chunk_ids", "text_unit_ids", "source_chunk_ids", "chunk_id", "source_id")
DOCUMENTS = ("documents", "document_ids", "document", "document_id", "doc_id")
BASE_LABELS = ("__Entity__", "__Node__", "__KGBuilder__", "Entity", "Node")


def first(row: Mapping[str, Any], keys: tuple[str, ...], *, but: str | None = None) -> str | None:
    """The first of the keys that the row has a value for."""
    return next((key for key in keys if key != but and row.get(key) not in (None, "", [])), None)


def names_of(rows: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The attributes of NAME that hold names here: `name`, and of the others those whose values differ on more than half of the nodes.
    networkx users keep the type in `label`, and the name in the id."""
    values: dict[str, Counter[str]] = {key: Counter() for key in NAME}
    for row in rows:
        for key in NAME:
            if row.get(key) not in (None, "", []):
                values[key][str(row[key])] += 1
    return tuple(key for key in NAME if key == NAME[0] or 2 * len(values[key]) > values[key].total())


def add_node(gather: Gather, row: Mapping[str, Any], where: str, names: tuple[str, ...] = NAME) -> None:
    """One node. Its name is the first of `names`, else its id. Raises Misfit without an id."""
    key = needed(_scalar(row.get("id")), "id")
    name = first(row, names)
    kind = first(row, TYPE, but=name)
    about, chunks, documents = first(row, DESCRIPTION), first(row, CHUNKS), first(row, DOCUMENTS)
    used = {"id", name, kind, about, chunks, documents, "aliases"} - {None}
    gather.add_entity(Entity(
        key, text(row[name], name) if name else key, type=type_of(row[kind], kind) if kind else None,
        description=text(row[about], about) if about else None, aliases=texts(row.get("aliases"), "aliases", separators=";|"),
        chunks=texts(row[chunks], chunks) if chunks else [], documents=texts(row[documents], documents) if documents else [],
        extra=properties(row, {str(u) for u in used}),
    ), where)


def add_edge(gather: Gather, row: Mapping[str, Any]) -> None:
    """One edge. Raises Misfit where an end is missing."""
    source, target = needed(_scalar(row.get("source")), "source"), needed(_scalar(row.get("target")), "target")
    kind, weight, about, chunks = first(row, PREDICATE), first(row, WEIGHT), first(row, DESCRIPTION), first(row, CHUNKS)
    used = {"source", "target", kind, weight, about, chunks} - {None}
    gather.add_relation(source, target, Relation(
        -1, -1, predicate=text(row[kind], kind) if kind else None, description=text(row[about], about) if about else None,
        weight=number(row[weight], weight) if weight else None, chunks=texts(row[chunks], chunks) if chunks else [],
        extra=properties(row, {str(u) for u in used}),
    ))


def type_of(value: Any, field: str) -> str | None:
    """The type; of several labels (a list, or `:Person:Actor`) the first that is no base label."""
    if isinstance(value, str) and value.startswith(":"):
        value = [part for part in value.split(":") if part]
    if isinstance(value, list):
        labels = texts(value, field)
        return next((label for label in labels if label not in BASE_LABELS), labels[0] if labels else None)
    return text(value, field)


def _scalar(value: Any) -> Any:
    """networkx writes tuples as lists; such an id is taken as its text."""
    if isinstance(value, dict):
        raise Misfit("an id must be text or a number, found a map")
    return ", ".join(str(part) for part in value) if isinstance(value, list) else value
