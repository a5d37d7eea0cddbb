"""Whether a relation says how its ends are related: the one rule for retrieval, questions and completeness.

Many writers give every relation one type that says only that there is a relation (RELATED, DIRECTED), or a list of keywords. Both are
labels; neither is a predicate that a sentence could be made of ("A related B").
"""

from __future__ import annotations

import re
from functools import cache

from kgeval.graph.load.values import SEPARATOR
from kgeval.records import Layout
from kgeval.text.names import normalise
from kgeval.text.wordlists import word_list

_SEPARATORS = re.compile(rf"{SEPARATOR}|[,;|\n\uff0c\u3001\uff1b]")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def keywords(label: str) -> list[str]:
    """The names that a relation's label lists, without repeats: "cancer spread,disease progression" lists two, WORKS_AT itself."""
    return list(dict.fromkeys(part for piece in _SEPARATORS.split(label) if (part := " ".join(piece.split()))))


def is_placeholder(label: str) -> bool:
    """Whether a label says no more than that there is a relation: RELATED, RelatedTo, "is related to", DIRECTED, EDGE, UNKNOWN, "->". Any
    spelling, in the languages of words/no_predicate.toml."""
    name = normalise(uncamel(label))
    return not any(map(str.isalpha, name)) or name in _placeholders()


def is_predicate(label: str | None, layout: Layout | None = None) -> bool:
    """Whether a label is a predicate: no placeholder, and one name, not a list of keywords. Where the layout's relations have no direction
    their labels are keywords, one or several: nobody can say which end is the subject."""
    if label is None or (layout is not None and layout.relations_undirected):
        return False
    return len(keywords(label)) == 1 and not is_placeholder(label)


def uncamel(label: str) -> str:
    """A label with a space before each capital that follows a small letter or a digit: worksAt is "works At"."""
    return _CAMEL.sub(" ", label)


@cache
def _placeholders() -> frozenset[str]:
    return frozenset(normalise(word) for word in word_list("no_predicate"))
