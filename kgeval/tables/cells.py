"""Values of strangers' rows as what a field needs. What does not fit raises Misfit: a fault that names the field.

None, NaN and, outside the answer itself, a blank text mean that the value is absent. An infinity is a fault.
"""

from __future__ import annotations

import ast
import io
import math
import tokenize
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from kgeval.tables.plain import loads

TEXTS = ("text", "content", "page_content", "chunk", "contents", "statement", "passage", "chunk_text")
IDS = ("chunk_id", "id", "doc_id", "_id", "context_id")
DOCUMENTS = ("document", "source", "title", "file_path", "document_id", "doc_name")
SCORES = ("score", "similarity", "relevance_score", "rank_score")
POINTS = ("statement", "point", "fact", "claim", "text")
# Characters. The tree that Python makes of a text takes some 180 times its size: 1.6 GB for 9 MB.
LONGEST_LITERAL = 10_000_000
LARGEST = 1e100  # of numbers with a sign: squares and sums of larger ones are none
EXACT = 2**53  # floats below it stand for one whole number each
TRUTH = {"true": 1.0, "yes": 1.0, "pass": 1.0, "passed": 1.0, "false": 0.0, "no": 0.0, "fail": 0.0, "failed": 0.0}
NO_NUMBER = ("nan", "none", "null", "n/a", "na", "-")
_WHITE = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT)


class Misfit(ValueError):
    """A value that cannot be taken as what its field needs. `fix`: what its user can do, where that is more than to correct the row."""

    def __init__(self, what: str, fix: str = "") -> None:
        super().__init__(what)
        self.fix = fix


def absent(value: Any) -> bool:
    """True for None, NaN, and a blank text."""
    return value is None or (isinstance(value, float) and math.isnan(value)) or (isinstance(value, str) and not value.strip())


def text(value: Any) -> str | None:
    """The value as text, unchanged; a whole float without its fraction (12.0 is "12": pandas makes floats of ids). Raises: Misfit for
    lists, maps and infinities."""
    if absent(value):
        return None
    if isinstance(value, list | dict | tuple | set):
        raise Misfit(f"a text expected, found {_what(value)}")
    if isinstance(value, float) and math.isinf(value):
        raise Misfit("a text expected, found an infinite number")
    return str(unfloated(value))


def spaced(question: str) -> str:
    """The text of a question with one blank between words: by it two files' questions are compared."""
    return " ".join(question.split())


def unfloated(value: Any) -> Any:
    """A whole float as the whole number that it was before a gap made floats of its column, as pandas does; else the value itself."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < EXACT else value


def answer_text(value: Any) -> str | None:
    """The system's answer: any text, blank ones too; None where there is none."""
    return value if isinstance(value, str) else text(value)


def name(value: Any) -> str | None:
    """An id or a name: a text, or a whole number as text."""
    if isinstance(value, bool):
        raise Misfit("an id expected, found a truth value")
    return text(value)


def any_number(value: Any) -> float | None:
    """The value as a float, infinities too; None where it is absent or says nan. Raises: Misfit for what is no number."""
    if absent(value):
        return None
    try:
        out = float(value)
    except (TypeError, ValueError, OverflowError) as cause:  # OverflowError: a whole number of more than 308 digits
        raise Misfit(f"a number expected, found {_what(value)}") from cause
    return None if math.isnan(out) else out


def number(value: Any) -> float | None:
    """The value as a float of 0 or more. Raises: Misfit for truth values and other text, infinities and negative numbers."""
    # float() would take it: True is 1.0.
    if isinstance(value, bool):
        raise Misfit(f"a number expected, found {_what(value)}")
    out = any_number(value)
    if out is not None and not 0 <= out < math.inf:
        raise Misfit(f"a number of 0 or more expected, found {value}")
    return out


def whole(value: Any) -> int | None:
    """The value as an int of 0 or more."""
    out = number(value)
    if out is not None and not out.is_integer():
        raise Misfit(f"a whole number expected, found {_what(value)}")
    return None if out is None else int(out)


def signed(value: Any) -> float | None:
    """A finite number, None where the cell is empty or says so; yes/no words and truth values are 1 and 0. Raises: Misfit."""
    word = value.strip().lower() if isinstance(value, str) else ""
    out = TRUTH[word] if word in TRUTH else None if word in NO_NUMBER else any_number(value)
    if out is not None and math.isinf(out):
        raise Misfit("a finite number expected, found an infinite one")
    if out is not None and abs(out) > LARGEST:
        raise Misfit(f"a number from -{LARGEST:g} to {LARGEST:g} expected, found {out:g}: its square cannot be computed")
    return out


def counted(value: Any) -> int | None:
    """A whole number of 0 or more, None where the cell is empty. Raises: Misfit."""
    out = signed(value)
    if out is not None and (not out.is_integer() or out < 0):
        raise Misfit(f"a whole number of 0 or more expected, found {str(value)[:40]!r}")
    return None if out is None else int(out)


def share(value: Any) -> float | None:
    """A number from 0 to 1, or a word for it. Raises: Misfit."""
    out = signed(value)
    if out is not None and not 0 <= out <= 1:
        raise Misfit(f"{out:g} is outside 0 to 1")
    return out


def flag(value: Any) -> bool | None:
    """A truth value, or a word or number for it. Raises: Misfit."""
    out = signed(value)
    if out not in (None, 0.0, 1.0):
        raise Misfit(f"true or false expected, found {str(value)[:40]!r}")
    return None if out is None else bool(out)


def text_unless_false(value: Any) -> str | None:
    """A text, also where false says that there is none."""
    return None if value is False else text(value)


def unread(value: Any) -> Any:
    """The value as it stands, for what can be read only when more is known."""
    return value


def listed(value: Any) -> list[Any] | None:
    """The value as a list: one that is written as text (JSON, or Python's form) is read; a single value is a list of one."""
    if absent(value):
        return None
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, str) and value.lstrip().startswith("["):
        return _literal(value)
    # A missing value that passed through str() in pandas.
    return None if isinstance(value, str) and value.strip().lower() == "nan" else [value]


def _literal(value: str) -> list[Any]:
    """A list that is written in a cell. A text in brackets that is no list is one text. Raises: Misfit for numpy's printed form."""
    stripped = value.strip()
    try:
        parsed = loads(stripped)
    except (ValueError, RecursionError):
        if not stripped.endswith("]") or len(stripped) > LONGEST_LITERAL:
            return [value]
        if _side_by_side(stripped):
            raise Misfit("a list without commas, as numpy prints it: its parts cannot be told apart; write lists as JSON") from None
        try:
            parsed = ast.literal_eval(stripped)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            return [value]
    return list(parsed) if isinstance(parsed, list | tuple) else [value]


def _side_by_side(literal: str) -> bool:
    """True where two strings stand beside each other without a comma, which Python would join."""
    try:
        tokens = [token.type for token in tokenize.generate_tokens(io.StringIO(literal).readline) if token.type not in _WHITE]
    except (tokenize.TokenError, SyntaxError):
        return False
    return any(first == second == tokenize.STRING for first, second in pairwise(tokens))


def texts(value: Any) -> list[str] | None:
    """A list of texts; of objects with a text, that text. Empty items are left out."""
    items = listed(value)
    if items is None:
        return None
    return [body for item in items if (body := text(_first(item, POINTS) if isinstance(item, Mapping) else item)) is not None]


def lines(value: Any) -> list[str] | None:
    """A list of texts; of one text, its lines."""
    items = texts(value)
    return [line.strip() for line in items[0].splitlines() if line.strip()] if items and len(items) == 1 else items


def names(value: Any) -> list[str] | None:
    """A list of ids or names; of objects, their id or name."""
    items = listed(value)
    if items is None:
        return None
    keys = (*IDS, "element_id", "key", "name")
    return [label for item in items if (label := name(_first(item, keys) if isinstance(item, Mapping) else item)) is not None]


def kinds(value: Any) -> str | list[str] | None:
    """A type, or several."""
    several = texts(value)
    return None if not several else several[0] if len(several) == 1 else several


def passages(value: Any) -> list[dict[str, Any]] | None:
    """Passages, as fields of a record: from a list of texts or objects, or one of them. Empty items are left out."""
    items = [value] if isinstance(value, Mapping) else listed(value)
    if items is None:
        return None
    if isinstance(value, str) and not all(item is None or isinstance(item, str | Mapping) for item in items):
        items = [value]  # a text such as "[1]"
    return [passage for item in items if (passage := _passage(item)) is not None]


def _passage(item: Any) -> dict[str, Any] | None:
    if absent(item):
        return None
    if isinstance(item, str):
        return {"text": item}
    if isinstance(item, Mapping):
        body = text(_first(item, TEXTS))
        fields = {
            "text": body or "", "chunk_id": name(_first(item, IDS)), "document": name(_first(item, DOCUMENTS)),
            "score": _signed(_first(item, SCORES)),
        }
        if body is None and fields["chunk_id"] is None:
            raise Misfit(f"a passage without a text and without an id (a text is looked for in: {', '.join(TEXTS)})")
        return {key: part for key, part in fields.items() if part is not None}
    raise Misfit(f"a list of texts or of objects with a text expected, found {_what(item)} in it")


def _signed(value: Any) -> float | None:
    """A retriever's score: any finite number; anything else is no score."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) else None


def id_groups(value: Any) -> list[list[str]] | None:
    """Groups of ids, of each of which one is needed: `[[a, b], [c]]`; a flat list is one group for each id."""
    items = listed(value)
    if items is None:
        return None
    return [group for item in items if (group := names(item) or [])]


def mapping(value: Any) -> dict[str, Any] | None:
    """An object, or one that is written as JSON."""
    if isinstance(value, str) and value.strip().startswith("{"):
        try:
            value = loads(value)
        except (ValueError, RecursionError) as cause:
            raise Misfit("an object expected, found text that is not JSON") from cause
    if absent(value):
        return None
    if not isinstance(value, Mapping):
        raise Misfit(f"an object expected, found {_what(value)}")
    return dict(value)


def refs(value: Any, kind: str = "entity") -> list[dict[str, Any]] | None:
    """Things of a graph: from names, or from objects with a key or a name."""
    items = listed(value)
    if items is None:
        return None
    things = []
    for item in items:
        if isinstance(item, Mapping):
            key = name(_first(item, ("key", "name", "id", "element_id")))
            things.append({"kind": kind, **item, "key": key, "name": name(item.get("name")) or key})
        elif (label := name(item)) is not None:
            things.append({"key": label, "name": label, "kind": kind})
    return things


def path(value: Any) -> dict[str, Any] | None:
    """The gold path: nodes, relations and texts."""
    gold = mapping(value)
    if gold is None:
        return None
    relations = gold.get("relations", gold.get("relationships"))
    unknown = set(gold) - {"nodes", "relations", "relationships", "text"}
    if unknown:
        raise Misfit(f"nodes, relations and text expected, found also: {', '.join(sorted(unknown))}")
    return {"nodes": refs(gold.get("nodes")) or [], "relations": refs(relations, "relation") or [], "text": texts(gold.get("text")) or []}


def triples(value: Any) -> list[dict[str, Any]] | None:
    """Triples: lists of three, or objects with subject, predicate and object (head, relation, tail)."""
    items = listed(value)
    if items is None:
        return None
    parsed: list[dict[str, Any]] = []
    for item in items:
        if isinstance(item, list | tuple) and len(item) == 3:
            subject, predicate, obj = (text(part) for part in item)
            parsed.append({"subject": subject, "predicate": predicate, "object": obj})
        elif isinstance(item, Mapping):
            other = {"head": "subject", "relation": "predicate", "tail": "object"}
            parsed.append({other.get(str(key), str(key)): part for key, part in item.items()})
        else:
            raise Misfit(f"triples expected: [subject, predicate, object], found {_what(item)}")
    return parsed


def citations(value: Any) -> list[dict[str, Any]] | None:
    """Citations: objects with claim, chunk_id and document, or ids of chunks."""
    items = listed(value)
    if items is None:
        return None
    return [dict(item) if isinstance(item, Mapping) else {"chunk_id": name(item)} for item in items if not absent(item)]


def _first(item: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((item[key] for key in keys if key in item and not absent(item[key])), None)


def _what(value: Any) -> str:
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if isinstance(value, list | tuple | set) else f"{str(value)[:40]!r}"
