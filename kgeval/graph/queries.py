"""Loads the Cypher files of `cypher/` and checks their headers. One statement a file; stem = name = rule id.

Header (comment lines before the statement):

    // name: one sentence.
    // more text
    //
    // :param name => example      -- TYPE: what it is
    //
    // returns: column TYPE, column TYPE
    // needs: gds.wcc.stream, ...  (only if procedures or functions of GDS are called)
    // mode: read | write
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Literal

from kgeval.errors import QueryError
from kgeval.graph.load.values import SEPARATOR

# What makes a node or relation an entity, a chunk or a relation of one graph, as Cypher: one text for what is counted and repaired.
# Conditions on `labels(n)`, and no `MATCH (n:$($labels))`: until Neo4j 2025.07 that is planned as a scan of all nodes all the same.

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

    def bound(match: re.Match[str]) -> str:
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

    return _NOTATION.sub(bound, text)


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


def kind_of(labels: str) -> str:
    """Of labels, the one that is a type and has the lowest rank. A store gives a node's labels in the order in which it first met them."""
    return (
        f"reduce(kind_ = head([l_ IN {labels} WHERE NOT l_ IN $layout.type_label_ignored]), l_ IN {labels} | "
        "CASE WHEN $layout.type_label_rank[l_] < $layout.type_label_rank[kind_] THEN l_ ELSE kind_ END)"
    )


def name_of(x: str, *, ids: bool) -> str:
    """The name of a node, by what is said for its labels, else by the listed properties; with `ids` also what only tells it apart."""
    # Variables of what is put into a query end in _, so that none is one of the query's own.
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
    "name": lambda x: name_of(x, ids=False),
    "shown": lambda x: name_of(x, ids=True),
    "kind": kind_of,
    "type": lambda x: f"coalesce(toStringOrNull({x}[$layout.type_key]), {kind_of(f'labels({x})')})",
    "label": lambda r: f"coalesce(toStringOrNull({r}[$layout.relation_label_key]), type({r}))",
}


# Not $any(...) and $all(...): those are dynamic labels and types.
_PARAM = re.compile(r"\$(?!(?:any|all)\s*\()([A-Za-z_]\w*)")
_HEADER_PARAM = re.compile(r"^:param\s+(\w+)\s*=>\s*(.*?)\s*(?:--\s*(.*))?$")
_CALLED = re.compile(r"\bgds(?:\.\w+)+(?=\s*\()")


@dataclass(frozen=True)
class Param:
    """A declared parameter: an example value as a Cypher literal, and what it is."""

    name: str
    example: str
    doc: str


@dataclass(frozen=True)
class Query:
    """One Cypher file. `text` is the whole file (comments are legal Cypher) with the roles of `@is(e, Entity)` and the like put in
    (see `with_roles`); `columns` are the declared result names."""

    name: str
    folder: str
    summary: str
    doc: str
    params: tuple[Param, ...]
    columns: tuple[str, ...]
    needs: tuple[str, ...]
    mode: Literal["read", "write"]
    text: str
    path: Path

    @property
    def sha256(self) -> str:
        """SHA-256 of the file's text, for manifests."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def cypher_root() -> Path:
    """The folder of Cypher files: inside the package in a wheel, beside it in an editable install."""
    inside = Path(__file__).parents[1] / "cypher"
    return inside if inside.is_dir() else Path(__file__).parents[2] / "cypher"


@cache
def all_queries() -> dict[str, Query]:
    """Every shipped query by name.

    Raises: QueryError that lists all faults of all files at once.
    """
    return load(cypher_root())


def load(root: Path) -> dict[str, Query]:
    """Every `*.cypher` below root, by name. Raises QueryError listing every fault of every file."""
    queries: dict[str, Query] = {}
    faults: list[str] = []
    for path in sorted(root.rglob("*.cypher")):
        query, wrong = parse(path.read_text(encoding="utf-8"), path)
        faults += [f"{path.name}: {fault}" for fault in wrong]
        if query.name in queries:
            faults.append(f"{path.name}: the name is taken by {queries[query.name].path}")
        queries[query.name] = query
    if faults:
        raise QueryError("Cypher files with faulty headers:\n  " + "\n  ".join(faults), fix="correct the headers named above")
    return queries


def parse(text: str, path: Path) -> tuple[Query, list[str]]:
    """The query of one file and the faults of its header (empty = fine)."""
    text = with_roles(text)
    lines = text.splitlines()
    header = [line[2:].strip() for line in takewhile(lambda line: line.startswith("//"), lines)]
    fields = _fields(header)
    stem, _, summary = (header[0] if header else "").partition(":")
    matches = (_HEADER_PARAM.match(line) for line in header)
    returns, needs = ([part.strip() for part in fields.get(key, "").split(",")] for key in ("returns", "needs"))
    query = Query(
        name=path.stem, folder=path.parent.name, summary=summary.strip(),
        doc="\n".join(takewhile(lambda line: not line.startswith((":param", "returns:", "needs:", "mode:")), header[1:])).strip(),
        params=tuple(Param(m[1], m[2], (m[3] or "").strip()) for m in matches if m),
        columns=tuple(part.split()[0] for part in returns if part not in ("", "nothing")),
        needs=tuple(part for part in needs if part not in ("", "nothing")),
        mode="write" if fields.get("mode") == "write" else "read", text=text, path=path,
    )
    return query, _faults(query, stem.strip(), fields, "\n".join(lines[len(header):]))


def _fields(header: list[str]) -> dict[str, str]:
    """`returns`, `needs` and `mode`; a field goes on over the following comment lines until a blank one or another field."""
    fields: dict[str, str] = {}
    current = ""
    for line in header:
        key, colon, value = line.partition(":")
        if colon and key in ("returns", "needs", "mode"):
            current, fields[key] = key, value.strip()
        elif not line:
            current = ""
        elif current:
            fields[current] += " " + line
    return fields


def blank(text: str) -> str:
    """The text with strings, back-ticked names and comments blanked out, so that `$x` in them is no parameter."""
    pattern = r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`(?:``|[^`])*`|//[^\n]*|/\*.*?\*/"
    return re.sub(pattern, lambda m: " " * len(m[0]), text, flags=re.DOTALL)


def _faults(query: Query, stem: str, fields: dict[str, str], body: str) -> list[str]:
    code = blank(body)
    used, declared = set(_PARAM.findall(code)), {p.name for p in query.params}
    called, needs = set(_CALLED.findall(code)), set(query.needs)
    faults = [what for is_wrong, what in (
        (stem != query.name, f"line 1 says '{stem}', the file is called '{query.name}'"),
        (not query.summary, "line 1 has no sentence after the name"),
        (fields.get("mode") not in ("read", "write"), "'// mode: read' or '// mode: write' is missing"),
        (not query.columns and query.mode == "read", "'// returns:' names no column"),
        (not code.strip(), "the statement is missing"),
        (";" in code.strip().rstrip(";"), "more than one statement"),
    ) if is_wrong]
    faults += [f"{word} is no role of a layout" for word in re.findall(r"@\w*", code)]
    faults += [f"${name} is used but not declared" for name in sorted(used - declared)]
    faults += [f"${name} is declared but not used" for name in sorted(declared - used)]
    faults += [f"{name} is called but not in 'needs'" for name in sorted(called - needs)]
    faults += [f"{name} is in 'needs' but not called" for name in sorted(needs - called)]
    return faults
