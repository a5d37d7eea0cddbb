"""Chunk texts from files, for graphs whose writer keeps them outside the database (LightRAG, nano-graphrag)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kgeval.format import first_of
from kgeval.records import Document
from kgeval.text.documents import read_documents

# what tells a chunk's document: the names of kgeval's own records, LightRAG, nano-graphrag, and common ones
DOCUMENT_KEYS = ("document", "file_path", "full_doc_id", "document_id", "doc_id", "source", "title")
MOST_FAULTS = 3


@dataclass(frozen=True)
class Chunks:
    """Texts and documents by chunk id. `notes`: entries that could not be read."""

    texts: dict[str, str]
    documents: dict[str, str | None] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_chunks(paths: Sequence[Path]) -> Chunks:
    """Chunks of JSONL (`id`, `text` or `content`), or of JSON: a list, or a map from id to chunk (`kv_store_text_chunks.json`).

    Raises: InputError with every fault where not one chunk could be read.
    """
    read = read_documents(paths)
    notes = []
    if read.faults:
        notes.append(f"of --chunks, {len(read.faults)} could not be read: {first_of(read.faults, MOST_FAULTS, '; ')}")
    notes += [f"of --chunks, {note}" for note in read.links]
    return Chunks({row.id: row.text for row in read.documents}, {row.id: _document(row) for row in read.documents}, tuple(notes))


def _document(chunk: Document) -> str | None:
    names = (chunk.metadata.get(key) for key in DOCUMENT_KEYS)
    return next((value for value in names if isinstance(value, str) and value), chunk.title)
