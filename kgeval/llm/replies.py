"""From the text of a reply to a checked value. A reply is taken whole or not at all: half a list is never a list, and an object among
other words is no answer."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from kgeval.limits import check_depth
from kgeval.llm.calls import Cause, Failure, Reply, Tagged, UnaskedTagError
from kgeval.llm.characters import whole
from kgeval.llm.leads import LEAD, SIGN_OFF
from kgeval.llm.tags import folded_tag

R = TypeVar("R", bound=Reply)
_THOUGHTS = r"(?:seed:)?(?:think|thinking|thoughts?|reasoning|analysis|scratchpad|reflection)"
_THOUGHT = re.compile(  # some servers open thoughts twice
    rf"(?P<opened>(?:(?:<{_THOUGHTS}>|\[{_THOUGHTS}\]|◁think▷|<\|START_THINKING\|>)\s*)+)"
    rf"|(?:</{_THOUGHTS}>|\[/{_THOUGHTS}\]|◁/think▷|<\|END_THINKING\|>)\s*", re.IGNORECASE,
)
_LEAST_FENCE = 3
_CHANNELS = ("<|channel|>", "<|start|>assistant")
_HEAD = r"(?:<\|start\|>assistant)?(?: to=[\w.]+)?<\|channel\|>{}(?: to=[\w.]+)?(?: ?(?:<\|constrain\|>)?json)?<\|message\|>"
# what gpt-oss writes before its answer, in harmony form, and where the answer begins
_BEFORE_FINAL = re.compile(_HEAD.format("(?:analysis|commentary)") + r"[^<]*+(?:<(?!\|)[^<]*+)*+<\|(?:end|call)\|>\s*")
_FINAL = re.compile(_HEAD.format("final"))
_MOST_THOUGHTS = 20  # the last ones: each is tried as the end of all thoughts
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
# A string that never ends goes to the end of the text, and no part is tried twice: else a cut reply full of \\" takes minutes.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_STRING_OR_BRACKET = re.compile(rf"{_STRING.pattern}|[{{}}\[\]]", re.DOTALL)
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_FRAME = "answer|final_answer|output|result|response|json"
_HEADER = (
    r"(?:<s>|<\|im_start\|>assistant|<\|start_header_id\|>assistant<\|end_header_id\|>|<\|START_RESPONSE\|>|<\|begin_of_box\|>"
    r"|assistant\n)"
)
# What may stand before the object: what servers leave of the turn's form, a lead, and the tag and fence around it.
_OPENING = re.compile(
    rf"{_HEADER}?\s*(?:(?:{LEAD})\s*)?(?:<(?P<tag>{_FRAME})>\s*)?(?P<fence>`+|~{{3,}})?(?(fence)(?:\w*[ \t]*\n|json)?)\s*", re.IGNORECASE,
)
_END_OF_TURN = r"(?: ?(?:</s>|<\|\w+\|>|<end_of_turn>|<｜[^｜\n]{1,40}｜>))*"


class UnusableError(Exception):
    """A reply that cannot be used, and why. No word of the reply is in it."""

    def __init__(self, cause: Cause, detail: str) -> None:
        super().__init__(detail)
        self.failure = Failure(cause, detail)


@dataclass(frozen=True)
class Checked(Generic[R]):
    """A reply that was read: the value, and for a list one answer a tag and why others have none."""

    value: R
    answers: dict[str, Tagged] = field(default_factory=dict)
    faults: dict[str, Failure] = field(default_factory=dict)


def read_reply(text: str, reply: type[R], *, sources: Collection[str] = ()) -> R:
    """The reply as a checked value. `sources`: the tags that it may point to. Raises UnusableError."""
    value = _validated(reply, _answer(text, wrap_lists=_only_items(reply)), sources)
    if value is None:
        raise UnusableError("unparsable", "the reply does not fit the schema")
    return value


def read_tagged(text: str, reply: type[R], tags: tuple[str, ...], *, sources: Collection[str] = ()) -> Checked[R]:
    """A reply that answers items by their tags, checked item by item; `sources` as in read_reply.

    An item whose answer is malformed, or does not come, has none. Raises: UnusableError if there is no list of items in it or no usable
    answer at all; and if a tag comes twice or one that was not asked: then the answers are shifted somewhere, and nobody knows where.
    """
    value = _answer(text, wrap_lists=True)
    if not isinstance(value, dict) or not isinstance(value.get("items"), list):
        raise UnusableError("unparsable", "the reply does not fit the schema")
    answers, faults = _matched(item_type(reply), value["items"], tags, sources)
    checked = _validated(reply, {**value, "items": list(answers.values())}, sources) if answers else None
    if checked is None:
        raise UnusableError("unparsable", "the reply does not fit the schema")
    return Checked(checked, answers, faults)


@cache
def item_type(reply: type[Reply]) -> type[Tagged]:
    """X of the reply's field `items: list[X]`. Raises TypeError if there is none, or X is not Tagged."""
    info = reply.model_fields.get("items")
    inner = get_args(info.annotation) if info is not None else ()
    if len(inner) >= 1 and isinstance(inner[0], type) and issubclass(inner[0], Tagged):
        return inner[0]
    raise TypeError(f"{reply.__name__} needs a field `items: list[X]` with X a Tagged")


def _matched(
    shape: type[Tagged], rows: list[Any], tags: tuple[str, ...], sources: Collection[str],
) -> tuple[dict[str, Tagged], dict[str, Failure]]:
    """Tag -> answer, in the order of the tags, and why others have none."""
    by_tag: dict[str, Any] = {}
    for row in rows:
        tag = row.get("tag") if isinstance(row, dict) else None
        if not isinstance(tag, str):
            raise UnusableError("unparsable", "the reply has an answer without a tag")
        tag = folded_tag(tag)
        if tag not in tags:
            raise UnusableError("unparsable", "the reply has a tag that was not asked")
        if tag in by_tag:
            raise UnusableError("unparsable", "the reply has a tag twice")
        by_tag[tag] = {**row, "tag": tag}
    found = {tag: _validated(shape, by_tag[tag], sources) for tag in tags if tag in by_tag}
    malformed, missing = (Failure("missing_item", f"the reply has no {what}answer to this item") for what in ("usable ", ""))
    answers = {tag: answer for tag, answer in found.items() if answer is not None}
    return answers, {tag: malformed if tag in found else missing for tag in tags if tag not in answers}


M = TypeVar("M", bound=BaseModel)


def _validated(shape: type[M], value: Any, sources: Collection[str]) -> M | None:
    try:
        return shape.model_validate(value, context=sources)
    except ValidationError:
        return None
    except UnaskedTagError:
        raise UnusableError("unparsable", "the reply points to a text that was not shown") from None


@cache
def _only_items(reply: type[Reply]) -> bool:
    return list(reply.model_fields) == ["items"]


def _answer(text: str, *, wrap_lists: bool) -> Any:
    """The JSON value that a reply is: all of it, or what its one frame holds. Raises UnusableError.

    Some models send the bare list where an object with the list in `items` was asked, and some the object as a JSON text.
    """
    text = text.strip().removeprefix("\ufeff").strip()
    value = _load(text)
    if value is None:
        value = _final_channel(text) if text.startswith(_CHANNELS) else _answer_in(text)
    elif isinstance(value, str):
        value = _load(value)
    return {"items": value} if isinstance(value, list) and wrap_lists else value


def _answer_in(text: str) -> Any:
    """The object in its frame; where there is none, what stands so after thoughts: texts in the object may have their marks too."""
    fault = None
    for start in (0, *_ends_of_thoughts(text)):
        try:
            return _framed(text[start:].strip())
        except UnusableError as found:
            fault = found
    raise _unended(text) or fault or UnusableError("unparsable", "the reply's JSON object is missing")


def _framed(text: str) -> Any:
    """The object that stands alone, in a fence or a tag, or after a lead, and that ends the text."""
    opening = _OPENING.match(text)
    start = opening.end() if opening else 0
    if opening is None or text[start : start + 1] not in ("{", "["):
        among = "stands among other words" if "{" in text else "is missing"
        raise UnusableError("unparsable", f"the reply's JSON object {among}")
    end = _closing(text, start)
    if end is None:
        raise UnusableError("unparsable", "the reply's JSON is not complete")
    fence, tag = opening["fence"] or "", opening["tag"]
    closing = rf"[.!]? ?{re.escape(fence)} ?" + (f"</{tag}>" if tag else "")
    rest = " ".join(text[end:].split())  # models that loop write blanks without end, and patterns of many blanks take long for these
    # a fence that nothing closes and nothing follows: whole all the same, as where its end is what stops a server
    stopped = len(fence) >= _LEAST_FENCE and not tag and not rest
    if not stopped and re.fullmatch(rf"{closing}[.!]?{SIGN_OFF}{_END_OF_TURN}", rest, re.IGNORECASE) is None:
        raise UnusableError("unparsable", "the reply goes on after its JSON object, or something around it is not closed")
    return _load(text[start:end])


def _final_channel(text: str) -> Any:
    """What a reply in harmony form says at last, after whole messages. Raises UnusableError."""
    place = 0
    while (message := _BEFORE_FINAL.match(text, place)) is not None:
        place = message.end()
    final = _FINAL.match(text, place)
    if final is None:
        raise UnusableError("unparsable", "the reply has no final channel")
    return _framed(text[final.end() :].strip())


def _thought_marks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Of each mark of a thought: where it ends, how many thoughts are open then, and whether words of no thought are before it. A model
    whose prompt opens its thoughts only closes them."""
    depth = end = 0
    among = False
    for mark in _THOUGHT.finditer(text):
        if mark["opened"]:
            among = among or (depth == 0 and bool(text[end : mark.start()].strip()))
            depth += 1
        else:
            depth = max(0, depth - 1)
        end = mark.end()
        yield end, depth, among


def _ends_of_thoughts(text: str) -> list[int]:
    return [end for end, depth, among in _thought_marks(text) if depth == 0 and not among][-_MOST_THOUGHTS:]


def _unended(text: str) -> UnusableError | None:
    """The fault of thoughts that never end: a reply that was cut."""
    marks = list(_thought_marks(text))
    return UnusableError("cut", "the reply's thoughts never end") if marks and marks[-1][1] else None


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
