"""The JSON Schema of a reply class, as endpoints want it. Made once a class.

Models write a reply's fields in the schema's order, so that order decides what is thought before what: fields are sent as the class
declares them, a reason before its verdict.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal

from kgeval.llm.calls import Reply
from kgeval.llm.tags import POINTING

# object_schema: {"type": "json_object", "schema": ...}, how llama-cpp-python and some hosts take a schema that they enforce
# tokens of a text, entries of a list, levels of a schema that refers to itself: guesses until the first reply is there
LONG_TEXT, LONG_LIST, DEEPEST = 150, 20, 6
TAG_LENGTH, TAGS_LENGTH = 4, 24
Mode = Literal["json_schema", "object_schema", "json_object", "text"]
MODES: tuple[Mode, ...] = ("json_schema", "object_schema", "json_object", "text")
FIELD_ORDER = 2  # how a form's fields are ordered, part of the signatures of what a judge decides; 2: as declared


@dataclass(frozen=True)
class Shape:
    """A reply class as a schema: `text` is canonical JSON with the fields in declared order (it is what is sent, and part of journal
    keys), `strict` says that an endpoint may enforce it to the letter."""

    name: str
    text: str
    strict: bool

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The schema as a value."""
        value: dict[str, Any] = json.loads(self.text)
        return value

    def response_format(self, mode: Mode) -> dict[str, Any] | None:
        """What the request asks for, or None in mode text."""
        if mode == "json_schema":
            return {"type": "json_schema", "json_schema": {"name": self.name, "schema": self.schema, "strict": self.strict}}
        if mode == "object_schema":
            return {"type": "json_object", "schema": json.loads(self.text)}
        return {"type": "json_object"} if mode == "json_object" else None

    def usual_length(self, items: int) -> int:
        """About how many tokens a long reply of this form has, where none was seen yet. `items`: numbered items that were asked."""
        return _length(self.schema, self.schema.get("$defs", {}), items, depth=0)

    def instruction(self) -> str:
        """What tells a model the form of its reply where the endpoint cannot enforce it."""
        return f"Answer with one JSON object and nothing else, no code fence, no words around. It must fit this JSON Schema:\n{self.text}"


@cache
def shape_of(reply: type[Reply]) -> Shape:
    """The shape of a reply class."""
    schema = reply.model_json_schema()
    strict = _closed(schema)
    text = json.dumps(_ordered(schema), ensure_ascii=False, separators=(",", ":"))
    # 64 characters are OpenAI's limit for the name of a schema
    return Shape(name=reply.__name__.strip("_")[:64] or "reply", text=text, strict=strict)


def _length(node: Mapping[str, Any], named: Mapping[str, Any], items: int, *, depth: int) -> int:
    """Tokens of a value of a schema: texts of LONG_TEXT tokens, lists of the items that were asked or of LONG_LIST."""
    if depth > DEEPEST:
        return 0
    if "$ref" in node:
        node = named.get(str(node["$ref"]).rpartition("/")[2], {})
    if either := [*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("allOf", ())]:
        return max(_length(part, named, items, depth=depth + 1) for part in either)
    if fields := node.get("properties"):
        return sum(8 + (_tags_length(name, part) or _length(part, named, items, depth=depth + 1)) for name, part in fields.items())
    if node.get("type") == "array":
        return (items or LONG_LIST) * (4 + _length(node.get("items", {}), named, 0, depth=depth + 1))
    return LONG_TEXT if node.get("type") == "string" and "enum" not in node and "const" not in node else 8


def _tags_length(name: str, part: Mapping[str, Any]) -> int:
    """Tokens of a field that holds a tag or a few; 0 for others."""
    if name == "tag":
        return TAG_LENGTH
    return TAGS_LENGTH if name in POINTING and part.get("items", {}).get("type") == "string" else 0


def _closed(node: Any) -> bool:
    """Closes every object of the schema in place (all fields required, no others); False if one has free keys."""
    if isinstance(node, list):
        return min((_closed(part) for part in node), default=True)
    if not isinstance(node, dict):
        return True
    for word in ("default", "title") if "$ref" not in node else [word for word in node if word != "$ref"]:
        node.pop(word, None)
    named = [part for word in ("properties", "$defs") for part in node.get(word, {}).values()]
    others = [part for word, part in node.items() if word in ("items", "anyOf", "oneOf", "allOf", "prefixItems")]
    strict = min((_closed(part) for part in named + others), default=True)  # not all(): every part is to be closed
    if node.get("type") == "object":
        if "properties" not in node or isinstance(node.get("additionalProperties"), Mapping):
            return False
        node["additionalProperties"], node["required"] = False, list(node["properties"])
    return strict


def _ordered(node: Any, *, fields: bool = False) -> Any:
    """Words of JSON Schema by name, so that journal keys do not depend on pydantic's order; the fields of objects as declared."""
    if isinstance(node, list):
        return [_ordered(part) for part in node]
    if not isinstance(node, dict):
        return node
    return {word: _ordered(node[word], fields=word == "properties" and not fields) for word in (node if fields else sorted(node))}
