"""What stands for a function in signatures: two that do something else never have the same, and one that does the same has it again."""

from __future__ import annotations

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
