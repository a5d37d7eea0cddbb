"""What the audit says of values that go against what stands with them elsewhere, and of values that all others have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from audited import audited, whys

import kgeval
from kgeval.graph.connect import Graph

Draw = Callable[[str], None]


SHOP = """
UNWIND range(0, 9) AS t CREATE (:Town {townId: t, name: 'Town ' + t, region: ['North', 'South', 'West'][t % 3]})
WITH count(*) AS done
UNWIND range(0, 119) AS i
MATCH (t:Town {townId: i % 10})
CREATE (a:Address {addressId: i, street: 'Street ' + i, zip: toString(10000 + (i % 10) * 7),
    city: CASE i WHEN 33 THEN 'Bergen' ELSE 'City ' + (i % 10) END}),
  (a)-[:LIES_IN]->(t),
  (o:Order {number: 'SO-' + (2020 + i % 4) + '-' + i,
    placed: date({year: CASE i WHEN 41 THEN 2020 ELSE 2020 + i % 4 END, month: 5, day: 1 + i % 28}),
    state: ['open', 'sent', 'void'][i % 3]}),
  (l:Label {labelId: 3 * i + 7, printed: 'SO-' + (2020 + i % 4) + '-' + CASE i WHEN 50 THEN 51 ELSE i END,
    format: ['A4', 'A5', 'A6', 'roll'][i * i % 4]}),
  (o)-[:HAS_LABEL]->(l), (h:Hall {hallId: i, places: 100 + i * 37 % 900, sort: ['red', 'blue'][i * 7 % 2]}),
  (e:Show {showId: i, title: 'Show ' + i, day: i % 7})
SET o += CASE WHEN i % 3 = 1 OR i = 3 THEN {sentBy: ['Dachser', 'DHL'][i % 2]} ELSE {} END,
  e += {guests: CASE i WHEN 60 THEN h.places + 350 ELSE h.places - i % 60 END}
CREATE (e)-[:HELD_IN]->(h)
"""


def test_what_goes_against_a_rule_that_the_graph_keeps_is_found(graph: Graph, draw: Draw) -> None:
    """A town with another one's postal code, a number of another year, a label of another order, an open order that somebody sent, and
    more guests than places."""
    draw(SHOP)
    found = audited(graph, "broken-dependency", examples=30)["broken-dependency"]
    assert whys(found) == {
        "Address 33": "city Bergen, where 11 of 12 with zip 10021 have City 3",
        "Order SO-2021-41": "year of placed 2020-05-14, where 29 of 30 with number 2021 (SO-2021-41) have 2021",
        "Order SO-2022-50 -[HAS_LABEL]-> Label 157": "number SO-2022-50, printed SO-2022-51: the same on 119 of 120",
        "Order SO-2023-3": "state open, and sentBy DHL, which 39 of 40 such have not",
        "Show 60 -[HELD_IN]-> Hall 60": "guests 870, places 520: at most that on 119 of 120",
    }
    assert (found.severity, found.status, found.count) == ("warning", "failed", 5)


def test_a_broken_rule_stands_in_every_form_of_report(graph: Graph, draw: Draw, tmp_path: Path) -> None:
    """Rules of two values that are the same have no value that could be a name in Cypher, and values may be blank or hold NUL."""
    draw(SHOP)
    draw("MATCH (a:Address) WHERE a.addressId % 10 = 7 SET a.zip = ' '")
    draw("MATCH (a:Address) WHERE a.addressId % 10 = 8 SET a.zip = 'x\\u0000y'")
    draw("MATCH (a:Address) WHERE a.addressId = 33 SET a.city = 'City 3'")
    draw("MATCH (a:Address) WHERE a.addressId IN [17, 18] SET a.city = 'Elsewhere'")
    result = kgeval.audit(graph.driver, checks="broken-dependency", no_structure=True, examples=20)
    for form in ("html", "md", "json", "xml", "sarif", "csv"):
        result.save(tmp_path / f"report.{form}")
    assert "city Elsewhere, where 11 of 12" in (tmp_path / "report.json").read_text("utf-8")
    assert "broken-dependency" in (tmp_path / "report.md").read_text("utf-8")


def test_what_only_looks_like_a_rule_is_no_hit(graph: Graph, draw: Draw) -> None:
    """Names that come from one place, states that mostly have a thing, values that are nearly always the same, two numbers that know
    nothing of each other, years in which a thing begins and ends, remarks."""
    draw("""UNWIND range(0, 199) AS i
            CREATE (p:Person {personId: 'p' + i, firstName: ['Ada', 'Bo', 'Cy', 'Di', 'Ed', 'Flo', 'Gus'][i % 7],
                lastName: ['Aho', 'Berg', 'Chen', 'Diaz', 'Engel'][i % 5],
                country: CASE i WHEN 17 THEN 'DE' ELSE ['FI', 'NO', 'CN', 'MX', 'AT'][i % 5] END,
                status: ['active', 'left', 'new'][i % 3], kind: CASE WHEN i % 67 = 5 THEN 'B' ELSE 'A' END}),
              (f:Job {jobId: 'j' + i, opened: date({year: 2010 + i % 9, month: 1 + i % 12, day: 3}),
                closed: date({year: 2010 + i % 9 + CASE WHEN i % 50 = 0 THEN 1 ELSE 0 END, month: 12, day: 30}),
                width: i * 7 % 90, depth: 100 + i * 13 % 80, team: ['x', 'y', 'z', 'w'][i * i % 4], grade: ['a', 'b', 'c'][i * 5 % 3]}),
              (p)-[:DID {hours: i % 60, share: i * 11 % 100}]->(f)
            SET p += CASE WHEN i % 3 = 0 AND i % 5 > 0 THEN {badge: 'b' + i} ELSE {} END,
              p += CASE WHEN i % 3 = 1 AND i <> 40 THEN {remark: 'Gone since then ' + i} ELSE {} END""")
    found = audited(graph, "broken-dependency", examples=30)["broken-dependency"]
    assert whys(found) == {}


def test_a_value_that_nearly_all_have_is_missed(graph: Graph, draw: Draw) -> None:
    """A customer without a country, a line without a quantity, a blank. Not missed: what is not there yet, remarks, a phone that one in
    twenty has not, the values of few."""
    draw("""UNWIND range(0, 119) AS i
            CREATE (c:Customer {customerId: i, name: 'Customer ' + i, city: CASE i WHEN 5 THEN ' ' ELSE 'City ' + (i % 30) END})
            SET c += CASE WHEN i = 7 THEN {} ELSE {country: ['FR', 'DE'][i % 2]} END,
              c += CASE WHEN i % 20 = 3 THEN {} ELSE {phone: '0' + i} END,
              c += CASE WHEN i = 9 THEN {} ELSE {closedOn: date('2020-01-01') + duration({days: i})} END,
              c += CASE WHEN i = 11 THEN {} ELSE {remark: 'Remark ' + i} END
            CREATE (c)-[r:BOUGHT {lineNo: i}]->(:Product {sku: 's' + i, title: 'Thing ' + i})
            SET r += CASE WHEN i = 13 THEN {} ELSE {quantity: 1 + i % 5} END
            FOREACH (x IN CASE WHEN i < 15 THEN [1] ELSE [] END | CREATE (b:Branch {branchId: i, name: 'Branch ' + i})
              SET b += CASE WHEN i = 2 THEN {} ELSE {manager: 'M' + i} END)""")
    found = audited(graph, "missing-usual-value", examples=30)["missing-usual-value"]
    assert found.severity == "info"
    assert whys(found) == {
        "Customer 5": "no city, which 119 of 120 Customer have",
        "Customer 7": "no country, which 119 of 120 Customer have",
        "Customer 13 -[BOUGHT]-> Thing 13": "no quantity, which 119 of 120 BOUGHT have",
    }


def test_no_rule_is_learned_of_what_a_writer_made_or_of_hostile_names(graph: Graph, draw: Draw) -> None:
    """Labels, types, properties and values are data: they are compared, and shown as they are."""
    draw("""UNWIND range(0, 59) AS i
            CREATE (a:`x``] RETURN 1 //` {key: i, `z'"} ip`: 'k' + (i % 6),
                `c``ity`: CASE i WHEN 8 THEN "v'}) DETACH DELETE n //" ELSE 'v' + (i % 6) END})
              -[:`T``{}]` {`w"`: i}]->(:Other {otherId: i})""")
    found = audited(graph, "broken-dependency", examples=30)["broken-dependency"]
    (why,) = whys(found).values()
    assert why == "c`ity v'}) DETACH DELETE n //, where 9 of 10 with z'\"} ip k2 have v2"
    assert graph.read("MATCH (n) RETURN count(n) AS nodes")[0]["nodes"] == 120
