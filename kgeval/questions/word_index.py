"""Which words stand in which texts of a graph: read once a run, so that a search does not read all texts again.

A term is looked for by its words, each as a part of a word ("Ann" is in "Anna"). So what is found may not hold the
term; what is not found does not. """

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MOST_TEXT = 200_000_000  # characters of all texts together: where there are more, the database searches each time
_WORD = re.compile(r"\w+")


class TooLongError(Exception):
    """There is more text than is kept in memory."""


class WordIndex:
    """The words of texts, in lower case. Built once; then safe to read from any thread. Kept: 4 bytes for each
    different word of a text."""

    def __init__(self, texts: Iterable[tuple[str, str, str]]) -> None:
        """`texts`: element id, id, text. Raises: TooLongError."""
        import numpy as np

        words: dict[str, int] = {}
        word_numbers, sizes, left = array("I"), array("I"), MOST_TEXT
        self._elements: list[str] = []
        ids: list[str] = []
        for element_id, name, text in texts:
            left -= len(text)
            if left < 0:
                raise TooLongError
            own = {words.setdefault(word, len(words)) for word in _WORD.findall(text.lower())}
            word_numbers.extend(own)
            sizes.append(len(own))
            self._elements.append(element_id)
            ids.append(name)
        numbers = np.frombuffer(word_numbers, dtype=np.uint32)
        order = np.argsort(numbers, kind="stable")
        self._texts = np.repeat(np.arange(len(ids), dtype=np.uint32), np.frombuffer(sizes, dtype=np.uint32))[order]
        self._first = np.concatenate(([0], np.cumsum(np.bincount(numbers, minlength=len(words)))))
        self._lines = np.concatenate(([0], np.cumsum([len(word) + 1 for word in words], dtype=np.int64)))
        # one text of all words: `find` goes through it in C, a loop over millions of words would not be quick enough for a search
        self._words = "".join(f"{word}\n" for word in words)
        self._rank = np.argsort(np.argsort(np.array(ids, dtype=object), kind="stable"))

    def holding(self, term: str) -> list[str]:
        """Element ids of the texts that may hold a term: all its words stand there. A term without words is in no
        text."""
        return [self._elements[place] for place in self._holding(term)]

    def nearest(self, terms: Sequence[str], most: int) -> list[str]:
        """Element ids of the texts with most of the terms, the best first; a term counts by one over the root of the
        number of texts that have it, of equals the first by id."""
        import numpy as np

        scores = np.zeros(len(self._elements))
        for term in terms:
            texts = self._holding(term)
            scores[texts] += 1 / max(1, len(texts)) ** 0.5
        best = np.lexsort((self._rank, -scores))[:most]
        return [self._elements[place] for place in best if scores[place] > 0]

    def _holding(self, term: str) -> npt.NDArray[np.uint32]:
        import numpy as np

        parts = [self._with(part) for part in dict.fromkeys(_WORD.findall(term.lower()))]
        return reduce(lambda one, other: np.intersect1d(one, other, assume_unique=True), parts) if parts else self._texts[:0]

    def _with(self, part: str) -> npt.NDArray[np.uint32]:
        """The texts that have a word with this part."""
        import numpy as np

        lists, start = [], self._words.find(part)
        while start >= 0:
            word = int(np.searchsorted(self._lines, start, side="right")) - 1
            lists.append(self._texts[self._first[word] : self._first[word + 1]])
            start = self._words.find(part, int(self._lines[word + 1]))
        return np.unique(np.concatenate(lists)) if lists else self._texts[:0]
