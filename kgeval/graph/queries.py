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

A file of `cypher/repair` that writes has its writing clauses between a line `// writes:` and a line `// counts:`. Without them it is its
dry run, a query of its own (`dry-NAME`): it reads, and returns what the repair would return.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import takewhile
from pathlib import Path
from typing import Literal

from kgeval.errors import QueryError
from kgeval.records import Layout

# The forms of roles, which kgeval.graph.binding describes and writes for one graph. Texts in quotes and comments come first: they hold
# no form.
FORM = re.compile(
    r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:``|[^`])*`|//[^\n]*|/\*.*?\*/
    |\((?P<node>\w+):@(?P<role>\w+)\)
    |\[(?P<relation>\w+):@(?P<types>\w+)\]
    |(?P<owner>\b[a-z]\w*(?:\.\w+)*)\.@(?P<read>\w+)
    |@(?P<form>\w+)\((?P<of>(?:startNode|endNode|labels)\(\w+\)|[\w.]+)(?:,\ (?P<what>\w+))?\)
    |@(?P<asked>\w+)\ IS\ (?P<no>NOT\ )?NULL
    |@(?P<field>\w+)""",
    re.VERBOSE | re.DOTALL,
)
NODES = {"Entity", "Chunk", "Document", "Community", "Memory", "Endpoint", "Node"}
RELATIONS = {"RELATION", "MENTION", "IN_DOCUMENT", "NEXT_CHUNK", "MEMBER", "PARENT"}
FIELDS = set(Layout.model_fields) - {"name", "description"}  # of what the graph is, not of the layout itself
_OWNERS = {"Entity", "Relation"}
_FORMS: dict[str, set[str | None]] = {
    "is": {*NODES, *RELATIONS}, "has_label": {"Entity", "Chunk", "Document", "Community", "Memory", "Excluded"},
    "sources": {*_OWNERS}, "named_sources": {*_OWNERS}, "description": {*_OWNERS},
    **{value: {None} for value in (
        "name", "shown", "display", "kind", "type", "key", "aliases", "label", "id", "ref", "text", "document", "markup", "output",
        "null_word",
    )},
}


def _is_known(part: Mapping[str, str | None]) -> bool:
    """Whether the parts of what FORM found name a role, a form or a field that there is; texts and comments have none."""
    if part["node"]:
        return part["role"] in NODES
    if part["relation"]:
        return part["types"] in RELATIONS
    if part["form"]:
        return part["what"] in _FORMS.get(part["form"], ())
    field = part["read"] or part["asked"] or part["field"]
    return field is None or field in FIELDS


def _unknown_forms(text: str) -> list[str]:
    """What looks like a role in the text of a file, and is none."""
    unknown = [found[0] for found in FORM.finditer(text) if not _is_known(found.groupdict())]
    return unknown + re.findall(r"@\w*", blank(FORM.sub(" ", text)))


# Not $any(...) and $all(...): those are dynamic labels and types.
_PARAM = re.compile(r"\$(?!(?:any|all)\s*\()([A-Za-z_]\w*)")
_HEADER_PARAM = re.compile(r"^:param\s+(\w+)\s*=>\s*(.*?)\s*(?:--\s*(.*))?$")
_CALLED = re.compile(r"\bgds(?:\.\w+)+(?=\s*\()")
_WRITING = re.compile(r"^// writes:\n.*?^// counts:\n", re.MULTILINE | re.DOTALL)
DRY = "dry-"  # begins the name of a repair's dry run
REPAIRS = "repair"  # the folder


@dataclass(frozen=True)
class Param:
    """A declared parameter: an example value as a Cypher literal, and what it is."""

    name: str
    example: str
    doc: str


@dataclass(frozen=True)
class Query:
    """One Cypher file. `text` is the whole file (comments are legal Cypher), with the forms of roles in it (`kgeval.graph.binding`);
    `columns` are the declared result names."""

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

    @cached_property
    def speaks_roles(self) -> bool:
        """Whether the text has to be bound to a graph's layout before it is Cypher."""
        return any(found.lastgroup for found in FORM.finditer(self.text))

    @cached_property
    def code_hash(self) -> str:
        """Twelve hex digits for the statement, without comment lines and spacing: the same for every graph."""
        words = (word for line in self.text.splitlines() if not line.lstrip().startswith("//") for word in line.split())
        return hashlib.sha256(" ".join(words).encode()).hexdigest()[:12]

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
        if query.folder == REPAIRS and query.mode == "write":
            dry, wrong = _dry_run(query)
            faults += [f"{path.name}: {fault}" for fault in wrong]
            queries[dry.name] = dry
    if faults:
        raise QueryError("Cypher files with faulty headers:\n  " + "\n  ".join(faults), fix="correct the headers named above")
    return queries


def _dry_run(repair: Query) -> tuple[Query, list[str]]:
    """The repair without its writing clauses: a query that reads, with the same parameters and columns; and what is wrong with it."""
    name, (cut, parts) = f"{DRY}{repair.name}", _WRITING.subn("", repair.text)
    _, _, rest = cut.partition("\n")
    params = [line for line in rest.splitlines() if line.startswith(("// :param", "// returns:"))]
    head = [f"// {name}: what {repair.name} would do to this graph, counted. It reads, and returns what the repair returns.", "//"]
    body = [line for line in rest.splitlines() if not line.startswith("//")]
    query, faults = parse("\n".join([*head, *params, "// mode: read", *body]) + "\n", repair.path.with_name(f"{name}.cypher"))
    return query, [*faults, *([] if parts == 1 else ["a repair has one part between '// writes:' and '// counts:'"])]


def parse(text: str, path: Path) -> tuple[Query, list[str]]:
    """The query of one file and the faults of its header (empty = fine)."""
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
    faults += [f"{form} is no role of a layout" for form in _unknown_forms(body)]
    faults += [f"${name} is called as a field of the layout" for name in sorted(declared & FIELDS) if query.speaks_roles]
    faults += [f"${name} is used but not declared" for name in sorted(used - declared)]
    faults += [f"${name} is declared but not used" for name in sorted(declared - used)]
    faults += [f"{name} is called but not in 'needs'" for name in sorted(called - needs)]
    faults += [f"{name} is in 'needs' but not called" for name in sorted(needs - called)]
    return faults
