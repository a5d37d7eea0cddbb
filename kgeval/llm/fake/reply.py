"""Valid answers from a JSON schema: the same request gives the same answer, and an item its own whatever list it is shown in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from kgeval.llm.fake.request import Chat, draw
from kgeval.llm.tags import POINTING

# schemas may refer to themselves; below this only what is required, so that the reply ends
_DEPTH = 12
_WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "jetty", "knoll", "larch", "mesa", "north")
_FORMATS = {"date": "2001-02-03", "date-time": "2001-02-03T04:05:06Z", "uri": "http://localhost/", "email": "someone@example.org"}


@dataclass(frozen=True)
class Maker:
    """Makes a value that fits a schema. `definitions`: what `$ref` points to. `seed` picks among the possible values."""

    definitions: Mapping[str, Any]
    seed: str

    def make(self, schema: JsonValue, path: str = "", depth: int = 0) -> JsonValue:
        """A value for the schema at this place of the reply. Below a depth of 12 only what is required."""
        rule = self._resolve(schema)
        if "const" in rule:
            return rule["const"]  # type: ignore[no-any-return]
        if rule.get("enum"):
            return self._pick(path, list(rule["enum"]))
        for choice in ("anyOf", "oneOf"):
            if rule.get(choice):
                return self.make(rule[choice][0], path, depth + 1)
        kind = rule.get("type")
        kind = kind[0] if isinstance(kind, list) else kind or ("object" if "properties" in rule else "string")
        if kind == "object":
            return self._object(rule, path, depth)
        if kind == "array":
            return self._array(rule, path, depth)
        return self._plain(str(kind), rule, path)

    def _resolve(self, schema: JsonValue) -> dict[str, Any]:
        rule: dict[str, Any] = dict(schema) if isinstance(schema, dict) else {}
        for _ in range(_DEPTH):
            if "$ref" not in rule:
                break
            rule = dict(self.definitions.get(str(rule["$ref"]).rsplit("/", 1)[-1], {}))
        for part in rule.pop("allOf", []):
            rule = {**self._resolve(part), **rule}
        return rule

    def _object(self, rule: dict[str, Any], path: str, depth: int) -> dict[str, JsonValue]:
        fields = rule.get("properties", {})
        names = list(fields) if depth < _DEPTH else [name for name in fields if name in rule.get("required", ())]
        return {name: self.make(fields[name], f"{path}.{name}", depth + 1) for name in names}

    def _array(self, rule: dict[str, Any], path: str, depth: int) -> list[JsonValue]:
        least = int(rule.get("minItems", 0))
        size = max(least, 1 + self._number(path) % 2) if depth < _DEPTH else least
        size = min(size, int(rule.get("maxItems", size)))
        return [self.make(rule.get("items", {}), f"{path}[{index}]", depth + 1) for index in range(size)]

    def _plain(self, kind: str, rule: dict[str, Any], path: str) -> JsonValue:
        number = self._number(path)
        if kind == "boolean":
            return number % 2 == 0
        if kind == "null":
            return None
        if kind in ("integer", "number"):
            return self._amount(kind, rule, number)
        if rule.get("format") in _FORMATS:
            return _FORMATS[rule["format"]]
        words = f"{_WORDS[number % len(_WORDS)]} {_WORDS[number // 64 % len(_WORDS)]}"
        return words.ljust(int(rule.get("minLength", 0)), "x")[: int(rule.get("maxLength", 10**6))]

    def _amount(self, kind: str, rule: dict[str, Any], number: int) -> int | float:
        low = rule.get("minimum", rule.get("exclusiveMinimum", 0))
        high = rule.get("maximum", rule.get("exclusiveMaximum", low + 1 if kind == "number" else low + 10))
        if kind == "integer":
            first = int(low) + ("exclusiveMinimum" in rule and "minimum" not in rule)
            last = int(high) - ("exclusiveMaximum" in rule and "maximum" not in rule)
            return first + number % max(1, last - first + 1)
        return round(float(low) + (float(high) - float(low)) * (1 + number % 98) / 99, 6)

    def _pick(self, path: str, values: list[JsonValue]) -> JsonValue:
        return values[self._number(path) % len(values)]

    def _number(self, path: str) -> int:
        return draw(self.seed, path)


def answer(chat: Chat, seed: int, overrides: Mapping[str, Mapping[str, JsonValue]] | None = None) -> JsonValue:
    """The content of a right answer: an object that fits the request's schema, with one entry for each tag shown.

    Without a schema it is a sentence (items shown: an object with `items` all the same). `overrides`: tag -> fields of
    that item's entry that a script sets.
    """
    schema = chat.schema
    if schema is None and not chat.items:
        return f"The fake model answers: {draw(chat.subject):08x}."
    rule: Mapping[str, Any] = schema or {"type": "object", "properties": {"items": {"type": "array", "items": {}}}}
    definitions = rule.get("$defs") or rule.get("definitions") or {}
    if not chat.items:
        return _pointed(Maker(definitions, f"{seed}\0{chat.subject}").make(dict(rule)))
    whole = Maker(definitions, f"{seed}\0{chat.subject}").make(dict(rule))
    entry = _entry(Maker(definitions, ""), rule)
    rows: list[JsonValue] = []
    for tag, item in chat.items.items():
        row = Maker(definitions, f"{seed}\0{item}").make(entry)
        fields = _pointing(row, chat, f"{seed}\0{item}") if isinstance(row, dict) else {}
        rows.append({**fields, **(overrides or {}).get(tag, {}), "tag": tag})
    return {**(whole if isinstance(whole, dict) else {}), "items": rows}


def _pointing(row: dict[str, JsonValue], chat: Chat, seed: str) -> dict[str, JsonValue]:
    """An entry whose lists of tags point to what is shown: to one of them, by its text, whatever its tag is."""
    by_text = {text: tag for tag, text in sorted(chat.sources.items(), key=lambda shown: shown[1])}
    chosen: list[JsonValue] = [by_text[text] for text in list(by_text)[draw(seed) % max(1, len(by_text)) :][:1]]
    return {**row, **{name: chosen for name in POINTING if name in row and by_text}}


def _pointed(value: JsonValue) -> JsonValue:
    """Of a graph: entities numbered by their places, relations between these numbers, as a model's own answer has them."""
    entities, relations = (value.get(name) if isinstance(value, dict) else None for name in ("entities", "relations"))
    if isinstance(entities, list) and isinstance(relations, list):
        for place, row in enumerate(entities, start=1):
            if isinstance(row, dict) and "number" in row:
                row["number"] = place
        for row in relations:
            if isinstance(row, dict) and isinstance(row.get("source"), int) and isinstance(row.get("target"), int):
                row |= {"source": 1, "target": len(entities)}
    return value


def _entry(maker: Maker, rule: Mapping[str, Any]) -> JsonValue:
    items = maker._resolve(dict(rule)).get("properties", {}).get("items", {})
    return maker._resolve(items).get("items", {})  # type: ignore[no-any-return]


def written(value: JsonValue) -> str:
    """The content as a model would send it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
