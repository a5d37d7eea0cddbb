"""Relations of a whole text: series of names, verbs that they share, and subjects that run on through a sentence."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kgeval.text.extract.phrases import Phrase, between, verb_phrase
from kgeval.text.extract.proper import Name
from kgeval.text.extract.words import COMMA, SPACE, START, Words

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
    found: list[Join] = []
    clause: _Clause | None = None
    for left, right in pairwise(series(words, names)):
        if START in words.gaps[left[-1].last:right[0].first + 1]:
            clause = None
            continue
        phrase, subject = _phrase(words, left, right, clause, vocabulary)
        clause = _next_clause(phrase, subject)
        if phrase is not None:
            found.extend(_pairs(phrase, subject, left, right))
        elif cooccurrence:
            found.append(Join(left[-1], right[0], CO_OCCURS))
    return [join for join in found if join.subject.name != join.object.name]


def _phrase(
    words: Words, left: Sequence[Name], right: Sequence[Name], clause: _Clause | None, vocabulary: Container[str]
) -> tuple[Phrase | None, Sequence[Name]]:
    """What joins two series, and its subject: the left one, or that of the verb before ("Anna came to Rome and married Bob")."""
    inner, gaps = words.lower[left[-1].last:right[0].first], words.gaps[left[-1].last:right[0].first + 1]
    if clause and inner[:1] == ["and"] and len(inner) > 1 and all(gap == SPACE for gap in gaps[1:]):
        phrase = verb_phrase(inner[1:], vocabulary)
        return (None if phrase is None or phrase.turned else phrase), clause.subject
    phrase = between(words, left, right[0], vocabulary)
    if clause and phrase and phrase.predicate in _TO_THE_VERB:
        return Phrase(f"{clause.verb} {phrase.predicate}", verbal=True), clause.subject
    return phrase, left


def _next_clause(phrase: Phrase | None, subject: Sequence[Name]) -> _Clause | None:
    """Passives carry nothing on: "was killed by X and buried Y" would turn into an active verb."""
    if phrase is None or not phrase.verbal or phrase.turned or phrase.predicate.startswith("be "):
        return None
    return _Clause(subject, phrase.predicate.split()[0])


def _pairs(phrase: Phrase, subject: Sequence[Name], left: Sequence[Name], right: Sequence[Name]) -> Iterator[Join]:
    for a in subject if phrase.verbal else left[-1:]:
        for b in right if phrase.verbal else right[:1]:
            yield Join(b, a, phrase.predicate) if phrase.turned else Join(a, b, phrase.predicate)


def series(words: Words, names: Sequence[Name]) -> Iterator[list[Name]]:
    """The names in groups: "A, B and C" is one (up to 20 names), any other name is a group of its own."""
    at = 0
    while at < len(names):
        end = at
        while end + 1 < len(names) and _connector(words, names[end], names[end + 1]) == COMMA:
            end += 1
        closed = end + 1 < len(names) and _connector(words, names[end], names[end + 1]) == "and"
        end += 2 if closed else 1
        whole = closed and end - at <= LONGEST_SERIES
        yield from [list(names[at:end])] if whole else [[name] for name in names[at:end]]
        at = end


def _connector(words: Words, left: Name, right: Name) -> str | None:
    inner, gaps = words.lower[left.last:right.first], words.gaps[left.last:right.first + 1]
    if words.possessive[left.last - 1] or any(gap not in (SPACE, COMMA) for gap in gaps):
        return None
    if not inner:
        return COMMA if gaps == [COMMA] else None
    return "and" if inner in (["and"], ["and", "the"]) else None
