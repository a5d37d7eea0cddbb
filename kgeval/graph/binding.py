"""Queries with a layout's names in them: what a Cypher file asks of `$layout` at each node, written so that the server can plan it.

A file is general: it runs on any layout, and so it is printed by `kgeval cypher show` and stands in a finding. To the planner
`any(l IN labels(e) WHERE l IN $layout.entity_labels)` is a condition on every node of the store, `e:Person|Place` is an index, and
`e[$layout.type_key]` is looked up by its name at each node. Bound, the checks of a graph of 1,000,000 relations take a quarter to a half
less of the server's processor.

A node that relations lead to is written as `(e:Person|Place) = true`, which the planner takes for a value and not for an index. Where it
knows of few such nodes (the graph has just been loaded, or a plan for a smaller one is still kept), it would look through all of them for
each node that relations go out from: more than a minute for 12,000 relations that take two seconds.

What cannot stand in a text stays as it is: more than `MOST` names (each list has a plan of its own), and names with a backslash, which
Cypher 5 reads as the beginning of an escape, between backticks too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from kgeval.graph.literals import cypher_name
from kgeval.graph.queries import Query, blank, kind_of, name_of
from kgeval.records import Layout

MOST = 100
NO_LABEL = "__KgevalNone__"  # of no node: a role without labels, for the constant false makes the server's planner fail in some queries
_VALUE = r"((?:startNode|endNode)\(\w+\)|\b[a-z]\w*(?:\.\w+)*)"


def _at_each(general: str) -> re.Pattern[str]:
    """Where the text for some value stands, whatever the value: group 1."""
    head, *rest = map(re.escape, general.split("VALUE"))
    return re.compile(head + _VALUE + r"\1".join(rest))


_UNWRITTEN = re.compile(r"[\\\0]|\$layout")  # the last would be taken for a place of the text that is still to be bound
_NAMES = [_at_each(name_of("VALUE", ids=ids)) for ids in (False, True)]
_KIND = _at_each(kind_of("labels(VALUE)"))
_LABELS = re.compile(
    r"(?P<how>any|none)\(l IN labels\((?P<node>\w+)\) WHERE l IN \$layout\.(?P<role>\w+_labels)\)"
    r"|\(\$layout\.scope_label IS NULL OR \$layout\.scope_label IN labels\((?P<scoped>\w+)\)\)"
)
_TYPES = re.compile(r"type\((\w+)\) IN \$layout\.(\w+_types)\b(?! \+)")
_PROPERTY = re.compile(_VALUE + r"\[\$layout\.(\w+)\]")
_IS_NULL = re.compile(r"\$layout\.(\w+) IS (NOT )?NULL")
_GROUP = re.compile(r"\([^()\[\]{}]*\)|\[[^()\[\]{}]*\]|\{[^()\[\]{}]*\}")
_NO_CONJUNCTION = re.compile(r"\b(?:OR|XOR|NOT|CASE|WHEN|THEN|ELSE)\b")
_CLAUSE = re.compile(r"(?<!STARTS )(?<!ENDS )\b(?:MATCH|WITH|RETURN|UNION|CALL|UNWIND|OPTIONAL|ORDER|LIMIT)\b")


def bind_query(query: str | Query, params: Mapping[str, Any] | None) -> tuple[str, dict[str, Any]]:
    """The text of a query as the server is to get it, and its parameters: one that is given a `$layout` has the layout's names in it, and
    keeps the parameter only where something is left to ask of it."""
    given = dict(params or {})
    if isinstance(query, str):
        return query, given
    layout = given.get("layout")
    if layout is None or "$layout" not in query.text:
        return query.text, given
    text = _bound_to(query.text, json.dumps({name: layout[name] for name in Layout.model_fields if name in layout}))
    if "$layout" not in text:
        del given["layout"]
    return text, given


@lru_cache(maxsize=256)  # a key has the whole layout: 100 kB where a graph has 5,000 relation types
def _bound_to(text: str, layout: str) -> str:
    return bound(text, Layout.model_validate_json(layout))


def bound(text: str, layout: Layout) -> str:
    """The text of a query (`Query.text`) with the names of a layout put in, which must be bound to the database (`layouts.bind`). It gives
    the rows that the text as it was gives, and needs the same parameters."""
    reached = _reached(text)  # told from the file: names of a layout may look like Cypher
    text = _LABELS.sub(lambda m: _labelled(m, layout, reached=m.start() in reached) or m[0], text)
    if (keys := _written(layout.name_keys)) is not None and not layout.label_names:
        for pattern in _NAMES:
            text = pattern.sub(lambda m: _name(m[1], keys), text)
    if not layout.type_label_rank:
        text = _KIND.sub(r"head([l_ IN labels(\1) WHERE NOT l_ IN $layout.type_label_ignored])", text)
    text = _with_types(text, layout)
    text = _PROPERTY.sub(lambda m: _property(m[1], getattr(layout, m[2])) or m[0], text)
    text = _IS_NULL.sub(lambda m: _truth((getattr(layout, m[1]) is None) != bool(m[2])), text)
    return text.replace("$layout.relations_join_entities_only", _truth(layout.relations_join_entities_only))


def _written(names: Iterable[str]) -> list[str] | None:
    """The names as they stand in Cypher; None where they cannot."""
    listed = list(names)
    if len(listed) > MOST or any(not name or _UNWRITTEN.search(name) for name in listed):
        return None
    return list(map(cypher_name, listed))


def _truth(value: bool) -> str:
    return "true" if value else "false"


def _name(x: str, keys: Sequence[str]) -> str:
    """The first of the properties that is there, as text; what is no text gives null, and no later property is asked."""
    if not keys:
        return "null"
    if len(keys) == 1:
        return f"toStringOrNull({x}.{keys[0]})"
    return "CASE " + " ".join(f"WHEN {x}.{key} IS NOT NULL THEN toStringOrNull({x}.{key})" for key in keys) + " END"


def _labelled(condition: re.Match[str], layout: Layout, *, reached: bool) -> str | None:
    """What `_LABELS` has found: that a node has one of the labels or none of them, or is of the layout's scope. Of no labels no node has
    one. `reached`: relations lead to the node."""
    if node := condition["scoped"]:
        if layout.scope_label is None:
            return "true"
        labels, none = [layout.scope_label], False
    else:
        node, labels, none = condition["node"], getattr(layout, condition["role"]), condition["how"] == "none"
    if (written := _written(labels)) is None:
        return None
    if not written and none:
        return "true"
    written = written or [NO_LABEL]
    if none:
        return f"(NOT {node}:{'|'.join(written)})"
    return f"(({node}:{'|'.join(written)}) = true)" if reached else f"({node}:{'|'.join(written)})"


def _property(x: str, key: str | None) -> str | None:
    if key is None:
        return "null"
    return f"{x}.{written[0]}" if (written := _written([key])) else None


def _with_types(text: str, layout: Layout) -> str:
    """Relation types as part of the pattern whose condition they are, so that an entity's other relations are not even looked at.

    Only where the pattern goes out from a node that is known. A look at all relations stays as it is: one after the other as they lie in
    the store takes three quarters of the time that thirty types of them take, node by node.
    """
    done = 0
    while condition := _TYPES.search(text, done):
        done = condition.end()
        types = _written(getattr(layout, condition[2]))
        pattern = f"-[{condition[1]}]-"
        at = text.rfind(pattern, 0, condition.start())
        if not types or at < 0 or not _is_expansion(text, at, at + len(pattern)):
            continue
        if not _is_conjunct(text, at + len(pattern), condition.start(), condition.end()):
            continue
        typed = f"-[{condition[1]}:{'|'.join(types)}]-"
        text = text[:at] + typed + text[at + len(pattern) : condition.start()] + "true" + text[condition.end() :]
        done = condition.start() + len(typed) - len(pattern)
    return text


def _is_expansion(text: str, start: int, end: int) -> bool:
    """Whether a node at either end of the pattern from `start` to `end` is known before, or it is asked whether or how often the pattern
    is there."""
    blocks = _blocks(text[:start])
    if len(blocks) > 1 and blocks[-2].rstrip().endswith(("EXISTS", "COUNT", "COLLECT")):
        return True
    known = _known(blocks)
    ends = re.search(r"\((\w+)\)$", text[:start]), re.match(r">?\((\w+)\)", text[end:])
    return any(node is not None and node[1] in known for node in ends)


@lru_cache(maxsize=256)
def _reached(text: str) -> frozenset[int]:
    """Where a file asks for the labels of a node that relations lead to, from one that is known by then: starts of what `_LABELS` finds.

    Patterns are told as these files write them, each node and relation by a name: `(a)-[r]->(b)`, and longer ones from left to right.
    """
    found = ((m.start(), m["node"] or m["scoped"]) for m in _LABELS.finditer(text))
    return frozenset(start for start, node in found if _is_reached(text[:start], node))


def _is_reached(before: str, node: str) -> bool:
    *_, (at, end) = [(0, 0), *(m.span() for m in re.finditer(rf"(?<!\w)\({node}\)", before))]
    known = _known(_blocks(before[:at]))
    if node in known:
        return False
    back, on = re.search(r"\((\w+)\)<?-\[\w+\]->?$", before[:at]), re.match(r"<?-\[\w+\]->?\((\w+)\)", before[end:])
    return bool((on and on[1] in known) or (back and (back[1] in known or _is_reached(before[:at], back[1]))))


def _known(blocks: list[str]) -> set[str]:
    """What has a name at the end of the `blocks`, save by the clause that is begun there: from the clauses before it in the same block,
    and from the blocks around it, as far as a subquery is given that."""
    *around, block = blocks
    begun = max((m.start() for m in re.finditer(r"\bMATCH\b", block)), default=0)
    names, here = set[str](), block[:begun]
    while True:
        here = re.split(r"\bUNION\b", here)[-1]  # the parts of a union do not know each other
        names |= {*re.findall(r"(?<!\w)(?<!CALL )\((\w+)\)", here), *re.findall(r"\bAS (\w+)", here)}
        if not around:
            return names
        here = around.pop()
        if given := re.search(r"\bCALL (?:\(([^()]*)\))?\s*$", here):
            return names | {*re.findall(r"\w+", given[1] or "")}


def _blocks(before: str) -> list[str]:
    """What stands before each block that is open at the end of `before` and inside the last of them, without the blocks that are closed."""
    code = blank(before)
    while (flatter := re.sub(r"\{[^{}]*\}", " ", code)) != code:
        code = flatter
    return code.split("{")


def _is_conjunct(text: str, pattern_end: int, start: int, end: int) -> bool:
    """Whether the condition from `start` to `end` must hold for each match of the pattern that ends at `pattern_end`: it belongs to its
    WHERE, in which nothing stands beside it but by AND."""
    before = _flat(text[pattern_end:start]).replace("IS NOT NULL", "")
    if before.count("WHERE") != 1 or re.search(r"[()\[\]{}]", before) or _NO_CONJUNCTION.search(before) or _CLAUSE.search(before):
        return False
    after = _flat(text[end:])
    stop = min((m.start() for m in (_CLAUSE.search(after), re.search(r"[)\]}]", after)) if m), default=len(after))
    return not re.search(r"\bX?OR\b", after[:stop])


def _flat(code: str) -> str:
    """Cypher without comments, strings, and whatever stands between brackets that match."""
    code = blank(code)
    while (flatter := _GROUP.sub(" ", code)) != code:
        code = flatter
    return code
