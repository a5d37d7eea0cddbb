"""Graphs made by hand, without any writer's conventions: which labels are types, which properties names, what plays no role."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from kgeval.auditing.diff import diff
from kgeval.auditing.engine import EngineOptions, audit
from kgeval.auditing.rulebook import choose
from kgeval.graph.connect import Graph
from kgeval.graph.queries import all_queries
from kgeval.manifest import Started
from kgeval.questions.making.answer_cypher import answers, either_query
from kgeval.records import AuditReport, Layout
from kgeval.reports.reading import lines
from kgeval.workflows.layouts import choose_layout

Draw = Callable[[str], None]
NORTHWIND = """UNWIND range(1, 8) AS i CREATE (c:Customer:Company {companyName: 'Firm ' +
    ['Ada', 'Bao', 'Cid', 'Dot', 'Eli', 'Fay', 'Gus', 'Hal'][i - 1],
    contactTitle: 'Owner', customerID: 'C' + i}) WITH collect(c) AS customers
UNWIND range(1, 6) AS i CREATE (e:Employee:Person {firstName: ['Nancy', 'Andrew', 'Janet', 'Robert', 'Laura', 'Anne'][i - 1],
    lastName: ['Davolio', 'Fuller', 'Leverling', 'King', 'Callahan', 'Dodsworth'][i - 1],
    title: 'Sales Representative', employeeID: toString(i)})
WITH customers, collect(e) AS staff
UNWIND range(1, 9) AS i CREATE (p:Product {productName:
    ['Chai', 'Chang', 'Aniseed Syrup', 'Gumbo Mix', 'Dried Pears', 'Konbu', 'Tofu', 'Pavlova',
    'Carnarvon Tigers'][i - 1], discontinued: 'n', unitPrice: i}) WITH customers, staff, collect(p) AS products
UNWIND range(0, 11) AS i CREATE (o:Order {orderID: toString(10248 + i), shipCountry: ['France', 'Brazil'][i % 2]})
WITH o, i, customers, staff, products, customers[i % 8] AS c, staff[i % 6] AS e, products[i % 9] AS p, products[(i + 4) % 9] AS q
CREATE (c)-[:PLACED]->(o), (e)-[:SOLD]->(o), (o)-[:CONTAINS {quantity: i}]->(p), (o)-[:CONTAINS {quantity: 1}]->(q)"""


def layout_of(graph: Graph, **keys: str) -> Layout:
    return choose_layout(graph, "auto", None, keys, say=print)


def report_of(graph: Graph, layout: Layout) -> AuditReport:
    found = audit(graph, layout, EngineOptions(rules=choose([], []), examples=0, structure=None))
    return AuditReport(run=Started("audit", {}).manifest(server=graph.info), layout=layout, findings=found.findings)


def types_of(graph: Graph, layout: Layout) -> dict[str, int]:
    return {row["type"]: row["count"] for row in graph.read(all_queries()["entities-by-type"], {"layout": layout.model_dump()})}


@pytest.mark.long
def test_one_graph_loaded_with_labels_in_two_orders_gives_one_audit(graph: Graph, draw: Draw) -> None:
    """A store returns a node's labels in the order in which it first met them. Marks tell the two stores' labels apart; then they go."""
    reports, found = [], []
    for mark, order in (("_1", "Company Customer Person Employee"), ("_2", "Employee Customer Person Company")):
        labels = [f"{label}{mark}" for label in order.split()]
        graph.write("MATCH (n) DETACH DELETE n")
        draw(f"CREATE (n:{labels[0]}) CREATE (m:{':'.join(labels[1:])}) DELETE n, m")
        draw(re.sub(r"\b(Company|Customer|Person|Employee)\b(?!')", rf"\1{mark}", NORTHWIND))
        layout = layout_of(graph)
        text = report_of(graph, layout).model_dump_json().replace(mark, "")
        found.append(types_of(graph, layout))
        reports.append(AuditReport.model_validate_json(re.sub(r'"element_id": ?"[^"]*"', '"element_id": null', text)))
    one, other = reports
    assert one.layout == other.layout
    assert found == [{"Order": 12, "Product": 9, f"Company{mark}": 8, f"Employee{mark}": 6} for mark in ("_1", "_2")]
    for was, has in zip(one.findings, other.findings, strict=True):
        assert (was.rule_id, was.status, was.count, was.total, was.by_type) == (has.rule_id, has.status, has.count, has.total, has.by_type)
        assert sorted(map(str, was.examples)) == sorted(map(str, has.examples))
    made = diff(one, other)
    assert {change.verdict for change in made.findings} <= {"same", "unanswered"}


def test_a_label_that_holds_others_is_the_type_and_of_labels_that_only_meet_the_special_one(graph: Graph, draw: Draw) -> None:
    draw("""CREATE (:ZCat:Animal {name: 'a'})-[:EATS]->(:Animal {name: 'b'}), (:ACat:Animal {name: 'c'}), (:Animal:ZCat:Red {name: 'd'}),
            (:Stone {name: 'e'}), (:Red:Stone {name: 'f'})""")
    layout = layout_of(graph)
    assert layout.type_label_rank == {"Red": 0, "Stone": 1, "Animal": 2, "ACat": 3, "ZCat": 4}
    assert types_of(graph, layout) == {"Animal": 3, "Red": 2, "Stone": 1}


CONFERENCE = """CREATE (:Room {name: 'Hall'}), (:Room {name: 'Loft'}), (:Room {name: 'Yard'})
WITH count(*) AS once UNWIND range(1, 8) AS i CREATE (:Speaker {name: 'Speaker ' + i})
WITH count(*) AS once UNWIND range(0, 11) AS i CREATE (s:Session {name: 'Talk ' + i})
WITH s, i MATCH (r:Room {name: ['Hall', 'Loft', 'Yard'][i % 3]}), (p:Speaker {name: 'Speaker ' + (1 + i % 8)})
CREATE (s)-[:HELD_IN]->(r), (p)-[:GIVES]->(s)
WITH count(*) AS once MATCH (a:Speaker {name: 'Speaker 1'}), (b:Speaker {name: 'Speaker 2'}) CREATE (a)-[:KNOWS]->(b)"""
CONTRACTS = """UNWIND range(1, 6) AS i CREATE (:Person {name: 'Person ' + i})
WITH count(*) AS once UNWIND range(0, 19) AS i CREATE (d:Document {title: 'Contract ' + i%s})
WITH d, i MATCH (p:Person {name: 'Person ' + (1 + i %% 6)}), (q:Person {name: 'Person ' + (1 + (i + 2) %% 6)})
CREATE (p)-[:SIGNED]->(d), (d)-[:CONCERNS]->(q)"""


def reading_of(graph: Graph, layout: Layout, check: str = "isolated-entity") -> tuple[dict[str, int], list[str]]:
    found = audit(graph, layout, EngineOptions(rules=choose([check], []), structure=None))
    run = Started("audit", {}).manifest(server=graph.info)
    report = AuditReport(run=run, layout=layout, reading=found.reading, findings=found.findings)
    return types_of(graph, layout), lines(report)


@pytest.mark.parametrize(("picture", "types", "relations"), [
    (CONFERENCE, {"Session": 12, "Speaker": 8, "Room": 3}, 25), (CONTRACTS % "", {"Document": 20, "Person": 6}, 40),
    (CONTRACTS % ", text: 'The parties agree on ' + i", {"Document": 20, "Person": 6}, 40),
    ("UNWIND range(1, 5) AS i CREATE (:Passage {name: 'p' + i})-[:PART_OF]->(:Ocean {name: 'o' + i})", {"Ocean": 5, "Passage": 5}, 5),
    ("UNWIND range(1, 5) AS i CREATE (:User {name: 'u' + i})-[:SENT]->(:Message {content: 'x', name: i})", {"Message": 5, "User": 5}, 5),
    ("UNWIND range(1, 5) AS i CREATE (:Document {name: i, text: 'x'})-[:CITES]->(:Document {name: -i, text: 'y'})", {"Document": 10}, 5),
], ids=["conference", "contracts", "contracts with texts", "straits", "messages", "citations"])
def test_a_label_is_structure_only_where_texts_or_links_prove_it(
    graph: Graph, draw: Draw, picture: str, types: dict[str, int], relations: int,
) -> None:
    draw(picture)
    layout = layout_of(graph)
    assert reading_of(graph, layout) == (types, [])
    assert sum(row["count"] for row in graph.read(all_queries()["relations-by-type"], {"layout": layout.model_dump()})) == relations
    assert not {*layout.chunk_labels, *layout.document_labels} & set(types)


PAIR = "CREATE (:A {name: 'a'})-[:R]->(b:B {name: 'b'}), "


@pytest.mark.parametrize(("picture", "chunks", "documents", "excluded"), [
    ("(b)<-[:ABOUT]-(:Chunk {text: 'a b'})-[:PART_OF]->(:Document {name: 'd'})", ["Chunk"], ["Document"], []),
    ("(b)<-[:MENTIONS]-(:Chunk {id: 'c1'})-[:PART_OF]->(:Document {name: 'd'})", ["Chunk"], ["Document"], []),
    ("(b)<-[:HAS_ENTITY]-(:Document {name: 'd', text: 'a b'})", [], ["Document"], []),
    ("(:Session)-[:LAST_MESSAGE]->(:Message {content: 'hi'})<-[:NEXT]-(:Message {content: 'ho'})", [], [], ["Message", "Session"]),
], ids=["texts", "links", "document with texts", "chat"])
def test_texts_and_links_prove_structure(
    graph: Graph, draw: Draw, picture: str, chunks: list[str], documents: list[str], excluded: list[str],
) -> None:
    draw(PAIR + picture)
    layout = layout_of(graph)
    assert (layout.chunk_labels, layout.document_labels, layout.entity_excluded_labels) == (chunks, documents, excluded)
    assert sorted(layout.entity_labels) == ["A", "B"]
    assert layout_of(graph, document_labels="A").document_labels == ["A"]  # what a user names needs no proof


def test_what_plays_no_role_stands_in_the_head_by_label_and_type(graph: Graph, draw: Draw) -> None:
    draw(CONFERENCE)
    _, told = reading_of(graph, layout_of(graph, entity_labels="Speaker,Room", relation_types="KNOWS"))
    assert told == [
        "Caution: 12 of 23 nodes (52.2 %: Session 12) and 24 of 25 relations (96.0 %: GIVES 12, HELD_IN 12) play no role in layout "
        "generic: nothing below is about them; kgeval layout check shows what the layout takes for what, --set entity_labels=... or "
        "relation_types=... changes it"
    ]


def test_names_are_found_for_each_label_and_shown(graph: Graph, draw: Draw) -> None:
    draw(NORTHWIND)
    layout = layout_of(graph)
    options = EngineOptions(rules=choose(["empty-name", "numeric-entity", "duplicate-name"], []), structure=None)
    found = {f.rule_id: f for f in audit(graph, layout, options).findings}
    assert {(one.label, *one.keys) for one in layout.label_names if not one.is_id} == {
        ("Company", "companyName"), ("Employee", "firstName", "lastName"), ("Product", "productName"),
    }
    assert (found["empty-name"].status, found["empty-name"].total) == ("passed", 23)  # an order has an id instead
    assert (found["numeric-entity"].count, found["duplicate-name"].total) == (0, 23)
    report = AuditReport(run=Started("audit", {}).manifest(server=graph.info), layout=layout, findings=list(found.values()))
    assert lines(report) == [
        "Names: Employee by firstName + lastName, Company by companyName, Product by productName; without a name, by an id: Order "
        "(orderID) (--set name_keys=LABEL.PROPERTY,* changes it)"
    ]
    at = graph.read("MATCH (o:Order {orderID: '10248'})-[r]-() RETURN collect(elementId(r)) AS ids")[0]["ids"]
    rows = graph.read(all_queries()["relations-by-id"], {"layout": layout.model_dump(), "ids": at})
    assert {(row["subject"], row["object"]) for row in rows} == {
        ("Firm Ada", "Order 10248"), ("Nancy Davolio", "Order 10248"), ("Order 10248", "Chai"), ("Order 10248", "Dried Pears"),
    }
    asked = either_query(layout, ["Order 10248"], ["CONTAINS"])
    assert sorted(answers(graph, asked)) == ["Chai", "Dried Pears"]


def test_what_to_set_stands_in_the_report_where_no_names_are_found(graph: Graph, draw: Draw) -> None:
    draw("UNWIND range(1, 4) AS i CREATE (:Reading {value: i})-[:NEXT]->(:Sensor {serial: i * 2})")
    layout = layout_of(graph)
    _, told = reading_of(graph, layout, "empty-name")
    assert "set one with --set name_keys=PROPERTY (also FIRST+LAST, LABEL.PROPERTY)" in told[0]
    set_ = layout_of(graph, name_keys="Sensor.serial,*")
    first = set_.label_names[0]
    assert (first.label, first.keys, first.is_id) == ("Sensor", ["serial"], False)
