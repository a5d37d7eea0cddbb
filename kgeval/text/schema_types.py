"""Names of property types: those of neo4j-graphrag (ZONED_DATETIME) and those of Neo4j (ZONED DATETIME) are the same."""

from __future__ import annotations

import re

PLAIN = (
    "BOOLEAN", "DATE", "DURATION", "FLOAT", "INTEGER", "LIST", "LOCAL DATETIME", "LOCAL TIME", "POINT", "STRING",
    "ZONED DATETIME", "ZONED TIME",
)
SYNONYMS = {"BOOL": "BOOLEAN", "INT": "INTEGER", "DATETIME": "ZONED DATETIME", "TIME": "ZONED TIME"}
ANYTHING = ("ANY", "PROPERTY VALUE")
_LIST = re.compile(r"LIST<(.+)>")


def property_types(text: str, *, checked: bool = True) -> list[str]:
    """The types in a declaration such as `STRING`, `LIST<STRING>` or `INTEGER | FLOAT`; empty = any value fits.

    Raises: ValueError that names an unknown type, if `checked`.
    """
    names = [_name(part) for part in text.split("|")]
    if any(name in ANYTHING for name in names):
        return []
    unknown = [name for name in names if not _is_known(name)]
    if unknown and checked:
        raise ValueError(f"unknown property type '{unknown[0]}'; known: {', '.join(PLAIN)}, LIST<...>, ANY")
    return list(dict.fromkeys(names))


def _name(text: str) -> str:
    plain = re.sub(r"\s+", " ", text.upper().replace("_", " ").replace("NOT NULL", "")).strip().replace(" >", ">")
    inner = _LIST.fullmatch(plain)
    return f"LIST<{_name(inner[1])}>" if inner else SYNONYMS.get(plain, plain)


def _is_known(name: str) -> bool:
    inner = _LIST.fullmatch(name)
    return name in PLAIN or (inner is not None and inner[1] in PLAIN)
