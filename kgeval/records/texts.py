"""Documents, chunks, passages and triples: what goes into a graph and what a gold set holds."""

from __future__ import annotations

from pydantic import Field, JsonValue

from kgeval.records.base import Record


class Document(Record):
    """A source document. `id` is unique in a graph; the same document has the same id in every run."""

    id: str
    title: str | None = None
    text: str
    metadata: dict[str, JsonValue] = Field(default_factory=dict)


class Chunk(Record):
    """A piece of a document. `start`, `end`: characters of the document's text; `tokens` as the tokenizer of the run counts them."""

    id: str
    document: str
    index: int
    text: str
    start: int | None = None
    end: int | None = None
    tokens: int | None = None


class Passage(Record):
    """A text that supports or contradicts something."""

    text: str
    chunk_id: str | None = None
    document: str | None = None
    score: float | None = None


class Triple(Record):
    """A relation with its ends by name."""

    element_id: str | None = None
    subject: str
    predicate: str
    object: str
    subject_type: str | None = None
    object_type: str | None = None
    description: str | None = None
    weight: float | None = None
    chunk_ids: list[str] = Field(default_factory=list)
    document: str | None = None


class GoldEntity(Record):
    """An entity that a complete graph has. `document`: where it stands; it is then looked for among that document's entities."""

    name: str
    type: str | None = None
    aliases: list[str] = Field(default_factory=list)
    document: str | None = None


class GoldTriple(Record):
    """A relation that a complete graph has. `aliases`: other names of its ends, by the name they stand for."""

    subject: str
    predicate: str | None = None
    object: str
    document: str | None = None
    aliases: dict[str, list[str]] = Field(default_factory=dict)
