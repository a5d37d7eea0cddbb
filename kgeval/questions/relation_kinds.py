"""Which relations say what is above what (hierarchies), and what depends on what (dependencies) [X C.2]."""

from __future__ import annotations

from functools import cache
from typing import Literal

from kgeval.records import Layout
from kgeval.text.names import normalise
from kgeval.text.predicates import is_predicate, uncamel
from kgeval.text.wordlists import word_lists

Ordering = Literal["hierarchy", "dependency"]
_ALONG = {"hierarchy": "up", "dependency": "forward"}


def direction(label: str, ordering: Ordering, layout: Layout) -> int:
    """1: the relation goes from part to whole, from cause to effect; -1: the other way; 0: it is not of this kind.

    By the layout's names of such relations, where it has any, else by the words in words/ORDERING.toml. Of relations without
    direction nobody can say it. """
    if not is_predicate(label, layout):
        return 0
    own = layout.hierarchy_relations if ordering == "hierarchy" else layout.dependency_relations
    return (_named(tuple(own)) if own else _known(ordering)).get(normalise(uncamel(label)), 0)


@cache
def _named(names: tuple[str, ...]) -> dict[str, int]:
    """A layout's names; `<CONTAINS` goes the other way."""
    return {normalise(uncamel(name.removeprefix("<"))): -1 if name.startswith("<") else 1 for name in names}


@cache
def _known(ordering: Ordering) -> dict[str, int]:
    words = word_lists(ordering)
    return {normalise(word): 1 if key == _ALONG[ordering] else -1 for key, own in words.items() for word in own}
