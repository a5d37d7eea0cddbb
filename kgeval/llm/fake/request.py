"""What a chat request says: its messages, the schema of the wanted reply, and the items that it shows."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import JsonValue

# kgeval's prompts show items in exactly this form; "<" and ">" inside a value are escaped, so no text can forge it
_ITEMS = re.compile(r'<data name="items">\n(.*?)\n</data>', re.DOTALL)
# braces of texts under evaluation come before the schema: each is tried, but not without end
_TRIES = 200
_DATA = re.compile(r'<data name="(?!items")\w+">\n(.*?)\n</data>', re.DOTALL)


@dataclass(frozen=True)
class Chat:
    """The body of POST /v1/chat/completions."""

    body: Mapping[str, Any]

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the body, keys sorted: equal requests have equal hashes. First 16 hex digits."""
        return hashlib.sha256(json.dumps(self.body, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def format(self) -> str:
        """`json_schema`, `json_object` or `text`."""
        form = self.body.get("response_format")
        return str(form.get("type", "text")) if isinstance(form, dict) else "text"

    @cached_property
    def messages(self) -> tuple[tuple[str, str], ...]:
        """(role, text) of each message; of content in parts, the text parts."""
        return tuple((str(m.get("role", "")), _text(m.get("content"))) for m in self.body.get("messages", []) if isinstance(m, dict))

    @cached_property
    def text(self) -> str:
        """All messages, one after the other."""
        return "\n".join(text for _, text in self.messages)

    @cached_property
    def subject(self) -> str:
        """What the answer depends on: the first message of the user, so that being asked again does not change the answer."""
        return next((text for role, text in self.messages if role == "user"), self.text)

    @cached_property
    def items(self) -> dict[str, str]:
        """Tag -> JSON text of the item, of the last list of items shown; empty without one."""
        for _, text in reversed(self.messages):
            lists = _ITEMS.findall(text)
            if lists:
                return dict(_tagged(lists[-1]))
        return {}

    @cached_property
    def sources(self) -> dict[str, str]:
        """Tag -> JSON text of the passage or triple, of all that are shown with a tag and are no items."""
        return {
            str(row["tag"]): json.dumps({name: part for name, part in row.items() if name != "tag"}, sort_keys=True, ensure_ascii=False)
            for value in self._data() for row in (value if isinstance(value, list) else []) if isinstance(row, dict) and "tag" in row
        }

    def _data(self) -> Iterator[JsonValue]:
        for lines in _DATA.findall(self.text):
            try:
                yield json.loads(lines)
            except json.JSONDecodeError:
                continue

    @cached_property
    def schema(self) -> Mapping[str, Any] | None:
        """The JSON schema of the reply: from response_format, else the last one written out in a message."""
        form = self.body.get("response_format")
        if isinstance(form, dict) and isinstance(form.get("json_schema"), dict):
            named = form["json_schema"].get("schema")
            return named if isinstance(named, dict) else None
        if isinstance(form, dict) and isinstance(form.get("schema"), dict):
            schema: Mapping[str, Any] = form["schema"]
            return schema
        return _last_schema(self.text)


def draw(*parts: object) -> int:
    """A number below 2**32 that depends on the parts alone, and looks random."""
    return int.from_bytes(hashlib.blake2b("\0".join(map(str, parts)).encode("utf-8", "surrogatepass"), digest_size=4).digest())


def _text(content: JsonValue) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _tagged(lines: str) -> Iterator[tuple[str, str]]:
    for line in lines.split("\n"):
        try:
            shown = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(shown, dict) and isinstance(shown.get("tag"), str):
            yield shown["tag"], json.dumps(shown.get("item"), sort_keys=True, ensure_ascii=False)


def _last_schema(text: str) -> Mapping[str, Any] | None:
    decoder, schema, start = json.JSONDecoder(), None, text.find("{")
    for _ in range(_TRIES):
        if start < 0:
            break
        try:
            value, end = decoder.raw_decode(text, start)
        except (json.JSONDecodeError, RecursionError):
            value, end = None, start + 1
        if isinstance(value, dict) and (isinstance(value.get("properties"), dict) or isinstance(value.get("$defs"), dict)):
            schema = value
        start = text.find("{", end)
    return schema
