"""Words that differ in one slip of the pen."""

from __future__ import annotations

import re

LEAST_LETTERS = 5  # below them two words are rather two


def is_slip(key: str, meant: str) -> bool:
    """Whether two keys are written with the same letters (first_name, firstName), or differ in one slip of the pen behind their first
    letter: a letter more, less, another, or two that changed places. A plural, a number or a sign of one letter is none."""
    if key == meant:
        return False
    a, b = (re.sub(r"[\W_]", "", text).casefold() for text in (key, meant))
    if a == b:
        return bool(a)
    if min(len(a), len(b)) < LEAST_LETTERS or {a, b} in ({a, f"{a}s"}, {b, f"{b}s"}):
        return False
    return differ_in_one_slip(a, b)


def differ_in_one_slip(a: str, b: str) -> bool:
    """Whether two words of letters and digits have the same first letter and the same digits, and one letter more, less or another, or two
    that changed places."""
    from rapidfuzz.distance import DamerauLevenshtein

    if a[0] != b[0] or _digits(a) != _digits(b):
        return False
    return bool(DamerauLevenshtein.distance(a, b, score_cutoff=1) == 1)


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)
