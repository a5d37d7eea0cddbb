"""Which Cypher of strangers is run, and which is not, judged by the server's own plan of it and by its text. Pure.

READ access alone does not keep a query from reading files and addresses (LOAD CSV), from calling procedures that act outside the
database, or from ending other people's transactions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kgeval.graph.foreign import QueryPlan

LONGEST = 20_000  # characters
DEEPEST = 100  # brackets in brackets, and CASE or NOT: some more make servers lose their stack, and with it the connection
MOST_CHAINED = 100  # a + b + c ..., a[0][0] ..., ()-->()-->() ...: some hundreds do the same
MOST_COUNTED = 1_000_000  # the end of a range: one value can be a list as long as that
READING_PROCEDURES = (
    "db.labels", "db.relationshipTypes", "db.propertyKeys", "db.schema.*", "db.index.fulltext.queryNodes",
    "db.index.fulltext.queryRelationships", "db.index.vector.queryNodes", "db.index.vector.queryRelationships",
    "apoc.path.*", "apoc.neighbors.*", "apoc.algo.*",
)
READING_FUNCTIONS = (
    "date.*", "time.*", "datetime.*", "localtime.*", "localdatetime.*", "duration.*", "point.*", "vector.*", "gds.similarity.*",
    "apoc.agg.*", "apoc.any.*", "apoc.coll.*", "apoc.convert.*", "apoc.date.*", "apoc.label.*", "apoc.map.*", "apoc.math.*",
    "apoc.meta.*", "apoc.node.*", "apoc.nodes.*", "apoc.number.*", "apoc.path.*", "apoc.rel.*", "apoc.temporal.*", "apoc.text.*",
)
_ESCAPED = re.compile(r"\\u+([0-9a-fA-F]{4})")
# back-ticked names, strings, comments: whichever opens first hides what looks like another inside it; \r ends a comment as \n does
# What is not closed goes to the end: else each quote in it would be a new beginning.
_TOKEN = re.compile(
    r"`(?:``|[^`])*+(?:`|\Z)|'(?:\\.|[^'\\])*+(?:'|\\?\Z)|\"(?:\\.|[^\"\\])*+(?:\"|\\?\Z)|//[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL,
)
_NO_NAME = re.compile(r"[^\w.]")
# whole names, called or not, so that a long one is looked at once
_NAMES = re.compile(r"([^\W\d]\w*+(?:\s*+\.\s*+[^\W\d]\w*+)*+)(\s*+\()?")
_TICKED = re.compile(r"`(?:``|[^`])*`")
_CALL = re.compile(r"\s*([\w.`]+)\s*\(")
_PROCEDURE = re.compile(r"\bCALL\s+([^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)+)", re.IGNORECASE)
_STACKED = re.compile(r"\b(?:CASE|NOT|XOR|UNION)\b|\^", re.IGNORECASE)
# `!` is the NOT of label expressions
_CHAINED = re.compile(r"[+!]|\]\s*\[|\)\s*<?-")
_RANGE = re.compile(r"\brange\s*\(", re.IGNORECASE)
_INTEGER = re.compile(r"\b(?:0[xX][0-9a-fA-F]+|\d+)\b")
_LOAD = re.compile(r"\bLOAD\s+CSV\b", re.IGNORECASE)


def invalid(plan: QueryPlan) -> str | None:
    """Why a planned query cannot be an answer's Cypher: it would write, change the schema or the server, or load files. None: it can."""
    if any(operator.name == "LoadCSV" for operator in plan.operators):
        return "not run: it loads a file or an address with LOAD CSV"
    if plan.kind != "r":
        what = {"w": "it writes", "rw": "it writes", "s": "it changes the schema or administers the server"}
        return f"not run: {what.get(plan.kind, 'it is no read')}; only reading is allowed"
    return None


def refused(plan: QueryPlan, text: str, database: str) -> str | None:
    """Why kgeval does not run a query that may be fine elsewhere: it leaves the database, or calls what is not known to read only.

None: it is run. Its plan says what it calls; its text is looked at as well.
    """
    for operator in plan.operators:
        if operator.database and operator.database.casefold() != database.casefold():
            return "it reads another database"
        if operator.name.startswith(("Show", "Terminate")):
            return "it lists or ends something on the server"
        if operator.name == "ProcedureCall" and not _known(_procedure(operator.details), READING_PROCEDURES):
            return f"it calls {_procedure(operator.details) or 'a procedure'}, which is not known to read only"
    if any(_RANGE.search(words) and _largest(words) > MOST_COUNTED for words in _readings(text)):
        return f"it makes a range with a number above {MOST_COUNTED}, which can fill the memory"
    known = (*READING_FUNCTIONS, *READING_PROCEDURES)
    shown = [_TICKED.sub(" ", operator.details) for operator in plan.operators]
    for words in (*_readings(text), *shown):
        strange = [name for name in _calls(words) if not _known(name, known)]
        strange += [name for name in _procedures(words) if not _known(name, READING_PROCEDURES)]  # a plan hides those of subqueries
        if strange:
            return f"it calls {strange[0]}, which is not known to read only"
    return None


def too_early(text: str) -> str | None:
    """What makes even planning needless or dangerous: nothing in it, too long, nested too deep, LOAD CSV. None: plan it."""
    if not text.strip():
        return "it is empty"
    if len(text) > LONGEST:
        return f"not run: it is longer than {LONGEST} characters"
    readings = [_unnamed(reading) for reading in (text, _unescaped(text))]
    if any(_depth(words) > DEEPEST or len(_STACKED.findall(words)) > DEEPEST for words in readings):
        return f"not run: it is nested more than {DEEPEST} levels deep"
    if any(len(_CHAINED.findall(words)) > MOST_CHAINED for words in readings):
        return f"not run: it chains more than {MOST_CHAINED} operators or relations"
    loads = any(_LOAD.search(words) for words in readings)  # a plan does not show those of subqueries
    return "not run: it loads a file or an address with LOAD CSV" if loads else None


def ends_ordered(text: str) -> bool:
    """Whether the last RETURN of a query sorts its rows. Cypher's words, strings and comments left out."""
    visible = _unnamed(_unescaped(text))
    last = re.split(r"\bRETURN\b", _outermost(visible), flags=re.IGNORECASE)[-1]
    return re.search(r"\bORDER\s+BY\b", last, re.IGNORECASE) is not None


def _largest(words: str) -> int:
    return max((int(number, 16 if number[:2] in ("0x", "0X") else 10) for number in _INTEGER.findall(words)), default=0)


def _outermost(text: str) -> str:
    """The text outside braces: subqueries and maps are left out."""
    depth, kept = 0, []
    for character in text:
        depth += (character == "{") - (character == "}")
        if depth <= 0 and character != "}":
            kept.append(character)
    return "".join(kept)


def _depth(text: str) -> int:
    depth = deepest = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        deepest = max(deepest, depth)
    return deepest


def _readings(text: str) -> tuple[str, str]:
    """What the server reads as words, strings and comments away, ticks off: with escapes undone first of all (Cypher 5), and as it
    stands (Cypher 25 undoes them inside strings only)."""
    return _TOKEN.sub(_named, _unescaped(text)), _TOKEN.sub(_named, text)


def _named(found: re.Match[str]) -> str:
    """A back-ticked name without its ticks, what cannot be in the name of a function taken out; a blank for strings and comments."""
    return _NO_NAME.sub("_", found[0][1:-1]) if found[0][0] == "`" else " "


def _unnamed(text: str) -> str:
    """Keywords, signs and bare names: strings and comments away, and "_" for a back-ticked name, which is never a keyword."""
    return _TOKEN.sub(lambda found: "_" if found[0][0] == "`" else " ", text)


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    return chr(int(found[1], 16))


def _calls(text: str) -> Iterator[str]:
    """Names with a dot that are called in a text."""
    for name in _NAMES.finditer(text):
        if name[2] and "." in name[1]:
            yield re.sub(r"\s+", "", name[1])


def _procedures(text: str) -> Iterator[str]:
    """Names with a dot after CALL."""
    for call in _PROCEDURE.finditer(text):
        yield re.sub(r"\s+", "", call[1])


def _procedure(details: str) -> str:
    match = _CALL.match(details)
    return match[1].replace("`", "") if match else ""


def _known(name: str, patterns: tuple[str, ...]) -> bool:
    low = name.casefold()
    return any(low.startswith(p[:-1].casefold()) if p.endswith("*") else low == p.casefold() for p in patterns)
