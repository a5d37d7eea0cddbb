"""Cypher that speaks roles, written for one graph: `(e:@Entity)` becomes `(e:Person|Place)`, `e.@type_key` becomes `e.kind`.

docs/cypher-files.md has all forms. A role in a pattern is a place to begin at: the planner may look up its labels, or expand by its types.
The same role as a condition is written as a value, `(o:Person|Place) = true`, which the planner takes for no index. That is for ends that
relations lead to: where the planner knows of few entities (a plan for a smaller graph is still kept), it would look through all of them
for each node that relations go out from.

What cannot stand in a text stays a parameter of the field's name: more than `MOST` names (each list has a plan of its own), and names with
a backslash (Cypher 5 reads it as the beginning of an escape, between backticks too) or a control character.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from kgeval.graph.leftovers import MARKUP, OUTPUT, leftover_case, null_word_test
from kgeval.graph.literals import cypher_literal, cypher_name
from kgeval.graph.load.values import SEPARATOR
from kgeval.graph.queries import FIELDS, FORM, Query, blank
from kgeval.records import Layout

MOST = 100
NO_NAME = "__KgevalNone__"  # of no node and no relation: a role without names; the constant false fails in the planner of some queries
_TRUE = "\0true\0"  # a condition that always holds; it is left out where that is possible
_UNWRITTEN = re.compile(r"[\\\x00-\x1f\x7f-\x9f\u2028\u2029]")
DOCUMENT_NAMES = ("title", "name", "fileName", "file_name", "path")
_PARAMETER = re.compile(r"\$(\w+)")
_LABELS = {
    "Entity": "entity_labels", "Chunk": "chunk_labels", "Document": "document_labels", "Community": "community_labels",
    "Memory": "memory_labels", "Excluded": "entity_excluded_labels",
}
_TYPES = {
    "RELATION": "relation_types", "MENTION": "mention_types", "IN_DOCUMENT": "chunk_document_types", "NEXT_CHUNK": "next_chunk_types",
    "MEMBER": "community_member_types", "PARENT": "community_parent_types",
}


def bind_query(query: str | Query, params: Mapping[str, Any] | None) -> tuple[str, dict[str, Any]]:
    """The text of a query as the server is to get it, and its parameters: `layout` is put into a file's text, and leaves as parameters only
    what cannot stand there."""
    given = dict(params or {})
    if isinstance(query, str):
        return query, given
    layout = given.pop("layout", None)
    if not query.speaks_roles:
        return query.text, given
    text, left = _bound_to(query.text, _known(json.dumps({name: layout[name] for name in Layout.model_fields if name in layout})))
    return text, given | left


def query_of_graph(query: Query, layout: Layout) -> str:
    """The text of a query with a graph's names in it, to be shown. Where a name cannot stand in it, it asks for a parameter that is called
    as the field of the layout (`fields_left`)."""
    return explained(bind_query(query, {"layout": layout.model_dump()})[0])


def explained(text: str) -> str:
    """A written text that says what the name is that no graph has."""
    return f"// {NO_NAME}: this graph has nothing of that role\n{text}" if NO_NAME in text else text


def fields_left(text: str, layout: Layout) -> dict[str, Any]:
    """The fields of the layout that a text with a graph's names in it asks for as parameters."""
    return layout.model_dump(include={*_PARAMETER.findall(blank(text))} & FIELDS)


class _Known:
    """A layout that stands for itself in a key: the texts of 256 queries would each hold 600 kB of 30,000 relation types."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout


@lru_cache(maxsize=16)
def _known(layout: str) -> _Known:
    return _Known(Layout.model_validate_json(layout))


@lru_cache(maxsize=256)
def _bound_to(text: str, known: _Known) -> tuple[str, dict[str, Any]]:
    return bind_text(text, known.layout)


def bind_text(text: str, layout: Layout, *, most: int = MOST) -> tuple[str, dict[str, Any]]:
    """The text of a file (`Query.text`) with the names of a layout put in, and the fields of the layout that stay parameters.

    The layout must be bound to the database (`layouts.bind`). `most`: how many names a list in the text has; with 0 every name stays a
    parameter.
    """
    writer = _Writer(layout, most)
    written = FORM.sub(writer.form, text)
    return _without_truths(written), layout.model_dump(include=writer.left)


def _without_truths(text: str) -> str:
    """The text without the conditions that always hold. At the end of a COUNT `WHERE true` stays: without it the server would ask each
    node for its degree by each of the types, which takes two to three times as long with thirty of them."""
    text = re.sub(rf"(?<!NOT ){_TRUE}\s+AND\s+|\s+AND\s+{_TRUE}", "", text)
    text = re.sub(rf"\s+WHERE {_TRUE}(?=\s+(?:MATCH|WITH|RETURN|CALL|UNWIND|OPTIONAL|ORDER|UNION|SET|DELETE)\b)", "", text)
    return text.replace(_TRUE, "true")


class _Writer:
    """Writes the forms of one text. `left`: the fields of the layout that the text asks for as parameters."""

    def __init__(self, layout: Layout, most: int) -> None:
        self._layout, self._most, self.left = layout, most, set[str]()

    def form(self, found: re.Match[str]) -> str:
        part = found.groupdict()
        if part["node"]:
            labels, conditions = self._role(part["node"], part["role"])
            where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
            return f"({part['node']}{labels}{where})"
        if part["relation"]:
            return self._typed(part["relation"], _TYPES[part["types"]])
        if part["owner"]:
            return self._property(part["owner"], part["read"])
        if part["asked"]:
            return _truth((getattr(self._layout, part["asked"]) is None) != bool(part["no"]))
        if part["field"]:
            return self._value(part["field"])
        if part["form"]:
            return self._named(part["form"], part["of"], part["what"])
        return found[0]  # text in quotes, or a comment

    def _named(self, form: str, x: str, what: str | None) -> str:
        if form == "is":
            return self._of_type(x, _TYPES[what]) if what in _TYPES else self._condition(x, str(what))
        if form == "has_label":
            return self._labelled(x, _LABELS[str(what)])
        if form in ("sources", "named_sources", "description"):
            kind = "" if what == "Entity" else "relation_"
            if form == "description":
                return self._description(self._property(x, f"{kind}description_key"))
            sources = self._sources(self._property(x, f"{'entity' if what == 'Entity' else 'relation'}_source_key"))
            named = f"[s_ IN {sources} WHERE s_ <> '' AND NOT s_ IN {self._value('placeholder_values')}]"
            return sources if form == "sources" or sources == "[]" else named
        written: str = getattr(self, f"_{form}")(x)
        return written

    # --- conditions -----------------------------------------------------------------------------------------------------------------

    def _role(self, x: str, role: str) -> tuple[str, list[str]]:
        """What a node of a role is: its labels as they follow its variable ("" = any), and conditions beside them."""
        layout, labels, conditions = self._layout, list[str](), list[str]()
        if role == "Endpoint":
            if layout.relations_join_entities_only:
                return "", []
            role = "Entity"
        if role in _LABELS:
            self._either(x, _LABELS[role], labels, conditions)
        if role == "Entity" and layout.entity_excluded_labels:
            self._either(x, _LABELS["Excluded"], labels, conditions, none=True)
        if layout.scope_label is not None:
            scope = self._names("scope_label", [layout.scope_label])
            if scope is None:
                conditions.append(f"$scope_label IN labels({x})")
            else:
                labels.append(scope[0])
        if layout.scope_property is not None:
            conditions.append(f"{self._property(x, 'scope_property')} = {self._value('scope_value')}")
        if len(labels) > 1:
            return ":" + "&".join(f"({one})" if "|" in one and not one.startswith("!") else one for one in labels), conditions
        return ":" + labels[0] if labels else "", conditions

    def _either(self, x: str, field: str, labels: list[str], conditions: list[str], *, none: bool = False) -> None:
        """One of the labels of a field, or none of them: as a label expression where they can be written."""
        names = self._names(field, getattr(self._layout, field))
        if names is None:
            conditions.append(f"{'none' if none else 'any'}(l_ IN labels({x}) WHERE l_ IN ${field})")
        elif none:
            labels.append(f"!{names[0]}" if len(names) == 1 else f"!({'|'.join(names)})")
        else:
            labels.append("|".join(names))

    def _condition(self, x: str, role: str) -> str:
        labels, conditions = self._role(x, role)
        every = [*([f"({x}{labels}) = true"] if labels else []), *conditions]
        return f"({' AND '.join(every)})" if len(every) > 1 else every[0] if every else _TRUE

    def _labelled(self, x: str, field: str) -> str:
        names = self._names(field, getattr(self._layout, field))
        return f"any(l_ IN labels({x}) WHERE l_ IN ${field})" if names is None else f"({x}:{'|'.join(names)})"

    def _of_type(self, r: str, field: str) -> str:
        """That a relation is of one of the types; of none, a name that no relation has: `IN []` is the constant false."""
        return f"type({r}) IN {self._value(field) if getattr(self._layout, field) else cypher_literal([NO_NAME])}"

    def _typed(self, r: str, field: str) -> str:
        names = self._names(field, getattr(self._layout, field))
        return f"[{r} WHERE type({r}) IN ${field}]" if names is None else f"[{r}:{'|'.join(names)}]"

    # --- values ---------------------------------------------------------------------------------------------------------------------

    def _names(self, field: str, names: Sequence[str]) -> list[str] | None:
        """Names as they stand in Cypher, at least one; None where they stay the parameter of the field."""
        if len(names) > self._most or any(not name or _UNWRITTEN.search(name) for name in names):
            self.left.add(field)
            return None
        return [cypher_name(name) for name in names] or [NO_NAME]

    def _value(self, field: str) -> str:
        value = getattr(self._layout, field)
        texts = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        if isinstance(value, dict) or len(texts) > self._most or any(not isinstance(one, str) or _UNWRITTEN.search(one) for one in texts):
            self.left.add(field)
            return f"${field}"
        return cypher_literal(value)

    def _property(self, x: str, field: str) -> str:
        name = getattr(self._layout, field)
        if name is None:
            return "null"
        written = self._names(field, [name])
        return f"{x}[${field}]" if written is None else f"{x}.{written[0]}"

    def _name(self, x: str, *, ids: bool = False) -> str:
        return self._name_by_label(x, ids=ids) if self._layout.label_names else self._first(x, "name_keys")

    def _name_by_label(self, x: str, *, ids: bool) -> str:
        said = self._layout.label_names
        texts = [text for one in said for text in (*filter(None, [one.label]), *one.keys)]
        if len(texts) > self._most or any(not text or _UNWRITTEN.search(text) for text in texts):
            self.left.add("label_names")
            joined = f"trim(reduce(s_ = '', k_ IN n_.keys | s_ + coalesce(toStringOrNull({x}[k_]) + ' ', '')))"
            mark = "CASE WHEN n_.is_id THEN coalesce(n_.label + ' ', '') ELSE '' END + " if ids else ""
            return (
                f"head([n_ IN $label_names WHERE (n_.label IS NULL OR n_.label IN labels({x})){'' if ids else ' AND NOT n_.is_id'}"
                f" AND any(k_ IN n_.keys WHERE toStringOrNull({x}[k_]) IS NOT NULL) | {mark}{joined}])"
            )
        cases = []
        for one in said:
            if not one.keys or (one.is_id and not ids):
                continue
            values = [f"toStringOrNull({x}.{cypher_name(key)})" for key in one.keys]
            there = " OR ".join(f"{value} IS NOT NULL" for value in values)
            where = there if one.label is None else f"({x}:{cypher_name(one.label)}) = true AND ({there})"
            mark = f"{cypher_literal(f'{one.label} ')} + " if one.is_id and one.label is not None else ""
            joined = values[0] if len(values) == 1 else " + ".join(f"coalesce({value} + ' ', '')" for value in values)
            cases.append(f"WHEN {where} THEN {mark}trim({joined})")
        return f"CASE {' '.join(cases)} END" if cases else "null"

    def _shown(self, x: str) -> str:
        return self._name(x, ids=True)

    def _display(self, x: str) -> str:
        """What a report calls a node, which is never empty: its name or id, else what describes it, else its element id."""
        ways = [self._shown(x), *self._details(x), f"elementId({x})"]
        return f"head([d_ IN [{', '.join(way for way in ways if way != 'null')}] WHERE trim(d_) <> ''])"

    def _details(self, x: str) -> list[str]:
        """By label what describes a node, as key=value; labels and keys that cannot be written are left out."""
        cases = []
        for label, keys in self._layout.label_details.items():
            written = [key for key in keys if not _UNWRITTEN.search(key)]
            if written and not _UNWRITTEN.search(label):
                texts = {key: f"left(toStringOrNull({x}.{cypher_name(key)}), 60)" for key in written}
                values = [f"coalesce({cypher_literal(f', {key}=')} + {text}, '')" for key, text in texts.items()]
                where = f"({x}:{cypher_name(label)}) = true" if label else f"isEmpty(labels({x}))"
                cases.append(f"WHEN {where} THEN substring({' + '.join(values)}, 2)")
        return [f"CASE {' '.join(cases[: self._most])} END"] if cases and self._most else []

    def _kind(self, labels: str) -> str:
        """Of labels, the one that is a type and has the lowest rank. A store gives a node's labels in the order in which it first met
        them."""
        ranked = sorted(self._layout.type_label_rank, key=self._layout.type_label_rank.__getitem__)
        ignored = self._value("type_label_ignored")
        first = f"head({labels})" if ignored == "[]" else f"head([l_ IN {labels} WHERE NOT l_ IN {ignored}])"
        if not ranked:
            return first
        if len(ranked) > self._most or any(not label or _UNWRITTEN.search(label) for label in ranked):
            self.left.add("type_label_rank")
            return (
                f"reduce(kind_ = {first}, l_ IN {labels} | "
                "CASE WHEN $type_label_rank[l_] < $type_label_rank[kind_] THEN l_ ELSE kind_ END)"
            )
        node = re.fullmatch(r"labels\((.*)\)", labels)
        has = {label: f"({node[1]}:{cypher_name(label)}) = true" if node else f"{cypher_literal(label)} IN {labels}" for label in ranked}
        return f"CASE {' '.join(f'WHEN {has[label]} THEN {cypher_literal(label)}' for label in ranked)} ELSE {first} END"

    def _type(self, x: str) -> str:
        kind = self._kind(f"labels({x})")
        return kind if self._layout.type_key is None else f"coalesce(toStringOrNull({self._property(x, 'type_key')}), {kind})"

    def _key(self, x: str) -> str:
        return _text(self._property(x, "key_property"))

    def _label(self, r: str) -> str:
        said = self._property(r, "relation_label_key")
        return f"type({r})" if said == "null" else f"coalesce(toStringOrNull({said}), type({r}))"

    def _id(self, c: str) -> str:
        return self._first(c, "chunk_id_keys")

    def _ref(self, c: str) -> str:
        return f"coalesce({self._id(c)}, elementId({c}))"

    def _text(self, c: str) -> str:
        return self._first(c, "chunk_text_keys")

    def _document(self, d: str) -> str:
        """What a document is called: what is called like a name, else its key."""
        named = [f"toStringOrNull({d}.{key})" for key in DOCUMENT_NAMES]
        key = _text(self._property(d, "document_key"))
        return f"coalesce({', '.join([*named, *([key] if key != 'null' else []), f'elementId({d})'])})"

    def _markup(self, text: str) -> str:
        return leftover_case(text, MARKUP)

    def _output(self, text: str) -> str:
        return leftover_case(text, OUTPUT)

    def _null_word(self, text: str) -> str:
        return null_word_test(text)

    def _first(self, x: str, field: str) -> str:
        """The first of some properties that is there, as text; what is no text gives null, and no later one is asked."""
        listed = getattr(self._layout, field)
        keys = self._names(field, listed)
        if keys is None:
            return f"head([k_ IN ${field} WHERE {x}[k_] IS NOT NULL | toStringOrNull({x}[k_])])"
        values = [f"{x}.{key}" for key in keys] if listed else ["null"]
        return _text(values[0] if len(values) == 1 else f"coalesce({', '.join(values)})")

    def _aliases(self, x: str) -> str:
        """The texts in the properties of aliases, each a list or a value."""
        keys = self._names("alias_keys", self._layout.alias_keys)
        if keys is None:
            return f"reduce(all_ = [], k_ IN $alias_keys | all_ + {_texts(f'{x}[k_]')})"
        return " + ".join(_texts(f"{x}.{key}") for key in keys) if self._layout.alias_keys else "[]"

    def _sources(self, value: str) -> str:
        """The ids of chunks in a list or in a text with separators."""
        if value == "null":
            return "[]"
        split = "source_separator"
        text = f"toStringOrNull({value})"
        parts = f"[trim({text})]" if self._layout.source_separator is None else f"[s_ IN split({text}, {self._value(split)}) | trim(s_)]"
        return (
            f"CASE WHEN {value} IS NULL THEN [] WHEN {value} IS :: LIST<ANY> THEN [s_ IN {value} | trim(toStringOrNull(s_))] "
            f"ELSE {parts} END"
        )

    def _description(self, value: str) -> str:
        """A description as text, null where there is none. What was merged is one a line: LightRAG joins pieces by its separator, others
        keep a list."""
        if value == "null":
            return "null"
        return (
            f"CASE WHEN {value} IS :: STRING NOT NULL THEN replace({value}, '{SEPARATOR}', '\\n')"
            f" WHEN {value} IS :: LIST<ANY> NOT NULL"
            f" THEN trim(reduce(d_ = '', p_ IN {value} | d_ + coalesce(toStringOrNull(p_) + '\\n', ''))) END"
        )


def _truth(value: bool) -> str:
    return _TRUE if value else "false"


def _text(value: str) -> str:
    return "null" if value == "null" else f"toStringOrNull({value})"


def _texts(value: str) -> str:
    return (
        f"CASE WHEN {value} IS NULL THEN []"
        f" WHEN {value} IS :: LIST<ANY> THEN [x_ IN {value} WHERE toStringOrNull(x_) IS NOT NULL | toStringOrNull(x_)]"
        f" ELSE [x_ IN [toStringOrNull({value})] WHERE x_ IS NOT NULL] END"
    )
