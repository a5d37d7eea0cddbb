"""relation-synonym: which relation names are taken for one, and which are not."""

from __future__ import annotations

import pytest

from kgeval.auditing.engine import run_check
from kgeval.auditing.steps.relation_synonym import reduced
from kgeval.graph.layouts import load_profile
from kgeval.records import Finding, Layout

PLAIN = Layout(name="plain", entity_labels=["E"], name_keys=["name"], type_key="type", relation_types=["LOCATED_IN", "IS_LOCATED_IN",
    "locatedIn", "OWNS"],
               relations_join_entities_only=True)
LIGHTRAG = load_profile("lightrag").model_copy(update={"entity_labels": ["base"], "scope_label": None})


def check(graph, layout: Layout = PLAIN, **settings: object) -> Finding:
    return run_check(graph, layout, "relation-synonym", examples=0, settings=settings)


def groups(finding: Finding) -> list[list[str]]:
    return [[item.name for item in example.items] for example in finding.examples]


@pytest.mark.parametrize(("a", "b"), [
    ("LOCATED_IN", "isLocatedIn"), ("works for", "WORKED_FOR"), ("HAS_PARENT", "parent"), ("PLANNED", "plans"), ("studies", "STUDIED"),
    ("MANAGES", "managed"), ("RUNNING", "run"),
])
def test_names_that_differ_in_case_tense_and_auxiliary_are_reduced_to_one(a, b):
    assert reduced(a) == reduced(b)


@pytest.mark.parametrize(("a", "b"), [("CREATED", "CREATED_BY"), ("PARENT_OF", "HAS_PARENT"), ("LOCATED_IN", "LOCATED_NEAR"),
    ("OWNS", "OWES")])
def test_inverses_and_other_words_stay_apart(a, b):
    assert reduced(a) != reduced(b)


def test_names_that_join_the_same_types_are_synonyms(graph, draw):
    draw("""CREATE (a:E {type: 'Org'}), (b:E {type: 'Place'}), (a)-[:LOCATED_IN]->(b), (a)-[:LOCATED_IN]->(b), (a)-[:IS_LOCATED_IN]->(b),
                   (a)-[:locatedIn]->(b), (a)-[:OWNS]->(b)""")
    found = check(graph)
    assert (found.count, found.total, groups(found)) == (3, 4, [["LOCATED_IN", "IS_LOCATED_IN", "locatedIn"]])
    assert found.examples[0].why == "LOCATED_IN (2), IS_LOCATED_IN (1), locatedIn (1); mostly Org to Place"


def test_names_that_join_other_types_are_not(graph, draw):
    draw("CREATE (a:E {type: 'Org'}), (b:E {type: 'Place'}), (a)-[:LOCATED_IN]->(b), (b)-[:IS_LOCATED_IN]->(a)")
    assert (check(graph).count, check(graph).total) == (0, 2)


def test_a_slip_of_the_pen_is_a_synonym_and_a_short_word_is_not(graph, draw):
    layout = PLAIN.model_copy(update={"relation_types": ["SUPERVISES", "SUPERVICES", "OWNS", "OWES"]})
    draw("CREATE (a:E), (b:E), (a)-[:SUPERVISES]->(b), (a)-[:SUPERVISES]->(b), (a)-[:SUPERVICES]->(b), (a)-[:OWNS]->(b), (a)-[:OWES]->(b)")
    assert groups(check(graph, layout)) == [["SUPERVISES", "SUPERVICES"]]


def test_names_that_are_written_in_one_word_or_in_two_are_synonyms(graph, draw):
    layout = PLAIN.model_copy(update={"relation_types": ["BASED_IN", "BASEDIN", "HAS_PHONE", "HASPHONE", "BASEDON"]})
    draw("""CREATE (a:E {type: 'Org'}), (b:E {type: 'Place'}), (a)-[:BASED_IN]->(b), (a)-[:BASED_IN]->(b), (a)-[:BASEDIN]->(b),
                   (a)-[:HAS_PHONE]->(b), (a)-[:HASPHONE]->(b), (a)-[:BASEDON]->(b)""")
    assert sorted(map(sorted, groups(check(graph, layout)))) == [["BASEDIN", "BASED_IN"], ["HASPHONE", "HAS_PHONE"]]


def test_in_lightrag_the_name_is_the_keywords_property(graph, draw):
    draw("""CREATE (a:base {entity_id: 'A', entity_type: 'x'}), (b:base {entity_id: 'B', entity_type: 'x'}),
                   (a)-[:DIRECTED {keywords: 'located in'}]->(b), (b)-[:DIRECTED {keywords: 'is located in'}]->(a), (a)-[:DIRECTED]->(b),
                   (a)-[:DIRECTED {keywords: ['list']}]->(b), (a)-[:DIRECTED {keywords: '`$x'}]->(b)""")
    assert groups(check(graph, LIGHTRAG)) == [["is located in", "located in"]]


def test_an_empty_database_is_skipped_with_the_reason(graph):
    assert (check(graph).status, check(graph).reason) == ("skipped", "the graph has no relations between entities")


@pytest.mark.parametrize(("usual", "rare", "uses", "is_one"), [
    ("CALLS_AT", "CALS_AT", 60, True), ("LOCATED_IN", "LOCTAED_IN", 60, True), ("BORROWED", "BOROWED", 60, True),
    # another letter, another number, a word of its own, and two that are used alike
    ("LIKES", "LIVES", 60, False), ("STAGE_1_OF", "STAGE_12_OF", 60, False), ("OWNS", "OWN_S1", 60, False), ("TEAM_A", "TEAM_B", 60, False),
    ("CREATED", "CREATED_BY", 60, False), ("MEETS_AT", "METS_AT", 6, False),
])
def test_a_rare_name_with_a_letter_too_few_is_a_slip(graph, draw, usual, rare, uses, is_one):
    layout = PLAIN.model_copy(update={"relation_types": [usual, rare]})
    draw(f"""CREATE (a:E {{type: 'Ship'}}), (b:E {{type: 'Port'}}), (a)-[:{rare}]->(b), (a)-[:{rare}]->(b)
             WITH a, b UNWIND range(1, {uses}) AS i CREATE (a)-[:{usual}]->(b)""")
    assert groups(check(graph, layout)) == ([[usual, rare]] if is_one else [])
