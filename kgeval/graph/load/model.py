"""What every reader hands to the writer: documents, chunks, entities and relations, faults and counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NO_PREDICATE = "RELATED"
FORMATS = ("msgraphrag", "lightrag", "graphml", "triples", "json", "tables")


@dataclass(slots=True)
class SourceDocument:
    """A source document; `id` is unique in the graph."""

    id: str
    title: str | None = None

    @property
    def properties(self) -> dict[str, Any]:
        """`{id, title}` as they are stored; the title is the id where the source has none."""
        return {"id": self.id, "title": self.title or self.id}


@dataclass(slots=True)
class SourceChunk:
    """A piece of a document. `text` is None where only its id is known; `index` is None where the order is not known.

    `dangling`: entities name this chunk, but the source's own list of chunks lacks it.
    """

    id: str
    text: str | None = None
    index: int | None = None
    documents: list[str] = field(default_factory=list)
    dangling: bool = False

    @property
    def properties(self) -> dict[str, Any]:
        """`{id, index, text, dangling}` as they are stored, what is not known left out."""
        return known({"id": self.id, "index": self.index, "text": self.text, "dangling": self.dangling or None})


@dataclass(slots=True)
class Entity:
    """A node of the graph. `id` is unique in the graph and the same at each import of the same input.

    `documents` are those that the source gives without a chunk. `dangling`: only relations name this entity.
    """

    id: str
    name: str | None = None
    type: str | None = None
    description: str | None = None
    aliases: list[str] = field(default_factory=list)
    chunks: list[str] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    dangling: bool = False
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Relation:
    """A relation; `source` and `target` are positions in `Loaded.entities`. `predicate` is None where the source has none."""

    source: int
    target: int
    predicate: str | None = None
    description: str | None = None
    weight: float | None = None
    chunks: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def properties(self) -> dict[str, Any]:
        """`{predicate, description, weight, chunk_ids}` as they are stored; without a predicate in the source it is RELATED."""
        own = {"description": self.description, "weight": self.weight, "chunk_ids": self.chunks or None}
        return {"predicate": self.predicate or NO_PREDICATE, **known(own)}


@dataclass(frozen=True)
class Loaded:
    """A whole input, read and checked. `rows` counts the rows that were read; each bad one has a line in `faults`.

    `counts`: dangling_entities, dangling_relations (relations that touch one), ambiguous_ends, same_names, unnamed,
    dangling_chunks. `next_chunks` are pairs of chunk ids. `inputs` are the files that were read. `undirected`: start and end of a
    relation mean nothing in this input.
    """

    format: str
    documents: list[SourceDocument]
    chunks: list[SourceChunk]
    next_chunks: list[tuple[str, str]]
    entities: list[Entity]
    relations: list[Relation]
    counts: dict[str, int]
    rows: int
    faults: list[str]
    notes: list[str]
    inputs: list[Path]
    undirected: bool = False


def known(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The properties that have a value: in Cypher's `SET n += map` a null takes away what is there."""
    return {key: value for key, value in properties.items() if value is not None}
