"""The beginning or the end of a text within a token budget, cut between words."""

from __future__ import annotations

import json
import re

from pydantic import JsonValue

from kgeval.llm.tokens import count, encoding

_LONGEST_TOKEN = 24  # characters that a token rarely exceeds: so much text is looked at for each token of the budget


def head(text: str, tokens: int) -> str:
    """The longest beginning of at most `tokens` tokens, cut after a word where there is one; all of the text where that
    fits."""
    if len(text) <= tokens:  # no token is shorter than a character
        return text
    block = text[: tokens * _LONGEST_TOKEN]
    spelled = encoding().encode_ordinary(block)
    if len(spelled) <= tokens and len(block) == len(text):
        return text
    kept = _plain(spelled[:tokens])
    return _until_fits(
        kept if block[len(kept):len(kept) + 1].isspace() else _without_last_word(kept), tokens, last=True,
    )


def tail(text: str, tokens: int) -> str:
    """The longest end of at most `tokens` tokens, cut before a word where there is one; all of the text where that
    fits."""
    if len(text) <= tokens:
        return text
    block = text[-tokens * _LONGEST_TOKEN:] if tokens else ""
    spelled = encoding().encode_ordinary(block)
    if len(spelled) <= tokens and len(block) == len(text):
        return text
    kept = _plain(spelled[len(spelled) - tokens:])
    before = block[: len(block) - len(kept)]
    return _until_fits(
        kept if kept[:1].isspace() or before[-1:].isspace() else _without_first_word(kept), tokens, last=False,
    )


def tokens_of(*values: JsonValue) -> int:
    """Tokens of values as a prompt shows them."""
    return sum(count(json.dumps(value, ensure_ascii=False)) for value in values)


def _plain(spelled: list[int]) -> str:
    """The whole characters of these tokens: a token can begin or end inside a character."""
    text: str = encoding().decode_bytes(spelled).decode("utf-8", "ignore")
    return text


def _without_last_word(text: str) -> str:
    match = re.search(r"\s\S*\Z", text)
    return text[: match.start()] if match and match.start() else text


def _without_first_word(text: str) -> str:
    match = re.search(r"\s+(?=\S)", text)
    return text[match.end():] if match else text


def _until_fits(text: str, tokens: int, *, last: bool) -> str:
    """A cut text can be spelled in more tokens than it was cut from: one word less until it fits."""
    text = text.strip()
    while text and count(text) > tokens:
        shorter = _without_last_word(text) if last else _without_first_word(text)
        text = (shorter if len(shorter) < len(text) else text[:-1] if last else text[1:]).strip()
    return text

