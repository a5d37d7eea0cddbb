"""The evidence fields of GraphRAG-Bench (`evidence` as one text, the groups of `evidence_triple`), and triples as a gold path."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain
from typing import Any

_BETWEEN = re.compile(r"(?<=\))[^\S\n]*+\.?[^\S\n]*+[;\n]\s*+|;\s*+(?=\()")
_GROUP = re.compile(r"\((.*)\)\s*\.?", re.DOTALL)


def groups_of(values: Iterable[Any]) -> list[Any]:
    """The groups of one question: text is cut between them, lists of three are taken as they are."""
    cut = ([value] if isinstance(value, list) else split_groups(value) if isinstance(value, str) else [] for value in values)
    return list(chain.from_iterable(cut))


def split_groups(evidence: str) -> list[str]:
    """The `(subject, predicate, object)` groups of an `evidence_triple`, cut at "; ", ".; " or a new line between them."""
    return [part.strip() for part in _BETWEEN.split(evidence) if part.strip() not in ("", ".")]


def parts_of(group: str) -> list[str] | None:
    """What stands between the commas of a group; None for a text that is no group in brackets."""
    match = _GROUP.fullmatch(group.strip())
    return [part.strip() for part in match[1].split(",")] if match else None


def triple_of(group: Any) -> tuple[str, str, str] | None:
    """The three parts of a group, none empty; None for a broken one (a comma inside a name makes more than three)."""
    parts = group if isinstance(group, list) else parts_of(group)
    if parts is None or len(parts) != 3 or not all(isinstance(part, str) and part.strip() for part in parts):
        return None
    subject, predicate, obj = (part.strip() for part in parts)
    return subject, predicate, obj


def sentences_of(evidence: str) -> list[str]:
    """The sentences of an `evidence` text, which GraphRAG-Bench joins with "; "."""
    return [part.strip() for part in re.split(r";\s+", evidence) if part.strip(" .;")]


def gold_path(triples: list[tuple[str, str, str]]) -> dict[str, Any]:
    """The path of gold triples: their ends in order, each once, the relations, and each triple in words."""
    ends = dict.fromkeys(end for subject, _, obj in triples for end in (subject, obj))
    relations = [
        {"key": f"{subject} -[{predicate}]-> {obj}", "name": f"{subject} -[{predicate}]-> {obj}", "type": predicate, "kind": "relation"}
        for subject, predicate, obj in triples
    ]
    return {"nodes": list(ends), "relations": relations, "text": [" ".join(triple) for triple in triples]}
