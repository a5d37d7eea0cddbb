"""Cells of strangers' files as text, numbers, lists and properties. What does not fit raises Misfit: a fault of that row."""

from __future__ import annotations

import contextlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from kgeval.files.cells import Misfit as Misfit

SEPARATOR = "<SEP>"
LARGEST = 2**63
EXACT = 2**53  # floats below it stand for one whole number each
_DIGITS = re.compile(r"\s*[+-]?[0-9]{1,19}\s*")


def text(value: Any, field: str) -> str | None:
    """The value as text, unchanged; null for a missing, blank or NaN value. Raises Misfit for lists and maps."""
    if isinstance(value, str):
        return None if not value or value.isspace() else _whole(value, field)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, list | dict | tuple | set):
        raise Misfit(f"{field}: text expected, found a {'map' if isinstance(value, dict) else 'list'}")
    return str(value)


def one_a_line(description: str | None) -> str | None:
    """A description with its pieces one a line, as kgeval build merges them: LightRAG and nano-graphrag join them by `<SEP>`."""
    if description is None or SEPARATOR not in description:
        return description
    return "\n".join(distinct(part.strip() for part in description.split(SEPARATOR))) or None


def needed(value: Any, field: str) -> str:
    """The value as text. Raises Misfit where it is missing or blank."""
    out = text(value, field)
    if out is None:
        raise Misfit(f"{field}: missing or empty")
    return out


def key(value: Any, field: str) -> str:
    """The value as an id: text, but 1.0 is `1` (see `whole`). Raises Misfit where it is missing or blank."""
    return needed(whole(value), field)


def whole(value: Any) -> Any:
    """A whole float as the whole number that it was before a gap made floats of its column, as pandas does; else the value itself."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < EXACT else value


def number(value: Any, field: str) -> float | None:
    """The value as a float; null for a missing, blank or NaN value. Raises Misfit for other text."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        out = float(value)
    except (TypeError, ValueError, OverflowError) as cause:
        raise Misfit(f"{field}: a number expected, found {str(value)[:40]!r}") from cause
    return None if math.isnan(out) else out


def whole_number(value: Any, field: str) -> int | None:
    """The value as an int, or null. Raises Misfit for what is no whole number of 64 bits with a sign."""
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        value = int(value)  # exact, where a float keeps 53 bits
    out = value if isinstance(value, int) else number(value, field)
    if out is not None and not (out == out // 1 and -LARGEST <= out < LARGEST):
        raise Misfit(f"{field}: a whole number expected, found {str(value)[:40]!r}")
    return None if out is None else int(out)


def texts(value: Any, field: str, *, separators: str = "") -> list[str]:
    """The value as a list of distinct texts in their order: a list, a JSON list, or text split at `<SEP>` and separators. Whole
    floats are taken as in `key`, since such lists name things."""
    if isinstance(value, list | tuple | set):
        return distinct(text(whole(item), field) for item in value)
    line = text(whole(value), field)
    if line is None:
        return []
    if line.lstrip().startswith("["):
        items = None
        with contextlib.suppress(ValueError):
            items = _parsed(line)
        if items is not None:
            return distinct(text(whole(item), field) for item in items)
    for separator in separators:
        line = line.replace(separator, SEPARATOR)
    return distinct(part.strip() for part in line.split(SEPARATOR))


def numbers(value: Any, field: str) -> list[float] | None:
    """The value as a list of floats (an embedding): a list, or JSON text of one; null where it is missing or empty. Raises Misfit."""
    if isinstance(value, str):
        if not value.strip():
            return None
        try:
            value = _parsed(value)
        except ValueError as cause:
            raise Misfit(f"{field}: a JSON list of numbers expected, found {value[:40]!r}") from cause
    if value is None:
        return None
    found = [number(item, field) for item in value] if isinstance(value, list | tuple) else [None]
    if any(item is None for item in found):
        raise Misfit(f"{field}: a list of numbers expected")
    return [item for item in found if item is not None] or None


def _parsed(value: str) -> Any:
    """A JSON text's value. Raises ValueError for what is none, is nested too deeply, or holds a number of too many digits."""
    try:
        return json.loads(value)
    except RecursionError as cause:
        raise ValueError("nested too deeply") from cause


def distinct(items: Iterable[str | None]) -> list[str]:
    """The items without nulls, blanks and repeats, in their order."""
    return [item for item in dict.fromkeys(items) if item and item.strip()]


def properties(row: Mapping[str, Any], without: Iterable[str]) -> dict[str, Any]:
    """What else a row holds, as Neo4j properties: scalars and lists of one kind as they are, the rest as JSON text."""
    used = set(without)
    left = {str(key): value for key, value in row.items() if key and key not in used}
    if not left:
        return {}
    stored = {_whole(key, "a property's name").replace("\0", ""): _property(value, key) for key, value in left.items()}
    return {key: value for key, value in stored.items() if value is not None and key}


def _property(value: Any, field: str) -> Any:
    if value is None or value == "" or isinstance(value, bool):
        return None if value == "" else value
    if isinstance(value, str):
        return _whole(value, field)
    if isinstance(value, int):
        return value if -LARGEST <= value < LARGEST else str(value)
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, list) and len({type(item) for item in value}) == 1 and _storable(value[0], max(value, key=_size)):
        return [_whole(item, field) if isinstance(item, str) else item for item in value]
    return _whole(json.dumps(value, ensure_ascii=False, default=str), field)


def _storable(first: Any, largest: Any) -> bool:
    """Whether a list of one kind can be a property: texts, floats, booleans, or whole numbers of 64 bits."""
    return isinstance(first, str | float) or (isinstance(first, int) and _size(largest) < LARGEST)


def _size(item: Any) -> int:
    return abs(item) if isinstance(item, int) else 0


def _whole(value: str, field: str) -> str:
    """The text itself. Raises Misfit where it holds half a surrogate pair, which no database can store."""
    if value.isascii():
        return value
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as cause:
        raise Misfit(f"{field}: holds half a surrogate pair (a broken \\u escape)") from cause
    return value
