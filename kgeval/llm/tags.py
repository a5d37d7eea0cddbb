"""Tags that stand for the things of a list that a model is shown: "k7", "w3", "d5". They cannot be counted on, as numbers can: a list of
answers that is one place off has tags that nobody asked for, and is refused instead of believed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from itertools import count

from pydantic import JsonValue

from kgeval.llm.characters import whole

LETTERS, DIGITS = "bcdfghjkmnpqrstvwxyz", "23456789"  # none that looks like another, no vowels: tags are no words
POINTING = ("sources", "triples", "passages")  # fields of replies with tags of what was shown
_ROOM = 2.5  # so many times as many letter groups as things, at least: else the last ones are long in coming


def item_tags(items: Sequence[JsonValue]) -> tuple[str, ...]:
    """One tag for each item: letters, then a digit. The same items have the same tags, in every run."""
    return _drawn(items)


def source_tags(texts: Sequence[JsonValue]) -> tuple[str, ...]:
    """One tag for each of the texts that answers point to: a digit, then letters, so that it is never the tag of an item."""
    return tuple(tag[::-1] for tag in _drawn(texts))


def folded_tag(value: str) -> str:
    """A tag as a model writes it ("[K7]"), in the form in which it was shown."""
    return value.strip(" \n[]()'\"`").lower()


def _drawn(things: Sequence[JsonValue]) -> tuple[str, ...]:
    """Tags in no order. No two have the same letters, and none is a neighbour of another: counting a digit, a letter or both one on or
    one back never gives a tag of the list."""
    seed = hashlib.sha256(whole(json.dumps(list(things), ensure_ascii=False, sort_keys=True)).encode()).digest()
    letters = next(letters for letters in count(1) if len(LETTERS) ** letters >= _ROOM * len(things))
    draws = (_apart(seed, attempt, letters, len(things)) for attempt in count())
    return tuple(next(tags for tags in draws if len(tags) < 3 or tags not in (sorted(tags), sorted(tags, reverse=True))))


def _apart(seed: bytes, attempt: int, letters: int, size: int) -> list[str]:
    taken, near, tags = set[tuple[int, ...]](), set[tuple[int, ...]](), list[str]()
    for number in count():
        if len(tags) == size:
            break
        drawn = hashlib.blake2b(seed + b"%d,%d" % (attempt, number), digest_size=letters + 1).digest()
        places = (*(byte % len(LETTERS) for byte in drawn[:-1]), drawn[-1] % len(DIGITS))
        if places[:-1] in taken or places in near:
            continue
        taken.add(places[:-1])
        near.update(_neighbours(places))
        tags.append("".join(LETTERS[place] for place in places[:-1]) + DIGITS[places[-1]])
    return tags


def _neighbours(places: tuple[int, ...]) -> list[tuple[int, ...]]:
    around: list[tuple[int, ...]] = [()]
    for place in places:
        around = [(*begun, place + step) for begun in around for step in (-1, 0, 1)]
    return around
