"""Whether a relation says how its ends are related: the one rule for retrieval, questions and completeness.

Many writers give every relation one type that says only that there is a relation (RELATED, DIRECTED), or a list of keywords. Both are
labels; neither is a predicate that a sentence could be made of ("A related B").
"""

from __future__ import annotations

import re
from functools import cache

from kgeval.graph.layouts import fixes_types
from kgeval.graph.load.values import SEPARATOR
from kgeval.records import Layout
from kgeval.text.names import normalise
from kgeval.text.wordlists import word_list

_SEPARATORS = re.compile(rf"{SEPARATOR}|[,;|\n\uff0c\u3001\uff1b]")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def keywords(label: str) -> list[str]:
    """The names that a relation's label lists, without repeats: "cancer spread,disease progression" lists two, WORKS_AT itself."""
    return list(dict.fromkeys(part for piece in _SEPARATORS.split(label) if (part := " ".join(piece.split()))))


def is_placeholder(label: str, layout: Layout | None = None) -> bool:
    """Whether a label says no more than that there is a relation: RELATED, RelatedTo, "is related to", DIRECTED, EDGE, UNKNOWN, "->". Any
    spelling, in the languages of words/no_predicate.toml.

    In a graph the words decide only where nothing else does. Its types say something where it has several and no writer fixed them: who
    keeps DIRECTED beside ACTED_IN means a director. Where a property holds the label, its type is a placeholder, and "directed" in the
    property is none.
    """
    name = normalise(uncamel(label))
    if not any(map(str.isalpha, name)):
        return True
    if name not in _placeholders():
        return False
    if layout is None:
        return True
    if layout.relation_label_key is not None:
        return label in layout.relation_types or name not in _said()
    return len(layout.relation_types) <= 1 or fixes_types(layout.name) is True


def is_predicate(label: str | None, layout: Layout | None = None) -> bool:
    """Whether a label is a predicate: no placeholder, and one name, not a list of keywords. Where the layout's relations have no direction
    their labels are keywords, one or several: nobody can say which end is the subject."""
    if label is None or (layout is not None and layout.relations_undirected):
        return False
    return len(keywords(label)) == 1 and not is_placeholder(label, layout)


def uncamel(label: str) -> str:
    """A label with a space before each capital that follows a small letter or a digit: worksAt is "works At"."""
    return _CAMEL.sub(" ", label)


@cache
def _said() -> frozenset[str]:
    """Words of types that are predicates where somebody wrote them as such: to direct a film, to link a page."""
    return frozenset(normalise(word) for word in word_list("said_predicate"))


@cache
def _placeholders() -> frozenset[str]:
    return frozenset(normalise(word) for word in word_list("no_predicate"))
