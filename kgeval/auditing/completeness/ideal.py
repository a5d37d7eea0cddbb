"""The ideal graph: an extractor's own reading of the documents, taken as a gold set [M, RAKG style].

It costs nobody any labels, and it is no truth: a missing item may be the extractor's mistake. So its label is printed beside
every figure, and a random sample of it can be given to people (kgeval.auditing.completeness.ideal_sheet).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kgeval.auditing.completeness.gold import Gold, gold_of
from kgeval.building.mentions import Extracted
from kgeval.building.resolve import Resolved, Rules, resolve
from kgeval.building.state import Cutting, sources_of
from kgeval.errors import IncompleteError, InputError
from kgeval.records import Document, GoldEntity, GoldTriple, IdealGraph, Passage
from kgeval.text.extract.mentions import ChunkSource, Extractor

UNCHECKED = "not checked by people"


@dataclass(frozen=True)
class IdealItem:
    """One entity or triple of the ideal graph, with the chunk that it was first taken from. `id` depends on its content alone."""

    id: str
    gold: GoldEntity | GoldTriple
    passage: Passage


@dataclass(frozen=True)
class Ideal:
    """An ideal graph as a gold set, the record of how it was made, and its items for a sheet."""

    gold: Gold
    record: IdealGraph
    items: tuple[IdealItem, ...] = field(repr=False)


@dataclass(frozen=True)
class _ExtractedChunks:
    """Chunks by id, and what was extracted from them."""

    chunks: Mapping[str, ChunkSource]
    found: Sequence[Extracted]
    failures: Mapping[str, int]


def ideal_gold(
    documents: Sequence[Document], extractor: Extractor, *, made_by: str, cutting: Cutting | None = None, rules: Rules | None = None,
    faults: Sequence[str] = (),
) -> Ideal:
    """The ideal graph of the documents. `made_by`: the model or extractor, as it is to be printed. `faults`: unreadable documents.

    Names are resolved over all documents as `kgeval build` does it; an entity or triple is listed once for each document that
    it is taken from, so that the graph is held against the document where it should have found it.

    Raises: IncompleteError where every chunk failed; InputError where there is nothing to extract from, or nothing was found.
    """
    texts = _extracted(documents, extractor, cutting or Cutting())
    failed = sum(texts.failures.values())
    if failed and failed == len(texts.chunks):
        causes = ", ".join(f"{cause}: {n}" for cause, n in sorted(texts.failures.items()))
        raise IncompleteError(f"the ideal graph is empty: all {failed} chunks failed ({causes})", fix="correct the cause and run it again")
    resolved = resolve(texts.found, rules)
    items = tuple({item.id: item for item in _items(resolved, texts)}.values())
    if not items:
        raise InputError(f"{made_by} found no entity in {len(documents)} documents", fix="give other documents, or another extractor")
    gold = gold_of(
        [item.gold for item in items if isinstance(item.gold, GoldEntity)],
        [item.gold for item in items if isinstance(item.gold, GoldTriple)], label=label(made_by), faults=faults,
    )
    notes = [f"{failed} of {len(texts.chunks)} chunks failed: what they say is not in the gold set"] if failed else []
    # Not every extractor has notes: the protocol does not ask for them.
    notes += getattr(extractor, "notes", ())
    record = IdealGraph(
        extractor=made_by, signature=extractor.signature, documents=len(documents), chunks=len(texts.chunks),
        failures=dict(sorted(texts.failures.items())), notes=notes,
    )
    return Ideal(gold, record, items)


def label(made_by: str, *, checked: bool = False) -> str:
    """What is printed beside every figure: who made the gold set, and whether people looked at a sample of it."""
    return f"ideal graph by {made_by}, {'a sample checked by people' if checked else UNCHECKED}"


def _extracted(documents: Sequence[Document], extractor: Extractor, cutting: Cutting) -> _ExtractedChunks:
    sources = [source for document in documents for source in sources_of(document, cutting)]
    if not sources:
        raise InputError("the documents hold no text", fix="give documents with text")
    extracted: list[Extracted] = []
    failures: Counter[str] = Counter()
    for source, extraction in zip(sources, extractor.extract(sources), strict=True):
        if extraction.failure is not None:
            failures[extraction.failure.cause] += 1
        else:
            extracted.append(Extracted(source.chunk.id, source.chunk.document, source.chunk.index, source.chunk.start, extraction))
    return _ExtractedChunks({source.chunk.id: source for source in sources}, extracted, failures)


def _items(resolved: Resolved, texts: _ExtractedChunks) -> Iterator[IdealItem]:
    """The entities, then the triples, each once for every document that it is taken from."""
    for entity in resolved.entities:
        for document, passage in _passages(list(entity.sources), texts):
            gold = GoldEntity(name=entity.name, type=entity.type, aliases=list(entity.aliases), document=document)
            yield IdealItem(_id("entity", document, entity.name, entity.type or ""), gold, passage)
    by_id = {entity.id: entity for entity in resolved.entities}
    for relation in resolved.relations:
        subject, target = by_id[relation.source], by_id[relation.target]
        aliases = {end.name: list(end.aliases) for end in (subject, target) if end.aliases}
        for document, passage in _passages(relation.chunks, texts):
            triple = GoldTriple(subject=subject.name, predicate=relation.predicate, object=target.name, document=document, aliases=aliases)
            yield IdealItem(_id("triple", document, subject.name, relation.predicate, target.name), triple, passage)


def _passages(chunks: Sequence[str], texts: _ExtractedChunks) -> list[tuple[str, Passage]]:
    """For each document of the chunks: its id and the first of the chunks."""
    known = sorted((texts.chunks[chunk].chunk for chunk in chunks), key=lambda chunk: (chunk.document, chunk.index))
    # Backwards: of each document the first chunk stays.
    first = {chunk.document: chunk for chunk in reversed(known)}
    return [(document, Passage(text=c.text, chunk_id=c.id, document=document)) for document, c in sorted(first.items())]


def _id(*parts: str) -> str:
    """Begins with a letter: spreadsheets turn ids such as 000123456789 and 12e456789012 into numbers."""
    return parts[0][0] + hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]
