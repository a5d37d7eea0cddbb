"""Half characters: what JSON can write, and no file, database or endpoint takes."""

from __future__ import annotations

import re

_HALF = re.compile("[\ud800-\udfff]")


def whole(text: str) -> str:
    """The text with every lone surrogate replaced by U+FFFD."""
    return text if text.isascii() else _HALF.sub("\ufffd", text)
