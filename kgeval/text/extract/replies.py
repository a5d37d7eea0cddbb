"""The form of an extraction reply, read with patience: what can be used of it is used, the rest is dropped and counted.

One unusable item among fifty is no reason to ask again. A reply of which most cannot be used is: what is left of it is chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from kgeval.llm.calls import Reply

_TEXT_KEYS = ("name", "text", "value", "label", "id")
_DEEPEST = 5


# The docstrings of these classes stand in the schema that the model is shown, and so in the journal's keys.


class FoundEntity(Reply):
    """An entity that the text names."""

    number: int  # below zero: the reply gave none that can be used
    name: str
    type: str
    description: str
    aliases: list[str]


class FoundRelation(Reply):
    """A relation that the text states. `source` and `target` are numbers of entities."""

    source: int
    target: int
    predicate: str
    description: str


class Found(Reply):
    """The entities that the text names and the relations that it states between them."""

    entities: list[FoundEntity]
    relations: list[FoundRelation]
    # items of the reply that could not be read, by cause; counted here, never asked for
    unusable: SkipJsonSchema[dict[str, int]] = Field(default_factory=dict)

    alone: ClassVar[bool] = True  # relations name entities of this reply only

    @model_validator(mode="before")
    @classmethod
    def _patient(cls, data: Any) -> Any:
        """Numbers as texts, texts as numbers, names inside objects, relations by name: taken for what they mean.

        Raises: ValueError where entities or relations are no list, most entities are no objects with a name, or most relations dangle.
        """
        whole = _unwrapped(data)
        if whole is None:
            return data
        unusable: Counter[str] = Counter()
        listed = _listed(whole["entities"], "entities")
        entities = [made for at, row in enumerate(listed) if (made := _entity(row, at, unusable)) is not None]
        if 2 * sum(isinstance(row, dict) for row in listed) < len(listed) or 2 * len(entities) < len(listed):
            raise ValueError("most of the entities are no objects with a name")
        numbers: dict[str, int] = {}
        for entity in entities:
            numbers.setdefault(entity["name"].casefold(), entity["number"])
        given = _listed(whole.get("relations", whole.get("relationships")) or [], "relations")
        relations = [made for row in given if (made := _relation(row, numbers, unusable)) is not None]
        there = {entity["number"] for entity in entities}
        held = sum(not cls.alone or {row["source"], row["target"]} <= there for row in relations)
        if 2 * held < len(given):
            raise ValueError("most of the relations are between entities that are not there")
        return {"entities": entities, "relations": relations, "unusable": dict(unusable)}


class More(Found):
    """The entities that the text names and the relations that it states between them."""

    alone: ClassVar[bool] = False  # relations also name entities that an earlier reply gave


def _unwrapped(data: Any) -> Mapping[str, Any] | None:
    """The object with the entities: the reply itself, or the only value of an object around it; null where there is none."""
    for _ in range(_DEEPEST):
        if not isinstance(data, Mapping):
            return None
        if "entities" in data:
            return data
        data = next(iter(data.values())) if len(data) == 1 else None
    return None


def _listed(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{name} are no list")
    return value


def _entity(row: Any, at: int, unusable: Counter[str]) -> dict[str, Any] | None:
    given = row if isinstance(row, dict) else {"name": row}
    name = _text(given.get("name", given.get("text")))
    if name is None:
        unusable["malformed_entity"] += 1
        return None
    number = _number(given.get("number", given.get("id")))
    listed = given.get("aliases")
    aliases = [alias for part in (listed if isinstance(listed, list) else [listed]) if (alias := _text(part)) is not None]
    return {
        "number": number if number is not None and number >= 0 else -1 - at, "name": name, "type": _text(given.get("type")) or "",
        "description": _text(given.get("description")) or "", "aliases": aliases,
    }


def _relation(row: Any, numbers: Mapping[str, int], unusable: Counter[str]) -> dict[str, Any] | None:
    given = row if isinstance(row, dict) else {}
    predicate = _text(given.get("predicate", given.get("label", given.get("type", given.get("relation")))))
    source, target = (_end(given.get(key), numbers) for key in ("source", "target"))
    if predicate is None or source is None or target is None:
        unusable["malformed_relation"] += 1
        return None
    return {"source": source, "target": target, "predicate": predicate, "description": _text(given.get("description")) or ""}


def _end(value: Any, numbers: Mapping[str, int]) -> int | None:
    """The number of a relation's end; also where the reply gives the entity's name, or the entity itself."""
    if isinstance(value, dict):
        value = value.get("number", value.get("name"))
    number = _number(value)
    if number is not None:
        return number
    name = _text(value)
    return numbers.get(name.casefold()) if name is not None else None


def _number(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit() and len(value) < 10:
        return int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 10**9:
        return int(value)
    return value if isinstance(value, int) and abs(value) < 10**9 else None


def _text(value: Any, depth: int = 0) -> str | None:
    """The text of a scalar, or of the telling part of an object; null for nothing, true, false and lists."""
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, dict) and depth < _DEEPEST:
        return next((found for key in _TEXT_KEYS if (found := _text(value.get(key), depth + 1)) is not None), None)
    return None
