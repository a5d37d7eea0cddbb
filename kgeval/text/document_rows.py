"""Documents as rows of JSONL, or in a JSON file: with the field names that other tools use."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from kgeval.graph.load.values import Misfit, needed, text
from kgeval.limits import parse_json
from kgeval.records import Document
from kgeval.tables import Line, fields
from kgeval.text.clean import clean_line, clean_text

LISTS = ("documents", "docs", "corpus", "data", "rows", "items")
_ITEM = "item"


def rows_of_lines(body: str, name: str) -> Iterator[Line]:
    """One JSON value a line; blank lines are passed over, a faulty line comes with its fault."""
    # not splitlines: U+2028 may stand inside a JSON text
    for number, line in enumerate(body.split("\n"), start=1):
        if line.strip():
            yield _loaded(line, f"{name}:{number}")


def rows_of_json(body: str, name: str) -> Iterator[Line]:
    """The documents of a JSON file: a list, a list under a known key, one document, or a map from id to document or text."""
    whole = _loaded(body, name)
    if whole.fault:
        yield whole
        return
    value = whole.value
    if isinstance(value, dict) and "text" not in columns(value):
        listed = next((value[key] for key in LISTS if isinstance(value.get(key), list)), None)
        value = listed if listed is not None else [_keyed(key, row) for key, row in value.items()]
    if isinstance(value, dict):
        yield Line(name, value)
        return
    if not isinstance(value, list) or not value:
        yield Line(name, fault="holds no documents: a list of objects with a text is needed")
        return
    for number, row in enumerate(value, start=1):
        yield Line(f"{name}: {_ITEM} {number}", row)


def _keyed(key: str, row: Any) -> Any:
    """A map's entry as a row: the key is the id where the row has none of its own."""
    if isinstance(row, str):
        return {"id": key, "text": row}
    return {"id": key, **row} if isinstance(row, dict) and "text" in columns(row) else row


def _loaded(body: str, where: str) -> Line:
    try:
        # NaN, which pandas writes for what is missing, becomes None
        return Line(where, parse_json(body, lambda _: None))
    except json.JSONDecodeError as cause:
        return Line(where, fault=f"not JSON: {cause.msg} (line {cause.lineno}, column {cause.colno})")
    except ValueError as cause:
        return Line(where, fault=f"not JSON that can be read: {str(cause).splitlines()[0][:100]}")


def columns(row: Mapping[str, Any]) -> dict[str, str]:
    """Which of the row's keys holds which field."""
    return fields.columns(row, fields.DOCUMENTS)


def document_of(row: Any, name: str) -> tuple[Document, int]:
    """The document of a row, and how many characters were removed from its text. Without an id it gets one made from its text.

    Raises: Misfit for a row without a text, or with values that do not fit.
    """
    if not isinstance(row, dict):
        raise Misfit(f"an object with a text expected, found {_kind(row)}")
    key_of = columns(row)
    if "text" not in key_of:
        names = ", ".join(fields.DOCUMENTS["text"][:5])
        raise Misfit(f"no text: a field called {names} is needed; found: {', '.join(map(str, row))[:100]}")
    body, removed = clean_text(_body(row[key_of["text"]], key_of["text"]))
    if not body.strip():
        raise Misfit(f"{key_of['text']}: is empty")
    own = text(row[key_of["id"]], key_of["id"]) if "id" in key_of else None
    key = clean_line(own) if own else f"{name}#{hashlib.sha256(body.encode()).hexdigest()[:16]}"
    title = text(row[key_of["title"]], key_of["title"]) if "title" in key_of else None
    try:
        document = Document(id=needed(key, "id"), title=clean_line(title) if title else None, text=body, metadata=_metadata(row, key_of))
    except (ValidationError, RecursionError) as cause:
        raise Misfit("metadata: cannot be kept (nested too deeply, or no JSON)") from cause
    return document, removed


def _body(value: Any, name: str) -> str:
    """A text, or a list of texts as paragraphs."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return "\n\n".join(value)
    raise Misfit(f"{name}: text expected, found {_kind(value)}")


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number"}
    return kinds.get(type(value), "null")


def _metadata(row: Mapping[str, Any], found: Mapping[str, str]) -> dict[str, Any]:
    used = set(found.values())
    own = row.get("metadata")
    rest = {key: value for key, value in row.items() if key not in used and not (key == "metadata" and isinstance(own, dict))}
    return {str(_cleaned(key)): _cleaned(value) for key, value in {**(own if isinstance(own, dict) else {}), **rest}.items()}


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)[0]
    if isinstance(value, list):
        return [_cleaned(part) for part in value]
    if isinstance(value, dict):
        return {str(_cleaned(key)): _cleaned(part) for key, part in value.items()}
    return value
