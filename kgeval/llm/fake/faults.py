"""What goes wrong on demand: which request gets which fault, and what the fault does to a right answer."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from kgeval.llm.fake.reply import written
from kgeval.llm.fake.request import Chat, draw

STATUS = {"rate_limit": 429, "server_error": 500, "overloaded": 503}
TRANSPORT = (*STATUS, "hang", "disconnect")
CONTENT = ("cut", "prose", "wrong_type", "empty", "refusal")
TAGS = ("missing", "doubled", "extra", "shifted")
KINDS = (*TRANSPORT, *CONTENT, *TAGS)


def pick(share: float, kinds: Sequence[str], key: str, *, tagged: bool) -> str | None:
    """The fault of one try, or None. `key` says which try of which request (and the seed): the same key, the same fault.

    Faults of tags only befall requests that show items.
    """
    possible = [kind for kind in kinds if tagged or kind not in TAGS]
    if not possible or draw("whether", key) / 2**32 >= share:
        return None
    return possible[draw("which", key) % len(possible)]


def spoil(kind: str, value: JsonValue, chat: Chat) -> tuple[str, str]:
    """(content, finish_reason) of the answer `value` after a fault of CONTENT or TAGS."""
    text = written(value)
    if kind == "cut":
        return text[: len(text) // 2], "length"
    if kind == "prose":
        return f"Certainly! Having thought about it, I would say that {len(chat.text)} characters deserve a longer discussion.", "stop"
    if kind == "wrong_type":
        return written({name: {"unexpected": inner} for name, inner in value.items()} if isinstance(value, dict) else [value]), "stop"
    if kind in TAGS and isinstance(value, dict):
        return written({**value, "items": _retagged(kind, value.get("items"))}), "stop"
    return "", "stop"


def _retagged(kind: str, items: JsonValue) -> JsonValue:
    entries = [entry for entry in items if isinstance(entry, dict)] if isinstance(items, list) else []
    if not entries:
        return []
    if kind == "missing":
        return [*entries[: len(entries) // 2]]
    if kind == "doubled":
        return [*entries, {**entries[0], "tag": entries[-1]["tag"]}]
    if kind == "extra":
        return [*entries, {**entries[0], "tag": "none1"}]
    return [{**entry, "tag": _next_tag(str(entry["tag"]))} for entry in entries]


def _next_tag(tag: str) -> str:
    """The tag counted one on, as a model does that numbers from 0."""
    return tag[:-1] + str((int(tag[-1]) + 1) % 10) if tag[-1:].isdigit() else f"{tag}2"
