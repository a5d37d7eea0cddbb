"""From the text of a reply to a checked value. A reply is taken whole or not at all: half a list is never a list."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from kgeval.llm.calls import Cause, Failure, Numbered, Reply
from kgeval.llm.characters import whole

R = TypeVar("R", bound=Reply)
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
# A string that never ends goes to the end of the text, and no part is tried twice: else a cut reply full of \\" takes minutes.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_STRING_OR_BRACKET = re.compile(rf"{_STRING.pattern}|[{{}}\[\]]", re.DOTALL)
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_MOST_CANDIDATES = 50


class UnusableError(Exception):
    """A reply that cannot be used, and why. No word of the reply is in it."""

    def __init__(self, cause: Cause, detail: str) -> None:
        super().__init__(detail)
        self.failure = Failure(cause, detail)


@dataclass(frozen=True)
class Checked(Generic[R]):
    """A reply that was read: the value, and for numbered items one answer a number and why others have none."""

    value: R
    answers: dict[int, Numbered] = field(default_factory=dict)
    faults: dict[int, Failure] = field(default_factory=dict)


def read_reply(text: str, reply: type[R]) -> R:
    """The reply as a checked value. Raises UnusableError."""
    found = _objects(text, wrap_lists=_only_items(reply))
    good = _distinct([checked for value in found if (checked := _validated(reply, value)) is not None])
    return _one(good, found)


def read_numbered(text: str, reply: type[R], numbers: tuple[int, ...]) -> Checked[R]:
    """A reply that answers numbered items, checked item by item.

    A number that comes twice, or with a malformed answer, has no answer; numbers that were not asked are dropped.
    Raises: UnusableError if there is no list of items in it, or no usable answer at all.
    """
    found = [value for value in _objects(text, wrap_lists=True) if isinstance(value.get("items"), list)]
    checked = [result for value in found if (result := _checked(reply, value, numbers)) is not None and result.answers]
    return _one(_distinct(checked), found)


@cache
def item_type(reply: type[Reply]) -> type[Numbered]:
    """X of the reply's field `items: list[X]`. Raises TypeError if there is none, or X is not Numbered."""
    info = reply.model_fields.get("items")
    inner = get_args(info.annotation) if info is not None else ()
    if len(inner) >= 1 and isinstance(inner[0], type) and issubclass(inner[0], Numbered):
        return inner[0]
    raise TypeError(f"{reply.__name__} needs a field `items: list[X]` with X a Numbered")


def _checked(reply: type[R], value: dict[str, Any], numbers: tuple[int, ...]) -> Checked[R] | None:
    answers, faults = _match(item_type(reply), value["items"], numbers)
    whole = _validated(reply, {**value, "items": [answers[n] for n in sorted(answers)]})
    return None if whole is None else Checked(whole, answers, faults)


def _match(shape: type[Numbered], rows: list[Any], numbers: tuple[int, ...]) -> tuple[dict[int, Numbered], dict[int, Failure]]:
    asked, answers, faults = set(numbers), dict[int, Numbered](), dict[int, Failure]()
    for row in rows:
        number = _number(row)
        if number is None or number not in asked:
            continue
        if number in answers or number in faults:
            answers.pop(number, None)
            faults[number] = Failure("missing_item", "the number came more than once")
            continue
        answer = _validated(shape, row)
        if answer is None:
            faults[number] = Failure("missing_item", "the answer to this number is malformed")
        else:
            answers[number] = answer
    missing = Failure("missing_item", "the reply has no answer to this number")
    return answers, {n: faults.get(n, missing) for n in numbers if n not in answers}


def _number(row: Any) -> int | None:
    """The row's number: an integer, or its digits as text. True is no number."""
    value = row.get("number") if isinstance(row, dict) else None
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit() and len(value) < 19:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


M = TypeVar("M", bound=BaseModel)


def _validated(shape: type[M], value: Any) -> M | None:
    try:
        return shape.model_validate(value)
    except ValidationError:
        return None


V = TypeVar("V")


def _distinct(values: list[V]) -> list[V]:
    kept: list[V] = []
    for value in values:
        if value not in kept:
            kept.append(value)
    return kept


def _one(good: list[V], found: list[dict[str, Any]]) -> V:
    """The only answer. Two different ones in one reply are no answer: one of them may be quoted from a text under evaluation."""
    if len(good) == 1:
        return good[0]
    if good:
        raise UnusableError("unparsable", "the reply holds several different answers")
    raise UnusableError("unparsable", "the reply does not fit the schema" if found else "the reply holds no complete JSON object")


@cache
def _only_items(reply: type[Reply]) -> bool:
    return list(reply.model_fields) == ["items"]


def _objects(text: str, *, wrap_lists: bool) -> list[dict[str, Any]]:
    """The objects in a text. Some models send the bare list where an object with the list in `items` was asked."""
    values = [{"items": value} if isinstance(value, list) and wrap_lists else value for value in _values(text)]
    return [value for value in values if isinstance(value, dict)]


def _values(text: str) -> list[Any]:
    """The outermost JSON values of a text, each complete; nothing from inside a broken or cut one."""
    text = _THOUGHTS.sub("", text, count=1).strip().removeprefix("\ufeff")
    whole = _load(text)
    if whole is not None:
        return [whole]
    values: list[Any] = []
    for start, end in _outermost(text):
        value = _load(text[start:end])
        if value is not None:
            values.append(value)
    return values


def _outermost(text: str) -> list[tuple[int, int]]:
    """Where balanced bracket groups stand. A group that never closes ends the search: what is in it is cut."""
    spans: list[tuple[int, int]] = []
    at = 0
    while len(spans) < _MOST_CANDIDATES:
        start = min((place for place in (text.find("{", at), text.find("[", at)) if place >= 0), default=-1)
        end = _closing(text, start) if start >= 0 else None
        if end is None:
            break
        spans.append((start, end))
        at = end
    return spans


def _closing(text: str, start: int) -> int | None:
    """The place after the bracket that closes the one at `start`; brackets in strings do not count."""
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text, start):
        mark = match.group()
        if mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
            if depth == 0:
                return match.end()
    return None


def _load(text: str) -> Any:
    """The JSON value, or null; with trailing commas dropped where that is all that is wrong."""
    for mend in (str, _without_trailing_commas):
        try:
            value = _READER.decode(mend(text))
            return _whole(value) if _HALF.search(text) else value
        except (ValueError, RecursionError):
            continue
    return None


def _whole(value: Any) -> Any:
    """The value with half characters replaced in all its texts."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, list):
        return [_whole(part) for part in value]
    return {whole(key): _whole(part) for key, part in value.items()} if isinstance(value, dict) else value


def _without_trailing_commas(text: str) -> str:
    """Commas before a closing bracket dropped, outside strings."""
    out, at = [], 0
    for match in _STRING.finditer(text):
        out += [_TRAILING_COMMA.sub(r"\1", text[at : match.start()]), match.group()]
        at = match.end()
    return "".join(out) + _TRAILING_COMMA.sub(r"\1", text[at:])


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys all differ: of two values for one key none can be believed."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


_READER = json.JSONDecoder(strict=False, object_pairs_hook=_pairs, parse_constant=_refuse)
