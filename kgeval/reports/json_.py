"""A report as JSON: the record itself, keys sorted, so that two runs can be compared line by line."""

from __future__ import annotations

import json
import math
from typing import Any

from kgeval.records import Record


def render(report: Record, *, indent: int | None = 2) -> str:
    """The record as indented JSON with sorted keys and a newline at the end. Reads back with its class's model_validate_json.

    A number that is not finite becomes null. `indent` null: on one line, for programs.
    """
    return json.dumps(_clean(report.model_dump()), ensure_ascii=False, sort_keys=True, indent=indent, allow_nan=False) + "\n"


def _clean(value: Any) -> Any:
    """JSON has no NaN and UTF-8 has no lone surrogates: null and the replacement character stand for them."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):  # by UTF-16, so that two halves of a pair become their character, and only a half alone is lost
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, (list, tuple)) else value
