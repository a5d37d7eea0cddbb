"""Proper names in running text: runs of capitals, trimmed and joined by what the document's own counts say. No model, no list of names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kgeval.text.extract.lexicon import (
    AUXILIARIES,
    CALENDAR,
    EMPTY_ALONE,
    GIVEN_NAMES,
    NEVER,
    OPENERS,
    ORGANIZATION_HEADS,
    PARTICLES,
    PERSON_TITLES,
    PLACE_HEADS,
    PRONOUNS,
    REIGNING,
    lemma,
)
from kgeval.text.extract.words import AND, DOT, SPACE, Capitals, Words, shouted

_ROMAN = re.compile(r"[IVXLC]{1,6}$")
_HEADS = PLACE_HEADS | ORGANIZATION_HEADS
_ADVERBIAL = ("ing", "ly", "ward", "wards")
LONGEST = 8  # words of a name
SEEN_AS_NAME = 0.5  # share of capitals inside sentences from which a word is a name by itself


@dataclass(frozen=True, slots=True)
class Name:
    """A name in the text: words first..last (last is not part of it), as it is written there with spaces joined."""

    first: int
    last: int
    name: str


def names_in(words: Words, counts: Capitals) -> list[Name]:
    """The proper names of a text, in order, none inside another."""
    runs = [run for raw in _runs(words) if (run := _trimmed(words, counts, raw)) is not None]
    joined = _joined(words, counts, runs)
    return [Name(a, b, _written(words, a, b)) for a, b in joined if _stands(words, counts, a, b)]


def _runs(words: Words) -> Iterator[tuple[int, int]]:
    """Stretches of capitalised words with nothing between them but space, the dot of an abbreviation, or "&"."""
    i, n = 0, len(words)
    while i < n:
        if not _capital(words, i):
            i += 1
            continue
        first = i
        i += 1
        while i < n and _capital(words, i) and words.gaps[i] in (SPACE, DOT, AND) and not words.possessive[i - 1]:
            i += 1
        yield first, i


def _capital(words: Words, at: int) -> bool:
    word = words.words[at]
    if not word[0].isupper() or words.lower[at] in NEVER or words.lower[at].partition("'")[0].partition("’")[0] in PRONOUNS:
        return False
    if len(word) > 1:
        return True
    initial = at + 1 < len(words) and words.gaps[at + 1] == DOT
    return initial or (_ROMAN.match(word) is not None and at > 0 and words.gaps[at] == SPACE and word != "I")


def _trimmed(words: Words, counts: Capitals, run: tuple[int, int]) -> tuple[int, int] | None:
    """Without the words that owe their capital to the sentence's beginning; None where nothing is left."""
    first, last = run
    if words.opens[first] and last - first > 1 and not _evident(words, counts, first):
        first += 1
    while first < last and words.lower[first] in OPENERS and words.lower[first] not in _HEADS:
        if counts.share(words.lower[first]) >= SEEN_AS_NAME:
            break
        first += 1
    return (first, last) if first < last else None


def _evident(words: Words, counts: Capitals, at: int) -> bool:
    """Whether the capital at a sentence's beginning would stand inside one as well."""
    low = words.lower[at]
    if low in PERSON_TITLES or low in GIVEN_NAMES or words.gaps[min(at + 1, len(words) - 1)] == DOT:
        return True
    if low in OPENERS:
        return False
    known = counts.small[low] or counts.inside[low] or low.endswith(_ADVERBIAL)
    return counts.share(low) >= SEEN_AS_NAME or not known


def _joined(words: Words, counts: Capitals, runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Neighbouring runs made one: "Henry de la Pomeroy", "Bank of England", "Land's End"."""
    joined: list[tuple[int, int]] = []
    for run in runs:
        if joined and run[1] - joined[-1][0] <= LONGEST and _one_name(words, counts, joined[-1], run):
            joined[-1] = (joined[-1][0], run[1])
        else:
            joined.append(run)
    return joined


def _one_name(words: Words, counts: Capitals, left: tuple[int, int], right: tuple[int, int]) -> bool:
    between = words.lower[left[1]:right[0]]
    if any(gap != SPACE for gap in words.gaps[left[1]:right[0] + 1]) or len(between) > 3:
        return False
    if not between:
        return words.possessive[left[1] - 1] and _belongs(words, counts, left, right)
    if words.possessive[left[1] - 1]:
        return False
    if all(word in PARTICLES for word in between):
        return True
    return between in (["of"], ["of", "the"]) and _headed(words, counts, left)


def _belongs(words: Words, counts: Capitals, left: tuple[int, int], right: tuple[int, int]) -> bool:
    """What follows a possessive is part of the name if it is a kind of place, a common word, never a name elsewhere, or
    stands with this owner again and again."""
    low = words.lower[right[1] - 1]
    if low in _HEADS or counts.small[low] > 0 or counts.inside[low] == counts.owned[low]:
        return True
    together = counts.pairs[words.lower[left[1] - 1], words.lower[right[0]]]
    return together > 1 and 3 * together >= counts.inside[low]


def _headed(words: Words, counts: Capitals, left: tuple[int, int]) -> bool:
    """Whether "X of Y" is one name: X begins with a title that takes one, or ends with a common word ("Bank", "Knights")."""
    first, last = words.lower[left[0]], words.lower[left[1] - 1]
    if first in REIGNING or last in REIGNING:
        return True
    return last in _HEADS or (counts.small[last] > 0 and last not in GIVEN_NAMES)


def _stands(words: Words, counts: Capitals, first: int, last: int) -> bool:
    """Whether the run is a name at all. A longer stretch of capitals is a title or a heading."""
    if last - first > LONGEST:
        return False
    low = words.lower[first:last]
    if all(_weak(word) or word in OPENERS for word in low):
        return low[0] in PERSON_TITLES and not _weak(low[-1])
    if all(shouted(word) or len(word) == 1 for word in words.words[first:last]):
        return _shouted_name(words, counts, first, last)
    return last - first > 1 or _single(words, counts, first)


def _weak(word: str) -> bool:
    """Words that are no name alone: months and days, "Mr.", letters."""
    return word in CALENDAR or word in EMPTY_ALONE or len(word) == 1


def _single(words: Words, counts: Capitals, at: int) -> bool:
    low = words.lower[at]
    if _weak(low) or low in OPENERS:
        return False
    if low.endswith(_ADVERBIAL) and not counts.inside[low]:
        return False
    if counts.inside[low]:
        return counts.share(low) >= SEEN_AS_NAME
    if counts.small[low]:
        return False
    if low in GIVEN_NAMES or counts.opening[low] > 1 or words.possessive[at]:
        return True
    # a word seen only once, at a sentence's beginning: a name if a verb follows
    following = words.lower[at + 1] if at + 1 < len(words) and words.gaps[at + 1] == SPACE else ""
    return following in AUXILIARIES or lemma(following, ()) is not None


def _shouted_name(words: Words, counts: Capitals, first: int, last: int) -> bool:
    """Headings count where their words are names elsewhere; a lone word in capitals is an acronym unless a number or a heading."""
    if all(counts.share(low) >= SEEN_AS_NAME or low in EMPTY_ALONE for low in words.lower[first:last]):
        return not all(low in EMPTY_ALONE for low in words.lower[first:last])
    alone = last - first == 1 and not any(
        0 <= near < len(words) and (shouted(words.words[near]) or words.words[near] == "A") for near in (first - 1, last)
    )
    word = words.words[first]
    return alone and 2 <= len(word.replace(".", "")) <= 6 and _ROMAN.match(word) is None and not counts.small[words.lower[first]]


def _written(words: Words, first: int, last: int) -> str:
    """The name as written, spaces joined, "'s" inside kept; a name in capitals throughout gets small letters, if it is no acronym."""
    text = " ".join(words.text[words.spans[first][0]:words.spans[last - 1][1]].split())
    if last - first > 1 and all(shouted(word) or len(word) == 1 for word in words.words[first:last]):
        return text.title().replace("'S", "'s").replace("’S", "’s")
    return text
