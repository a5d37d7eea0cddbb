"""What the audit says of the values of one node: one thing in several forms, two values that are swapped, numbers that no such thing has,
words that are planned, and texts that are unclean; and of values that only look so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import kgeval
from kgeval.auditing.steps.unusual_number import NumberRange, usual_numbers
from kgeval.auditing.steps.value_spelling import forms_of_one
from kgeval.graph.connect import Graph

Draw = Callable[[str], None]
CHECKS = "value-spelling,null-text,impossible-value,unusual-number,value-outside-format,swapped-values,unclean-text"


def said(graph: Graph, checks: str = CHECKS) -> dict[str, Any]:
    """By check that finds something what it says of each hit; two of one thing are joined."""
    findings = kgeval.audit(graph.driver, checks=checks, no_structure=True, examples=20).findings
    assert [(finding.rule_id, finding.reason) for finding in findings if finding.status == "error"] == []
    told: dict[str, dict[str, str]] = {}
    for finding in (finding for finding in findings if finding.status == "failed"):
        of = told.setdefault(finding.rule_id, {})
        for example in finding.examples:
            name = example.items[0].name
            of[name] = "; ".join(sorted([*([of[name]] if name in of else []), example.why or ""]))
    return told


def test_one_thing_in_several_forms_is_found(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(0, 59) AS i
            CREATE (:Patient {mrn: 'M' + i, sex: CASE i WHEN 3 THEN 'weiblich' WHEN 4 THEN 'Female' ELSE ['F', 'M', 'Unknown'][i % 3] END,
                countryCode: CASE i WHEN 5 THEN 'Deutschland' WHEN 6 THEN 'Spain' WHEN 7 THEN 'NA' ELSE ['DE', 'FR', 'IT'][i % 3] END,
                language: CASE i WHEN 8 THEN 'ger' ELSE ['German', 'English'][i % 2] END,
                insured: CASE i WHEN 9 THEN 'true' ELSE ['ja', 'nein'][i % 2] END})
              -[:SEEN {day: CASE i WHEN 10 THEN 'Mon' ELSE ['Montag', 'Dienstag'][i % 2] END}]->
              (:Bill {nr: 'B' + i, currency: CASE i WHEN 11 THEN '€' ELSE ['EUR', 'CHF'][i % 2] END,
                month: CASE i WHEN 12 THEN 'Sept' ELSE ['September', 'Oktober'][i % 2] END})""")
    assert said(graph) == {"value-spelling": {
        "Patient.sex": "2 of 60 texts are other forms of a value: 'Female' (1) beside 'F' (19), 'weiblich' (1) beside 'F' (19)",
        "Patient.countryCode":
            "2 of 60 texts are other forms of a value: 'Deutschland' (1) beside 'DE' (19), 'Spain' (1) beside 'DE' (19)",
        "Patient.language": "1 of 60 texts are other forms of a value: 'ger' (1) beside 'German' (29)",
        "Patient.insured": "1 of 60 texts are other forms of a value: 'true' (1) beside 'ja' (30)",
        "SEEN.day": "1 of 60 texts are other forms of a value: 'Mon' (1) beside 'Montag' (29)",
        "Bill.currency": "1 of 60 texts are other forms of a value: '€' (1) beside 'EUR' (30)",
        "Bill.month": "1 of 60 texts are other forms of a value: 'Sept' (1) beside 'September' (29)",
    }}


def test_codes_that_are_other_things_as_well_say_nothing(graph: Graph, draw: Draw) -> None:
    """Departments and states called as countries are, elements, girls and capitals, sizes, grades, points of the compass."""
    draw("""UNWIND range(0, 59) AS i
            CREATE (:Employee {eid: i, dept: ['DE', 'IT', 'HR', 'PR', 'Design'][i % 5],
                state: ['CA', 'GA', 'DE', 'Georgia', 'Delaware'][i % 5],
                first: ['May', 'June', 'April', 'Mark'][i % 4], size: ['S', 'M', 'L'][i % 3], wing: ['N', 'E', 'S', 'W'][i % 4],
                capital: ['Male', 'Rome', 'Lima'][i % 3], symbol: ['In', 'As', 'Na', 'Fe', 'H'][i % 5],
                born_in: ['Germany', 'USA', 'UK'][i % 3]})
              -[:IN {unit: i % 5}]->(:Office {oid: i, region: ['NA', 'EU', 'AP'][i % 3]})""")
    assert said(graph) == {}


@pytest.mark.parametrize(("texts", "groups"), [
    ({"DE": 30, "DEU": 2, "Allemagne": 1, "FR": 9}, [["DE", "DEU", "Allemagne"]]),
    ({"United States": 9, "USA": 2, "UK": 1}, [["United States", "USA"]]),
    ({"DE": 30, "FR": 9, "IT": 8, "Peru": 1}, [["DE", "Peru"]]), ({"Germany": 9, "France": 8, "USA": 7, "UK": 1}, []),
    ({"USD": 9, "$": 1, "EUR": 8, "Euro": 3}, [["USD", "$"], ["EUR", "Euro"]]), ({"Di": 4, "Dienstag": 9, "Mo": 3}, [["Dienstag", "Di"]]),
    ({"w": 9, "m": 9, "Frau": 1}, [["w", "Frau"]]), ({"yes": 9, "no": 4, "y": 1}, [["yes", "y"]]), ({"1": 4, "0": 4}, []), ({"DE": 9}, []),
    ({"S": 9, "M": 9, "male": 1}, []), ({"unknown": 9, "M": 9, "male": 1, "F": 3}, [["M", "male"]]),
])
def test_which_texts_name_one_thing(texts: dict[str, int], groups: list[list[str]]) -> None:
    assert [[text for text, _ in own] for own in forms_of_one(texts.items())] == groups


def test_swapped_values_and_places_nowhere_are_found(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(0, 39) AS i
            CREATE (:Port {locode: 'P' + i, lat: CASE i WHEN 3 THEN 9.5 WHEN 4 THEN 0 ELSE 48.0 + i * 0.1 END,
                lon: CASE i WHEN 3 THEN 53.5 WHEN 4 THEN 0 ELSE 7.0 + (i * 7 % 40) * 0.1 END}),
              (:Well {wellId: 'W' + i, at: point({latitude: CASE i WHEN 5 THEN -96.5 + 8 ELSE 31.0 + i * 0.01 END,
                longitude: CASE i WHEN 5 THEN 31.2 ELSE -88.5 + i * 0.01 END})}),
              (:Farm {farmId: 'F' + i, geo_lat: 43 + i * 0.01, geo_lng: CASE i WHEN 6 THEN 89.1 ELSE -89.3 + i * 0.01 END}),
              (:Person {pid: i, height_cm: CASE i WHEN 7 THEN 72 ELSE 160 + i END,
                weight_kg: CASE i WHEN 7 THEN 181 ELSE 60 + i * 7 % 40 END}),
              (:Book {isbn: 'i' + i, year: CASE i WHEN 8 THEN 320 ELSE 1980 + i END,
                pages: CASE i WHEN 8 THEN 1998 ELSE 200 + i * 7 END})""")
    assert said(graph, "swapped-values") == {"swapped-values": {
        "Port P3": "lat 9.5, lon 53.5: far from the others, and among them when swapped",
        "Port P4": "lat 0, lon 0: no other of these lies near 0/0",
        "Well W5": "at -88.5 31.2: far from the others, and among them when swapped",
        "Farm F6": "geo_lat 43.06, geo_lng 89.1: far from the others, and among them with the other sign of the last",
        "Person 7": "height_cm 72, weight_kg 181: far from the others, and among them when swapped",
        "Book i8": "pages 1998, year 320: far from the others, and among them when swapped",
    }}


def test_places_that_are_far_away_are_not_swapped(graph: Graph, draw: Draw) -> None:
    """Wells beside the place where both are zero, offices all over the world, airports of South Africa and Cairo; goals and assists, sides
    of pictures, and numbers of which nearly all are the same."""
    draw("""UNWIND range(0, 39) AS i
            CREATE (:Well {wellId: 'W' + i, lat: CASE i WHEN 4 THEN 0.0 WHEN 5 THEN 6.5 ELSE -2 + i * 0.1 END,
                lon: CASE i WHEN 4 THEN 0.0 WHEN 5 THEN 0.4 ELSE -1 + i * 0.2 END}),
              (:Player {pid: i, goals: CASE i WHEN 7 THEN 14 ELSE i % 3 END, assists: CASE i WHEN 7 THEN 2 ELSE 3 + i % 9 END,
                wins: CASE i WHEN 8 THEN 5 ELSE 0 END, losses: CASE i WHEN 8 THEN 0 ELSE 5 END}),
              (:Picture {pictureId: i, width: [1920, 1080][i % 2], height: [1080, 1920][i % 2]})
            WITH count(*) AS done
            UNWIND [['Denver', 39.7, -105], ['Boston', 42.4, -71], ['Austin', 30.3, -97.7], ['Seattle', 47.6, -122.3],
              ['Miami', 25.8, -80.2], ['Chicago', 41.9, -87.6], ['Atlanta', 33.7, -84.4], ['Phoenix', 33.4, -112],
              ['Beijing', 39.9, 116.4], ['Windhoek', -22.6, 17.1]] AS row
            CREATE (:Office {city: row[0], lat: row[1], lon: row[2]})
            WITH count(*) AS done
            UNWIND [['CPT', -33.9, 18.6], ['JNB', -26.1, 28.2], ['DUR', -29.6, 31.1], ['PLZ', -33.9, 25.6], ['BFN', -29.0, 26.3],
              ['ELS', -33.0, 27.8], ['CAI', 30.1, 31.4], ['GRJ', -34.0, 22.4], ['KIM', -28.8, 24.8]] AS row
            CREATE (:Airport {iata: row[0], lat: row[1], lon: row[2]})""")
    assert said(graph, "swapped-values") == {}


def test_numbers_that_no_such_thing_has_are_found(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(0, 39) AS i
            CREATE (:Book {isbn: 'i' + i, year: CASE i WHEN 1 THEN 20011 WHEN 2 THEN 209 ELSE 1980 + i END,
                printed: CASE i WHEN 3 THEN '0209-04-01' WHEN 5 THEN '1078-06-12' ELSE '1990-04-0' + (1 + i % 9) END}),
              (:Machine {machineId: 'm' + i, humidity: CASE i WHEN 4 THEN 970 ELSE 40 + i END,
                market_share: CASE i WHEN 5 THEN 1.5 ELSE i * 0.01 END,
                built: CASE i WHEN 6 THEN 20009 ELSE 1990 END,
                signal_dbm: CASE i WHEN 9 THEN 870 ELSE -60 - i END, budget: CASE i WHEN 9 THEN 90000000 ELSE 9000 + i END,
                depth_m: CASE i WHEN 7 THEN 44 ELSE -30 - i END,
                temp_c: CASE i WHEN 8 THEN -37.2 ELSE 36 + i * 0.1 END})
            FOREACH (x IN CASE WHEN i > 11 THEN [] ELSE [1] END | CREATE (:Plant {plantId: 'p' + i,
                power_mw: CASE i WHEN 2 THEN 30000 ELSE 20 + i END, height_m: CASE i WHEN 3 THEN 17.8 ELSE 1.6 + i * 0.02 END}))
            FOREACH (x IN CASE WHEN i > 6 THEN [] ELSE [1] END | CREATE (:Site {siteId: 's' + i,
                lat: CASE i WHEN 2 THEN 148.1 ELSE 48.1 END, beds: CASE i WHEN 4 THEN -2 ELSE 1 + i END}))""")
    assert said(graph, "impossible-value,unusual-number") == {
        "impossible-value": {
            "Book i1": "year 20011", "Book i2": "year 209", "Book i3": "printed 0209-04-01", "Book i5": "printed 1078-06-12",
            "Machine m4": "humidity 970",
            "Machine m5": "market_share 1.5", "Machine m6": "built 20009", "Site s2": "lat 148.1",
        },
        "unusual-number": {
            "Machine m7": "depth_m 44: 39 of 40 lie between -69 and -30",
            "Machine m8": "temp_c -37.2: 39 of 40 lie between 36 and 39.9",
            "Machine m9": "budget 90000000: 39 of 40 lie between 9,000 and 9,039; signal_dbm 870: 39 of 40 lie between -99 and -60",
            "Plant p2": "power_mw 30000: 11 of 12 lie between 20 and 31",
            "Plant p3": "height_m 17.8: 11 of 12 lie between 1.6 and 1.82",
            "Site s4": "beds -2: 6 of 7 lie between 1 and 7",
        },
    }


def test_numbers_that_such_a_thing_may_have_are_left_alone(graph: Graph, draw: Draw) -> None:
    """Years before Christ among others, changes in percent, prices per share, temperatures around zero, a thawed freezer, towns below the
    sea, an old company, years of study, a large lake, pH of superacids."""
    draw("""UNWIND range(0, 39) AS i
            CREATE (:Event {eventId: 'e' + i, year: CASE i WHEN 1 THEN -753 WHEN 2 THEN 79 WHEN 3 THEN 476 ELSE 1066 + i * 20 END}),
              (:Stock {stockId: 's' + i, growth_percent: -200 + i * 10, price_per_share: 90 + i, year_of_study: 1 + i % 4}),
              (:Day {dayId: 'd' + i, temp_c: CASE i WHEN 4 THEN -6 ELSE 1 + i * 0.5 END,
                freezer_temp: CASE i WHEN 5 THEN 1.5 ELSE -22 + i * 0.1 END,
                elevation: CASE i WHEN 6 THEN -5 ELSE 2 + i * 2 END}),
              (:Company {companyId: 'c' + i, founded: CASE i WHEN 7 THEN 578 ELSE 1900 + i END, ph: CASE i WHEN 8 THEN -1 ELSE 7 END})
            FOREACH (x IN CASE WHEN i > 11 THEN [] ELSE [1] END | CREATE (:Lake {lakeId: 'l' + i,
                area: CASE i WHEN 2 THEN 6000 ELSE 3 + i END, islands: CASE i WHEN 3 THEN 40 ELSE 1 + i % 2 END}))""")
    assert said(graph, "impossible-value,unusual-number") == {}


@pytest.mark.parametrize(("numbers", "found"), [
    ([*range(20, 32), 30_000], True), ([20, 25, 60, 100, 140, 199, 90, 70, 30, 55, 2_000], False),
    ([1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 30], False),
    ([7] * 12 + [900], False), ([*range(20, 27), 30_000], False), ([0.17, *(1.6 + i * 0.02 for i in range(12))], True),
])
def test_one_number_of_few_is_far_from_all_others(numbers: list[float], found: bool) -> None:
    parts = [NumberRange(1, one, one) for one in sorted(numbers)]
    assert (usual_numbers("measure", parts) is not None) is found


def test_a_word_for_none_is_a_category_where_it_is_planned(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(0, 59) AS i
            CREATE (:Ticket {ticketId: 't' + i, gender: ['F', 'M', 'Unknown'][i % 3], severity: ['none', 'mild', 'severe'][i % 3],
                owner: ['Person', 'Team', 'N/A'][i % 3], cause: ['signal', 'weather', 'N/A'][i % 3], region: ['NA', 'EU', 'AP'][i % 3],
                note: CASE i WHEN 1 THEN 'unknown' ELSE 'Note ' + i END,
                kind: CASE i WHEN 2 THEN 'unknown' ELSE ['pump', 'lamp'][i % 2] END,
                place: ['Rome', 'Oslo', 'NULL'][i % 3]})""")
    assert said(graph, "null-text") == {"null-text": {
        "Ticket.note": "1 of 60 texts are no value but a word for none, as 'unknown'",
        "Ticket.kind": "1 of 60 texts are no value but a word for none, as 'unknown'",
        "Ticket.place": "20 of 60 texts are no value but a word for none, as 'NULL'",
    }}


def test_texts_in_the_wrong_property_are_found(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(0, 39) AS i
            CREATE (:Kunde {kundennr: 'k' + i, telefon: CASE i WHEN 1 THEN 'k1@post.example' ELSE '+49 221 ' + (10000 + i) END,
                email: CASE i WHEN 1 THEN '+49 221 10001' ELSE 'k' + i + '@post.example' END,
                plz: CASE i WHEN 2 THEN 'Bonn' ELSE toString(50000 + i) END,
                ort: CASE i WHEN 2 THEN '50002' ELSE ['Bonn', 'Graz'][i % 2] END,
                vorname: CASE i WHEN 3 THEN '1980-02-01' ELSE ['Ida', 'Udo'][i % 2] END,
                website: CASE i WHEN 4 THEN 'info@b.example' ELSE 'https://b.example/' + i END,
                beruf: ['Koch', 'Wirt'][i % 2], house: CASE i WHEN 5 THEN '12a' ELSE toString(i) END,
                power: CASE i WHEN 5 THEN '12a' ELSE toString(i) END,
                seit: CASE i WHEN 6 THEN '1961-06-05' ELSE '05.06.19' + (60 + i) END, note: 'told a' + i + '@b.example of it'})""")
    assert said(graph, "value-outside-format") == {"value-outside-format": {
        "Kunde.telefon": "1 of 40 texts are no telephone number, as 'k1@post.example' (Kunde k1)",
        "Kunde.email": "1 of 40 texts are no mail address, as '+49 221 10001' (Kunde k1)",
        "Kunde.plz": "1 of 40 texts are no number, as 'Bonn' (Kunde k2)",
        "Kunde.ort": "1 of 40 texts are no word, as '50002' (Kunde k2)",
        "Kunde.vorname": "1 of 40 texts are no word, as '1980-02-01' (Kunde k3)",
        "Kunde.website": "1 of 40 texts are no web address, as 'info@b.example' (Kunde k4)",
        "Kunde.power": "1 of 40 texts are a number and something else, as '12a' (Kunde k5)",
        "Kunde.seit": "1 of 40 texts are dates written otherwise, as '1961-06-05' (Kunde k6)",
    }}


def test_unclean_texts_are_found_where_the_others_are_clean(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(0, 39) AS i
            CREATE (:Book {isbn: 'i' + i, name: CASE i WHEN 0 THEN 'Sea\\n' ELSE 'Book of ' + i END,
                publisher: CASE i WHEN 1 THEN '<i>Hanser</i>' WHEN 2 THEN 'Faber &amp; Faber' WHEN 3 THEN 'GÃ¼nther'
                  WHEN 4 THEN 'Han\\u200Bser' WHEN 5 THEN ' Hanser' WHEN 6 THEN 'Old  Press'
                  WHEN 7 THEN 'AT&T' WHEN 8 THEN 'a < b' ELSE 'Press ' + i END,
                body: '<p>Text ' + i + '</p>', poem: 'one  two ' + i,
                review: reduce(t = 'Liked', x IN range(1, 20) | t + ' and read') + CASE i WHEN 3 THEN '\\n' ELSE '' END})
              -[:LENT {note: CASE i WHEN 9 THEN 'torn\\t' ELSE 'fine ' + i END}]->(:Member {memberId: 'm' + i})""")
    assert said(graph, "unclean-text") == {"unclean-text": {
        "Sea": "name: a line break or a tab at an end: 'Sea\\n'", "Book of 1": "publisher: a tag: '<i>Hanser</i>'",
        "Book of 2": "publisher: an entity of HTML: 'Faber &amp; Faber'", "Book of 3": "publisher: bytes in a wrong encoding: 'GÃ¼nther'",
        "Book of 4": "publisher: a sign that nobody sees: 'Han\\u200bser'", "Book of 5": "publisher: a blank at an end: ' Hanser'",
        "Book of 6": "publisher: two blanks in a row: 'Old  Press'",
        "Book of 9 -[LENT]-> Member m9": "note: a line break or a tab at an end: 'torn\\t'",
    }}
