"""Relation types that say what stands above what: part of, broader, parent of, reports to."""

from __future__ import annotations

import re
from collections.abc import Iterable

# by family: names that lead up, and names that lead down; a family of one list has no direction that its names tell for sure
UP_AND_DOWN: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "broader": (
        ("broader", "has broader", "broader transitive", "broad match", "broader than"),
        ("narrower", "has narrower", "narrower transitive", "narrow match", "narrower than"),
    ),
    "class": (
        ("subclass of", "sub class of", "subtype of", "sub type of", "is a", "isa", "kind of", "subproperty of", "sub property of",
         "subcategory of", "sub category of", "inherits", "inherits from", "extends"),
        ("superclass of", "super class of", "has subclass", "has sub class", "has subtype", "has subcategory"),
    ),
    "part": (
        ("part of", "is part of", "component of", "contained in", "located in", "lies in", "within", "division of", "subsidiary of"),
        ("has part", "has parts", "has component", "contains", "has division", "has subsidiary"),
    ),
    "parent": (("child of", "has parent", "descendant of"), ("parent of", "has child", "has children", "ancestor of")),
    "reports": (("reports to", "subordinate of", "supervised by", "managed by"), ("supervises", "manages", "superior of")),
    "parent, alone": (("parent",), ()),
    "child, alone": (("child",), ()),
    "prerequisite": (("prerequisite of",), ("has prerequisite",)),
}
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
OF_NAME = {
    name: (family, is_up) for family, names in UP_AND_DOWN.items() for is_up, own in zip((True, False), names, strict=True) for name in own
}


def hierarchies(types: Iterable[str]) -> dict[str, tuple[str, bool]]:
    """Of relation types, those of hierarchies: by type its family, and whether it leads up. Case, underscores and prefixes of RDF
    (skos__broader, rdfs:subClassOf) do not matter."""
    return {type_: found for type_ in types if (found := OF_NAME.get(_in_words(type_))) is not None}


def _in_words(type_: str) -> str:
    bare = re.split(r"__|[:#/]", type_.strip("_ "))[-1]
    return " ".join(word.lower() for word in WORDS.findall(bare))
