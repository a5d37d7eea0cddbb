"""Word lists that several rooms share: pronouns, placeholders, units ... by language, in words/*.toml."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path


def word_set(text: str) -> frozenset[str]:
    """The words of a text with blanks between them: how tables of words are written in code."""
    return frozenset(text.split())


def word_list(stem: str) -> list[str]:
    """The words of every language in words/STEM.toml, case-folded, without repeats. Read from disk once."""
    return list(_words(stem))


@cache
def word_lists(stem: str) -> dict[str, tuple[str, ...]]:
    """Language -> its words in words/STEM.toml, case-folded, in their order. Read from disk once."""
    data = tomllib.loads((Path(__file__).parent / "words" / f"{stem}.toml").read_text(encoding="utf-8"))
    return {language: tuple(dict.fromkeys(word.casefold() for word in words)) for language, words in data.items()}


@cache
def _words(stem: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for words in word_lists(stem).values() for word in words))
