"""What makes a node or relation an entity, a chunk or a relation of one graph, as Cypher: one text for what is counted and repaired.

A Cypher file writes `@is(e, Entity)`, `@is(c, Chunk)`, `@is(r, Relation)`, `@name(e)`, `@label(r)` and `@sources(x, Entity | Relation)`;
the loader puts the conditions on `$layout` in.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_NOTATION = re.compile(r"@(\w+)\((\w+)(?:, (\w+))?\)")


def entity(x: str) -> str:
    """The condition that `x` is an entity of the layout's graph, in four lines."""
    return (
        f"any(l IN labels({x}) WHERE l IN $layout.entity_labels)\n"
        f"  AND none(l IN labels({x}) WHERE l IN $layout.entity_excluded_labels)\n  {_in_graph(x)}"
    )


def chunk(x: str) -> str:
    """The condition that `x` is a chunk of the layout's graph."""
    return f"any(l IN labels({x}) WHERE l IN $layout.chunk_labels)\n  {_in_graph(x)}"


def relation(r: str) -> str:
    """The condition that `r` is a relation between two entities of the layout's graph. Both ends are looked at whatever the layout says of
    its relation types: it was bound once, and another graph may have come into the database since."""
    return f"type({r}) IN $layout.relation_types\n  AND {entity(f'startNode({r})')}\n  AND {entity(f'endNode({r})')}"


def with_roles(text: str) -> str:
    """The text of a Cypher file with its `@` notation put in. What is not known stays, and is no Cypher."""
    return _NOTATION.sub(_bound, text)


def _bound(match: re.Match[str]) -> str:
    word, x, role = match.groups()
    if word == "is" and role in _ROLES:
        before = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.start()]
        indent = len(before) - len(before.lstrip())
        return "(" + _ROLES[role](x).replace("\n", "\n" + " " * indent) + ")"
    if word == "sources" and role in _SOURCES:
        return _sources(f"{x}[$layout.{_SOURCES[role]}]")
    return _VALUES[word](x) if word in _VALUES and role is None else match[0]


def _in_graph(x: str) -> str:
    return (
        f"AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels({x}))\n"
        f"  AND ($layout.scope_property IS NULL OR {x}[$layout.scope_property] = $layout.scope_value)"
    )


def _sources(value: str) -> str:
    """The ids of chunks in a list or in a text with separators."""
    return (
        f"CASE WHEN {value} IS NULL THEN []"
        f" WHEN {value} IS :: LIST<ANY> THEN [s IN {value} | trim(toStringOrNull(s))]"
        f" WHEN $layout.source_separator IS NULL THEN [trim(toStringOrNull({value}))]"
        f" ELSE [s IN split(toStringOrNull({value}), $layout.source_separator) | trim(s)] END"
    )


_ROLES: dict[str, Callable[[str], str]] = {"Entity": entity, "Chunk": chunk, "Relation": relation}
_SOURCES = {"Entity": "entity_source_key", "Relation": "relation_source_key"}
_VALUES: dict[str, Callable[[str], str]] = {
    "name": lambda x: f"head([k IN $layout.name_keys WHERE {x}[k] IS NOT NULL | toStringOrNull({x}[k])])",
    "label": lambda r: f"coalesce(toStringOrNull({r}[$layout.relation_label_key]), type({r}))",
}
