"""Counting tokens without asking anybody: o200k_base, whose vocabulary comes with the bpe-openai package."""

from __future__ import annotations

import warnings
from functools import cache
from itertools import pairwise
from typing import Any

TOKENIZER = "o200k_base"
BLOCK = 100_000  # characters: the tokenizer refuses texts that are much longer
# roles and separators that frame each message at the endpoint
_MESSAGE_OVERHEAD = 8


def count(text: str) -> int:
    """Tokens of a text as o200k_base cuts it. Other models' own counts differ, mostly by less than a third.

    Texts above 100,000 characters are counted in parts, cut between words where that is possible.
    """
    if len(text) <= BLOCK:
        return len(encoding().encode_ordinary(text))
    borders = [0]
    while borders[-1] < len(text):
        borders.append(_between_words(text, borders[-1], min(borders[-1] + BLOCK, len(text))))
    return sum(len(encoding().encode_ordinary(text[start:end])) for start, end in pairwise(borders))


def count_messages(*texts: str) -> int:
    """Tokens of a request's messages: their texts and what frames them."""
    return sum(count(text) + _MESSAGE_OVERHEAD for text in texts)


def most(*texts: str) -> int:
    """An upper bound for any tokenizer that works on bytes: one token a byte of UTF-8, and what frames the messages."""
    return sum(len(text.encode("utf-8")) + _MESSAGE_OVERHEAD for text in texts)


@cache
def encoding(name: str = TOKENIZER) -> Any:
    """The tokenizer itself; its vocabulary is read from the package once (half a second)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # how the package reads its own data files
        import bpe_openai

        return bpe_openai.get_encoding(name)


def _between_words(text: str, start: int, end: int) -> int:
    """The last place in start < place <= end just before a single space between words: the tokenizer parts words there anyway."""
    if end == len(text):
        return end
    for index in range(end, max(start + 1, end - 1000), -1):
        if text[index] == " " and text[index - 1].isalnum() and text[index + 1: index + 2].isalnum():
            return index
    return end
