"""Which of many names a text mentions: token n-grams looked up in a table, so the number of names costs nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from kgeval.text.names import normalise
from kgeval.text.scripts import RUNNING

_APOSTROPHE = re.compile(r"(?<=\w)['\u2019\u02bc](?=\w)")


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    """A token: one character of a script without spaces, or a run of characters that are no gap as names.normalise has it."""
    gaps, start = [], None
    for code in range(0x10000):
        gap = unicodedata.category(chr(code))[0] in "PZC"
        if gap and start is None:
            start = code
        elif not gap and start is not None:
            gaps.append((start, code - 1))
            start = None
    ends = "".join(f"{re.escape(chr(low))}-{re.escape(chr(high))}" for low, high in [*gaps, (0xE000, 0xF8FF)])
    return re.compile(f"[{RUNNING}]|[^{ends}{RUNNING}]+")


def tokens(text: str) -> list[str]:
    """The tokens of a text in its order, in NFKC and case-folded, without punctuation."""
    found: list[str] = _pattern().findall(_APOSTROPHE.sub("", unicodedata.normalize("NFKC", text).casefold()))
    return found


class Names:
    """Names with a number each (a set of bits), to be found in texts as whole tokens. Equal names share their bits."""

    def __init__(self, names: Iterable[tuple[str, int]]) -> None:
        self._bits: dict[tuple[str, ...], int] = {}
        self._lengths: dict[str, tuple[int, ...]] = {}
        for name, bits in names:
            key = tuple(tokens(normalise(name)))
            if key:
                self._bits[key] = self._bits.get(key, 0) | bits
                self._lengths[key[0]] = tuple(sorted({*self._lengths.get(key[0], ()), len(key)}))

    def __len__(self) -> int:
        return len(self._bits)

    def in_text(self, text: str) -> int:
        """The bits of all names that stand in the text, 0 for none."""
        words, found = tokens(text), 0
        for at, word in enumerate(words):
            for length in self._lengths.get(word, ()):
                found |= self._bits.get(tuple(words[at : at + length]), 0)
        return found
