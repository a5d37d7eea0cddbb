"""What checks say of records that people keep: two of one thing, under different keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import kgeval
from kgeval.graph.connect import Graph

Draw = Callable[[str], None]
CUSTOMERS = """
UNWIND range(1, 60) AS i
CREATE (:Customer {nr: i, firstName: ['Ada', 'Bo', 'Cy', 'Di', 'Ed', 'Flo'][i % 6], lastName: 'Name' + i, born: 1900 + i,
  phone: '555-000-' + (1000 + i), mail: 'person' + i + '@example.org', city: 'Town ' + (i % 5), score: i * 7919})
"""
PERSON = "CREATE (:Customer {nr: $nr, firstName: $first, lastName: $last, phone: $phone, mail: $mail, born: $born})"


def same_records(graph: Graph, **options: Any) -> Any:
    return kgeval.audit(graph.driver, checks="same-record", no_structure=True, examples=20, **options).findings[0]


def pairs_of(finding: Any) -> list[tuple[list[str], str]]:
    return [([item.name for item in example.items], example.why) for example in finding.examples]


def add(graph: Graph, *people: tuple[str, str, str | None, str | None, int | None]) -> None:
    for at, (first, last, phone, mail, born) in enumerate(people):
        graph.write(PERSON, {"nr": 900 + at, "first": first, "last": last, "phone": phone, "mail": mail, "born": born})


@pytest.mark.parametrize(("people", "why"), [
    # (telephone, mail, born) of two people, and what is said of them
    ([("Wanda", "Wroath", "1-23-45", "w@x.org", None), ("Wenda", "Wroath", "1-23-45", "w@x.org", None)], "the same mail and phone"),
    ([("Hortensia", "Benn", "1-23-45", "h@x.org", None), ("Hort", "Benn", "1-23-45", "b@x.org", None)], "the same phone"),
    ([("Liz", "Benn", "1 23 45", "h@x.org", None), ("Elizabeth", "Benn", "9-87-65", "h@x.org", None)], "the same mail"),
    ([("Ann", "Lee", "1-23-45", "a@x.org", 1950), ("Ann", "Lee", "1-23-45", "a@x.org", None)], "the same mail and phone"),
    # a household, and a father and his daughter
    ([("John", "Smith", "1-23-45", "j@x.org", None), ("Margaret", "Smith", "1-23-45", "m@x.org", None)], None),
    ([("John", "Smith", "1-23-45", "j@x.org", None), ("Margaret", "Doe", "1-23-45", "j@x.org", None)], None),
    # one name and telephone, but born in two years
    ([("John", "Smith", "1-23-45", "j@x.org", 1950), ("John", "Smith", "1-23-45", "j@x.org", 1980)], None),
    # what stands for no value is shared by nobody
    ([("Jon", "Smith", "NULL", None, None), ("John", "Smith", "NULL", None, None)], None),
    ([("Jon", "Smith", "n/a", "", None), ("John", "Smith", "n/a", "", None)], None),
    ([("Jon", "Smith", None, None, None), ("John", "Smith", None, None, None)], None),
])
def test_two_records_of_one_thing_are_found_by_what_only_one_should_have(
    graph: Graph, draw: Draw, people: list[tuple[str, str, str | None, str | None, int | None]], why: str | None,
) -> None:
    draw(CUSTOMERS)
    add(graph, *people)
    found = same_records(graph)
    names = sorted(f"{first} {last}" for first, last, *_ in people)
    assert [(sorted(pair), said) for pair, said in pairs_of(found)] == ([(names, why)] if why else [])
    assert (found.count, found.total, found.severity) == (2 if why else 0, 62, "warning")


def test_what_an_office_shares_or_a_relation_tells_is_no_second_record(graph: Graph, draw: Draw) -> None:
    draw(CUSTOMERS)
    office = [("Ann", f"Office{letter}", "1-23-45", f"{letter}@x.org", None) for letter in "abcdefgh"]
    add(graph, *office, ("Kim", "Hall", "6-66-66", "k@x.org", None), ("Kimm", "Hall", "6-66-66", "l@x.org", None))
    assert pairs_of(same_records(graph)) == [(["Kim Hall", "Kimm Hall"], "the same phone")]
    assert same_records(graph, settings={"same-record.max_nodes": 8}).count > 2
    graph.write("MATCH (a:Customer {firstName: 'Kim', lastName: 'Hall'}), (b:Customer {firstName: 'Kimm'}) CREATE (b)-[:CHILD_OF]->(a)")
    assert pairs_of(same_records(graph)) == []


def test_records_without_a_name_must_share_two_values(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 40) AS i CREATE (:Device {id: i, mac: 'aa:bb:cc:' + (1000 + i), serial: 'SN' + (70000 + i), watts: i})
            WITH count(*) AS done CREATE (:Device {id: 101, mac: 'aa:bb:cc:1001', serial: 'SN99'}),
              (:Device {id: 102, mac: 'aa:bb:cc:1002', serial: 'SN70002'})""")
    found = same_records(graph)
    assert [sorted(item.key for item in example.items) for example in found.examples] == [["Device 102", "Device 2"]]


def test_graphs_without_such_values_have_nothing_to_look_at(graph: Graph, draw: Draw) -> None:
    draw("UNWIND range(1, 40) AS i CREATE (:City {id: i, name: 'City ' + i, people: i * 1000})")
    assert same_records(graph).status == "skipped"


MATCHES = """
UNWIND range(1, 12) AS t CREATE (:Team {teamId: t, name: 'Team of town ' + t})
WITH count(*) AS done UNWIND range(1, 120) AS i
MATCH (a:Team {teamId: 1 + i % 12}), (b:Team {teamId: 1 + (i * 5 + 3) % 12})
CREATE (m:Match {matchId: i, day: date('2023-01-01') + duration({days: i % 40}), home: i % 4, away: i % 3, spectators: 9000 + i * 173}),
  (m)-[:HOME_TEAM]->(a), (m)-[:AWAY_TEAM]->(b)
"""
AGAIN = """MATCH (a:Team)<-[:HOME_TEAM]-(m:Match {matchId: 91})-[:AWAY_TEAM]->(b:Team)
CREATE (n:Match {matchId: 901}), (n)-[:HOME_TEAM]->(a) SET n += m {.day, .home, .away, .spectators} """


@pytest.mark.parametrize(("change", "found"), [
    ("CREATE (n)-[:AWAY_TEAM]->(b)", True), ("SET n.spectators = 1 CREATE (n)-[:AWAY_TEAM]->(b)", False),
    ("SET n.referee = 'Ann' CREATE (n)-[:AWAY_TEAM]->(b)", False),
    ("SET n.home = 9 CREATE (n)-[:AWAY_TEAM]->(b)", False), ("WITH n MATCH (c:Team {teamId: 12}) CREATE (n)-[:AWAY_TEAM]->(c)", False),
    ("CREATE (n)-[:AWAY_TEAM]->(b), (n)-[:REPLAY_OF]->(m)", False),
    ("CREATE (n)-[:AWAY_TEAM]->(b) SET n.matchId = '91b', m.matchId = '91'", False),  # parts
])
def test_records_that_agree_in_all_but_their_keys_are_one(graph: Graph, draw: Draw, change: str, found: bool) -> None:
    draw(MATCHES)
    draw(AGAIN + change)
    why = "the same in all 4 values that say something; only their keys differ"
    assert [why for _, why in pairs_of(same_records(graph))] == ([why] if found else [])


def test_a_recipe_that_was_sent_twice_within_a_minute_is_one(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 200) AS i
            CREATE (:Recipe {uuid: 'u' + i, title: 'Soup of kind ' + i, slug: 'soup-' + i, minutes: i % 7, serves: i % 5,
              published: datetime('2020-01-01T10:00:00Z') + duration({days: i})})-[:USES]->(:Item {name: 'Item of trade ' + i})
            WITH count(*) AS done
            UNWIND [[7, 'PT1M'], [9, 'P40D']] AS row
            MATCH (r:Recipe {uuid: 'u' + row[0]})-[:USES]->(x)
            CREATE (s:Recipe)-[:USES]->(x) SET s = r, s.uuid = randomUUID(), s.published = r.published + duration(row[1])""")
    found = kgeval.audit(graph.driver, checks="same-record,duplicate-name", no_structure=True, examples=20)
    names = [[example.items[0].name for example in finding.examples] for finding in found.findings]
    assert names == [["Soup of kind 7"], ["Soup of kind 7"]]


def test_two_with_one_number_that_is_a_code_and_like_names_are_one(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 40) AS i CREATE (:Vessel {registered: 9000000 + i * 7919, name: 'Northern Star ' + i, teu: i * 100,
              wages: 100000 + i * 17})
            WITH count(*) AS done
            CREATE (:Vessel {registered: 9512345, name: 'Silver Tide', teu: 700, wages: 100017}),
              (:Vessel {registered: 9512345, name: 'MV SILVER TIDE', teu: 700, wages: 100999}),
              (:Vessel {registered: 9555555, name: 'Coral Bay', teu: 700, wages: 123123}),
              (:Vessel {registered: 9666666, name: 'Coral Bays', teu: 700, wages: 123123})""")
    assert pairs_of(same_records(graph)) == [(["Silver Tide", "MV SILVER TIDE"], "the same registered")]


def test_headings_that_many_bear_make_nothing_one(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 60) AS i
            CREATE (:Act {short_title: 'Fisheries Act ' + (1950 + i)})-[:HAS]->(:Section {heading: 'Heading ' + (i % 6),
              text: 'This Act may be cited as the Act of ' + CASE i WHEN 60 THEN 6 ELSE i END})""")
    assert pairs_of(same_records(graph)) == []


@pytest.mark.parametrize(("number", "why"), [
    ("GB-2023-1007", "the same in all 4 values that say something, and in bescheid_nr"),
    ("GB-2023-2007", "the same in all 4 values that say something; only their keys differ"),
])
def test_of_equal_records_it_is_said_whether_their_keys_differ(graph: Graph, draw: Draw, number: str, why: str) -> None:
    draw("""UNWIND range(1, 120) AS i
            CREATE (:Antrag {az: 'A' + i})-[:HAT]->(:Gebuehr {bescheid_nr: 'GB-2023-' + (1000 + i), betrag: 70.5 + i,
              datum: date('2023-01-01') + duration({days: i}), tarif: '7.' + (i % 4), zweck: ['Genehmigung', 'Auszug'][i % 2]})""")
    draw(f"""MATCH (a)-[:HAT]->(g:Gebuehr {{bescheid_nr: 'GB-2023-1007'}}) CREATE (n:Gebuehr)<-[:HAT]-(a)
             SET n = properties(g), n.bescheid_nr = '{number}'""")
    assert [why for _, why in pairs_of(same_records(graph))] == [why]
