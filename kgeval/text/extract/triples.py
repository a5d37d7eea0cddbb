"""Brings triples of one's own: a file of them, put to the chunks that they were taken from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kgeval.errors import InputError
from kgeval.files import sha256
from kgeval.graph.load import triples
from kgeval.graph.load.model import Entity, Relation
from kgeval.manifest import Asked
from kgeval.text.clean import clean_line
from kgeval.text.extract import naming
from kgeval.text.extract.mentions import Extraction, Link, Mention, Source
from kgeval.text.extract.placing import Places, Wanted
from kgeval.text.extract.spans import Finder

NO_PREDICATE = "related to"
_SHOWN = 20


@dataclass
class _Chunk:
    """What is put to one chunk. `places`: position in the file's entities -> position in this chunk's mentions."""

    finder: Finder
    places: dict[int, int] = field(default_factory=dict)
    mentions: list[Mention] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)


class TriplesExtractor:
    """Takes extractions from a file of triples, in the forms and with the field names that `kgeval import` reads.

    A triple goes to the chunk whose id it names; else to the chunk with its text, or with both of its names, in its document (at
    least one name must be there); else, where it names no document that is given, to the chunk of any document with both names, best in
    one sentence. `faults`: rows that are no triples. `unplaced`: after extract, what could not be put to a chunk, with the reason.

    Raises: InputError for a file that holds no triples.
    """

    name = "triples-file"

    def __init__(self, path: Path) -> None:
        self._loaded = triples.read(path)
        if not self._loaded.entities:
            raise InputError(f"{path}: holds no triples", fix="kgeval help import shows the forms", faults=self._loaded.faults)
        self._hash = sha256([path])[:16]
        self._texts = {chunk.id: chunk.text for chunk in self._loaded.chunks if chunk.text}
        self.faults: list[str] = list(self._loaded.faults)
        self.unplaced: list[str] = []

    @property
    def signature(self) -> str:
        """Changes with the file's name and content."""
        return f"triples-file:{self._hash}"

    @property
    def notes(self) -> list[str]:
        """What a user should know: notes of the reader, rows that are no triples, and (after extract) what belongs to no chunk."""
        notes = list(self._loaded.notes)
        if self.faults:
            notes.append(f"{len(self.faults)} rows are no triples: {_first(self.faults)}")
        if self.unplaced:
            notes.append(f"{len(self.unplaced)} triples or entities belong to no chunk: {_first(self.unplaced)}")
        return notes

    def extract(self, sources: Iterable[Source]) -> Iterator[Extraction]:
        """The extractions in the order of the sources. All sources are read first: a triple may belong to any of them."""
        given = list(sources)
        places = Places(given)
        chunks = [_Chunk(places.finder(at)) for at in range(len(given))]
        self.unplaced = []
        joined: set[int] = set()
        for relation in self._loaded.relations:
            joined |= {relation.source, relation.target}
            self._relation(relation, places, chunks)
        for at, entity in enumerate(self._loaded.entities):
            if at not in joined:
                self._alone(at, entity, places, chunks)
        counts = {"unplaced": len(self.unplaced), "faulty_row": len(self.faults)}
        lost = {cause: n for cause, n in counts.items() if n}
        for source, chunk in zip(given, chunks, strict=True):
            last = source is given[-1]  # what belongs to no chunk is counted once, with the last
            yield Extraction(source.chunk.id, tuple(chunk.mentions), tuple(chunk.links), dropped=lost if last else {})

    def asked(self) -> Asked:
        """Nothing: no model is asked."""
        return Asked()

    def _relation(self, relation: Relation, places: Places, chunks: list[_Chunk]) -> None:
        ends = self._loaded.entities[relation.source], self._loaded.entities[relation.target]
        named = relation.extra.get("document")
        wanted = self._wanted(ends, relation.chunks, [str(named)] if named else [])
        found, reason = places.place(wanted)
        predicate = naming.as_name(relation.predicate or "") or NO_PREDICATE
        if not found:
            self.unplaced.append(f"{_short(ends[0])} - {predicate[:60]} - {_short(ends[1])}: {reason}")
        for at in found:
            chunk = chunks[at]
            source, target = (self._mention(chunk, end) for end in (relation.source, relation.target))
            start, end = chunk.finder.sentence_with(*wanted.names) or (None, None)
            chunk.links.append(Link(source, target, predicate, naming.as_description(relation.description), start, end))

    def _alone(self, at: int, entity: Entity, places: Places, chunks: list[_Chunk]) -> None:
        """An entity that no triple joins."""
        found, reason = places.place(self._wanted((entity,), entity.chunks, entity.documents))
        for place in found:
            self._mention(chunks[place], at)
        if not found:
            self.unplaced.append(f"{_short(entity)}: {reason}")

    def _wanted(self, ends: tuple[Entity, ...], ids: list[str], documents: list[str]) -> Wanted:
        return Wanted(tuple(_name(end) for end in ends), ids, [self._texts[key] for key in ids if key in self._texts], documents)

    def _mention(self, chunk: _Chunk, at: int) -> int:
        """The place of an entity among a chunk's mentions; it is made where it is new."""
        if at not in chunk.places:
            entity = self._loaded.entities[at]
            aliases = tuple(dict.fromkeys(naming.as_name(alias) for alias in entity.aliases))
            span = next((found for name in (_name(entity), *aliases) if (found := chunk.finder.find(name))), None)
            start, end = span or (None, None)
            chunk.places[at] = len(chunk.mentions)
            kind = clean_line(entity.type or "") or None
            chunk.mentions.append(Mention(_name(entity), kind, naming.as_description(entity.description), aliases, start, end))
        return chunk.places[at]


def _name(entity: Entity) -> str:
    return naming.as_name(entity.name or entity.id)


def _short(entity: Entity) -> str:
    return _name(entity)[:60]


def _first(lines: list[str]) -> str:
    more = f" ... and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    return "; ".join(lines[:_SHOWN]) + more
