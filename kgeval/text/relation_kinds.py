"""Which relations say what is above what (hierarchies), and what depends on what (dependencies) [X C.2]."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Literal

from kgeval.records import Layout
from kgeval.text.names import normalise
from kgeval.text.predicates import is_predicate, uncamel
from kgeval.text.wordlists import word_list, word_lists

Ordering = Literal["hierarchy", "dependency"]
_PREFIX = re.compile(r"^.*(?:__|[:#/])")  # of RDF: skos__broader, rdfs:subClassOf
_ALONG = {"hierarchy": "up", "dependency": "forward"}


def direction(label: str, ordering: Ordering, layout: Layout) -> int:
    """1: the relation goes from part to whole, from cause to effect; -1: the other way; 0: it is not of this kind.

    By the layout's names of such relations, where it has any, else by the words in words/ORDERING.toml. Of relations without
    direction nobody can say it. """
    if not is_predicate(label, layout):
        return 0
    own = layout.hierarchy_relations if ordering == "hierarchy" else layout.dependency_relations
    return (_named(tuple(own)) if own else _known(ordering)).get(normalise(uncamel(label)), 0)


def ranking(type_: str, layout: Layout) -> str | None:
    """What a relation type says that puts one thing above another, in words: `partOf` and `PART_OF` are "part of", `skos__broader` is
    "broader". None where it says something else."""
    label = _PREFIX.sub("", type_)
    words = normalise(uncamel(label))
    if parent := _parents().get(words):
        return parent
    return words if words in _ranks() or direction(label, "hierarchy", layout) else None


def leads_nowhere_back(type_: str) -> bool:
    """Whether a relation type between things of one kind says what needs, replaces, amends or comes of what, which never leads back."""
    return _plain(uncamel(_PREFIX.sub("", type_))) in _never_back()


@cache
def _never_back() -> frozenset[str]:
    return frozenset(map(_plain, word_list("never_back")))


def _plain(words: str) -> str:
    """Words in their normal form, without accents."""
    return "".join(char for char in unicodedata.normalize("NFKD", normalise(words)) if not unicodedata.combining(char))


@cache
def _parents() -> dict[str, str]:
    """What fathers and mothers are called, as words for a parent: both together put one generation above the other."""
    return {word: said.replace("_", " ") for said, words in word_lists("parents").items() for word in words}


@cache
def _ranks() -> frozenset[str]:
    return frozenset(normalise(word) for word in word_list("ranks"))


@cache
def _named(names: tuple[str, ...]) -> dict[str, int]:
    """A layout's names; `<CONTAINS` goes the other way."""
    return {normalise(uncamel(name.removeprefix("<"))): -1 if name.startswith("<") else 1 for name in names}


@cache
def _known(ordering: Ordering) -> dict[str, int]:
    words = word_lists(ordering)
    return {normalise(word): 1 if key == _ALONG[ordering] else -1 for key, own in words.items() for word in own}
