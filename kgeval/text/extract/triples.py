"""Brings triples of one's own: a file of them, put to the chunks that they were taken from."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from kgeval.errors import InputError
from kgeval.format import first_of
from kgeval.graph.load import triples
from kgeval.graph.load.model import Entity, Relation
from kgeval.manifest import ModelUsage
from kgeval.tables import sha256
from kgeval.text.clean import clean_line, clean_name
from kgeval.text.extract import naming
from kgeval.text.extract.mentions import ChunkSource, Extraction, Mention, RelationMention
from kgeval.text.extract.spans import Finder, runs_together
from kgeval.text.sentences import sentences

# Finds the chunk that a triple was taken from: by its id, its text, its document, or the names that it joins.

_MOST_LOOKED_AT = 50  # chunks with both names that are searched for a sentence with both; "London" and "England" may share thousands
_LEAST_SENTENCE = 20  # characters: a shorter one ("Yes.") stands in many chunks


@dataclass(frozen=True)
class TripleClues:
    """What is known of a triple's place: the names of its ends (one for an entity alone), chunk ids, texts, documents."""

    names: tuple[str, ...]
    chunk_ids: Sequence[str] = ()
    texts: Sequence[str] = ()
    documents: Sequence[str] = field(default_factory=list)


class ChunkSearch:
    """The chunks of a build, to be searched by words. Building it takes time in the length of all texts."""

    def __init__(self, sources: Sequence[ChunkSource]) -> None:
        self._finders = [Finder(source.chunk.text) for source in sources]
        self._plain = [" ".join(source.chunk.text.split()) for source in sources]
        self._by_id = {source.chunk.id: position for position, source in enumerate(sources)}
        self._by_document: defaultdict[str, dict[int, None]] = defaultdict(dict)
        self._by_word: defaultdict[str, set[int]] = defaultdict(set)
        self._found: dict[str, frozenset[int]] = {}
        for position, source in enumerate(sources):
            for key in _document_keys(source):
                self._by_document[key][position] = None
            for word in set(_words(source.chunk.text)):
                self._by_word[word].add(position)

    def finder(self, at: int) -> Finder:
        """The finder of one chunk's text."""
        return self._finders[at]

    def place(self, wanted: TripleClues) -> tuple[list[int], str]:
        """The chunks (places in the order given) that the triple is put to; none: the reason why."""
        own = [self._by_id[key] for key in wanted.chunk_ids if key in self._by_id]
        if own:
            return own, ""
        inside = self._inside(wanted.documents)
        with_text = [place for text in wanted.texts for place in self._with_text(text) if inside is None or place in inside]
        if with_text:
            best = self._best(wanted.names, with_text, one_name=True)
            return [with_text[0] if best is None else best], ""
        if inside is not None:
            best = self._best(wanted.names, inside, one_name=True)
            return ([best], "") if best is not None else ([], f"no name of it is in document {wanted.documents[0][:80]!r}")
        best = self._best(wanted.names, sorted(self._holding_all(wanted.names)), one_name=False)
        if best is not None:
            return [best], ""
        known = f"document {wanted.documents[0][:80]!r} is not among those given, and " if wanted.documents else ""
        return [], known + ("no chunk has both names" if len(wanted.names) > 1 else "no chunk has the name")

    def _inside(self, documents: Iterable[str]) -> list[int] | None:
        """The chunks of the documents that are known; None where none is."""
        places = dict.fromkeys(place for document in documents for place in self._by_document.get(document.strip().casefold(), ()))
        return list(places) or None

    def _best(self, names: tuple[str, ...], among: Sequence[int], *, one_name: bool) -> int | None:
        """The first chunk with all names in one sentence, else with all names, else (if allowed) with one of them."""
        both = [place for place in among if place in self._holding_all(names)]
        if both:
            near = (place for place in both[:_MOST_LOOKED_AT] if self._finders[place].sentence_with(names[0], names[-1]))
            return next(near, both[0])
        if not one_name:
            return None
        return next((place for name in names for place in among if place in self._holding(name)), None)

    def _holding_all(self, names: tuple[str, ...]) -> frozenset[int]:
        return frozenset.intersection(*(self._holding(name) for name in names))

    def _holding(self, name: str) -> frozenset[int]:
        """The chunks in whose text the name stands."""
        if name not in self._found:
            among = self._candidates([word for word in _words(name) if not runs_together(word)])
            self._found[name] = frozenset(place for place in among if self._finders[place].find(name) is not None)
        return self._found[name]

    def _candidates(self, words: Sequence[str]) -> Iterable[int]:
        """The chunks that have all these words; all chunks for no words. A leading article need not be there."""
        needed = words[1:] if len(words) > 1 and words[0] in ("the", "a", "an") else words
        if not needed:
            return range(len(self._finders))
        return set.intersection(*(self._by_word.get(word, set()) for word in needed))

    def _with_text(self, text: str) -> list[int]:
        """The chunks that hold the text, or lie in it, or hold one of its sentences."""
        plain = " ".join(text.split())
        whole = self._holding_text(plain)
        if whole:
            return whole
        parts = [plain[start:end] for start, end in sentences(plain)]
        places = dict.fromkeys(place for part in parts if len(part) >= _LEAST_SENTENCE for place in self._holding_text(part))
        return sorted(places)

    def _holding_text(self, plain: str) -> list[int]:
        words = [word for word in _words(plain)[1:-1] if not runs_together(word)]  # the first and the last may be cut
        rarest = min(words, key=lambda word: len(self._by_word.get(word, ())), default=None)
        among = self._by_word.get(rarest, set()) if rarest is not None else range(len(self._plain))
        return [place for place in sorted(among) if plain and plain in self._plain[place]]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _document_keys(source: ChunkSource) -> set[str]:
    """What a file of triples may call the document: its id, its file name with or without ending, its title."""
    path = PurePosixPath(source.chunk.document)
    names = {source.chunk.document, path.name, path.stem, source.title or ""}
    return {name.strip().casefold() for name in names if name.strip()}


NO_PREDICATE = "related to"
_SHOWN = 20


@dataclass
class _ChunkTriples:
    """What is put to one chunk. `places`: position in the file's entities -> position in this chunk's mentions."""

    finder: Finder
    places: dict[int, int] = field(default_factory=dict)
    mentions: list[Mention] = field(default_factory=list)
    links: list[RelationMention] = field(default_factory=list)


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
            notes.append(f"{len(self.faults)} rows are no triples: {first_of(self.faults, _SHOWN, '; ')}")
        if self.unplaced:
            notes.append(f"{len(self.unplaced)} triples or entities belong to no chunk: {first_of(self.unplaced, _SHOWN, '; ')}")
        return notes

    def extract(self, sources: Iterable[ChunkSource]) -> Iterator[Extraction]:
        """The extractions in the order of the sources. All sources are read first: a triple may belong to any of them."""
        chunk_sources = list(sources)
        places = ChunkSearch(chunk_sources)
        chunks = [_ChunkTriples(places.finder(index)) for index in range(len(chunk_sources))]
        self.unplaced = []
        joined: set[int] = set()
        for relation in self._loaded.relations:
            joined |= {relation.source, relation.target}
            self._relation(relation, places, chunks)
        for index, entity in enumerate(self._loaded.entities):
            if index not in joined:
                self._alone(index, entity, places, chunks)
        counts = {"unplaced": len(self.unplaced), "faulty_row": len(self.faults)}
        dropped = {cause: n for cause, n in counts.items() if n}
        for source, chunk in zip(chunk_sources, chunks, strict=True):
            last = source is chunk_sources[-1]  # what belongs to no chunk is counted once, with the last
            yield Extraction(source.chunk.id, tuple(chunk.mentions), tuple(chunk.links), dropped=dropped if last else {})

    def asked(self) -> ModelUsage:
        """Nothing: no model is asked."""
        return ModelUsage()

    def _relation(self, relation: Relation, places: ChunkSearch, chunks: list[_ChunkTriples]) -> None:
        ends = self._loaded.entities[relation.source], self._loaded.entities[relation.target]
        named = relation.extra.get("document")
        wanted = self._wanted(ends, relation.chunks, [str(named)] if named else [])
        placed, reason = places.place(wanted)
        predicate = clean_name(relation.predicate or "") or NO_PREDICATE
        if not placed:
            self.unplaced.append(f"{_short(ends[0])} - {predicate[:60]} - {_short(ends[1])}: {reason}")
        for place in placed:
            chunk = chunks[place]
            source, target = (self._mention(chunk, end) for end in (relation.source, relation.target))
            start, end = chunk.finder.sentence_with(*wanted.names) or (None, None)
            chunk.links.append(RelationMention(source, target, predicate, naming.as_description(relation.description), start, end))

    def _alone(self, at: int, entity: Entity, places: ChunkSearch, chunks: list[_ChunkTriples]) -> None:
        """An entity that no triple joins."""
        placed, reason = places.place(self._wanted((entity,), entity.chunks, entity.documents))
        for place in placed:
            self._mention(chunks[place], at)
        if not placed:
            self.unplaced.append(f"{_short(entity)}: {reason}")

    def _wanted(self, ends: tuple[Entity, ...], ids: list[str], documents: list[str]) -> TripleClues:
        return TripleClues(tuple(_name(end) for end in ends), ids, [self._texts[key] for key in ids if key in self._texts], documents)

    def _mention(self, chunk: _ChunkTriples, at: int) -> int:
        """The place of an entity among a chunk's mentions; it is made where it is new."""
        if at not in chunk.places:
            entity = self._loaded.entities[at]
            aliases = tuple(dict.fromkeys(clean_name(alias) for alias in entity.aliases))
            span = next((place for name in (_name(entity), *aliases) if (place := chunk.finder.find(name))), None)
            start, end = span or (None, None)
            chunk.places[at] = len(chunk.mentions)
            kind = clean_line(entity.type or "") or None
            chunk.mentions.append(Mention(_name(entity), kind, naming.as_description(entity.description), aliases, start, end))
        return chunk.places[at]


def _name(entity: Entity) -> str:
    return clean_name(entity.name or entity.id)


def _short(entity: Entity) -> str:
    return _name(entity)[:60]

