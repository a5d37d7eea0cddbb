"""Where a text may name something: its word sequences in normal form, and which of them are names that are known."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from kgeval.llm.characters import whole
from kgeval.text.names import normalise
from kgeval.text.scripts import RUNNING
from kgeval.text.signs import identity_key
from kgeval.text.wordlists import word_list

# A text of n words has n * LONGEST_NAME sequences, each looked up once in a table of hashes: no pattern of all names is ever made
LONGEST_NAME = 12  # words
LONGEST_RUN = 30  # characters of a name in a script written without spaces
LONGEST_TEXT = 20_000  # characters of one text that are looked at
_POSSESSIVE = re.compile(r"(?<=\w)['\u2019\u02bc]s\b")
# each character of a script without spaces is a unit
_PIECE = re.compile(f"([{RUNNING}])|[^\\s{RUNNING}]+")


@dataclass(frozen=True)
class NameSpan:
    """A sequence of words that may be a name: its normal form, and where it stands among the units of its text (end not included)."""

    key: str
    start: int
    end: int


@dataclass(frozen=True)
class EntityMention:
    """An entity that a text names. `within`: the name is part of a longer one that was found at the same place."""

    element_id: str
    key: str
    within: bool = False


def mentions_of(spans: Sequence[NameSpan], found: Mapping[str, tuple[str, ...]]) -> list[EntityMention]:
    """The entities of one text, from the places where it may name some: those that stand alone first. `found`: name -> element ids."""
    hits = sorted((span for span in spans if span.key in found), key=lambda span: (span.start - span.end, span.start))
    mentions: dict[str, EntityMention] = {}
    covered: dict[int, int] = {}  # unit -> length of the longest name there
    for span in hits:
        length = span.end - span.start
        longest = [covered.setdefault(unit, length) for unit in range(span.start, span.end)]
        within = min(longest) > length
        for element_id in found[span.key]:
            known = mentions.get(element_id)
            if known is None or (known.within and not within):
                mentions[element_id] = EntityMention(element_id, span.key, within)
    return sorted(mentions.values(), key=lambda one: one.within)


def name_spans(text: str) -> list[NameSpan]:
    """Every sequence of units of a text that could be a name, with and without the English possessive.

    A unit is a word, or one character of a script that is written without spaces: up to LONGEST_NAME units, or LONGEST_RUN where the
    first is such a character. Single characters and pronouns are no names.
    """
    text = whole(text[:LONGEST_TEXT])
    variants = dict.fromkeys((identity_key(text), identity_key(_POSSESSIVE.sub("", text))))
    spans: dict[NameSpan, None] = {}
    for variant in variants:
        units = [(*match.span(), LONGEST_RUN if match[1] else LONGEST_NAME) for match in _PIECE.finditer(variant)]
        for start, (begin, _, most) in enumerate(units):
            for end in range(start + 1, min(start + most, len(units)) + 1):
                key = variant[begin : units[end - 1][1]]
                if len(key) > 1 and key not in _pronouns():
                    spans[NameSpan(key, start, end)] = None
    return list(spans)


@cache
def _pronouns() -> frozenset[str]:
    return frozenset(normalise(word) for word in word_list("pronouns"))
