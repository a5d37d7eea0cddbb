"""What makes a node or relation an entity, a chunk or a relation of one graph, as Cypher: one text for what is counted and repaired.

A Cypher file writes `@is(e, Entity)`, `@is(c, Chunk)`, `@is(r, Relation)`, `@label(r)`, `@sources(x, Entity | Relation)` and
`@description(x, Entity | Relation)`, the description as text, one piece a line;
`@type(e)`, its type: the property, else the label that tells most (of the labels in a list: `@kind(labels)`); `@name(e)`, its name, null
where it has none; `@shown(e)`, what to show: its name, where its label has ids and no names the label and the id. The loader puts the
conditions on `$layout` in.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from kgeval.graph.load.values import SEPARATOR

_NOTATION = re.compile(r"@(\w+)\(((?:startNode|endNode|labels)\(\w+\)|[\w.]+)(?:, (\w+))?\)")


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
    if word == "description" and role in _DESCRIPTIONS:
        return _described(f"{x}[$layout.{_DESCRIPTIONS[role]}]")
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


def _described(value: str) -> str:
    """A description as text, null where there is none. What was merged is one a line: LightRAG joins pieces by its separator, others keep
    a list."""
    return (
        f"CASE WHEN {value} IS :: STRING NOT NULL THEN replace({value}, '{SEPARATOR}', '\\n')"
        f" WHEN {value} IS :: LIST<ANY> NOT NULL"
        f" THEN trim(reduce(d_ = '', p_ IN {value} | d_ + coalesce(toStringOrNull(p_) + '\\n', ''))) END"
    )


def _kind(labels: str) -> str:
    """Of labels, the one that is a type and has the lowest rank. A store gives a node's labels in the order in which it first met them."""
    return (
        f"reduce(kind_ = head([l_ IN {labels} WHERE NOT l_ IN $layout.type_label_ignored]), l_ IN {labels} | "
        "CASE WHEN $layout.type_label_rank[l_] < $layout.type_label_rank[kind_] THEN l_ ELSE kind_ END)"
    )


def _named(x: str, *, ids: bool) -> str:
    """The name of a node, by what is said for its labels, else by the listed properties; with `ids` also what only tells it apart."""
    joined = f"trim(reduce(s_ = '', k_ IN n_.keys | s_ + coalesce(toStringOrNull({x}[k_]) + ' ', '')))"
    mark = "CASE WHEN n_.is_id THEN n_.label + ' ' ELSE '' END + " if ids else ""
    return (
        f"CASE WHEN size($layout.label_names) > 0 THEN head([n_ IN $layout.label_names WHERE (n_.label IS NULL OR n_.label IN labels({x}))"
        f"{'' if ids else ' AND NOT n_.is_id'} AND any(k_ IN n_.keys WHERE toStringOrNull({x}[k_]) IS NOT NULL) | "
        f"{mark}{joined}]) "
        f"ELSE head([k_ IN $layout.name_keys WHERE {x}[k_] IS NOT NULL | toStringOrNull({x}[k_])]) END"
    )


_ROLES: dict[str, Callable[[str], str]] = {"Entity": entity, "Chunk": chunk, "Relation": relation}
_SOURCES = {"Entity": "entity_source_key", "Relation": "relation_source_key"}
_DESCRIPTIONS = {"Entity": "description_key", "Relation": "relation_description_key"}
_VALUES: dict[str, Callable[[str], str]] = {
    "name": lambda x: _named(x, ids=False),
    "shown": lambda x: _named(x, ids=True),
    "kind": _kind,
    "type": lambda x: f"coalesce(toStringOrNull({x}[$layout.type_key]), {_kind(f'labels({x})')})",
    "label": lambda r: f"coalesce(toStringOrNull({r}[$layout.relation_label_key]), type({r}))",
}
