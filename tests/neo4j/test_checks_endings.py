"""Dates that stand in the wrong order: what happens to what had ended, plans, days and times of one day, and one slip told once."""

from __future__ import annotations

from collections.abc import Callable

import kgeval
from kgeval.graph.connect import Graph

Draw = Callable[[str], None]


def hits(graph: Graph) -> list[tuple[str, str]]:
    found = kgeval.audit(graph.driver, checks="values-out-of-order", no_structure=True, examples=50).findings[0]
    assert (found.count or 0) == len(found.examples)
    return [(example.items[0].name, str(example.why)) for example in found.examples]


def test_orders_of_a_client_who_had_closed_are_found_though_few_clients_have(graph: Graph, draw: Draw) -> None:
    """And no final invoices, nor an order on the last day."""
    draw("""UNWIND range(1, 60) AS i CREATE (c:Client {code: 'C' + i, nom: 'Client ' + i})
            SET c.dateCessation = CASE i % 15 WHEN 1 THEN date('2022-06-20') END
            WITH i, c UNWIND range(1, 4) AS k
            CREATE (o:Commande {numero: 'K' + i + '-' + k, date: CASE WHEN i = 16 AND k > 2 THEN date('2024-02-19') WHEN i = 31 AND k = 4
                THEN date('2022-06-20') ELSE date('2021-01-01') + duration({days: 7 * i + k}) END})-[:PASSEE_PAR]->(c),
              (:Facture {numero: 'F' + i + '-' + k, date: CASE WHEN i % 15 = 1 AND k = 4 THEN date('2022-08-01')
                ELSE date('2021-01-20') + duration({days: 7 * i + k}) END})-[:ADRESSEE_A]->(c)""")
    assert hits(graph) == [
        (f"Commande K16-{k} -[PASSEE_PAR]-> Client C16",
         "Commande.date 2024-02-19, Client.dateCessation 2022-06-20; 13 of 16 stand the other way round")
        for k in (3, 4)
    ]


def test_what_often_happens_after_an_end_is_no_slip(graph: Graph, draw: Draw) -> None:
    """Of a player who retired a tenth of all matches are for old boys."""
    draw("""UNWIND range(1, 40) AS i CREATE (p:Player {nr: i, name: 'Player ' + i, retired: date('2015-01-01')})
            WITH i, p UNWIND range(1, 5) AS k
            CREATE (p)-[:PLAYED]->(:Meeting {meetingNo: i * 10 + k, date: CASE WHEN k = 5 AND i % 2 = 0 THEN date('2019-01-01')
              ELSE date('2010-01-01') + duration({days: 13 * i + k}) END})""")
    assert hits(graph) == []


def test_a_day_and_a_time_of_the_same_day_are_in_no_order(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 200) AS i
            WITH i, date('2025-05-01') + duration({days: i % 20}) AS day
            CREATE (:Flight {flightNo: 'F' + i, operatingDate: toString(day), actualDeparture: toString(datetime(
              {date: day + duration({days: CASE WHEN i % 90 = 0 THEN 1 ELSE 0 END}), hour: 6 + i % 12, minute: i % 60}))})""")
    assert hits(graph) == []


def test_one_value_in_the_wrong_place_is_told_once(graph: Graph, draw: Draw) -> None:
    """Of a case that was decided before it came in no statement is told besides; and a deadline is no event."""
    draw("""UNWIND range(1, 120) AS i
            WITH i, date('2023-01-01') + duration({days: 2 * i}) AS day
            CREATE (a:Antrag {aktenzeichen: 'A' + i, eingang: day, vollständig_am: day + duration({days: 5 + i % 9}),
                entschieden_am: day + duration({days: CASE i WHEN 7 THEN -40 ELSE 60 + i % 30 END})}),
              (a)-[:HAT]->(:Stellungnahme {nr: 'S' + i, eingegangen_am: day + duration({days: 20 + i % 25}),
                frist_bis: day + duration({days: CASE WHEN i % 50 = 0 THEN 95 ELSE 40 + i % 9 END})}),
              (a)-[:HAT]->(:Stellungnahme {nr: 'T' + i, eingegangen_am: day + duration({days: 22 + i % 25}),
                frist_bis: day + duration({days: 45})})""")
    (name, why), = hits(graph)
    assert (name, why) == ("Antrag A7", "vollständig_am 2023-01-27, entschieden_am 2022-12-06")
