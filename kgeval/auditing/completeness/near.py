"""Which near spellings are the same name: what a high token_sort_ratio lets through and a reader would not. Pure."""

from __future__ import annotations

from kgeval.text import forms
from kgeval.text.forms import Form

SHORT = 5  # a word of fewer letters that differs is rather another word
SHORTEST_ALONE = 6  # a name of one word needs this many letters to be recognised although it is misspelt


def may_be_same(a: Form, b: Form) -> bool:
    """Whether two names that are near in spelling can be one.

    Not where they differ in a number, in a word that tells things apart ("North"), or in the gender of a title. Words that
    stand in one name only must be near spellings of each other, at most one word in three; what one name has more must be one
    word, and no word that makes another thing of it ("Robertson" / "Robertson Bed", "Professor" / "Professor C").
    """
    if a.apart != b.apart or (a.gender and b.gender and a.gender != b.gender):
        return False
    left, right = _without(a.tokens, b.tokens), _without(b.tokens, a.tokens)
    if not left and not right:
        return True
    if len(left) > len(right):
        left, right = right, left
    if len(a.tokens) == len(b.tokens) == 1:
        return _alone(left[0], right[0])
    most = max(1, min(len(a.tokens), len(b.tokens)) // 3)
    if len(left) > most or len(right) - len(left) > 1:
        return False
    pairs, extra = _paired(left, right)
    return all(_near(x, y) for x, y in pairs) and not any(_makes_another(word) for word in extra)


def _without(tokens: tuple[str, ...], other: tuple[str, ...]) -> list[str]:
    """The tokens that the other name lacks, repeats counted."""
    left = list(other)
    kept = []
    for token in tokens:
        if token in left:
            left.remove(token)
        else:
            kept.append(token)
    return kept


def _alone(x: str, y: str) -> bool:
    return min(len(x), len(y)) >= SHORTEST_ALONE and x[0] == y[0] and _near(x, y)


def _paired(few: list[str], many: list[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Each of `few` with its nearest of `many`, and those of `many` that are left."""
    from rapidfuzz.fuzz import ratio

    left, pairs = list(many), []
    for word in few:
        best = max(left, key=lambda other: (ratio(word, other), other))
        left.remove(best)
        pairs.append((word, best))
    return pairs, left


def _near(x: str, y: str) -> bool:
    from rapidfuzz.fuzz import ratio

    short, long = sorted((x, y), key=len)
    if x.endswith(("woman", "women")) != y.endswith(("woman", "women")) or any(long == n + short for n in forms.NEGATIONS):
        return False
    if len(short) >= 3 and (long.startswith(short) or long.endswith(short)) and len(long) - len(short) <= 3:
        return True
    return ratio(x, y) >= (85 if len(short) < SHORT else 70) and (x[0] == y[0] or len(short) >= 8)


def _makes_another(word: str) -> bool:
    return len(word) == 1 or word in forms.HEADS or word in forms.GENERIC or word in forms.TELL_APART
