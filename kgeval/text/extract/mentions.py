"""What every extractor gives: per chunk, the entities it mentions and the relations it states. Nothing is merged yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from kgeval.llm.calls import Failure
from kgeval.manifest import ModelUsage
from kgeval.records import Chunk


@dataclass(frozen=True, slots=True)
class ChunkSource:
    """A chunk with what an extractor may know beside it: the document's title and the sentences just before the chunk."""

    chunk: Chunk
    title: str | None = None
    before: str = ""


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity as one chunk names it. `start`, `end`: characters of the chunk's text where the name stands; None: not found there."""

    name: str
    type: str | None = None
    description: str | None = None
    aliases: tuple[str, ...] = ()
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class RelationMention:
    """A relation as one chunk states it. `source`, `target`: positions in the extraction's mentions."""

    source: int
    target: int
    predicate: str
    description: str | None = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one chunk holds. `failure`: the extractor could not do this chunk. `dropped`: unusable items of a reply, by cause."""

    chunk_id: str
    mentions: tuple[Mention, ...] = ()
    links: tuple[RelationMention, ...] = ()
    failure: Failure | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)


class Extractor(Protocol):
    """Makes extractions, in the order of the sources. `signature` names everything that decides what comes out.

    One whose signature stands for more than its name says it in `settings` (name -> value), which a graph keeps, so that a refusal can name
    what differs."""

    @property
    def name(self) -> str: ...

    @property
    def signature(self) -> str: ...

    def extract(self, sources: Iterable[ChunkSource]) -> Iterator[Extraction]: ...

    def asked(self) -> ModelUsage: ...
