"""Texts of digits: quantities, which are numbers, and codes and numbers of something, which stay text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import kgeval
from kgeval.graph.connect import Graph

Draw = Callable[[str], None]
TEXTS = [
    # name, value of i, whether it is a number
    ("unitPrice", "i + '.50'", True), ("price", "(10 + i % 80) + '.00'", True), ("gesamtpreis", "(7 + i) + ',90'", True),
    ("poids_kg", "toString(7 + i)", True), ("importe", "toString(i * 3)", True), ("hoeveelheid", "toString(i)", True),
    ("discount", "CASE i % 3 WHEN 0 THEN '0.05' ELSE '0' END", True),
    ("freight", "toString(i * 2.5)", True),
    ("umidita", "(i * 2 - 40) + '.5'", True),
    ("reading", "toString(0.5 + i * i)", True), ("volume_l", "toString(95 + i)", True), ("width_mm", "toString(80 + i)", True),
    # codes and numbers of something
    ("siret", "toString(12345678901234 + i)", False), ("tarifstelle", "(1 + i % 9) + '.' + (1 + i % 12)", False),
    ("zimmer", "(1 + i % 3) + '.0' + (1 + i % 9)", False), ("ataChapter", "toString(21 + i)", False), ("ward", "toString(i)", False),
    ("line", "toString(100 + i)", False), ("hausnummer", "toString(i)", False), ("konto", "toString(1000 + i)", False),
    ("area", "toString(20000 + i)", False), ("numero", "toString(i)", False), ("code_postal", "toString(i * 1000)", False),
    ("gleis", "toString(i)", False), ("size", "toString(34 + i)", False), ("section", "i + '.' + i", False),
    ("version", "(i % 9) + '.' + (i % 12)", False), ("grade", "toString(1 + i % 5)", False), ("price_group", "toString(i)", False),
    ("dewey", "(100 + i) + '.' + i", False), ("siren", "toString(123456789 + i)", False), ("lot", "toString(i)", False),
]


@pytest.mark.parametrize(("key", "value", "found"), TEXTS, ids=[key for key, *_ in TEXTS])
def test_only_what_says_how_much_is_a_number(graph: Graph, draw: Draw, key: str, value: str, found: bool) -> None:
    draw(f"UNWIND range(1, 60) AS i CREATE (:Item {{itemId: 'm' + i, name: 'Item of trade ' + i, {key}: {value}}})")
    finding: Any = kgeval.audit(graph.driver, checks="value-as-text", no_structure=True, examples=20).findings[0]
    assert [example.items[0].name for example in finding.examples] == ([f"Item.{key}"] if found else [])
