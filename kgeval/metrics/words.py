"""Texts as words, for comparing an answer with a reference in any script. Pure; no language is assumed."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache

from kgeval.text.clean import normal_form
from kgeval.text.scripts import RUNNING
from kgeval.text.signs import mark_signs

ARTICLES = frozenset(("a", "an", "the"))
_MARK = re.compile(r"[^\w\s]|_")
_GLUE = frozenset("’‘‐‑")  # vanish as the ASCII apostrophe and hyphen do
_MINUS = frozenset("-−")
_TABLE = frozenset("|¦")
_THOUSANDS = re.compile(r"(?:\d\d[,'’]){0,5}\d{3}(?!\d)")  # what follows a separator: also 1,00,000; but not 3,5
# those of the scripts without spaces that have combining marks
_BLOCKS = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF))


def words(text: str, *, articles: bool = False) -> list[str]:
    """The words of a text in a form that can be compared: NFKC, case-folded, without punctuation.

    SQuAD's normalisation (Rajpurkar et al. 2016) for every script: punctuation is known by its Unicode category. ASCII marks,
    apostrophes and hyphens vanish ("U.S." is "us"), other punctuation separates. Symbols (+ $ € °) are words of their own. Numbers stay
    apart: a full stop between digits and a minus before a number are kept, thousands separators vanish, other marks between digits
    separate. Signs that carry meaning are words of their own, where SQuAD's script drops them: the # of "C#", the - of "HER2-", the * of
    "A*", the full stop of ".NET", the % of "5%" (`exact_match_compat` is that script's). A letter of a script without spaces between words
    is a word of its own, with its combining marks.
    English articles are dropped unless `articles`. What would leave nothing is kept as it is: "A" is the word "a", "!?" is "!?".
    """
    folded = _folded(mark_signs(normal_form(text.replace("…", " "), "NFC")))
    all_words: list[str] = _words_pattern().findall(_MARK.sub(_replacement, folded))
    content_words = all_words if articles else [word for word in all_words if word not in ARTICLES]
    return content_words or all_words or [word for word in folded.split() if any(unicodedata.category(c)[0] != "C" for c in word)]


def _folded(text: str) -> str:
    """NFKC and case-folded; folding can undo the normal form, so it is made twice."""
    return normal_form(normal_form(text, "NFKC").casefold(), "NFKC")


def _replacement(found: re.Match[str]) -> str:
    """What stands for a character that is neither letter, digit nor space."""
    mark, text = found.group(), found.string
    role = _role(mark)
    if role in ("mark", "hidden"):
        return mark if role == "mark" else ""
    before, after = text[max(0, found.start() - 1) : found.start()], text[found.end() : found.end() + 1]
    if after.isdigit():
        if before.isdigit():
            return "." if mark == "." else "" if mark in ",'’" and _THOUSANDS.match(text, found.end()) else " "
        if mark in _MINUS and not before.isalnum():
            return "-"
    return f" {mark} " if role == "symbol" else "" if role == "glue" else " "


@lru_cache(4096)
def _role(mark: str) -> str:
    """mark: part of the letter before; hidden: without a shape; symbol; glue: vanishes; gap: separates."""
    kind = unicodedata.category(mark)
    if "\ufe00" <= mark <= "\ufe0f" or "\U000e0100" <= mark <= "\U000e01ef" or kind in ("Cc", "Cf"):
        return "hidden"
    if kind == "Sk" or mark == "~" or (kind[0] == "P" and (mark.isascii() or mark in _GLUE)):
        return "glue"
    if kind[0] == "P" or mark in _TABLE:
        return "gap"
    return "symbol" if kind[0] == "S" else "mark"


@cache
def _words_pattern() -> re.Pattern[str]:
    marks = "".join(chr(c) for low, high in _BLOCKS for c in range(low, high + 1) if unicodedata.category(chr(c))[0] == "M")
    return re.compile(f"[{RUNNING}][{marks}]*|[^\\s{RUNNING}]+")


def lcs_length(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence of two lists of words.

    Exact for every length: bit-parallel (Hyyrö 2004, in rapidfuzz), n * m / 64 steps and memory linear in n + m. Words that only one
    side has are left out first; the words that occur most get the smallest codes, for which the library has a table.
    """
    from rapidfuzz.distance import LCSseq

    count, others = Counter(one), Counter(other)
    shared = sorted((word for word in count if word in others), key=lambda word: -count[word] * others[word])
    # jumps over the surrogates, which are no characters
    codes = {word: chr(n if n < 0xD800 else n + 0x800) for n, word in enumerate(shared)}
    first = "".join(codes[word] for word in one if word in codes)
    second = "".join(codes[word] for word in other if word in codes)
    return int(LCSseq.similarity(first, second))
