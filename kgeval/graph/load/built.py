"""The rows of a graph that `kgeval build` keeps: what is known (documents, chunks, decisions) and what follows from it.

What is known is never computed again from the graph; entities, relations and applied merges always are.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from kgeval.graph.connect import Graph
from kgeval.graph.load import naming
from kgeval.graph.load.writer import BATCH, Progress

APPLIED, UNDONE = "applied", "undone"


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A chunk and what was extracted from it. `hash`: of the text; `extraction` is JSON text, None where the extractor failed
    (`failure` says why). `text` is None where a stored chunk was read back without it."""

    id: str
    index: int
    text: str | None
    start: int | None
    end: int | None
    tokens: int | None
    hash: str
    extraction: str | None = None
    failure: str | None = None
    element_id: str | None = field(default=None, compare=False)

    @property
    def properties(self) -> dict[str, Any]:
        """What is stored on the node; None = no such property."""
        return {
            "id": self.id, "index": self.index, "text": self.text, "start": self.start, "end": self.end, "tokens": self.tokens,
            "hash": self.hash, "extraction": self.extraction, "extraction_failure": self.failure,
        }

    @property
    def content(self) -> tuple[Any, ...]:
        """All but the text, which its hash stands for."""
        return (self.id, self.index, self.start, self.end, self.tokens, self.hash, self.extraction, self.failure)


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document with its chunks in order. `hash`: SHA-256 of title, text and metadata; `metadata`: JSON text or None;
    `made_by` names the extractor with its settings and how the text was cut. `whole`: no chunk was lost since it was written."""

    id: str
    title: str | None
    hash: str
    metadata: str | None
    made_by: str
    words: int
    tokens: int
    chunks: tuple[ChunkRow, ...]
    element_id: str | None = field(default=None, compare=False)
    whole: bool = field(default=True, compare=False)

    @property
    def properties(self) -> dict[str, Any]:
        """What is stored on the node; the title is the id where there is none."""
        return {
            "id": self.id, "title": self.title or self.id, "hash": self.hash, "metadata": self.metadata, "made_by": self.made_by,
            "words": self.words, "tokens": self.tokens, "chunks": len(self.chunks),
        }

    @property
    def content(self) -> tuple[Any, ...]:
        """What makes two states of a document the same."""
        return (tuple(self.properties.values()), tuple(chunk.content for chunk in self.chunks))


@dataclass(frozen=True, slots=True)
class EntityRow:
    """An entity. `sources`: chunk id -> (mentions there, start, end of the first one that was found in the chunk's text)."""

    id: str
    name: str
    name_key: str | None
    type: str | None
    description: str | None
    aliases: tuple[str, ...]
    mentions: int
    sources: dict[str, tuple[int, int | None, int | None]]

    @property
    def properties(self) -> dict[str, Any]:
        """What is stored on the node; None = no such property."""
        return {
            "id": self.id, "name": self.name, "name_key": self.name_key, "type": self.type, "description": self.description,
            "aliases": list(self.aliases) or None, "mentions": self.mentions,
        }


@dataclass(frozen=True, slots=True)
class RelationRow:
    """A relation between two entities, by their ids. `weight`: how often the texts state it; `chunks` in the order of the texts."""

    source: str
    target: str
    predicate: str
    description: str | None
    weight: float
    chunks: tuple[str, ...]

    @property
    def properties(self) -> dict[str, Any]:
        """What is stored on the relation; None = no such property."""
        return {
            "predicate": self.predicate, "description": self.description, "weight": self.weight, "chunk_ids": list(self.chunks),
        }


@dataclass(frozen=True, slots=True)
class MergeRow:
    """A decision of entity resolution. `left`, `right`: keys of the two sides (kgeval.building.clusters), in sorted order."""

    id: str
    kept: str
    merged: str
    type: str | None
    level: str
    score: float | None
    why: str
    left: str
    right: str
    status: str = APPLIED

    @property
    def properties(self) -> dict[str, Any]:
        """What is stored on the node, its graph left out; None = no such property."""
        return {
            "id": self.id, "kept": self.kept, "merged": self.merged, "type": self.type, "level": self.level, "score": self.score,
            "why": self.why, "left": self.left, "right": self.right, "status": self.status,
        }


@dataclass(frozen=True)
class Derived:
    """All that follows from documents, extractions and decisions."""

    entities: list[EntityRow]
    relations: list[RelationRow]
    merges: list[MergeRow]


@dataclass(frozen=True)
class BuildTarget:
    """Where to write: the graph, its name, the other graphs' names, rows a transaction, who hears of progress."""

    graph: Graph
    name: str
    others: frozenset[str] = frozenset()
    batch: int = BATCH
    progress: Progress = lambda _stage, _done, _total: None


@dataclass
class Changes:
    """What has to be written to come from one state to another. `counts` by what happens to what, as "entities created"."""

    steps: list[tuple[str, str, list[Any]]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, query: str, rows: list[Any], what: str) -> None:
        """One more step: rows for a query, counted as `what`."""
        if rows:
            self.steps.append((query, what, rows))
            self.counts[what] += len(rows)


def predicate_key(predicate: str) -> str:
    """`bornIn`, `born in` and `BORN_IN` are one predicate; one that leaves no relation type is compared without letter case."""
    snake = naming.upper_snake(predicate)
    return snake if snake != naming.NO_PREDICATE else f"={predicate.casefold()}"
