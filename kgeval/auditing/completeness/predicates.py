"""Whether a relation's name says what a gold predicate says, and at which level."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Protocol

from kgeval.auditing.completeness.index import RANK
from kgeval.records import Level
from kgeval.text.names import normalise
from kgeval.text.predicates import keywords

if TYPE_CHECKING:
    from kgeval.llm.embed import Embedder

AUXILIARIES = frozenset((
    "is", "are", "was", "were", "be", "been", "being", "am", "has", "have", "had", "does", "did", "do", "will", "would", "the", "a", "an",
))


class NamedRelation(Protocol):
    """A relation with its names and descriptions."""

    @property
    def labels(self) -> tuple[str, ...]:
        """What the relation is called; one label may list several names."""

    @property
    def descriptions(self) -> tuple[str, ...]:
        """Sentences about it."""


class PredicateJudge:
    """Compares a gold predicate with a relation's names, level by level.

    exact: equal; normalised: equal in normal form (BORN_IN = "born in"); alias: equal once auxiliary verbs and articles are left
    out ("was born in"); fuzzy: token_sort_ratio >= `fuzzy`, or the predicate stands as a phrase of two words or more in the
    relation's description; embedding: cosine >= `similarity`.
    """

    def __init__(
        self, levels: Collection[Level], *, fuzzy: float = 90.0, similarity: float = 0.85, embedder: Embedder | None = None,
    ) -> None:
        self._levels = {RANK[level] for level in levels}
        self._fuzzy = fuzzy
        self._similarity = similarity
        self._embedder = embedder if "embedding" in levels else None
        self._near: set[tuple[str, str]] = set()

    def prepare(self, wanted: Iterable[tuple[str | None, Iterable[NamedRelation]]]) -> None:
        """Embeds the predicates and the relations' names that will be asked for, where the embedding level is asked for."""
        if self._embedder is None:
            return
        pairs = {(normalise(name), normalise(other)) for name, group in wanted if name for relation in group for other in _names(relation)}
        texts = sorted({text for pair in pairs for text in pair if text})
        place = {text: index for index, text in enumerate(texts)}
        vectors = self._embedder.embed(texts) if texts else None
        for a, b in pairs:
            if vectors is not None and a and b and float(vectors[place[a]] @ vectors[place[b]]) >= self._similarity:
                self._near.add((a, b))

    def rank(self, predicate: str, relation: NamedRelation) -> int | None:
        """The rank of the first level at which the relation has this name; None if it has at none."""
        return next((level for level in sorted(self._levels) if self._holds(level, predicate, relation)), None)

    def _holds(self, level: int, predicate: str, relation: NamedRelation) -> bool:
        from rapidfuzz.fuzz import token_sort_ratio

        names, wanted = list(_names(relation)), normalise(predicate)
        if level == RANK["exact"]:
            return predicate in names
        if not wanted:
            return False
        if level == RANK["normalised"]:
            return any(normalise(name) == wanted for name in names)
        if level == RANK["alias"]:
            bare = _bare(wanted)
            return bool(bare) and any(_bare(normalise(name)) == bare for name in names)
        if level == RANK["fuzzy"]:
            if any(token_sort_ratio(wanted, normalise(name), score_cutoff=self._fuzzy) >= self._fuzzy for name in names):
                return True
            # as a phrase of whole words; a single word ("has") stands nearly anywhere in a description and proves nothing
            return " " in wanted and any(f" {wanted} " in f" {normalise(text)} " for text in relation.descriptions)
        return any((wanted, normalise(name)) in self._near for name in names)


def _names(relation: NamedRelation) -> Iterator[str]:
    for label in relation.labels:
        yield label
        yield from (part for part in keywords(label) if part != label)


def _bare(norm: str) -> str:
    return " ".join(word for word in norm.split() if word not in AUXILIARIES)
