"""Groups mentions by name: every name as it is written, with a type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kgeval.building.clusters import WrittenName, rank, type_key
from kgeval.text.extract.mentions import Extraction, Mention


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was extracted from one chunk, and where the chunk stands: its place in the document, and its first character there."""

    chunk: str
    document: str
    index: int
    start: int | None
    extraction: Extraction


def group_mentions(chunks: Sequence[Extracted], counts: Counter[str]) -> tuple[list[WrittenName], list[list[WrittenName | None]]]:
    """Names as they are written, and for each chunk the name of each mention (None: it has none).

    A place that two overlapping chunks share counts once: an overlap of a sixth would else make a sixth more mentions of everything.
    """
    names: dict[tuple[str, str], WrittenName] = {}
    seen: set[tuple[str, int, int, str, str]] = set()
    placed: list[list[WrittenName | None]] = []
    for chunk in chunks:
        here: list[WrittenName | None] = []
        for mention in chunk.extraction.mentions:
            name = clean(mention.name)
            if not name:
                counts["mentions without a name"] += 1
                here.append(None)
                continue
            key = (name, type_key(mention.type))
            written = names.get(key) or names.setdefault(key, WrittenName(*key))
            again = False
            if chunk.start is not None and mention.start is not None and mention.end is not None:
                place = (chunk.document, chunk.start + mention.start, chunk.start + mention.end, *key)
                again = place in seen
                seen.add(place)
            _add(written, chunk, mention, again=again)
            here.append(written)
            counts["mentions"] += not again
        placed.append(here)
    for written in names.values():
        written.rank = rank(written)
    return list(names.values()), placed


def clean(text: str) -> str:
    """The text on one line, without NUL and halves of surrogate pairs, which no database stores."""
    return " ".join(text.encode("utf-8", "ignore").decode("utf-8").replace("\0", " ").split())


def _add(written: WrittenName, chunk: Extracted, mention: Mention, *, again: bool) -> None:
    written.documents.add(chunk.document)
    source = written.sources.setdefault(chunk.chunk, [0, None, None])
    source[0] = (source[0] or 0) + 1
    if mention.start is not None and (source[1] is None or mention.start < source[1]):
        source[1:] = [mention.start, mention.end]
    if again:
        return
    written.weight += 1
    if mention.type and clean(mention.type):
        written.spellings[clean(mention.type)] += 1
    if mention.description and clean(mention.description):
        written.descriptions[clean(mention.description)] += 1
    written.aliases.update(alias for alias in map(clean, mention.aliases) if alias)
