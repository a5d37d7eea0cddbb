"""The rules extractor: proper names by their capitals, relations by the words between them. No model, no download, any machine.

Each document is read by its own counts, so what comes out of it does not depend on the other documents of a build.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

from kgeval.manifest import ModelUsage
from kgeval.text.clean import clean_line
from kgeval.text.extract.lexicon import (
    BODY,
    GIVEN_NAMES,
    KIN,
    OPENERS,
    ORGANIZATION_HEADS,
    PERSON_TITLES,
    PLACE_FRONTS,
    PLACE_HEADS,
    PLACING,
    REIGNING,
    SAYING,
    lemma,
)
from kgeval.text.extract.mentions import ChunkSource, Extraction, Mention, RelationMention
from kgeval.text.extract.phrases import RelationPhrase, between, verb_phrase
from kgeval.text.extract.proper import Name, names_in
from kgeval.text.extract.words import COMMA, SPACE, START, Capitals, Words, count_capitals, shouted, words_of

# Common nouns that a document speaks of often ("the carriage"): things without a proper name. Off unless asked for.

_ARTICLES = ("the", "a", "an")
_SHARE = 0.35  # of a noun's uses that have an article before them: "the carriage" has, "time" and most adjectives have not


def usual_nouns(counts: Capitals, least: int) -> frozenset[str]:
    """Words in small letters that stand right after an article at least `least` times, and in a third of their uses or more."""
    return frozenset(
        word for word, times in counts.articled.items()
        if times >= least and times >= _SHARE * counts.small[word] and len(word) > 2 and word not in OPENERS
        and not word.endswith(("ly", "est")) and lemma(word, ()) in (None, word)
    )


def nouns_in(words: Words, usual: AbstractSet[str], names: Sequence[Name]) -> Iterator[Name]:
    """The uses of those nouns after an article and before something that is no noun, outside of names."""
    if not usual:
        return
    taken = {i for name in names for i in range(name.first, name.last)}
    for i in range(1, len(words)):
        word = words.lower[i]
        if word in usual and words.words[i] == word and words.lower[i - 1] in _ARTICLES and i not in taken and _ends(words, i, taken):
            yield Name(i, i + 1, word)


def _ends(words: Words, at: int, taken: set[int]) -> bool:
    """Whether the noun is the last word of its phrase."""
    if at + 1 >= len(words) or words.gaps[at + 1] != SPACE:
        return True
    following = words.lower[at + 1]
    return at + 1 not in taken and (following in OPENERS or lemma(following, ()) is not None)


# What kind of thing a name stands for, by plain evidence: titles and heads of the name, and the words beside it in
# the text.

PERSON, PLACE, ORGANIZATION = "PERSON", "PLACE", "ORGANIZATION"
KINDS = (PERSON, PLACE, ORGANIZATION)  # earlier wins a tie
BY_NAME, BY_FIRST_NAME = 5.0, 3.0  # what the name itself says, in uses: it outweighs a few uses that say otherwise
LEAST = 1.0  # evidence, in uses
LEAST_SHARE = 0.2  # of all uses of the name


@dataclass(slots=True)
class KindEvidence:
    """Uses of each name in a document, and how many of them speak for each kind (a weak sign counts half)."""

    uses: Counter[str] = field(default_factory=Counter)
    signs: dict[str, defaultdict[str, float]] = field(default_factory=lambda: {kind: defaultdict(float) for kind in KINDS})

    def add(self, words: Words, name: Name) -> None:
        """Takes in one use of a name."""
        self.uses[name.name] += 1
        before = words.lower[name.first - 1] if name.first and words.gaps[name.first] == SPACE else ""
        after = words.lower[name.last] if name.last < len(words) else ""
        gap = words.gaps[name.last] if name.last < len(words) else ""
        if before in PLACING:
            self.signs[PLACE][name.name] += 1 if before in ("in", "at", "near") else 0.5
        if words.possessive[name.last - 1]:
            self.signs[PERSON][name.name] += after in KIN or after in BODY
        elif before in SAYING or (gap == SPACE and after in SAYING) or (gap in (SPACE, COMMA) and after in ("who", "whose")):
            self.signs[PERSON][name.name] += 1


def kinds(evidence: KindEvidence) -> dict[str, str]:
    """One kind for each name; names without enough evidence are left out."""
    own = {name: _by_name(name) for name in evidence.uses}
    persons = {word for name, (kind, _) in own.items() if kind == PERSON for word in _parts(name)}
    kind_of = {name: _decide(evidence, name, own[name], persons) for name in evidence.uses}
    called = {name.lower() for name, kind in kind_of.items() if kind == PERSON}
    for name, kind in kind_of.items():
        if kind is None and own[name][0] is None and " " in name and " of " not in name and name.split()[0].lower() in called:
            kind_of[name] = PERSON
    return {name: kind for name, kind in kind_of.items() if kind is not None}


def _decide(evidence: KindEvidence, name: str, own: tuple[str | None, float], persons: set[str]) -> str | None:
    scores = {kind: evidence.signs[kind].get(name, 0.0) for kind in KINDS}
    if own[0] is not None:
        scores[own[0]] += own[1]
    elif name.lower() in persons:
        scores[PERSON] += BY_FIRST_NAME
    best = max(KINDS, key=lambda kind: (scores[kind], -KINDS.index(kind)))
    enough = best == own[0] or (scores[best] >= LEAST and scores[best] >= LEAST_SHARE * evidence.uses[name])
    return best if enough else None


def _by_name(name: str) -> tuple[str | None, float]:
    """What the name says of itself, and how much that weighs."""
    low = [word.strip(".").lower() for word in name.split()]
    head = low[low.index("of") - 1] if "of" in low[1:] else low[-1]
    signs: Mapping[str | None, bool] = {
        PERSON: low[0] in PERSON_TITLES and (len(low) > 1 or low[0] in REIGNING) and not (head in PLACE_HEADS and len(low) > 2),
        ORGANIZATION: head in ORGANIZATION_HEADS,
        PLACE: (head in PLACE_HEADS and len(low) > 1) or (low[0] in PLACE_FRONTS and len(low) > 1),
    }
    sign = next((kind for kind, holds in signs.items() if holds), None)
    if sign is not None:
        return sign, BY_NAME
    return (PERSON, BY_FIRST_NAME) if low[0] in GIVEN_NAMES else (None, 0.0)


def _parts(name: str) -> list[str]:
    """The words of a person's name that may stand for the person alone: first and last, titles left out."""
    words = [word for word in name.split() if word.strip(".").lower() not in PERSON_TITLES and len(word.strip(".")) > 1]
    of = words.index("of") if "of" in words else len(words)
    return [word.lower() for word in {*words[:1], *words[:of][-1:]}]


# Relations of a whole text: series of names, verbs that they share, and subjects that run on through a sentence.

CO_OCCURS = "co-occurs with"
LONGEST_SERIES = 20  # names; a longer list is rather a table or an index than a statement
_TO_THE_VERB = ("to", "for", "from", "with", "by", "on", "against")  # "Anna left Rome for Paris": left for, not Rome for Paris


@dataclass(frozen=True, slots=True)
class Join:
    """A relation between two names of a text."""

    subject: Name
    object: Name
    predicate: str


@dataclass(frozen=True, slots=True)
class _Clause:
    """The subject and the verb that the rest of a sentence may lean on."""

    subject: Sequence[Name]
    verb: str


def joins_in(words: Words, names: Sequence[Name], vocabulary: Container[str], *, cooccurrence: bool = False) -> list[Join]:
    """Every relation that the words between neighbouring names state; a series of names ("A, B and C") shares its verb.

    `vocabulary`: for base forms of verbs. `cooccurrence`: neighbours in a sentence that nothing joins are "co-occurs with".
    """
    joins: list[Join] = []
    clause: _Clause | None = None
    for left, right in pairwise(series(words, names)):
        if START in words.gaps[left[-1].last:right[0].first + 1]:
            clause = None
            continue
        phrase, subject = _phrase(words, left, right, clause, vocabulary)
        # passives carry nothing on: "was killed by X and buried Y" would turn into an active verb
        goes_on = phrase is not None and phrase.verbal and not phrase.turned and not phrase.predicate.startswith("be ")
        clause = _Clause(subject, phrase.predicate.split()[0]) if phrase is not None and goes_on else None
        if phrase is not None:
            joins.extend(_pairs(phrase, subject, left, right))
        elif cooccurrence:
            joins.append(Join(left[-1], right[0], CO_OCCURS))
    return [join for join in joins if join.subject.name != join.object.name]


def _phrase(
    words: Words, left: Sequence[Name], right: Sequence[Name], clause: _Clause | None, vocabulary: Container[str]
) -> tuple[RelationPhrase | None, Sequence[Name]]:
    """What joins two series, and its subject: the left one, or that of the verb before ("Anna came to Rome and married Bob")."""
    inner, gaps = words.lower[left[-1].last:right[0].first], words.gaps[left[-1].last:right[0].first + 1]
    if clause and inner[:1] == ["and"] and len(inner) > 1 and all(gap == SPACE for gap in gaps[1:]):
        phrase = verb_phrase(inner[1:], vocabulary)
        return (None if phrase is None or phrase.turned else phrase), clause.subject
    phrase = between(words, left, right[0], vocabulary)
    if clause and phrase and phrase.predicate in _TO_THE_VERB:
        return RelationPhrase(f"{clause.verb} {phrase.predicate}", verbal=True), clause.subject
    return phrase, left


def _pairs(phrase: RelationPhrase, subject: Sequence[Name], left: Sequence[Name], right: Sequence[Name]) -> Iterator[Join]:
    for a in subject if phrase.verbal else left[-1:]:
        for b in right if phrase.verbal else right[:1]:
            yield Join(b, a, phrase.predicate) if phrase.turned else Join(a, b, phrase.predicate)


def series(words: Words, names: Sequence[Name]) -> Iterator[list[Name]]:
    """The names in groups: "A, B and C" is one (up to 20 names), any other name is a group of its own."""
    start = 0
    while start < len(names):
        end = start
        while end + 1 < len(names) and _connector(words, names[end], names[end + 1]) == COMMA:
            end += 1
        closed = end + 1 < len(names) and _connector(words, names[end], names[end + 1]) == "and"
        end += 2 if closed else 1
        whole = closed and end - start <= LONGEST_SERIES
        yield from [list(names[start:end])] if whole else [[name] for name in names[start:end]]
        start = end


def _connector(words: Words, left: Name, right: Name) -> str | None:
    inner, gaps = words.lower[left.last:right.first], words.gaps[left.last:right.first + 1]
    if words.possessive[left.last - 1] or any(gap not in (SPACE, COMMA) for gap in gaps):
        return None
    if not inner:
        return COMMA if gaps == [COMMA] else None
    return "and" if inner in (["and"], ["and", "the"]) else None


VERSION = "1"
DESCRIPTION = 500  # characters of a sentence that are kept


@dataclass(frozen=True)
class RulesExtractor:
    """Finds names and relations in texts that put spaces between words and capitals on names; word lists are English.

    `nouns`: also take common nouns ("the carriage") that a document uses at least so often; None: proper names only.
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

    def asked(self) -> ModelUsage:
        """Nothing: there is no model."""
        return ModelUsage()

    def extract(self, sources: Iterable[ChunkSource]) -> Iterator[Extraction]:
        """One extraction a source, in order. The chunks of a document must come one after the other; they are held until its end."""
        for _, group in groupby(sources, key=lambda source: source.chunk.document):
            yield from self._document(list(group))

    def _document(self, sources: Sequence[ChunkSource]) -> Iterator[Extraction]:
        counts = count_capitals(source.chunk.text for source in sources)
        usual = usual_nouns(counts, self.nouns) if self.nouns else frozenset()
        names_of, spellings, evidence = [], Counter[str](), KindEvidence()
        for source in sources:
            words = words_of(source.chunk.text)
            names_of.append(names_in(words, counts))
            spellings.update(name.name for name in names_of[-1])
        # a name in the spelling that the document uses most; all capitals only where it has no other
        known: dict[str, str] = {}
        for name in sorted(spellings, key=lambda name: (shouted(name), -spellings[name], name)):
            known.setdefault(name.lower(), name)
        for index, source in enumerate(sources):
            words = words_of(source.chunk.text)
            names_of[index] = [replace(name, name=known[name.name.lower()]) for name in names_of[index]]
            for used in names_of[index]:
                evidence.add(words, used)
        types = kinds(evidence)
        for source, names in zip(sources, names_of, strict=True):
            words = words_of(source.chunk.text)
            names = sorted([*names, *nouns_in(words, usual, names)], key=lambda name: name.first)
            joins = joins_in(words, names, counts.small, cooccurrence=self.cooccurrence)
            yield Extraction(source.chunk.id, *_extracted(words, names, types, joins))


def _extracted(
    words: Words, names: Sequence[Name], types: dict[str, str], joins: Sequence[Join]
) -> tuple[tuple[Mention, ...], tuple[RelationMention, ...]]:
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
        source, target = place[join.subject.name], place[join.object.name]
        links.append(RelationMention(source, target, join.predicate, _sentence(words, first, last), start, end))
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
