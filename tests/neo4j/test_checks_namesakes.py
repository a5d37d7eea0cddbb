"""Namesakes in graphs that people made: two of one name that are two, and one that was entered twice, side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import kgeval
from kgeval.graph.connect import Graph

Draw = Callable[[str], None]
CHECKS = "duplicate-name,fragmented-entity,same-record"
WORDS = """['Alder', 'Birk', 'Cedar', 'Dorn', 'Esch', 'Fichte', 'Ginko', 'Hasel', 'Ilex', 'Jasmin', 'Kiefer', 'Linde', 'Mispel', 'Nelke',
  'Olive', 'Pappel', 'Quitte', 'Rose', 'Salbei', 'Tanne', 'Ulme', 'Veilchen', 'Weide', 'Xenia', 'Yucca', 'Zeder', 'Akelei', 'Buche',
  'Clivia', 'Distel', 'Enzian', 'Farn', 'Gerbera', 'Holunder', 'Iris', 'Kamille']"""
STAFF = f"""UNWIND range(0, 33) AS i
MERGE (d:Abteilung {{name: ['Einkauf', 'Verkauf', 'Lager'][i % 3]}})
CREATE (:Mitarbeiter {{personalnummer: 'P' + (1000 + i), name: {WORDS}[i] + ' ' + {WORDS}[(i + 7) % 36], email: 'm' + i + '@firma.example',
  geburtsdatum: date('1960-01-01') + duration({{days: 211 * i}}), eingestellt: date('2001-01-01') + duration({{days: 97 * i}}),
  stelle: ['Leiter', 'Helfer'][i % 2]}})-[:ARBEITET_IN]->(d)"""
ONE_MORE = """MATCH (d:Abteilung {name: 'Lager'})
CREATE (m:Mitarbeiter {personalnummer: $nr, name: $name, email: $email, stelle: 'Helfer'})-[:ARBEITET_IN]->(d)
SET m.geburtsdatum = date($born), m.eingestellt = date($hired)"""
FARMERS = f"""UNWIND range(0, 33) AS i
CREATE (:Persona {{id: i, nombre: {WORDS}[i] + ' ' + {WORDS}[(i + 7) % 36], oficio: ['pastor', 'molinero'][i % 2]}})"""


def hired(graph: Graph, *people: tuple[str, str, str, str]) -> None:
    """Employees more: (name, mail address, date of birth, date of hire)."""
    for at, (name, email, born, since) in enumerate(people):
        graph.write(ONE_MORE, {"nr": f"P{2000 + at}", "name": name, "email": email, "born": born, "hired": since})


def pairs(graph: Graph) -> dict[str, list[list[str]]]:
    found: Any = kgeval.audit(graph.driver, checks=CHECKS, no_structure=True, examples=20).findings
    return {one.rule_id: sorted(sorted(item.name for item in example.items) for example in one.examples) for one in found if one.examples}


def test_a_pair_of_namesakes_does_not_hide_who_was_entered_twice(graph: Graph, draw: Draw) -> None:
    draw(STAFF)
    hired(
        graph, ("Jörg Müller", "joerg@firma.example", "1971-03-04", "2009-01-01"),
        ("Jörg Müller", "j.mueller@firma.example", "1988-10-09", "2019-05-01"),
        ("Zoë Grünwald", "zoe@firma.example", "1979-06-07", "2015-02-03"), ("Zoe Grunwald", "zg@firma.example", "1979-06-07", "2015-02-03"),
    )
    assert pairs(graph) == {"fragmented-entity": [["Zoe Grunwald", "Zoë Grünwald"]]}


def test_of_two_pairs_of_one_name_the_same_birth_speaks_for_one(graph: Graph, draw: Draw) -> None:
    draw(STAFF)
    hired(
        graph, ("Jörg Müller", "joerg@firma.example", "1971-03-04", "2009-01-01"),
        ("Jörg Müller", "j.mueller@firma.example", "1988-10-09", "2019-05-01"),
        ("Ute Lang", "ute@firma.example", "1979-06-07", "2015-02-03"), ("Ute Lang", "lang@firma.example", "1979-06-07", "2016-02-03"),
    )
    assert pairs(graph) == {"duplicate-name": [["Ute Lang", "Ute Lang"]]}


def test_colleagues_of_one_name_with_other_mail_addresses_are_two_though_nobody_says_when_they_were_born(graph: Graph, draw: Draw) -> None:
    draw(STAFF)
    hired(
        graph, ("Jörg Müller", "joerg@firma.example", "1971-03-04", "2009-01-01"),
        ("Jörg Müller", "j.mueller@firma.example", "1971-03-04", "2019-05-01"),
    )
    draw("MATCH (m:Mitarbeiter) REMOVE m.geburtsdatum")
    assert pairs(graph) == {}


@pytest.mark.parametrize("statement", [
    "UNWIND range(1, 60) AS i CREATE (:Proceso {pid: i, nombre: ['php', 'bash', 'cron'][i % 3] , inicio: i * 7})",
    """UNWIND range(1, 60) AS i CREATE (:Respuesta {id: i, nombre: 'Pregunta ' + (i / 2), puntos: i % 4, texto: 'Texto ' + i})""",
    """UNWIND range(1, 60) AS i CREATE (:Function {id: i, name: CASE WHEN i % 12 = 0 THEN '__init__' ELSE 'run_' + i END, line: i * 3})""",
], ids=["processes", "answers", "functions"])
def test_labels_whose_names_clearly_repeat_stay_out(graph: Graph, draw: Draw, statement: str) -> None:
    draw(statement)
    found = kgeval.audit(graph.driver, checks="duplicate-name", no_structure=True).findings[0]
    assert (found.status, found.count) == ("skipped", None)
    assert not found.examples


@pytest.mark.parametrize("relation", ["PADRE_DE", "SUPERIOR"])
def test_a_relation_between_two_of_one_name_tells_them_apart(graph: Graph, draw: Draw, relation: str) -> None:
    draw(FARMERS)
    draw(f"""CREATE (:Persona {{id: 90, nombre: 'Tomás Ibarra', oficio: 'pastor'}})-[:{relation}]->
      (:Persona {{id: 91, nombre: 'Tomás Ibarra', oficio: 'pastor'}})""")
    assert pairs(graph) == {}


@pytest.mark.parametrize("relation", ["", ", (a)-[:SAME_AS]->(b)"])
def test_without_one_or_with_one_that_says_so_they_are_one(graph: Graph, draw: Draw, relation: str) -> None:
    draw(FARMERS)
    draw(f"""CREATE (a:Persona {{id: 90, nombre: 'Tomás Ibarra', oficio: 'pastor'}}),
      (b:Persona {{id: 91, nombre: 'Tomás Ibarra', oficio: 'pastor'}}){relation}""")
    assert pairs(graph) == {"duplicate-name": [["Tomás Ibarra", "Tomás Ibarra"]]}


@pytest.mark.parametrize("key", ["data_nascita", "fechaNacimiento", "né", "data_de_nascimento", "geboortedatum", "Geburtstag"])
def test_births_in_other_languages_tell_two_apart(graph: Graph, draw: Draw, key: str) -> None:
    """A father and his son, a brother and a sister of like names, and two of one name and telephone: six people."""
    draw(f"""UNWIND range(0, 33) AS i
      CREATE (:Persona {{id: i, nome: {WORDS}[i] + ' ' + {WORDS}[(i + 7) % 36], `{key}`: 1900 + i, tel: '0039 55 ' + (1000 + i)}})
      WITH count(*) AS done UNWIND [['Gianni Riva', 1901, 'a'], ['Gianni Riva', 1930, 'b'],
        ['Simone Galli', 1922, 'c'], ['Simon Galli', 1925, 'd'], ['Carlo Bini', 1940, '0039 55 777'],
        ['Carla Bini', 1944, '0039 55 777']] AS row
      CREATE (:Persona {{id: randomUUID(), nome: row[0], `{key}`: row[1], tel: row[2]}})""")
    assert pairs(graph) == {}
    draw(f"MATCH (p:Persona) WHERE p.nome ENDS WITH 'Galli' OR p.nome ENDS WITH 'Bini' SET p.`{key}` = 1922")
    found = pairs(graph)
    assert found.pop("duplicate-name", []) == [] and found, "the same birth speaks for one"
