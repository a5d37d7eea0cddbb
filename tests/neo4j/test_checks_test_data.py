"""Data that were left from a test, and real names that look like it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import kgeval
from kgeval.graph.connect import Graph

Draw = Callable[[str], None]
LEFT = [
    ("Customer", "Test customer"), ("Client", "TEST NE PAS UTILISER"), ("Kunde", "Testkunde 2"), ("Kunde", "Bitte nicht verwenden"),
    ("Supplier", "ZZ Old account - DO NOT USE"), ("Company", "DO NOT USE - Acme"), ("Cliente", "Cliente de prueba"), ("Person", "DUMMY"),
    ("User", "asdf"), ("Company", "Test"), ("Proveedor", "proveedor prueba 1"), ("Klant", "Test klant"), ("Fornitore", "NON USARE"),
    ("Employee", "Test 1"), ("Patient", "Test Patient"), ("Customer", "xxx"), ("Fornecedor", "Teste"),
]
REAL = [
    ("Place", "Test Valley"), ("Car", "Testarossa"), ("Person", "Dummy Hoy"), ("Film", "Test"), ("Environment", "Test"), ("Phase", "Demo"),
    ("Person", "Tess Testa"), ("Role", "Test user"), ("Person", "Max Proef"), ("Company", "Teste & Co"), ("Software", "Foobar2000"),
    ("Rule", "Do not use bleach on wool"), ("Company", "Contest Customer Service"), ("Person", "Prova Sen"), ("Ingredient", "Demo"),
    ("Company", "Fake Company Records Ltd"), ("Person", "Ne Pas"), ("Match", "Test 1"), ("UserGroup", "Test"), ("Company", "Muster AG"),
]


@pytest.mark.parametrize(("label", "name"), LEFT)
def test_what_is_left_of_a_test_is_found(graph: Graph, draw: Draw, label: str, name: str) -> None:
    assert told(graph, label, name) == [name]


@pytest.mark.parametrize(("label", "name"), REAL)
def test_a_real_name_is_none_of_a_test(graph: Graph, draw: Draw, label: str, name: str) -> None:
    assert told(graph, label, name) == []


@pytest.mark.parametrize(("mail", "found"), [
    ("test@test.fr", 1), ("Test1@test.com", 1), ("asdf@asdf.de", 1), ("test@shop.example", 0), ("ana.testa@test-valley.gov.uk", 0),
    ("info@test.de", 0), ("contest@testing.org", 0),
])
def test_an_address_of_a_test_is_found(graph: Graph, draw: Draw, mail: str, found: int) -> None:
    assert len(told(graph, "Customer", "Anna Berg", mail)) == found


def told(graph: Graph, label: str, name: str, mail: str = "anna@berg.example") -> list[str]:
    names = [name, *(f"{a} {b}" for a in ("Ida", "Udo", "Eva", "Jan", "Kim") for b in ("Falk", "Roth", "Stern", "Vogt", "Winter"))]
    graph.write(f"""UNWIND range(0, size($names) - 1) AS i CREATE (n:{label} {{id: 'c' + i, name: $names[i], rank: i % 4,
        email: CASE i WHEN 0 THEN $mail ELSE 'c' + i + '@shop.example' END}})-[:AT]->(:Place {{id: 'p' + i, name: 'Lane of ' + i}})""",
        {"names": names, "mail": mail})
    finding: Any = kgeval.audit(graph.driver, checks="placeholder-entity", no_structure=True, examples=20).findings[0]
    return [example.items[0].name for example in finding.examples]
