"""What `words.toml` says of words: which contradict each other, and which are written for another."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any


@cache
def _read() -> Mapping[str, Any]:
    return tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))


@cache
def opposed_words() -> Mapping[str, Mapping[int, int]]:
    """Word -> by line of opposites or series, its place there: two words of one line and different places contradict each other."""
    places: dict[str, dict[int, int]] = {}
    for line, words in enumerate([*_read()["opposites"], *_read()["series"]]):
        for place, same in enumerate(words.split()):
            for word in same.split("/"):
                places.setdefault(word, {})[line] = place
    return places


@cache
def state_words() -> frozenset[str]:
    """Words that make a name another one's when they are added to it."""
    return frozenset(_read()["states"].split())


@cache
def opposed_beginnings() -> frozenset[tuple[str, str]]:
    """Two beginnings that contradict each other, in both orders."""
    return _both_orders("prefixes")


@cache
def denials() -> frozenset[str]:
    """Beginnings that deny the word behind them."""
    return frozenset(_read()["denials"].split())


@cache
def opposed_endings() -> frozenset[tuple[str, str]]:
    """Two endings that contradict each other, in both orders."""
    return _both_orders("endings")


@cache
def given_names() -> Mapping[str, frozenset[str]]:
    """Short or full given name -> the full names that it stands for, itself among them."""
    full: dict[str, set[str]] = {}
    for name, *short in _lines("nicknames"):
        for word in (name, *short):
            full.setdefault(word, {word}).add(name)
    return {word: frozenset(names) for word, names in full.items()}


@cache
def unit_signs() -> Mapping[str, str]:
    """A unit as it may be written -> its sign."""
    return _first_of(_lines("units"))


@cache
def number_words() -> Mapping[str, str]:
    """A number in words -> its digits; an ordinal with its mark ("second": "2nd")."""
    return {line[0]: line[1] for line in _lines("numbers")}


@cache
def month_words() -> Mapping[str, str]:
    """A month in short -> its name. Only beside a number: Jan and June are people, too."""
    return _first_of(_lines("months"))


@cache
def written_out() -> Mapping[str, str]:
    """A short or other way to write a word -> the word."""
    return _first_of(_lines("abbreviations")) | dict(spelled_out())


@cache
def spelled_out() -> Mapping[str, str]:
    """Another way to spell a word -> the word."""
    return _first_of(_lines("spellings"))


@cache
def singular_of() -> Mapping[str, str]:
    """An irregular plural -> its singular."""
    return _first_of(_lines("plurals"))


@cache
def magnitudes() -> Mapping[str, float]:
    """A word or letter for thousands, millions ... -> the number."""
    return {word: 1_000.0**power for power, line in enumerate(_lines("magnitudes"), start=1) for word in line}


@cache
def kind_words() -> tuple[frozenset[str], ...]:
    """The words by which a type names people, places, organisations, works."""
    return tuple(map(frozenset, _lines("kinds")))


@cache
def counted_words() -> frozenset[str]:
    """Words behind which a lone I is a one."""
    return frozenset(_read()["counted"].split())


def _both_orders(table: str) -> frozenset[tuple[str, str]]:
    return frozenset(pair for line in _lines(table) for pair in permutations(line, 2))


def _lines(table: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(line.split()) for line in _read()[table])


def _first_of(lines: Iterable[tuple[str, ...]]) -> dict[str, str]:
    return {word: line[0] for line in lines for word in line}
