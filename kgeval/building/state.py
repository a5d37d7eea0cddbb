"""Documents as the graph keeps them: hashes, chunks with the sentences before them, and extractions as JSON text and back."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from kgeval.building.mentions import Extracted
from kgeval.graph.load.built import ChunkRow, DocumentRow
from kgeval.llm.asking import WORTH_ASKING_AGAIN
from kgeval.records import Document
from kgeval.text.chunk import TOKENIZER, count, sentences, split
from kgeval.text.extract.mentions import ChunkSource, Extraction, Extractor, Mention, RelationMention

LONGEST_BEFORE = 2_000  # characters of preceding sentences


@dataclass(frozen=True)
class Cutting:
    """How documents are cut: tokens a chunk, tokens of overlap, and how many sentences before a chunk its extractor also sees."""

    size: int = 600
    overlap: int = 100
    context_sentences: int = 3

    def made_by(self, extractor: Extractor) -> str:
        """The extractor with its settings and the cutting, as 16 hex digits."""
        return _sha(f"{TOKENIZER} {self.size} {self.overlap} {self.context_sentences} {extractor.name} {extractor.signature}")[:16]


def content_hash(document: Document) -> str:
    """SHA-256 of title, text and metadata."""
    metadata = json.dumps(document.metadata, sort_keys=True, ensure_ascii=False)
    return _sha(f"{document.title or ''}\0{metadata}\0{document.text}")


def sources_of(document: Document, cutting: Cutting) -> list[ChunkSource]:
    """The chunks of a document, each with the title and the sentences just before it (2,000 characters at most)."""
    chunks = split(document, size=cutting.size, overlap=cutting.overlap)
    spans = sentences(document.text) if cutting.context_sentences else []
    ends = [end for _, end in spans]
    out = []
    for chunk in chunks:
        before = ""
        last = bisect_right(ends, chunk.start or 0)
        if last and cutting.context_sentences:
            first = spans[max(0, last - cutting.context_sentences)][0]
            before = document.text[first:spans[last - 1][1]][-LONGEST_BEFORE:]
        out.append(ChunkSource(chunk, document.title, before))
    return out


def row_of(
    document: Document, sources: Iterable[ChunkSource], extractions: Iterable[Extraction], *, made_by: str, old: DocumentRow | None,
    reread: bool = False,
) -> DocumentRow:
    """The document as it is stored. A chunk that failed now keeps what the same text gave before.

    `reread`: the old one was made with the same settings and earlier rules of reading. Then it keeps that until there is a reply, and
    stays failed, so that the next run asks again.
    """
    digest = content_hash(document)
    same = old is not None and (old.hash, old.made_by) == (digest, made_by)
    reread = not same and reread and old is not None and old.hash == digest
    before = {chunk.id: chunk for chunk in old.chunks if chunk.extraction} if old and (same or reread) else {}
    chunks = []
    for source, extraction in zip(sources, extractions, strict=True):
        chunk, failure = source.chunk, extraction.failure
        text = None if failure else encode(extraction)
        if failure and chunk.id in before and (same or failure.cause not in WORTH_ASKING_AGAIN):
            text, failure = before[chunk.id].extraction, None if same else failure
        chunks.append(ChunkRow(
            chunk.id, chunk.index, chunk.text, chunk.start, chunk.end, chunk.tokens, _sha(chunk.text)[:16], text,
            failure.cause if failure else None,
        ))
    metadata = json.dumps(document.metadata, sort_keys=True, ensure_ascii=False) if document.metadata else None
    return DocumentRow(
        document.id, document.title, digest, metadata, made_by, len(document.text.split()),
        old.tokens if old and same else count(document.text), tuple(chunks),
    )


def with_texts(row: DocumentRow, document: Document) -> DocumentRow:
    """A stored document as a new one: the texts of its chunks, which were not read back, are cut from the document again."""
    chunks = (replace(c, text=document.text[c.start or 0:c.end], element_id=None) for c in row.chunks)
    return replace(row, chunks=tuple(chunks), element_id=None)


def encode(extraction: Extraction) -> str:
    """Mentions and links as compact JSON: {"m": [[name, type, description, aliases, start, end]], "l": [[source, target, ...]]}."""
    mentions: list[list[Any]] = [[m.name, m.type, m.description, list(m.aliases) or None, m.start, m.end] for m in extraction.mentions]
    links: list[list[Any]] = [[k.source, k.target, k.predicate, k.description, k.start, k.end] for k in extraction.links]
    for row in (*mentions, *links):
        while row and row[-1] is None:  # most have no description and no place: the text is kept once a chunk in the graph
            row.pop()
    text = json.dumps({"m": mentions, "l": links}, ensure_ascii=False, separators=(",", ":"))
    # half a surrogate pair, which Neo4j cannot store, becomes "?"
    return text.encode("utf-8", "replace").decode("utf-8")


def decode(chunk_id: str, text: str) -> Extraction:
    """The extraction again."""
    data: dict[str, list[list[Any]]] = json.loads(text)
    mentions = []
    for row in data["m"]:
        name, type_, description, aliases, start, end = row + [None] * (6 - len(row))
        mentions.append(Mention(str(name), type_, description, tuple(aliases or ()), start, end))
    return Extraction(chunk_id, tuple(mentions), tuple(RelationMention(*row) for row in data["l"]))


def found_in(documents: Iterable[DocumentRow]) -> Iterator[Extracted]:
    """What the stored chunks of all documents hold; chunks that failed hold nothing."""
    for document in documents:
        for chunk in document.chunks:
            if chunk.extraction is not None:
                yield Extracted(chunk.id, document.id, chunk.index, chunk.start, decode(chunk.id, chunk.extraction))


def corpus_hash(documents: Iterable[tuple[str, str]]) -> str:
    """SHA-256 over (id, content hash) of documents, sorted by id."""
    return _sha("\0".join(f"{name}\0{digest}" for name, digest in sorted(documents)))


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
