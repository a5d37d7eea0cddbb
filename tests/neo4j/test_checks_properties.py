"""Checks of the group properties, each on graphs that can be counted by hand."""

from __future__ import annotations

import pytest

from kgeval.auditing.engine import run_check
from kgeval.records import Finding, Layout

LABELS = Layout(
    name="labels", entity_labels=["__Entity__"], type_label_ignored=["__Entity__"], name_keys=["name"], description_key="description",
    relation_types=["KNOWS"], relations_join_entities_only=True,
)
PROPERTY = Layout(
    name="property", entity_labels=["base"], type_label_ignored=["base"], name_keys=["entity_id"], type_key="entity_type",
    description_key="description", source_separator="<SEP>", relation_types=["DIRECTED"], scope_label="base",
)
RULES = ["low-fill-property", "mixed-property-type", "bloated-description"]


def check(graph, rule: str, layout: Layout = LABELS, **settings: object) -> Finding:
    finding = run_check(graph, layout, rule, examples=0, settings=settings)
    assert finding.status in ("passed", "failed"), finding.reason
    assert finding.count == len(finding.examples)
    return finding


def told(finding: Finding) -> list[tuple[str, str | None]]:
    return [(example.items[0].name, example.why) for example in finding.examples]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("layout", [LABELS, PROPERTY], ids=["labels", "property"])
def test_an_empty_database_has_nothing_to_find(graph, rule, layout):
    finding = run_check(graph, layout, rule)
    assert (finding.status, finding.count) == ("skipped", None)


@pytest.mark.parametrize("rule", RULES)
def test_no_check_stumbles_over_unusual_values(graph, draw, rule):
    draw("""CREATE (a:__Entity__:`a``b` {name: ['x'], `odd.key ``'"`: point({x: 1, y: 2}), description: 7, year: date('2020-01-01')}),
                   (b:__Entity__:`a``b` {description: ['', 'x'], year: duration('P1D'), flags: [true]}), (:__Entity__),
                   (a)-[:KNOWS {`odd key`: localtime('12:00')}]->(b)""")
    graph.write("CREATE (:__Entity__ {name: $text, description: $text})", {"text": "x" * 100_000})
    finding = check(graph, rule, min_entities=0) if rule == "low-fill-property" else check(graph, rule)
    assert all(len(item.name) <= 201 for example in finding.examples for item in example.items)


def test_a_property_of_one_in_thirty_is_hardly_filled(graph, draw):
    draw("""UNWIND range(1, 30) AS i CREATE (e:__Entity__:Person {name: 'p' + i, shoe_size: CASE i WHEN 7 THEN 44 END,
            nick: CASE WHEN i > 2 THEN '' ELSE 'x' END, tags: CASE i WHEN 1 THEN ['t'] ELSE [] END, alive: CASE i WHEN 1 THEN true END})""")
    finding = check(graph, "low-fill-property")
    assert told(finding) == [("Person.shoe_size", "1 of 30 entities have it"), ("Person.tags", "1 of 30 entities have it")]
    assert [(item.kind, item.name) for item in finding.examples[0].items] == [("property", "Person.shoe_size"), ("entity", "p7")]
    assert finding.total == 4
    assert check(graph, "low-fill-property", min_fill=0.5).count == 3


def test_a_small_type_is_left_out_and_types_may_be_a_property(graph, draw):
    draw("""UNWIND range(1, 25) AS i CREATE (:base {entity_id: 'e' + i, entity_type: 'big', rare: CASE i WHEN 1 THEN 1 END})
            WITH count(*) AS n UNWIND range(1, 19) AS i
            CREATE (:base {entity_id: 's' + i, entity_type: 'small', rare: CASE i WHEN 1 THEN 1 END})""")
    assert told(check(graph, "low-fill-property", PROPERTY)) == [("big.rare", "1 of 25 entities have it")]


def test_numbers_and_text_in_one_property_are_mixed(graph, draw):
    draw("""CREATE (:__Entity__:Film {name: 'a', year: 1931, cost: 1, cast: []}),
                   (:__Entity__:Film {name: 'b', year: 1932, cost: 2.5, cast: ['x']}),
                   (:__Entity__:Film {name: 'c', year: '1933'}), (:__Entity__:Book {name: 'd', year: '1934'})""")
    finding = check(graph, "mixed-property-type")
    assert told(finding) == [("Film.year", "2 NUMBER, 1 STRING: '1933' (c)")]
    assert finding.total == 6


def test_properties_of_relations_are_looked_at_too(graph, draw):
    draw("""CREATE (a:base {entity_id: 'A', entity_type: 'x'})-[:DIRECTED {weight: 1.0}]->(b:base {entity_id: 'B', entity_type: 'x'}),
                   (a)-[:DIRECTED {weight: 'heavy'}]->(b), (a)-[:OTHER {weight: 3}]->(b)""")
    assert told(check(graph, "mixed-property-type", PROPERTY)) == [("DIRECTED.weight", "1 NUMBER, 1 STRING: 'heavy' (A -[DIRECTED]-> B)")]


def test_a_description_is_bloated_by_characters_or_by_pieces(graph, draw):
    draw("""UNWIND [['short', 'x'], ['at the limit', 2000], ['above it', 2001]] AS row
            CREATE (:__Entity__ {name: row[0], description: reduce(t = '', i IN range(1, coalesce(toIntegerOrNull(row[1]), 1)) | t + 'x')}),
                   (:__Entity__ {name: 'no description of ' + row[0]})""")
    finding = check(graph, "bloated-description")
    assert (told(finding), finding.total) == ([("above it", "2001 characters in 1 piece")], 3)
    assert check(graph, "bloated-description", max_characters=0).count == 3


def test_pieces_are_counted_by_the_layouts_separator_and_in_lists(graph, draw):
    draw("""UNWIND [20, 21] AS n 
            CREATE (:base {entity_id: 'text' + n, description: substring(reduce(t = '', i IN range(1, n) | t + '<SEP>a'), 5)}),
            (:base {entity_id: 'list' + n, description: [i IN range(1, n) | 'a']})""")
    finding = check(graph, "bloated-description", PROPERTY)
    assert told(finding) == [("text21", "121 characters in 21 pieces"), ("list21", "21 characters in 21 pieces")]
    assert finding.total == 4
