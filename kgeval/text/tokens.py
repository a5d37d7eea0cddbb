"""Counting tokens without a model's vocabulary: the same count on every machine, in any script."""

from __future__ import annotations

import re

TOKENIZER = "unicode-words-1"
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0e7f]|\w+|[^\w\s]")


def count_tokens(text: str) -> int:
    """Words and punctuation marks; a character each in scripts written without spaces (Chinese, Japanese, Thai).

    For English prose this is within some ten percent of a model's own count; it is named beside every figure.
    """
    return sum(1 for _ in _TOKEN.finditer(text))
