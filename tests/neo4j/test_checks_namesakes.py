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


DESK = f"""CREATE (t:Team {{name: 'Service Desk'}}) WITH t UNWIND range(0, 69) AS i
CREATE (:Person {{employee_id: 'HF' + (10000 + 37 * i), name: {WORDS}[i % 36] + ' ' + {WORDS}[(i + 7 + i / 36) % 36],
  email: 'p' + i + '@firm.example', phone: '+44 20 ' + (4000000 + 98765 * i), hired: date('2001-01-01') + duration({{days: 97 * i}}),
  job_title: ['Lead', 'Agent'][i % 2], site: ['Hull', 'Leeds', 'York'][i % 3]}})-[:IN_TEAM]->(t)"""
TWO = """MATCH (t:Team)
CREATE (:Person {employee_id: 'HF90001', name: 'David Evans', email: 'david.evans@firm.example', phone: '+44 20 7946018',
  hired: date('2013-05-06'), job_title: 'Agent', site: 'Hull'})-[:IN_TEAM]->(t)
CREATE (m:Person {employee_id: 'HF90207', name: 'David Evans', email: 'david.evans2@firm.example', phone: '+44 20 3351296',
  hired: date('2019-11-18'), job_title: 'Lead', site: 'York'})-[:IN_TEAM]->(t)
SET m += $more"""


@pytest.mark.parametrize(("more", "are_one"), [
    ({}, False), ({"email": None}, False), ({"job_title": "Agent", "site": "Hull"}, False),
    ({"job_title": "Agent", "email": None}, False),
    ({"job_title": "Agent", "site": "Hull", "phone": "+44 20 7947833"}, False),  # an extension of one switchboard
    ({"phone": "+44 20 7946018"}, True), ({"phone": "020/7946018", "email": None, "job_title": "Agent", "site": "Hull"}, True),
    ({"email": None, "phone": None, "hired": None, "job_title": "Agent"}, True),
])
def test_two_of_one_team_and_name_are_two_where_all_that_is_theirs_differs(
    graph: Graph, draw: Draw, more: dict[str, str | None], are_one: bool,
) -> None:
    draw(DESK)
    graph.write(TWO, {"more": more})
    assert any(["David Evans", "David Evans"] in found for found in pairs(graph).values()) == are_one


GOODS = f"""UNWIND range(0, 35) AS i MERGE (r:Receta {{nombre: 'Plato ' + {WORDS}[i / 3]}})
CREATE (:Ingrediente {{nombre: {WORDS}[i], precio: 1.5 + 0.7 * i, familia: ['pescado', 'fruta', 'queso'][i % 3]}})<-[:LLEVA]-(r)"""
PART = """MATCH (r:Receta) WITH r ORDER BY r.nombre LIMIT 3 WITH collect(r) AS recipes
CREATE (a:Ingrediente {nombre: 'Calamar', familia: 'marisco', precio: 13.9})
CREATE (b:Ingrediente {nombre: 'Tinta de calamar', familia: 'marisco', precio: $price})
FOREACH (r IN recipes | CREATE (r)-[:LLEVA]->(a) CREATE (r)-[:LLEVA]->(b))"""


@pytest.mark.parametrize(("price", "are_one"), [(31.0, False), (13.9, True)])
def test_a_part_of_the_name_of_goods_is_another_thing_unless_their_values_say_that_they_are_one(
    graph: Graph, draw: Draw, price: float, are_one: bool,
) -> None:
    draw(GOODS)
    graph.write(PART, {"price": price})
    assert ("fragmented-entity" in pairs(graph)) == are_one
