"""What stands for a function in signatures: two that do something else never have the same, and one that does the same has it again."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kgeval.code_digest import digest_function

FILE = """
import functools, re
def make(w):
    def m(row):
        return w
    return m
def defaulted(w):
    def m(row, w=w):
        return w
    return m
def keyword(w):
    def m(row, *, w=w):
        return w
    return m
class Weigher:
    def __init__(self, w):
        self.w = w
    def score(self, row):
        return self.w
def method(w):
    return Weigher(w).score
def partly(w):
    return functools.partial(make(0), w)
def nested(w):
    return make(make(w))
def listed(w):
    return make({"weights": [w, {w}, (w,)]})
def pattern(w):
    return make(re.compile(str(w)))
MAKERS = [make, defaulted, keyword, method, partly, nested, listed, pattern]
"""
CELLS = """
WEIGHT = {weight}
def helper(row):
    return WEIGHT
class Scale:
    def of(self, row):
        return helper(row)
def m(row):
    return [Scale().of(part) for part in row]
"""


def loaded(text: str, **values: Any) -> dict[str, Any]:
    """What a notebook's cells with this text define."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(text.format(**values) if values else text, names)
    return names


@pytest.mark.parametrize("place", range(8))
def test_functions_that_one_factory_made_are_told_apart_by_what_they_were_made_with(place: int) -> None:
    makers = loaded(FILE)["MAKERS"]
    maker = makers[place]
    assert digest_function(maker(0.1)) == digest_function(maker(0.1))
    assert digest_function(maker(0.1)) != digest_function(maker(0.9))


def test_what_a_notebooks_function_names_counts_and_other_cells_do_not() -> None:
    first = digest_function(loaded(CELLS, weight=0.3)["m"])
    assert first == digest_function(loaded(CELLS + "\nOTHER = 5\n", weight=0.3)["m"])
    assert first != digest_function(loaded(CELLS, weight=0.7)["m"])
    assert first != digest_function(loaded(CELLS.replace("return WEIGHT", "return 1 - WEIGHT"), weight=0.3)["m"])
    assert first != digest_function(loaded(CELLS.replace("return helper(row)", "return 1 - helper(row)"), weight=0.3)["m"])
    names = loaded(CELLS, weight=0.3)
    names["WEIGHT"] = 0.7
    assert digest_function(names["m"]) != first, "as it is now, not as it was made"


def test_an_object_that_cannot_be_told_by_its_content_stands_for_itself_or_for_its_class() -> None:
    import decimal
    import socket

    maker = loaded(FILE)["make"]
    with socket.socket() as one, socket.socket() as other:
        assert digest_function(maker(one)) == digest_function(maker(one)) != digest_function(maker(other))
        assert digest_function(maker(one), by_class=True) == digest_function(maker(other), by_class=True)
        assert digest_function(maker(one), by_class=True) != digest_function(maker(decimal.Context()), by_class=True)


CLASSES = """
import functools, re
from dataclasses import dataclass, field
from enum import Enum
from pydantic import BaseModel, ConfigDict
STEP = 1
@dataclass
class Rag:
    k: int
    late: int = field(init=False)
    def retrieve(self, q):
        return q
    def answer(self, q):
        return self.retrieve(q)
class Slotted:
    __slots__ = ("k", "unset")
    def __init__(self, k):
        self.k = k
    def help(self):
        return 1
    def answer(self, q):
        return self.help()
class Model(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    k: int
    client: object = None
    def answer(self, q):
        return q
class Cached:
    @functools.cached_property
    def index(self):
        return 1
    def answer(self, q):
        return self.index
@functools.lru_cache
def cached(q):
    return q
def wrapping(function):
    @functools.wraps(function)
    def wrapped(row):
        return function(row) * 2
    return wrapped
@wrapping
def decorated(row):
    return 1
def calling(row):
    return cached(row)
class Node:
    def __init__(self):
        self.others = []
"""


def asked(text: str, what: str) -> str:
    return digest_function(eval(what, loaded(text)), by_class=True)


@pytest.mark.parametrize(("what", "before", "after"), [
    ("Rag(3).answer", "        return q\n    def answer", "        return q + 1\n    def answer"), ("Rag(3).answer", "Rag(3)", "Rag(4)"),
    ("Slotted(3).answer", "return 1", "return 2"), ("Slotted(3).answer", "Slotted(3)", "Slotted(4)"),
    ("Model(k=3).answer", "return q\nclass Cached", "return 2\nclass Cached"), ("Model(k=3).answer", "k=3", "k=4"),
    ("Cached().answer", "return 1\n    def answer", "return 2\n    def answer"),
    ("cached", "return q\ndef wrapping", "return 2\ndef wrapping"), ("calling", "return q\ndef wrapping", "return 2\ndef wrapping"),
    ("decorated", "* 2", "+ 2"), ("decorated", "return 1\ndef calling", "return 2\ndef calling"),
])
def test_code_and_state_that_a_system_is_made_of_count(what: str, before: str, after: str) -> None:
    first = asked(CLASSES, what)
    assert first == asked(CLASSES, what)
    changed = asked(CLASSES.replace(before, after), what.replace(before, after))
    assert changed != first and (before in CLASSES or before in what)


def test_values_that_differ_in_their_form_alone_are_told_apart() -> None:
    maker = loaded(FILE)["make"]
    values: list[Any] = [
        [[1], 2], [[1, 2]], [1, 2], (1, 2), {"a": ["b"], "c": "d"}, {"a": ["b", "c", "d"]}, {1}, {1, 2}, frozenset({1}), [], [[]], {}, None,
        "", 1, 1.0, True, "1", b"1", 10**5_000, 10**5_000 + 1, {"a": 1}.get, {"a": 2}.get, math.floor, math.ceil, math.sqrt,
    ]
    assert len({digest_function(maker(value)) for value in values}) == len(values)


def test_what_is_not_named_or_only_an_attribute_does_not_count() -> None:
    text = "def m(row):\n    return row.answer\nanswer = {0}\n"
    assert digest_function(loaded(text.format(1))["m"]) == digest_function(loaded(text.format(2))["m"])


def test_what_is_large_deep_or_odd_has_a_digest() -> None:
    names = loaded(CLASSES)
    nodes = [names["Node"]() for _ in range(2_000)]
    for one, other in zip(nodes, nodes[1:] + nodes[:1], strict=True):
        one.others.append(other)
    assert digest_function(loaded(FILE)["make"](nodes[0]), by_class=True)
    words = {f"word {at}" for at in range(50_000)}
    assert digest_function(loaded(FILE)["make"](words)) == digest_function(loaded(FILE)["make"]({*sorted(words, reverse=True)}))

    class Broken(dict[str, str]):
        def items(self) -> Any:
            raise ValueError("no items")

    broken = Broken()
    assert digest_function(loaded(FILE)["make"](broken)) == digest_function(loaded(FILE)["make"](broken))


def test_what_a_system_fills_while_it_works_does_not_make_it_another_one() -> None:
    names = loaded("LOG = []\nCACHE = {}\ndef answer(q):\n    LOG.append(q)\n    CACHE[q] = q\n    return q\n" + CLASSES)
    node = names["Node"]()
    told = digest_function(names["answer"], by_class=True), digest_function(loaded(FILE)["make"](node), by_class=True)
    names["answer"]("q")
    node.others.append("q")
    assert told == (digest_function(names["answer"], by_class=True), digest_function(loaded(FILE)["make"](node), by_class=True))


def test_circles_end() -> None:
    names = loaded("def a(row):\n    return b(row)\ndef b(row):\n    return a(row) + KEPT[0]\nKEPT = []\nKEPT.append(KEPT)\n")
    assert digest_function(names["a"]) == digest_function(names["a"])


def test_another_process_finds_the_same(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(FILE, encoding="utf-8")
    script = "import mine; from kgeval.code_digest import digest_function\nfor made in mine.MAKERS: print(digest_function(made(0.5)))"
    said = {
        subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, check=True, capture_output=True, text=True, env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1 and len(set(said.pop().split())) == 8
