"""A share of a corpus: the same documents for the same seed, a smaller share inside a larger one. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import ceil

from kgeval.records import Document, Question
from kgeval.stats.sampling import random_number


def subset(documents: Iterable[Document], share: float, *, seed: int, keep: Collection[str] = ()) -> list[Document]:
    """ceil(share * n) of n documents, in their order: those that `keep` names (by id or title), and of the others those with the smallest
    permanent random numbers. Where `keep` alone is more than the share, it is all of `keep`.

    Raises: ValueError for a share outside (0, 1].
    """
    if not 0 < share <= 1:
        raise ValueError(f"a share of {share} is not above 0 and up to 1")
    every = list(documents)
    kept = {document.id for document in every if document.id in keep or (document.title is not None and document.title in keep)}
    others = sorted((document.id for document in every if document.id not in kept), key=lambda name: (random_number(seed, name), name))
    chosen = kept | set(others[: max(0, ceil(share * len(every)) - len(kept))])
    return [document for document in every if document.id in chosen]


def documents_of(questions: Iterable[Question]) -> frozenset[str]:
    """The documents that questions name: their own, and those of their evidence."""
    names: set[str] = set()
    for question in questions:
        names.update(name for name in (question.document, *(passage.document for passage in question.evidence)) if name)
    return frozenset(names)
