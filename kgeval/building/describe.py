"""Merges descriptions of one thing without a model: distinct ones, the most frequent first, up to a stated length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from kgeval.text.names import normalise

LONGEST = 1_500  # characters of a merged description
NEAR = 0.8  # share of common words from which two descriptions say the same


def merged(parts: Iterable[Mapping[str, int]], *, longest: int = LONGEST) -> str | None:
    """The distinct descriptions, most frequent first (of equals the longer, then by letters), one a line; None if there is none.

    One that another one contains, or that shares four fifths of its words with one, is dropped. Whole descriptions only, as
    long as they fit; the first is cut at a space if it alone is too long.
    """
    counts: Counter[str] = Counter()
    for part in parts:
        counts.update(part)
    kept: list[str] = []
    words: list[frozenset[str]] = []
    size = 0
    for text in sorted(counts, key=lambda t: (-counts[t], -len(t), t)):
        if size >= longest or len(kept) == 20:
            break
        own = frozenset(normalise(text).split())
        if not own or any(_near(own, other) for other in words):
            continue
        room = longest - size
        if len(text) > room:
            if kept:
                continue
            text = _cut(text, room)
        kept.append(text)
        words.append(own)
        size += len(text) + 1
    return "\n".join(kept) or None


def _near(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether b says what a says already, or nearly so."""
    return a <= b or len(a & b) >= NEAR * len(a | b)


def _cut(text: str, most: int) -> str:
    head = text[: most - 1]
    return (head.rsplit(" ", 1)[0] if " " in head else head) + "…"
