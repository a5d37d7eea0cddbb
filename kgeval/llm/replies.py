"""From the text of a reply to a checked value. A reply is taken whole or not at all: half a list is never a list, and only what it ends
with is its answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from kgeval.limits import check_depth
from kgeval.llm.calls import Cause, Failure, Numbered, Reply
from kgeval.llm.characters import whole

R = TypeVar("R", bound=Reply)
_TAG = r"[<\[]{}(?:think|thinking|thoughts?|reasoning)[>\]]\s*"
_THOUGHT = re.compile(rf"(?P<opened>(?:{_TAG.format('')})+)|{_TAG.format('/')}", re.IGNORECASE)  # some servers open thoughts twice
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
# A string that never ends goes to the end of the text, and no part is tried twice: else a cut reply full of \\" takes minutes.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_STRING_OR_BRACKET = re.compile(rf"{_STRING.pattern}|[{{}}\[\]]", re.DOTALL)
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_BRACKET = re.compile(r"[{\[]")
_SPACE = re.compile(r"\s+")
# What stands right before an answer: the beginning of a line, a colon or an exclamation ("Sure!"), then the fence or tag around it.
_OPENING = re.compile(
    r"(?:\A|(?<=\n)|(?<=[:!\uff1a\uff01]))[ \t*]*"
    r"(?:(?P<fence>`+|~{3,})(?:\w*[ \t]*\n|json)?|<(?P<tag>answer|output|result|response|json)>)?\s*\Z",
    re.IGNORECASE,
)
_FENCE = re.compile(r"`{3,}|~{3,}")
_END_OF_TURN = r"\s*(?:</s>|<\|\w+\|>|</(?:answer|output|result|response|json)>)"
_SIGN_OFF = r"(?:\s*(?:let me know if|(?:i )?hope (?:this|that) helps|(?:is there )?anything else|good luck)[^.!?\n]*[.!?])?"
# an opening is looked for only so far back: the pattern is tried at every place of what is before the object
_MOST_SPACE = 300


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


def read_reply(text: str, reply: type[R], *, shown: Any = ()) -> R:
    """The reply as a checked value. `shown`: the texts that the model was shown (any JSON value): an object among a reply's own words that
    stands there too is a quotation, no answer. Raises UnusableError."""
    values, fault = _answers(text, wrap_lists=_only_items(reply), shown=shown)
    return _last([_validated(reply, value) for value in values], fault)


def read_numbered(text: str, reply: type[R], numbers: tuple[int, ...], *, shown: Any = ()) -> Checked[R]:
    """A reply that answers numbered items, checked item by item; `shown` as in read_reply.

    A number that comes twice, or with a malformed answer, has no answer; numbers that were not asked are dropped.
    Raises: UnusableError if there is no list of items in it, or no usable answer at all.
    """
    values, fault = _answers(text, wrap_lists=True, shown=shown)
    return _last([_checked(reply, value, numbers) for value in values], fault)


@cache
def item_type(reply: type[Reply]) -> type[Numbered]:
    """X of the reply's field `items: list[X]`. Raises TypeError if there is none, or X is not Numbered."""
    info = reply.model_fields.get("items")
    inner = get_args(info.annotation) if info is not None else ()
    if len(inner) >= 1 and isinstance(inner[0], type) and issubclass(inner[0], Numbered):
        return inner[0]
    raise TypeError(f"{reply.__name__} needs a field `items: list[X]` with X a Numbered")


def _checked(reply: type[R], value: Any, numbers: tuple[int, ...]) -> Checked[R] | None:
    if not isinstance(value, dict) or not isinstance(value.get("items"), list):
        return None
    answers, faults = _match(item_type(reply), value["items"], numbers)
    whole = _validated(reply, {**value, "items": [answers[n] for n in sorted(answers)]}) if answers else None
    return None if whole is None else Checked(whole, answers, faults)


def _match(shape: type[Numbered], rows: list[Any], numbers: tuple[int, ...]) -> tuple[dict[int, Numbered], dict[int, Failure]]:
    numbers_asked, answers, faults = set(numbers), dict[int, Numbered](), dict[int, Failure]()
    for row in rows:
        number = _number(row)
        if number is None or number not in numbers_asked:
            continue
        # also where both agree: a list with a doubled number is shifted somewhere, and which one is right cannot be known
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


def _last(found: list[V | None], fault: str | None) -> V:
    """The last one, where no other is another answer: one of them may be quoted from a text under evaluation."""
    good = [value for value in found if value is not None]
    # which one is the model's and which one is quoted cannot be told
    if any(value != good[0] for value in good):
        raise UnusableError("unparsable", "the reply holds several different answers")
    if fault is not None or not found or found[-1] is None:
        raise UnusableError("unparsable", fault or "the reply does not fit the schema")
    return found[-1]


@cache
def _only_items(reply: type[Reply]) -> bool:
    return list(reply.model_fields) == ["items"]


def _answers(text: str, *, wrap_lists: bool, shown: Any) -> tuple[list[Any], str | None]:
    """The outermost JSON values of a reply, of which the last is its answer, and why that one cannot be believed (None: it can).

    Some models send the bare list where an object with the list in `items` was asked. Raises UnusableError for thoughts that never end.
    """
    whole = _load(text.strip().removeprefix("\ufeff"))
    if whole is not None:
        values, fault = [whole], None
    else:
        text, alone = _without_thoughts(text.strip().removeprefix("\ufeff"))
        spans, fault = _outermost(text)
        values = [_load(text[start:end]) for start, end in spans]
        fault = fault or _doubt(text, *spans[-1], alone=alone, shown=shown)
    return [{"items": value} if isinstance(value, list) and wrap_lists else value for value in values], fault


def _doubt(text: str, start: int, end: int, *, alone: bool, shown: Any) -> str | None:
    """Why the last JSON value of a reply is not what the model answers: what it quotes in a sentence, or before words of its own, is not.
    `alone`: nothing but thoughts was before the text."""
    # the dots keep the pattern's beginning of the text from matching where it was only cut
    before = text[:start] if start <= _MOST_SPACE else f"...{text[start - _MOST_SPACE : start]}"
    opening = _OPENING.search(before)
    if opening is None:
        return "the reply's JSON object stands inside a sentence"
    fenced = len(_FENCE.findall(text, 0, start)) % 2 == 1
    fence = "" if len(opening["fence"] or "") >= 3 and not fenced else opening["fence"] or ("```" if fenced else "")
    closing = re.escape(fence) + (f"</{opening['tag']}>" if opening["tag"] else "")
    if re.fullmatch(rf"[.!]?\s*{closing}[.!]?{_SIGN_OFF}(?:{_END_OF_TURN})*", text[end:].rstrip(), re.IGNORECASE) is None:
        return "the reply goes on after its JSON object, or something around it is not closed"
    own = alone and opening.start() == 0
    if not own and _SPACE.sub("", text[start:end]) in _SPACE.sub("", "\n".join(_texts(shown))):
        return "the reply's JSON object is quoted from a text that was shown"
    return None


def _without_thoughts(text: str) -> tuple[str, bool]:
    """What stands after the last thought, and whether nothing but thoughts is before it. A model whose prompt opens its thoughts only
    closes them. Raises UnusableError: thoughts that never end are a reply that was cut."""
    depth = end = 0
    alone = True
    for tag in _THOUGHT.finditer(text):
        if tag["opened"]:
            alone = alone and (depth > 0 or not text[end : tag.start()].strip())
            depth += 1
        else:
            alone = alone and depth > 0
            depth, end = max(0, depth - 1), tag.end()
    if depth:
        raise UnusableError("cut", "the reply's thoughts never end")
    return text[end:].strip(), alone


def _texts(shown: Any) -> Iterator[str]:
    """All texts in a JSON value."""
    if isinstance(shown, str):
        yield shown
    for part in shown.values() if isinstance(shown, Mapping) else shown if isinstance(shown, list | tuple) else ():
        yield from _texts(part)


def _outermost(text: str) -> tuple[list[tuple[int, int]], str | None]:
    """Where balanced bracket groups stand, and why the last is no answer: there is none, or the reply was cut in another after it."""
    spans: list[tuple[int, int]] = []
    index = 0
    while (opening := _BRACKET.search(text, index)) is not None:
        end = _closing(text, opening.start())
        if end is None:
            return spans, "the reply's JSON is not complete"
        spans.append((opening.start(), end))
        index = end
    return spans, None if spans else "the reply holds no complete JSON object"


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
    """The JSON value, or None; with trailing commas dropped where that is all that is wrong."""
    for repaired in (str, _without_trailing_commas):
        try:
            value = _READER.decode(repaired(text))
            check_depth(value)
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
    out, index = [], 0
    for match in _STRING.finditer(text):
        out += [_TRAILING_COMMA.sub(r"\1", text[index : match.start()]), match.group()]
        index = match.end()
    return "".join(out) + _TRAILING_COMMA.sub(r"\1", text[index:])


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys all differ: of two values for one key none can be believed."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice")
    return value


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


_READER = json.JSONDecoder(strict=False, object_pairs_hook=_pairs, parse_constant=_refuse)
