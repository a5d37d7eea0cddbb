"""Relations between names in one sentence, from the words that join them. No parser and no model.

The verb phrase between two names is read as by ReVerb: V | V P | V W* P (Fader, Soderland and Etzioni, "Identifying Relations for
Open Information Extraction", EMNLP 2011, section 3.1). Beside it: passive with "by" (turned round), "X, the N of Y", "X's N Y",
and a lone preposition. What is negated, hedged, or said of another subject gives nothing.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from kgeval.text.extract.lexicon import (
    ADVERBS,
    AUXILIARIES,
    BARE,
    CONJUNCTIONS,
    CONTRACTED,
    DETERMINERS,
    HEDGES,
    IRREGULAR,
    JOINING,
    KIN,
    PREPOSITIONS,
    PRONOUNS,
    SAYING,
    SUBJECTS,
    is_agentive,
    is_participle,
    lemma,
)
from kgeval.text.extract.proper import Name
from kgeval.text.extract.words import COMMA, SPACE, Words

_ARTICLES = ("the", "a", "an")
_PARTICLES = ("up", "out", "down", "back", "away", "off", "over", "on", "in", "forth")
_RELATIVE = ("who", "which", "that")
_FREE = 5  # words of W* at most
LONGEST = 12  # words between two names


@dataclass(frozen=True, slots=True)
class RelationPhrase:
    """A predicate. `turned`: it runs from the second name to the first. `verbal`: names in a series share it ("A and B visited C")."""

    predicate: str
    turned: bool = False
    verbal: bool = False


def between(words: Words, left: Sequence[Name], right: Name, vocabulary: Container[str]) -> RelationPhrase | None:
    """What joins a series of names ("A and B") with the name that follows, or None. `vocabulary`: for base forms of verbs."""
    first, last = left[0], left[-1]
    inner, gaps = words.lower[last.last:right.first], words.gaps[last.last:right.first + 1]
    if len(inner) > LONGEST or any(gap not in (SPACE, COMMA) for gap in gaps):
        return None
    if words.possessive[last.last - 1]:
        return _owned(inner, gaps)
    if words.possessive[right.last - 1]:
        return _owner(words, inner, gaps, right)
    if _modifies(words, right):
        return None
    if len(inner) == 2 and inner[1] == "by" and is_agentive(inner[0]):
        return RelationPhrase(lemma(inner[0], vocabulary) or inner[0], turned=True)
    if gaps[0] == COMMA and inner and all(gap == SPACE for gap in gaps[1:]) and inner[0] not in _RELATIVE:
        return _apposition(inner)
    if any(gap == COMMA for gap in gaps[1:]) or not inner or (gaps[0] == COMMA and inner[0] not in _RELATIVE):
        return None
    if lone := _lone(words, last, inner):
        return lone
    phrase = None if _is_object(words, first) else verb_phrase(inner, vocabulary)
    return None if phrase is not None and " " not in phrase.predicate and _acts(words, right) else phrase


def verb_phrase(inner: list[str], vocabulary: Container[str]) -> RelationPhrase | None:
    """V | V P | V W* P over the lower-case words between subject and object; None where they are none of it."""
    inner = inner[1:] if inner and inner[0] in _RELATIVE else inner
    if any(word in HEDGES or word.endswith(CONTRACTED) or word in SUBJECTS for word in inner):
        return None
    position, auxiliaries = 0, set()
    while position < len(inner) and (inner[position] in AUXILIARIES or _is_adverb(inner[position])):
        if inner[position] in AUXILIARIES:
            auxiliaries.add(IRREGULAR.get(inner[position], inner[position]))
        position += 1
    verb = inner[position] if position < len(inner) else ""
    base = _base(verb, auxiliaries, vocabulary)
    if base is not None and "be" in auxiliaries and is_participle(verb) and not verb.endswith("ing"):
        return _passive(verb, base, inner[position + 1:])
    if base is not None:
        tail = _tail(inner[position + 1:])
        if not tail and verb in SAYING:
            return None
        return None if tail is None else RelationPhrase(" ".join([base, *tail]), verbal=True)
    if "be" in auxiliaries:
        return _copula(inner[position:])
    return RelationPhrase("have", verbal=True) if auxiliaries == {"have"} and _plain(inner[position:]) else None


def _base(verb: str, auxiliaries: set[str], vocabulary: Container[str]) -> str | None:
    if verb.endswith("ing") and "be" in auxiliaries and len(verb) > 5:
        return lemma(verb[:-3] + "ed", vocabulary) if lemma(verb[:-3], ()) is None else lemma(verb[:-3], ())
    return None if verb in PREPOSITIONS or verb in DETERMINERS else lemma(verb, vocabulary)


def _passive(verb: str, base: str, rest: list[str]) -> RelationPhrase | None:
    tail = _tail(rest)
    if tail == ["by"]:
        return RelationPhrase(base, turned=True, verbal=True)
    return RelationPhrase(" ".join(["be", verb, *tail]), verbal=True) if tail and tail[-1] in JOINING else None


def _copula(rest: list[str]) -> RelationPhrase | None:
    """ "was the director of" -> "director of"; "was in" -> "be in"; "is the" -> "be"."""
    tail = _tail(rest)
    if tail is None:
        return None
    return RelationPhrase(" ".join(tail if len(tail) > 1 else ["be", *tail]), verbal=True)


def _tail(rest: list[str]) -> list[str] | None:
    """What follows the verb, without articles: [], [P], [W.., P]; None where it is no such thing."""
    while rest and rest[-1] in _ARTICLES:
        rest = rest[:-1]
    if not rest:
        return []
    if len(rest) > 1 and rest[-2] in DETERMINERS and rest[-2] not in _ARTICLES:
        return None  # "accompanied her to X": a pronoun is the object
    free = [word for word in rest[:-1] if word not in DETERMINERS and not _is_adverb(word)]
    if rest[-1] not in JOINING or len(free) > _FREE:
        return None
    inner = free[1:] if free and free[0] in _PARTICLES else free
    return None if any(_breaks(word) for word in inner) else [*free, rest[-1]]


def _breaks(word: str) -> bool:
    """Words that W* may not hold: another clause or another phrase begins with them."""
    return word in PREPOSITIONS or word in CONJUNCTIONS or word in AUXILIARIES or word in PRONOUNS or _finite(word)


def _finite(word: str) -> bool:
    return word in IRREGULAR or (word.endswith("ed") and lemma(word, ()) is not None)


def _plain(rest: list[str]) -> bool:
    return all(word in _ARTICLES for word in rest)


def _is_adverb(word: str) -> bool:
    return (word in ADVERBS and word not in HEDGES) or (word.endswith("ly") and len(word) > 4)


def _lone(words: Words, left: Name, inner: list[str]) -> RelationPhrase | None:
    """ "X of Y"; and in "said X to Y" the verb of saying before X."""
    if inner[0] not in BARE | {"to"} or not _plain(inner[1:]):
        return None
    before = words.lower[left.first - 1] if left.first and words.gaps[left.first] == SPACE else ""
    if before in SAYING:
        return RelationPhrase(f"{lemma(before, ()) or before} {inner[0]}")
    return RelationPhrase(inner[0]) if inner[0] in BARE else None


def _apposition(inner: list[str]) -> RelationPhrase | None:
    """ "X, the director of Y": "director of"."""
    tail = _tail(inner)
    fits = tail is not None and 2 <= len(tail) <= 4 and tail[-1] in BARE and not _finite(tail[0]) and not _breaks(tail[0])
    return RelationPhrase(" ".join(tail)) if tail is not None and fits and not tail[0].endswith("ing") else None


def _owned(inner: list[str], gaps: list[str]) -> RelationPhrase | None:
    """ "X's clerk Y", "X's clerk, Y", "X's clerk was Y": Y is the clerk of X."""
    if any(gap == COMMA for gap in gaps[:-1]):
        return None
    named = inner[:-1] if inner and inner[-1] in ("is", "was") else inner
    return RelationPhrase(f"{named[-1]} of", turned=True) if 1 <= len(named) <= 3 and named[-1] in KIN else None


def _owner(words: Words, inner: list[str], gaps: list[str], right: Name) -> RelationPhrase | None:
    """ "X, Y's clerk" and "X was Y's clerk": X is the clerk of Y."""
    named = [word for word in words.lower[right.last:right.last + 2] if word in KIN]
    joined = (not inner and gaps == [COMMA]) or inner in (["is"], ["was"])
    return RelationPhrase(f"{named[0]} of") if named and joined else None


def _is_object(words: Words, left: Name) -> bool:
    """Whether the left name hangs on a preposition ("the king of France visited ..."), so that it is not the verb's subject."""
    position = left.first - 1
    while position > 0 and words.lower[position] in DETERMINERS and words.gaps[position + 1] == SPACE:
        position -= 1
    return position >= 0 and words.gaps[position + 1] == SPACE and words.lower[position] in PREPOSITIONS


def _acts(words: Words, right: Name) -> bool:
    """Whether a finite verb follows the right name, which then begins a clause of its own ("Anna knew Bob was ill")."""
    following = right.last
    if following >= len(words) or words.gaps[following] != SPACE:
        return False
    return words.lower[following] in AUXILIARIES or _finite(words.lower[following])


def _modifies(words: Words, right: Name) -> bool:
    """Whether a common noun follows the right name, which then only describes it ("the Cornish coast")."""
    following = right.last
    if following >= len(words) or words.gaps[following] != SPACE or not words.words[following][0].islower():
        return False
    word = words.lower[following]
    closed = word in PREPOSITIONS or word in CONJUNCTIONS or word in AUXILIARIES or word in PRONOUNS or word in DETERMINERS
    return not (closed or _is_adverb(word) or word in HEDGES or word.endswith("ing") or lemma(word, ()) is not None)
