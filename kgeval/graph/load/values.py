"""Cells of strangers' graphs as text, numbers, lists and properties. What a cell can be stands in kgeval.tables.cells; here is what graphs
have besides: a field's name in each Misfit (a fault of that row), merged texts with `<SEP>`, what Neo4j can store.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from kgeval.tables import cells
from kgeval.tables.cells import Misfit as Misfit
from kgeval.tables.plain import loads

SEPARATOR = "<SEP>"  # LightRAG and nano-graphrag join what they merge by it
LARGEST = 2**63
LONGEST_NAME = 1_000  # characters of a property's name
# no 64-bit number has more digits, and Python refuses to read texts of some thousand
_DIGITS = re.compile(r"\s*[+-]?[0-9]{1,19}\s*")


def text(value: Any, field: str) -> str | None:
    """The value as text, unchanged (1.0 stays `1.0`: only ids lose a fraction); None for a missing, blank or NaN value. Raises Misfit."""
    if isinstance(value, float) and not math.isnan(value):
        return str(value)
    try:
        out = cells.text(value)
    except Misfit as misfit:
        raise Misfit(f"{field}: {misfit}") from misfit
    return None if out is None else _whole(out, field)


def one_a_line(description: str | None) -> str | None:
    """A description with its pieces one a line, as kgeval build merges them."""
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
    """The value as an id: text, but 1.0 is `1`. Raises Misfit where it is missing or blank."""
    return needed(cells.unfloated(value), field)


def number(value: Any, field: str) -> float | None:
    """The value as a float; None for a missing, blank or NaN value. Raises Misfit for other text."""
    try:
        return cells.any_number(value)
    except Misfit as misfit:
        raise Misfit(f"{field}: {misfit}") from misfit


def whole_number(value: Any, field: str) -> int | None:
    """The value as an int, or None. Raises Misfit for what is no whole number of 64 bits with a sign."""
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        value = int(value)  # exact, where a float keeps 53 bits
    out = value if isinstance(value, int) else number(value, field)
    if out is not None and not (out == out // 1 and -LARGEST <= out < LARGEST):
        raise Misfit(f"{field}: a whole number expected, found {str(value)[:40]!r}")
    return None if out is None else int(out)


def texts(value: Any, field: str, *, separators: str = "") -> list[str]:
    """The value as a list of distinct texts in their order: a list, a JSON list, or text split at `<SEP>` and separators. Whole
    floats are taken as in `key`, since such lists name things."""
    items = value
    if not isinstance(value, list | tuple | set):
        line = text(cells.unfloated(value), field)
        if line is None:
            return []
        items = _json(line) if line.lstrip().startswith("[") else None
        if not isinstance(items, list):  # a name may begin with a bracket
            for separator in separators:
                line = line.replace(separator, SEPARATOR)
            return distinct(part.strip() for part in line.split(SEPARATOR))
    return distinct(text(cells.unfloated(item), field) for item in items)


def numbers(value: Any, field: str) -> list[float] | None:
    """The value as a list of floats (an embedding): a list, or JSON text of one; None where it is missing or empty. Raises Misfit."""
    if cells.absent(value):
        return None
    items = _json(value) if isinstance(value, str) else value
    if items is None:
        raise Misfit(f"{field}: a JSON list of numbers expected, found {value[:40]!r}")
    floats = [number(item, field) for item in items] if isinstance(items, list | tuple) else [None]
    if any(item is None for item in floats):
        raise Misfit(f"{field}: a list of numbers expected")
    return [item for item in floats if item is not None] or None


def _json(value: str) -> Any:
    """A JSON text's value; None for what is none, is nested too deeply, or holds a number of too many digits."""
    try:
        return loads(value)
    except (ValueError, RecursionError):
        return None


def distinct(items: Iterable[str | None]) -> list[str]:
    """The items without Nones, blanks and repeats, in their order."""
    return [item for item in dict.fromkeys(items) if item and item.strip()]


def properties(row: Mapping[str, Any], without: Iterable[str]) -> dict[str, Any]:
    """What else a row holds, as Neo4j properties: scalars and lists of one kind as they are, the rest as JSON text."""
    used = set(without)
    stored = {
        # Neo4j allows no NUL in a property's name
        _whole(_short(str(key)), "a property's name").replace("\0", ""): _property(value, str(key))
        for key, value in row.items() if key and key not in used
    }
    return {key: value for key, value in stored.items() if value is not None and key}


def _short(name: str) -> str:
    """The name itself. Raises Misfit for one of more than 1,000 characters: a file has it once, and each node and relation would get it."""
    if len(name) > LONGEST_NAME:
        raise Misfit(f"a property's name has {len(name):,} characters, at most {LONGEST_NAME:,} are read: {name[:40]!r}")
    return name


def _property(value: Any, field: str) -> Any:
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        return _whole(value, field)
    if isinstance(value, int) and not -LARGEST <= value < LARGEST:
        return str(value)
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, list) and len({type(item) for item in value}) == 1 and _is_storable(value):
        return [_whole(item, field) if isinstance(item, str) else item for item in value]
    return _whole(json.dumps(value, ensure_ascii=False, default=str), field)


def _is_storable(items: list[Any]) -> bool:
    """Whether a list of one kind can be a property: texts, floats, booleans, or whole numbers of 64 bits."""
    return isinstance(items[0], str | float) or (isinstance(items[0], int) and max(map(abs, items)) < LARGEST)


def _whole(value: str, field: str) -> str:
    """The text itself. Raises Misfit where it holds half a surrogate pair, which no database can store."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as cause:
        raise Misfit(f"{field}: holds half a surrogate pair (a broken \\u escape)") from cause
    return value
