"""Reads what retrieval over a graph needs: texts to search, entities near a vector, the relations around given entities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kgeval.errors import LayoutError
from kgeval.graph.connect import Graph
from kgeval.graph.queries import all_queries
from kgeval.records import Layout

BATCH = 100
WIDER = 4
"""How many times more nodes a vector index is asked for than are wanted: some of them may belong to other graphs or have other types.
Where too few of them are left it is asked for as many times more again, up to WIDEST."""
WIDEST = 20_000


@dataclass(frozen=True, slots=True)
class EntityText:
    """An entity with what it says of itself. `score`: cosine with what was searched for."""

    element_id: str
    name: str
    type: str | None = None
    description: str | None = None
    score: float = 0.0

    @property
    def text(self) -> str:
        """Name and description: what is embedded."""
        about = (self.description or "").strip()
        return f"{self.name}: {about}" if about else self.name


@dataclass(frozen=True, slots=True)
class ChunkText:
    """A chunk with its text. `id`: what source lists call it, else its element id. `score`: cosine with what was searched for."""

    id: str
    element_id: str
    text: str
    document: str | None = None
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class ChunkPlace:
    """A chunk that a relation comes from. `element_id` None: the relation names it, but no chunk of its ends has that id."""

    id: str
    element_id: str | None = None
    document: str | None = None


@dataclass(frozen=True, slots=True)
class Around:
    """A relation at an entity. `at`: the entity that it was found at; `start`, `end`: its ends in its own direction."""

    at: str
    element_id: str
    start: str
    end: str
    subject: str
    predicate: str
    object: str
    description: str | None = None
    chunks: tuple[ChunkPlace, ...] = ()


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """A vector index of the database. `similarity`: cosine or euclidean."""

    name: str
    dimensions: int | None
    similarity: str

    # Neo4j scores cosine indexes (1 + cos) / 2, and euclidean ones 1 / (1 + d^2), where d^2 = 2 - 2 cos for vectors of length 1
    def cosine(self, score: float) -> float:
        """The cosine of two vectors of length 1, from the index's own score of them."""
        if self.similarity == "euclidean":
            return 1 - (1 / max(score, 1e-9) - 1) / 2
        return 2 * score - 1


class EntryReader:
    """Reads for retrieval, in READ transactions. Safe for several threads. `timeout`: seconds a query of one question; what is read
    once for all questions (every text, the size) has no limit, because texts are embedded while they are read."""

    def __init__(self, graph: Graph, layout: Layout, *, timeout: float | None = None) -> None:
        self.graph, self.layout, self._timeout = graph, layout, timeout
        self._shown = layout.model_dump()

    def entities(self) -> Iterator[EntityText]:
        """Every entity that has a name, streamed."""
        for row in self._stream("entry-texts"):
            yield EntityText(row["element_id"], row["name"], row["type"], row["description"])

    def chunks(self) -> Iterator[ChunkText]:
        """Every chunk that has a text, streamed."""
        for row in self._stream("entry-chunks"):
            yield ChunkText(row["id"], row["element_id"], row["text"], row["document"])

    def size(self) -> tuple[int, int]:
        """How many entities and relations the graph has."""
        row = self.graph.read(all_queries()["graph-size"], {"layout": self._shown})[0]
        return int(row["entities"]), int(row["relations"])

    def around(self, ids: Sequence[str], most: int) -> list[Around]:
        """The relations at these entities, at most `most` an entity, in the entities' order."""
        relations = []
        for start in range(0, len(ids), BATCH):
            rows = self._read("expand-entities", ids=list(ids[start : start + BATCH]), most=most)
            relations += [
                Around(
                    row["at"], row["element_id"], row["start"], row["end"], row["subject"], row["predicate"], row["object"],
                    row["description"], tuple(ChunkPlace(c["id"], c["element_id"], c["document"]) for c in row["chunks"] if c["id"]),
                )
                for row in rows if row["subject"] is not None and row["object"] is not None
            ]
        order = {element_id: n for n, element_id in enumerate(ids)}
        return sorted(relations, key=lambda around: (order[around.at], around.subject, around.predicate, around.object, around.element_id))

    def texts(self, element_ids: Sequence[str]) -> dict[str, str]:
        """Chunk's element id -> text, for those that have one."""
        rows = self._read("passage-texts", ids=list(element_ids)) if element_ids else []
        return {row["element_id"]: row["text"] for row in rows if row["text"] and row["text"].strip()}

    def index(self, name: str, dimensions: int) -> VectorIndex:
        """The vector index of that name; without one, that on the layout's embeddings of entities.

        Raises: LayoutError where there is none, where it is not ready, and where its vectors have another length.
        """
        rows = self._read("entry-indexes")
        labels = {*self.layout.entity_labels, "__Entity__"}
        fits = [
            row for row in rows
            if (row["name"] == name if name else self.layout.embedding_key in row["keys"] and labels.intersection(row["labels"]))
        ]
        if not fits:
            there = ", ".join(sorted(row["name"] for row in rows)) or "none"
            wanted = f"no vector index {name}" if name else "no vector index on the embeddings of this layout's entities"
            raise LayoutError(f"the database has {wanted} (there is: {there})", fix="name one with index=NAME, or take entry=lancedb")
        row = fits[0]
        if row["state"] != "ONLINE":
            raise LayoutError(f"the vector index {row['name']} is {row['state']}", fix="wait until SHOW INDEXES says ONLINE")
        if row["dimensions"] not in (None, dimensions):
            raise LayoutError(
                f"the vector index {row['name']} holds vectors of {row['dimensions']} dimensions, the embedding model gives {dimensions}",
                fix="give the model that filled the index with --embedding-model, or take entry=lancedb",
            )
        return VectorIndex(row["name"], row["dimensions"], row["similarity"] or "cosine")

    def nearest(self, index: VectorIndex, vector: Sequence[float], most: int, types: Sequence[str] = ()) -> list[EntityText]:
        """The entities nearest to a vector of length 1 by a vector index, best first, at most `most`; approximate."""
        limit, params = WIDER * most, {"index": index.name, "vector": list(vector), "types": list(types) or None}
        while True:
            rows = self._read("entry-by-index", most=limit, **params)
            entities = [
                EntityText(row["element_id"], row["name"], row["type"], row["description"], round(index.cosine(row["score"]), 6))
                for row in rows if row["element_id"] is not None and row["name"] is not None
            ]
            if len(entities) >= most or len(rows) < limit or limit >= WIDEST:
                return sorted(entities, key=lambda entity: (-entity.score, entity.name, entity.element_id))[:most]
            limit = min(WIDER * limit, WIDEST)

    def _read(self, query: str, **params: Any) -> list[dict[str, Any]]:
        spec = all_queries()[query]
        layout = {"layout": self._shown} if spec.speaks_roles else {}
        return self.graph.read(spec, {**layout, **params}, timeout=self._timeout)

    def _stream(self, query: str) -> Iterator[dict[str, Any]]:
        return self.graph.stream(all_queries()[query], {"layout": self._shown})
