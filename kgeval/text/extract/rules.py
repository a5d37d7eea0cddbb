"""The rules extractor: proper names by their capitals, relations by the words between them. No model, no download, any machine.

Each document is read by its own counts, so what comes out of it does not depend on the other documents of a build.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from kgeval.manifest import Asked
from kgeval.text.clean import clean_line
from kgeval.text.extract.joins import Join, joins_in
from kgeval.text.extract.kinds import Evidence, kinds
from kgeval.text.extract.mentions import Extraction, Link, Mention, Source
from kgeval.text.extract.nouns import nouns_in, usual_nouns
from kgeval.text.extract.proper import Name, names_in, renamed
from kgeval.text.extract.words import START, Words, count_capitals, shouted, words_of

VERSION = "1"
DESCRIPTION = 500  # characters of a sentence that are kept


@dataclass(frozen=True)
class RulesExtractor:
    """Finds names and relations in texts that put spaces between words and capitals on names; word lists are English.

    `nouns`: also take common nouns ("the carriage") that a document uses at least so often; null: proper names only.
    `cooccurrence`: join neighbouring names of a sentence that no phrase joins, by "co-occurs with".
    """

    nouns: int | None = None
    cooccurrence: bool = False

    @property
    def name(self) -> str:
        """The name of the extractor."""
        return "rules"

    @property
    def signature(self) -> str:
        """Everything that decides what comes out."""
        return f"rules-{VERSION} nouns={self.nouns or 0} cooccurrence={int(self.cooccurrence)}"

    def asked(self) -> Asked:
        """Nothing: there is no model."""
        return Asked()

    def extract(self, sources: Iterable[Source]) -> Iterator[Extraction]:
        """One extraction a source, in order. The chunks of a document must come one after the other; they are held until its end."""
        for _, group in groupby(sources, key=lambda source: source.chunk.document):
            yield from self._document(list(group))

    def _document(self, sources: Sequence[Source]) -> Iterator[Extraction]:
        counts = count_capitals(source.chunk.text for source in sources)
        usual = usual_nouns(counts, self.nouns) if self.nouns else frozenset()
        found, spellings, evidence = [], Counter[str](), Evidence()
        for source in sources:
            words = words_of(source.chunk.text)
            found.append(names_in(words, counts))
            spellings.update(name.name for name in found[-1])
        known = _usual_spellings(spellings)
        for at, source in enumerate(sources):
            words = words_of(source.chunk.text)
            found[at] = [renamed(name, known) for name in found[at]]
            for name in found[at]:
                evidence.add(words, name)
        types = kinds(evidence)
        for source, names in zip(sources, found, strict=True):
            words = words_of(source.chunk.text)
            names = sorted([*names, *nouns_in(words, usual, names)], key=lambda name: name.first)
            joins = joins_in(words, names, counts.small, cooccurrence=self.cooccurrence)
            yield Extraction(source.chunk.id, *_extracted(words, names, types, joins))


def _usual_spellings(spellings: Counter[str]) -> dict[str, str]:
    """The spelling to use, by the name in lower case: the most frequent one that is not all capitals, else the most frequent."""
    best: dict[str, str] = {}
    for name in sorted(spellings, key=lambda name: (shouted(name), -spellings[name], name)):
        best.setdefault(name.lower(), name)
    return best


def _extracted(
    words: Words, names: Sequence[Name], types: dict[str, str], joins: Sequence[Join]
) -> tuple[tuple[Mention, ...], tuple[Link, ...]]:
    """One mention a name, at its first place; one link each time that a relation is stated."""
    place: dict[str, int] = {}
    mentions: list[Mention] = []
    for name in names:
        if name.name not in place:
            place[name.name] = len(mentions)
            start, end = _span(words, name, name)
            mentions.append(Mention(name.name, types.get(name.name), start=start, end=end))
    links = []
    for join in joins:
        first, last = sorted((join.subject, join.object), key=lambda name: name.first)
        start, end = _span(words, first, last)
        links.append(Link(place[join.subject.name], place[join.object.name], join.predicate, _sentence(words, first, last), start, end))
    return tuple(mentions), tuple(links)


def _span(words: Words, left: Name, right: Name) -> tuple[int, int]:
    return words.spans[left.first][0], words.spans[right.last - 1][1]


def _sentence(words: Words, left: Name, right: Name) -> str:
    """The sentence around both names, spaces joined, cut after 500 characters."""
    first, last = left.first, right.last
    while first > 0 and words.gaps[first] != START:
        first -= 1
    while last < len(words) and words.gaps[last] != START:
        last += 1
    end = words.spans[last][0] if last < len(words) else len(words.text)
    return clean_line(words.text[words.spans[first][0]:end])[:DESCRIPTION]
