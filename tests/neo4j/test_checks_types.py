"""Checks of the group types, each on graphs that can be counted by hand."""

from __future__ import annotations

import pytest

from kgeval.auditing.engine import run_check
from kgeval.auditing.steps.type_inconsistency import fold, other_spellings
from kgeval.records import Finding, Layout

LABELS = Layout(name="labels", entity_labels=["__Entity__"], type_label_ignored=["__Entity__", "mine"], name_keys=["name"])
PROPERTY = Layout(
    name="property", entity_labels=["base"], type_label_ignored=["base"], name_keys=["entity_id"], type_key="entity_type",
    placeholder_values=["UNKNOWN"], entity_excluded_labels=["Community"], scope_property="group_id", scope_value="mine",
)
RULES = ["missing-type", "rare-type", "type-inconsistency"]


def check(graph, rule: str, layout: Layout = LABELS, **settings: object) -> Finding:
    finding = run_check(graph, layout, rule, examples=0, settings=settings)
    assert finding.status in ("passed", "failed"), finding.reason
    assert finding.count == len(finding.examples)
    return finding


def shown(finding: Finding) -> list[list[str]]:
    return [[item.name for item in example.items] for example in finding.examples]


def of_type(graph, **uses: int) -> None:
    """So many entities of each type, as a property and within the scope `mine`."""
    graph.write("""UNWIND keys($uses) AS type UNWIND range(1, $uses[type]) AS i
                   CREATE (:base {entity_id: type + i, entity_type: type, group_id: 'mine'})""", {"uses": uses})


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("layout", [LABELS, PROPERTY], ids=["labels", "property"])
def test_an_empty_database_has_nothing_to_find(graph, rule, layout):
    finding = run_check(graph, layout, rule)
    assert (finding.status, finding.count) == ("skipped", None)
    assert finding.reason.startswith("there is nothing to look at: 0 ")


@pytest.mark.parametrize("rule", RULES)
def test_a_layout_without_types_skips_with_the_reason(graph, draw, rule):
    draw("CREATE (:E {name: 'Ada'})")
    finding = run_check(graph, Layout(name="bare", entity_labels=["E"], type_label_ignored=["E"], name_keys=["name"]), rule)
    assert (finding.status, finding.count) == ("skipped", None)
    assert "types" in (finding.reason or "")


@pytest.mark.parametrize("rule", RULES)
def test_unusual_labels_names_and_types_are_no_trouble(graph, draw, rule):
    draw("""CREATE (:__Entity__:`a``b"'\\u0041` {name: ['x']}), (:__Entity__:`$layout` {name: 1}), (:__Entity__:` `), (:__Entity__:公司),
                   (:base {entity_type: ['a'], group_id: 'mine'}), (:base {entity_type: 7, group_id: 'mine'})""")
    graph.write("CREATE (:__Entity__:Long {name: $text}), (:base {entity_type: $text, group_id: 'mine'})", {"text": "x" * 100_000})
    for layout in (LABELS, PROPERTY):
        finding = check(graph, rule, layout)
        assert all(len(item.name) <= 200 for example in finding.examples for item in example.items)


def test_an_entity_with_base_labels_only_has_no_type(graph, draw):
    draw("""CREATE (a:__Entity__:mine {name: 'untyped'})-[:KNOWS]->(:__Entity__:Person {name: 'Ada'}),
                   (:__Entity__:Entity {name: 'says nothing'}), (:__Entity__ {name: 'end only', dangling: true}), (:Chunk)""")
    finding = check(graph, "missing-type")
    assert shown(finding) == [["untyped"], ["says nothing"]]
    assert (finding.total, finding.examples[0].why) == (4, "1 link")


def test_a_blank_or_unknown_type_property_is_missing_but_the_writers_placeholder_is_not_counted(graph, draw):
    draw("""UNWIND [null, '', '  ', 'n/a', 'unknown', 'UNKNOWN', 'person', 'other'] AS type
            CREATE (:base {entity_id: coalesce(type, 'null'), entity_type: type, group_id: 'mine'}), (:base {group_id: 'theirs'})""")
    finding = check(graph, "missing-type", PROPERTY)
    assert (finding.count, finding.total) == (4, 8)
    names = {example.items[0].name for example in finding.examples}
    blank = {example.items[0].element_id for example in finding.examples} & names  # of those whose names are blank
    assert len(blank) == 2 and names - blank == {"null", "n/a"}


def test_a_type_with_one_entity_is_rare(graph):
    of_type(graph, ship=3, vessel=1, boat=2)
    finding = check(graph, "rare-type", PROPERTY)
    assert (finding.count, finding.total, finding.status) == (1, 3, "failed")
    assert shown(finding) == [["vessel", "vessel1"]]
    assert [item.kind for item in finding.examples[0].items] == ["type", "entity"]
    assert check(graph, "rare-type", PROPERTY, max_uses=2).count == 2


def test_every_type_label_of_an_entity_is_used_by_it(graph, draw):
    draw("CREATE (:__Entity__:Person:Author {name: 'Ada'}), (:__Entity__:Person {name: 'Bob'})")
    finding = check(graph, "rare-type")
    assert (finding.total, shown(finding)) == (2, [["Author", "Ada"]])


def test_spellings_of_a_type_are_found_and_name_the_main_one(graph):
    of_type(graph, Person=3, PERSON=2, persons=1, Organization=2, Organisation=1, City=1, Ship=1)
    finding = check(graph, "type-inconsistency", PROPERTY)
    assert shown(finding) == [["PERSON", "Person"], ["persons", "Person"], ["Organisation", "Organization"]]
    assert (finding.total, finding.examples[0].why) == (7, "2 against 3 entities")
    assert check(graph, "type-inconsistency", PROPERTY, min_letters=20).count == 2


def test_spellings_are_found_among_labels(graph, draw):
    draw("CREATE (:__Entity__:LegalEntity), (:__Entity__:LegalEntity), (:__Entity__:LEGAL_ENTITIES), (:__Entity__:Person)")
    assert shown(check(graph, "type-inconsistency")) == [["LEGAL_ENTITIES", "LegalEntity"]]


@pytest.mark.parametrize(("one", "other"), [
    ("Person", "PERSON"), ("Person", "people"), ("Cities", "city"), ("Class", "classes"), ("legal_entity", "LegalEntity"),
    ("Life Form", "life-forms"), ("Technology", "Technolgy"), ("Location", "Loaction"), ("公司", "「公司」"),
])
def test_these_are_spellings_of_one_type(one, other):
    assert list(other_spellings({one: 2, other: 1}, 8)) == [(other, one)]


@pytest.mark.parametrize(("one", "other"), [
    ("Location", "Vocation"), ("Actor", "Factor"), ("Status", "State"), ("Person", "Place"), ("Version 2021", "Version 2022"),
    ("", "Person"), ("人", "公司"),
])
def test_these_are_different_types(one, other):
    assert list(other_spellings({one: 2, other: 1}, 8)) == []


def test_folding_an_empty_or_punctuation_name_gives_nothing():
    assert (fold(""), fold("***"), fold("Bus"), fold("Buses"), fold("Series")) == ("", "", "bus", "bus", "series")
