"""A share of a corpus, or so many tokens of it: the same documents for the same seed, a smaller part inside a larger one. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
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
    kept, others = _drawn(every, seed, keep)
    chosen = kept | {document.id for document in others[: max(0, ceil(share * len(every)) - len(kept))]}
    return [document for document in every if document.id in chosen]


def subset_of_tokens(
    documents: Iterable[Document], tokens: int, *, seed: int, keep: Collection[str] = (), count: Callable[[str], int],
) -> list[Document]:
    """Whole documents of about so many tokens [X table 17], in their order: those that `keep` names, and of the others as many with the
    smallest permanent random numbers as come nearest to the target; one document at least. `count`: tokens of a text."""
    every = list(documents)
    kept, others = _drawn(every, seed, keep)
    total = sum(count(document.text) for document in every if document.id in kept)
    chosen = set(kept)
    for document in others:
        more = total + count(document.text)
        # farther from the target with it than without it; a larger target goes on from here, so that parts lie within each other
        if chosen and more > total and abs(more - tokens) >= abs(total - tokens):
            break
        chosen.add(document.id)
        total = more
    return [document for document in every if document.id in chosen]


def _drawn(documents: Sequence[Document], seed: int, keep: Collection[str]) -> tuple[set[str], list[Document]]:
    """The ids of the documents that are in every part, and the others in the order in which they are drawn."""
    kept = {document.id for document in documents if document.id in keep or (document.title is not None and document.title in keep)}
    others = [document for document in documents if document.id not in kept]
    return kept, sorted(others, key=lambda document: (random_number(seed, document.id), document.id))


def documents_of(questions: Iterable[Question]) -> frozenset[str]:
    """The documents that questions name: their own, and those of their evidence."""
    names: set[str] = set()
    for question in questions:
        names.update(name for name in (question.document, *(passage.document for passage in question.evidence)) if name)
    return frozenset(names)
