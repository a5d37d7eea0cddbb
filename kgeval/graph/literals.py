"""Values written as Cypher literals, for people who paste them into Neo4j Browser. kgeval itself sends parameters."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# also what is only a line end to some programs: a literal stays on its line wherever it is pasted
_CONTROLS = {chr(n): f"\\u{n:04X}" for n in (*range(32), *range(0x7F, 0xA0), 0x2028, 0x2029)}
# between backticks there is no escape but this one, which Cypher undoes before it reads the name
_NAME_ESCAPES = str.maketrans({**_CONTROLS, "\\": "\\u005C", "`": "``"})
_ESCAPES = str.maketrans({**_CONTROLS, "\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def cypher_literal(value: object) -> str:
    """The value as a Cypher literal on one line: null, booleans, numbers, text, lists and maps.

    Text is safe whatever it holds: quotes and backslashes are escaped, so a `\\u0027` in a user's text stays what it is.
    Raises: TypeError for other values, ValueError for infinities and for text with half a surrogate pair.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} cannot be written as a Cypher literal")
        return repr(value)
    if isinstance(value, str):
        value.encode("utf-8")  # half a surrogate pair cannot be sent: UnicodeEncodeError is a ValueError
        return f"'{value.translate(_ESCAPES)}'"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{cypher_name(str(k))}: {cypher_literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, Sequence | set | frozenset):
        items = sorted(value, key=str) if isinstance(value, set | frozenset) else value
        return "[" + ", ".join(cypher_literal(v) for v in items) + "]"
    raise TypeError(f"{type(value).__name__} cannot be written as a Cypher literal")


def cypher_name(name: str) -> str:
    """The name of a label, type, property or map key, quoted with backticks where it must be.

    Raises: ValueError for the empty name and for NUL, which Neo4j does not allow in names.
    """
    if _PLAIN.fullmatch(name):
        return name
    if not name or "\0" in name:
        raise ValueError("a name in Cypher must not be empty and must not hold NUL")
    # Cypher 5 undoes \uXXXX inside backticks too: a backslash of the name would begin one
    return "`" + name.translate(_NAME_ESCAPES) + "`"
