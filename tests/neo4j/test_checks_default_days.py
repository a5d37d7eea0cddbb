"""Days that a program writes where it knows none, and those that are meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import kgeval
from kgeval.graph.connect import Graph

Draw = Callable[[str], None]
BORN = "toString(date('1948-05-17') + duration({days: i * 331}))"  # of i from 1 to 60
DAYS = [
    # name, value of i, and how often the day is told
    ("fecha_nacimiento", f"date(CASE WHEN i < 6 THEN '1900-01-01' ELSE {BORN} END)", 5),
    ("geboren_am", "CASE WHEN i < 4 THEN '01.01.1900' ELSE '12.' + (10 + i % 3) + '.' + (1940 + i) END", 3),
    ("created", "datetime(CASE WHEN i < 4 THEN '1970-01-01T00:00:00Z' ELSE '2021-03-04T10:11:' + (10 + i % 50) + 'Z' END)", 3),
    ("date_commande", "CASE WHEN i < 3 THEN '1899-12-30' ELSE toString(date('2023-01-05') + duration({days: i * 3})) END", 2),
    ("geaendert",
     "localdatetime(CASE WHEN i < 3 THEN '1601-01-01T00:00' ELSE toString(date('2023-01-05') + duration({days: i})) + 'T08:00' END)",
     2),
    ("since", "date(CASE WHEN i < 3 THEN '1970-01-01' ELSE toString(date('1962-02-03') + duration({days: i * 301})) END)", 2),
    ("valid_to", "CASE WHEN i < 3 THEN '2099-12-31' WHEN i % 3 = 0 THEN null ELSE toString(date('2024-02-03') + duration({days: i})) END",
     2),
    # right: one alone; days of years; ends for ever, beside others and where each has one; history; laws in force since a day of many
    ("born", f"date(CASE WHEN i < 2 THEN '1900-01-01' ELSE {BORN} END)", 0),
    ("built", "date(toString(1890 + (i % 40)) + '-01-01')", 0),
    ("gueltig_bis", "CASE i % 3 WHEN 0 THEN '9999-12-31' ELSE toString(date('2024-02-03') + duration({days: i})) END", 0),
    ("valid_until", "CASE WHEN i < 3 THEN '9999-12-31' ELSE toString(date('2024-02-03') + duration({days: i})) END", 0),
    ("in_force", "date(['1900-01-01', '1970-01-01', '1975-07-01', '1962-03-05'][i % 4])", 0),
    ("fought", "date(toString(date('1899-10-11') + duration({days: (i / 2) * 9})))", 0),
    ("signed",
     "date(CASE WHEN i < 4 THEN '1900-01-01' ELSE toString(1820 + i * 2) + CASE i % 2 WHEN 0 THEN '-01-01' ELSE '-06-30' END END)",
     0),
    ("recorded", "date(CASE WHEN i < 40 THEN '1970-01-01' ELSE toString(date('1962-02-03') + duration({days: i * 301})) END)", 0),
]


@pytest.mark.parametrize(("key", "value", "found"), DAYS, ids=[key for key, *_ in DAYS])
def test_days_that_stand_for_none_are_found(graph: Graph, draw: Draw, key: str, value: str, found: int) -> None:
    draw(f"UNWIND range(1, 60) AS i CREATE (:Member {{memberId: 'm' + i, name: 'Member ' + i, {key}: {value}}})")
    finding: Any = kgeval.audit(graph.driver, checks="impossible-value", no_structure=True, examples=20).findings[0]
    assert finding.count == found
    assert all(f", {found} times: the others lie from " in example.why for example in finding.examples)


def test_days_that_stand_for_none_are_found_on_relations(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 40) AS i
            CREATE (:Player {playerId: i, name: 'Player ' + i})
              -[:PLAYS_FOR {since: date(CASE WHEN i IN [3, 4] THEN '1900-01-01'
                  ELSE toString(date('2019-02-03') + duration({days: i})) END)}]
              ->(:Club {clubId: i, name: 'Club ' + i})""")
    finding: Any = kgeval.audit(graph.driver, checks="impossible-value", no_structure=True, examples=20).findings[0]
    assert [example.items[0].name for example in finding.examples] == ["Player 3 -[PLAYS_FOR]-> Club 3", "Player 4 -[PLAYS_FOR]-> Club 4"]
