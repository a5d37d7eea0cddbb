"""Questions that were there before: word for word, in their normal form, or nearly so by their embeddings.

Embeddings hardly see a number: questions that differ in one are two questions, however near they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from kgeval.text.clean import clean_line
from kgeval.text.names import normalise

if TYPE_CHECKING:
    import numpy as np

    from kgeval.llm.embed import Embedder

Twin = Literal["exact", "normalised", "embedding"]
THRESHOLD = 0.9
_NUMBER = re.compile(r"\d+")


class Twins:
    """The questions so far. `embedder` null: compared by their words only. `threshold`: cosine from which two are one."""

    def __init__(self, embedder: Embedder | None = None, threshold: float = THRESHOLD, earlier: Iterable[str] = ()) -> None:
        self._embedder, self._threshold = embedder, threshold
        self._lines: set[str] = set()
        self._plain: set[str] = set()
        self._waiting: list[str] = []  # earlier questions that have no vector yet
        self._vectors: np.ndarray | None = None
        self._numbers: list[frozenset[str]] = []  # of each vector's question
        for text in earlier:
            if self._by_words(text) is None:
                self._waiting.append(text)

    def sift(self, texts: Sequence[str], *, embed: bool = True) -> list[Twin | None]:
        """For each question, in their order, how it is a duplicate of one before it (also among these), or null: then it is kept.

        `embed` false: by their words only. Templates differ in names alone, which embeddings hardly tell apart.
        """
        found: list[Twin | None] = [self._by_words(text) for text in texts]
        new = [at for at, twin in enumerate(found) if twin is None]
        if embed and self._embedder is not None and new:
            near = self._by_vectors([texts[at] for at in new])
            for at, twin in zip(new, near, strict=True):
                found[at] = "embedding" if twin else None
        return found

    def _by_words(self, text: str) -> Twin | None:
        line = clean_line(text)
        plain = normalise(line)
        if line in self._lines:
            return "exact"
        if plain and plain in self._plain:
            return "normalised"
        self._lines.add(line)
        self._plain.add(plain)
        return None

    def _by_vectors(self, texts: list[str]) -> list[bool]:
        """For each text, whether it is nearer than the threshold to one before it that was kept."""
        if self._embedder is None:
            return [False] * len(texts)
        if self._waiting:
            for text, vector in zip(self._waiting, self._embedder.embed(self._waiting), strict=True):
                self._keep(vector, _numbers(text))
            self._waiting = []
        near = []
        for text, vector in zip(texts, self._embedder.embed(texts), strict=True):
            twin = self._is_near(vector, _numbers(text))
            near.append(twin)
            if not twin:
                self._keep(vector, _numbers(text))
        return near

    def _is_near(self, vector: np.ndarray, numbers: frozenset[str]) -> bool:
        if self._vectors is None:
            return False
        alike = (self._vectors[: len(self._numbers)] @ vector >= self._threshold).nonzero()[0]
        return any(self._numbers[at] == numbers for at in alike)

    def _keep(self, vector: np.ndarray, numbers: frozenset[str]) -> None:
        """Vectors stand in one array that doubles when it is full."""
        import numpy as np

        if self._vectors is None:
            self._vectors = np.zeros((64, len(vector)), dtype=np.float32)
        elif len(self._numbers) == len(self._vectors):
            self._vectors = np.concatenate([self._vectors, np.zeros_like(self._vectors)])
        self._vectors[len(self._numbers)] = vector
        self._numbers.append(numbers)


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(text))
