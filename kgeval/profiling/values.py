"""What properties hold: types, fill, distinct values, and texts that are something else (a number, a date, the word NULL)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from kgeval.graph.leftovers import NULL_WORD
from kgeval.profiling.reads import Value
from kgeval.profiling.record import PropertyProfile

MOST_PROPERTIES = 40
# what a text may be instead; the first that fits counts
FORMATS: dict[str, re.Pattern[str]] = {
    "null word": re.compile(NULL_WORD, re.IGNORECASE | re.DOTALL),
    "number": re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?"),
    "date": re.compile(
        r"\d{4}-\d{1,2}-\d{1,2}(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}"
    ),
    "time of day": re.compile(r"(?:[01]?\d|2[0-3])[:h][0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?: ?(?:uhr|h))?", re.IGNORECASE),
    "true or false": re.compile(r"true|false", re.IGNORECASE),
    "web address": re.compile(r"(?:https?|ftp)://\S+", re.IGNORECASE),
    "mail address": re.compile(r"[^\s@]+@[^\s@]+\.[a-z]{2,}", re.IGNORECASE),
    "list or map": re.compile(r"\[.*\]|\{.*\}", re.DOTALL),
}
HTML = re.compile(r"&(?:#\d{1,6}|#x[0-9a-f]{1,6}|[a-z]{2,8});|</?[a-z][a-z0-9]*(?:\s[^<>]{0,100})?>", re.IGNORECASE)


def property_profiles(holders: Sequence[Mapping[str, Value]]) -> list[PropertyProfile]:
    """The properties of some nodes or relations, the fullest first, at most 40."""
    by_key: dict[str, list[Value]] = {}
    for values in holders:
        for key, value in values.items():
            by_key.setdefault(key, []).append(value)
    profiles = [_property(key, values, len(holders)) for key, values in by_key.items()]
    return sorted(profiles, key=lambda one: (-one.filled, one.key))[:MOST_PROPERTIES]


def _property(key: str, values: Sequence[Value], of: int) -> PropertyProfile:
    types = Counter(value.type for value in values)
    texts = [value.text for value in values if value.is_text and value.text is not None]
    lengths = [value.length for value in values if value.length is not None]
    told = [value.text for value in values if value.text is not None]
    formats = Counter(found for text in texts if (found := format_of(text)) is not None)
    return PropertyProfile(
        key=key, filled=len(values) / of, types=_shares(types, len(values)), distinct=len(set(told)) / len(told) if told else 0.0,
        length=float(median(lengths)) if lengths else None, formats=_shares(formats, len(texts)) if texts else {},
    )


def format_of(text: str) -> str | None:
    """What a text is instead of words; None for words."""
    stripped = text.strip()
    for name, pattern in FORMATS.items():
        if pattern.fullmatch(stripped):
            return name
    return "HTML" if HTML.search(text) else None


def scripts(names: Iterable[str]) -> dict[str, float]:
    """The scripts of names by their first letter (Latin, Cyrillic, CJK ...), in shares."""
    counts: Counter[str] = Counter()
    for name in names:
        letter = next((char for char in name if char.isalpha()), None)
        if letter is not None:
            counts[unicodedata.name(letter, "OTHER").split()[0].capitalize()] += 1
    return _shares(counts, sum(counts.values()))


def _shares(counts: Mapping[str, int], of: int) -> dict[str, float]:
    return {name: count / of for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))}
