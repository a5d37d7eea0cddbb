"""Codes that lost the 0 at their beginning, and words among codes: what is told, and which shorter codes are right."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from audited import told

from kgeval.graph.connect import Graph

Draw = Callable[[str], None]


POSTAL = [
    # name, values of i, other properties, and the values that are told
    ("plz", "CASE WHEN i < 4 THEN '466' + i WHEN i < 9 THEN '0466' + i ELSE toString(20000 + i) END",
     "ort: CASE WHEN i < 9 THEN 'Grimma' ELSE 'X' END",
     ["4661", "4662", "4663"]),
    ("codePostal", "CASE WHEN i < 4 THEN '640' + i WHEN i < 6 THEN '100' + i ELSE toString(75000 + i) END",
     "pays: CASE WHEN i IN [4, 5] THEN 'Belgique' ELSE 'France' END", ["6401", "6402", "6403"]),
    ("codigo_postal", "CASE WHEN i < 4 THEN 8010 + i ELSE 28000 + i END", "pais: 'ES', ciudad: 'C' + i", ["8011", "8012", "8013"]),
    ("cap", "CASE WHEN i = 3 THEN '185' ELSE '00' + (180 + i) END", "citta: 'Roma'", ["185"]),
    ("zip_code", "CASE WHEN i < 3 THEN '213' + i WHEN i < 9 THEN '0213' + i ELSE toString(60000 + i) END",
     "state: CASE WHEN i < 9 THEN 'MA' ELSE 'IL' END", ["2131", "2132"]),
    # right: Austrian, Swiss and Belgian codes among German ones, with a country, with towns, and with neither; codes of many lands
    ("plz", "CASE WHEN i < 5 THEN '101' + i ELSE toString(10000 + i) END", "land: CASE WHEN i < 5 THEN 'AT' ELSE 'DE' END", []),
    ("plz", "CASE WHEN i < 5 THEN '101' + i WHEN i < 9 THEN '0106' + i ELSE toString(20000 + i) END",
     "stadt: CASE WHEN i < 5 THEN 'Wien' WHEN i < 9 THEN 'Dresden' ELSE 'Kiel' END", []),
    ("plz", "CASE WHEN i < 5 THEN '801' + i ELSE toString(20000 + i) END", "note: 'n' + i", []),
    ("postcode", "CASE i % 3 WHEN 0 THEN toString(1000 + i) WHEN 1 THEN toString(10000 + i) ELSE toString(100000 + i) END",
     "country: ['NO', 'DE', 'RU'][i % 3]", []),
    ("plz", "CASE WHEN i < 3 THEN '801' + i ELSE toString(20000 + i) END",
     "land: CASE WHEN i < 3 THEN null ELSE 'DE' END, ort: 'O' + i", []),
    # articles and accounts; right: two kinds of numbers, numbers of a count, telephones, houses, years
    ("artikelnr", "CASE WHEN i < 4 THEN toString(4700 + i) ELSE '00' + (4700 + i) END", "kind: 'k'", ["4701", "4702", "4703"]),
    ("account", "CASE WHEN i = 5 THEN '7123405' WHEN i < 9 THEN '071234' + (10 + i) ELSE toString(12345600 + i) END", "kind: 'k'",
     ["7123405"]),
    ("ean", "CASE WHEN i < 4 THEN toString(40123450 + i) ELSE toString(4006381333000 + i) END", "kind: 'k'", []),
    ("lot", "toString(i)", "kind: 'k'", []), ("kundennr", "toString(980 + i)", "kind: 'k'", []),
    ("phone", "CASE WHEN i < 4 THEN '22134' + i ELSE '022134' + (100 + i) END", "kind: 'k'", []),
]


@pytest.mark.parametrize(("key", "value", "beside", "found"), POSTAL, ids=[f"{key}-{at}" for at, (key, *_) in enumerate(POSTAL)])
def test_codes_of_digits_that_lost_a_zero_are_found(
    graph: Graph, draw: Draw, key: str, value: str, beside: str, found: list[str],
) -> None:
    draw(f"UNWIND range(1, 60) AS i CREATE (:Shop {{shopId: 's' + i, name: 'Shop ' + i, {key}: {value}, {beside}}})")
    why = told(graph, "value-outside-format").get(f"Shop.{key}", "")
    assert [part.split("'")[1] for part in why.split(" as ")[-1].split(", ")] == found if found else "lost a 0" not in why


CODES = [
    ("nationality", "CASE i WHEN 3 THEN 'England' ELSE ['ENG', 'SCO', 'WAL', 'IRL'][i % 4] END", "'England' (Shop 3)"),
    ("icao_type", "CASE i WHEN 3 THEN 'Boeing' ELSE ['A320', 'B738', 'E190', 'DH8D'][i % 4] END", "'Boeing' (Shop 3)"),
    ("zone", "CASE i WHEN 3 THEN 'Nordwest' ELSE ['nw', 'no', 'sw', 'so'][i % 4] END", "'Nordwest' (Shop 3)"),
    ("unit", "CASE i WHEN 3 THEN 'Karton' ELSE ['KGM', 'PCE', 'LTR', 'MTR'][i % 4] END", "'Karton' (Shop 3)"),
    ("sprache", "CASE i WHEN 3 THEN 'deutsch' ELSE ['de', 'en', 'fr', 'it'][i % 4] END", ""),  # value-spelling tells it
    # right: a word that is planned, names, sizes, codes of several lengths, few codes
    ("origin", "CASE i WHEN 3 THEN 'Various' ELSE ['ENG', 'SCO', 'WAL', 'IRL'][i % 4] END", ""),
    ("short_name", "CASE i WHEN 3 THEN 'Union' ELSE ['FCB', 'BVB', 'SGE', 'HSV'][i % 4] END", ""),
    ("size", "CASE i WHEN 3 THEN 'Large' ELSE ['XS', 'S', 'M', 'XXL'][i % 4] END", ""),
    ("state", "CASE i WHEN 3 THEN 'Paid' ELSE ['NEW', 'OPEN', 'SENT', 'CANCEL'][i % 4] END", ""),
    ("kind", "CASE i WHEN 3 THEN 'Weekly' ELSE 'DAY' END", ""), ("origin", "['ENG', 'SCO', 'WAL', 'IRL'][i % 4]", ""),
]


@pytest.mark.parametrize(("key", "value", "found"), CODES, ids=[f"{key}-{at}" for at, (key, *_) in enumerate(CODES)])
def test_words_among_codes_are_found(graph: Graph, draw: Draw, key: str, value: str, found: str) -> None:
    draw(f"UNWIND range(1, 80) AS i CREATE (:Shop {{shopId: 's' + i, name: 'Shop ' + i, {key}: {value}}})")
    why = told(graph, "value-outside-format").get(f"Shop.{key}", "")
    assert found in why if found else not why


@pytest.mark.parametrize("key", [
    "hausnummer", "houseNumber", "house_no", "numero_civico", "huisnummer", "room", "zimmer", "platform", "chapter",
])
def test_a_letter_behind_the_number_of_a_house_or_a_room_is_right(graph: Graph, draw: Draw, key: str) -> None:
    draw(f"UNWIND range(1, 60) AS i CREATE (:Flat {{flatId: 's' + i, {key}: CASE WHEN i < 4 THEN i + 'a' ELSE toString(i) END}})")
    assert not told(graph, "value-outside-format")


@pytest.mark.parametrize(("examples", "named"), [(2, 2), (0, 7)])
def test_as_many_values_are_named_as_are_asked_for(graph: Graph, draw: Draw, examples: int, named: int) -> None:
    draw("""UNWIND range(1, 80) AS i
            CREATE (:Shop {shopId: 's' + i, name: 'Shop ' + i, email: CASE WHEN i < 8 THEN 'ask ' + i ELSE i + '@shop.example' END})""")
    why = told(graph, "value-outside-format", examples=examples)["Shop.email"]
    assert why.count("(Shop ") == named
