"""Checks of the group duplicates, on graphs that can be counted by hand."""

from __future__ import annotations

import pytest

from kgeval.auditing.engine import run_check
from kgeval.graph.layouts import load_profile
from kgeval.records import Finding, Layout

PLAIN = Layout(
    name="plain", entity_labels=["E"], name_keys=["name"], type_key="type", type_label_ignored=["E"], alias_keys=["aliases"],
        relation_types=["R"],
    chunk_labels=["Chunk"], mention_types=["IN"], relations_join_entities_only=True, placeholder_values=["UNKNOWN"],
)
LIGHTRAG = load_profile("lightrag").model_copy(update={
    "entity_labels": ["base"], "scope_label": None, "relations_join_entities_only": True, "type_label_ignored": ["base"],
})
NEO4J = load_profile("neo4j-graphrag").model_copy(update={"relation_types": ["WROTE", "BUILT"]})
RULES = ["duplicate-name", "type-conflict", "fragmented-entity"]


def check(graph, rule: str, layout: Layout = PLAIN, **settings: object) -> Finding:
    finding = run_check(graph, layout, rule, examples=0, settings=settings)
    assert finding.status in ("passed", "failed"), finding.reason
    return finding


def names(finding: Finding) -> list[list[str]]:
    return [[item.name for item in example.items] for example in finding.examples]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("layout", [PLAIN, LIGHTRAG, NEO4J], ids=lambda layout: layout.name)
def test_an_empty_database_has_none(graph, rule, layout):
    found = run_check(graph, layout, rule)
    assert (found.status, found.count, found.examples) == ("skipped", None, [])


@pytest.mark.parametrize("rule", RULES)
def test_odd_names_do_no_harm(graph, draw, rule):
    draw("""CREATE (:E {type: 'T'}), (:E {name: ['list'], type: 'T'}), (:E {name: 7, type: ['T']}), (:E {name: '...'}),
           (:E {name: '`$layout'})""")
    graph.write("""CREATE (:E {name: $name, type: 'T', aliases: 'one'}),
           (:E {name: $name, type: 'U', aliases: [1, 2]})""", {"name": "x" * 100_000})
    assert all(len(item.name) <= 300 for example in check(graph, rule).examples for item in example.items)


def test_names_equal_but_for_case_width_and_article_are_duplicates(graph, draw):
    draw("""CREATE (:E {name: 'The Door', type: 'T'}), (:E {name: 'DOOR', type: 't'}), (:E {name: 'ｄｏｏｒ', type: 'T'}),
                   (:E {name: 'door', type: 'Other'}), (:E {name: 'Window', type: 'T'})""")
    found = check(graph, "duplicate-name")
    assert (found.count, found.total) == (2, 5)
    assert names(found) == [["DOOR", "The Door", "ｄｏｏｒ"]]
    assert found.examples[0].why == "3 entities of type t are called 'door'"


def test_the_largest_group_of_duplicates_comes_first(graph, draw):
    draw("UNWIND ['a1', 'b1', 'b1', 'c1', 'c1', 'c1'] AS name CREATE (:E {name: name})")
    assert [len(group) for group in names(check(graph, "duplicate-name"))] == [3, 2]


def test_one_name_with_two_types_is_a_conflict_but_another_case_or_no_type_is_not(graph, draw):
    draw("""CREATE (:E {name: 'Congress', type: 'Event'}), (:E {name: 'congress', type: 'ORG'}), (:E {name: 'Congress', type: 'Org'}),
                   (:E {name: 'Mill', type: 'Place'}), (:E {name: 'Mill', type: 'UNKNOWN'}), (:E {name: 'Mill'})""")
    found = check(graph, "type-conflict")
    assert (found.count, found.total, len(found.examples)) == (3, 4, 1)
    assert "Event" in (found.examples[0].why or "")


def test_in_neo4j_graphrag_the_type_is_the_other_label(graph, draw):
    draw("""CREATE (:__KGBuilder__:__Entity__:Person {name: 'Ada'}), (:__KGBuilder__:__Entity__:Person {name: 'ADA'}),
                   (:__KGBuilder__:__Entity__:Machine {name: 'Ada'}), (:__KGBuilder__:Chunk {text: 'Ada'})""")
    assert (check(graph, "duplicate-name", NEO4J).count, check(graph, "type-conflict", NEO4J).count) == (1, 3)


def test_in_lightrag_names_that_differ_in_case_are_duplicates(graph, draw):
    draw("""CREATE (:base {entity_id: 'Ada', entity_type: 'person'}), (:base {entity_id: 'ADA', entity_type: 'person'}),
           (:base {entity_id: 'Mill'})""")
    assert (check(graph, "duplicate-name", LIGHTRAG).count, check(graph, "duplicate-name", LIGHTRAG).total) == (1, 3)


def test_a_surname_with_two_shared_neighbours_is_the_same_person(graph, draw):
    draw("""CREATE (a:E {name: 'Holmes', type: 'Person'}), (b:E {name: 'Sherlock Holmes', type: 'Person'}),
                   (w:E {name: 'Watson', type: 'Person'}), (l:E {name: 'Lestrade', type: 'Person'}),
                       (:E {name: 'Mycroft Holmes', type: 'Person'}),
                   (a)-[:R]->(w), (b)-[:R]->(w), (a)-[:R]->(l), (b)-[:R]->(l)""")
    found = check(graph, "fragmented-entity")
    assert (found.count, found.total, names(found)) == (2, 5, [["Holmes", "Sherlock Holmes"]])
    assert found.examples[0].why == "token subset; 2 shared neighbours; typed-neighbourhood Jaccard 1.00"


def test_a_surname_that_fits_two_people_equally_well_is_left_alone(graph, draw):
    draw("""CREATE (a:E {name: 'Holmes', type: 'Person'}), (b:E {name: 'Sherlock Holmes', type: 'Person'}),
                   (c:E {name: 'Mycroft Holmes', type: 'Person'}), (w:E {name: 'Watson', type: 'Person'}),
                       (l:E {name: 'Lestrade', type: 'Person'})
            FOREACH (x IN [a, b, c] | CREATE (x)-[:R]->(w), (x)-[:R]->(l))""")
    assert check(graph, "fragmented-entity").count == 0


def test_a_name_that_fits_two_middle_names_is_left_alone(graph, draw):
    draw("""CREATE (a:E {name: 'Carl Smith', type: 'Person'}), (b:E {name: 'Carl Anton Smith', type: 'Person'}),
                   (c:E {name: 'Carl Bruno Smith', type: 'Person'}), (w:E {name: 'Watson', type: 'Person'})
            FOREACH (x IN [a, b, c] | CREATE (x)-[:R]->(w))""")
    assert check(graph, "fragmented-entity").count == 0
    draw("MATCH (c:E {name: 'Carl Bruno Smith'}) DETACH DELETE c")
    assert names(check(graph, "fragmented-entity")) == [["Carl Smith", "Carl Anton Smith"]]


def test_a_part_of_a_name_with_nothing_in_common_or_another_type_is_left_alone(graph, draw):
    draw("""CREATE (:E {name: 'Holmes', type: 'Person'}), (:E {name: 'Sherlock Holmes', type: 'Person'}),
                   (a:E {name: 'Baker', type: 'Person'}), (b:E {name: 'Tom Baker', type: 'Ship'}), (x:E {name: 'x'}), (y:E {name: 'y'}),
                   (a)-[:R]->(x), (b)-[:R]->(x), (a)-[:R]->(y), (b)-[:R]->(y)""")
    assert check(graph, "fragmented-entity").count == 0


def test_an_acronym_counts_in_a_shared_chunk_and_a_legal_form_or_an_alias_anywhere(graph, draw):
    draw("""CREATE (a:E {name: 'CIA', type: 'Org'})-[:IN]->(c:Chunk)<-[:IN]-(:E {name: 'Central Intelligence Agency', type: 'Org'}),
                   (:E {name: 'Acme', type: 'Org'}), (:E {name: 'Acme Inc.', type: 'Org'}),
                   (:E {name: 'The Agency', type: 'Org', aliases: ['the firm']}), (:E {name: 'Firm'}), (:E {name: 'FBI', type: 'Org'}),
                   (:E {name: 'Federal Bureau of Investigation', type: 'Org'})""")
    assert sorted(e.why.split(";")[0] for e in check(graph, "fragmented-entity").examples) == ["acronym", "alias", "legal form"]


def test_a_common_word_is_compared_only_among_entities_that_share_something(graph, draw):
    draw("""UNWIND range(1, 60) AS i CREATE (:E {name: 'Smith ' + substring('abcdefghijklmnopqrstuvwxyz', i % 26, 1) + toString(i),
        type: 'Person'})
            WITH count(*) AS n CREATE (a:E {name: 'J. Smith', type: 'Person'}), (b:E {name: 'John Smith', type: 'Person'}),
                (c:E {name: 'Kate', type: 'Person'}),
            (a)-[:R]->(c), (b)-[:R]->(c)""")
    (pair,) = names(check(graph, "fragmented-entity", max_block=20))
    assert sorted(pair) == ["J. Smith", "John Smith"]  # which stands first goes by ids, which a server gives out again


def test_fragments_are_found_in_lightrag_and_neo4j_graphrag_too(graph, draw):
    draw("""CREATE (:base {entity_id: 'Morocco', entity_type: 'geo'}), (:base {entity_id: 'Morrocco', entity_type: 'geo'}),
                   (a:__KGBuilder__:__Entity__:Person {name: 'Mr. Brown'}), (b:__KGBuilder__:__Entity__:Person {name: 'Brown'}),
                   (a)-[:FROM_CHUNK]->(c:Chunk:__KGBuilder__ {text: 'Mr. Brown'}), (b)-[:FROM_CHUNK]->(c)""")
    assert names(check(graph, "fragmented-entity", LIGHTRAG)) == [["Morocco", "Morrocco"]]
    assert [sorted(pair) for pair in names(check(graph, "fragmented-entity", NEO4J))] == [["Brown", "Mr. Brown"]]


def test_a_search_that_ends_at_its_limit_says_so(graph, draw):
    draw("""CREATE (a:E {name: 'Sherlock Holmes', type: 'P'}), (b:E {name: 'Mr. Holmes', type: 'P'}), (c:E {name: 'Watson', type: 'P'}),
           (a)-[:R]->(c), (b)-[:R]->(c)""")
    assert check(graph, "fragmented-entity").reason is None
    assert "max_pairs = 0" in (check(graph, "fragmented-entity", max_pairs=0).reason or "")


def test_signs_that_carry_meaning_make_two_things_of_names(graph, draw):
    draw("""UNWIND ['C', 'C#', 'C++', 'C*', 'F', 'F#', 'Go', 'Go!', '.NET', 'Net', 'HER2', 'HER2-', 'HER2+', '5 mg', '5 g', 'Co', 'CO']
            AS name CREATE (:E {name: name, type: 'T'})""")
    assert [check(graph, rule).count for rule in RULES] == [0] * len(RULES)


def test_one_thing_in_another_dress_is_one_name(graph, draw):
    draw("""UNWIND ['C#', 'c♯', 'Advil', 'Advil®', 'AT&T', 'AT&amp;T', '1,000 km', '1000 km'] AS name
            CREATE (:E {name: name, type: 'T'})""")
    assert check(graph, "duplicate-name").count == 4


def test_opposites_plurals_of_identifiers_and_acronyms_of_several_names_are_no_fragments(graph, draw):
    """Each shares a neighbour and a passage with the other, which is all that a weak form asks for."""
    draw("""UNWIND [['Heart rate increased', 'Heart rate decreased'], ['Hyperkalaemia', 'Hypokalaemia'], ['VITAMIN C', 'VITAMIN K'],
                    ['HTTP', 'HTTPS'], ['fetchUser', 'fetchUsers'], ['Employer', 'Employee'], ['Left kidney', 'Right kidney']] AS pair
            CREATE (n:E {name: 'N' + pair[0], type: 'T'}), (c:Chunk {text: ''}),
                   (a:E {name: pair[0], type: 'T'}), (b:E {name: pair[1], type: 'T'}),
                   (a)-[:R]->(n), (b)-[:R]->(n), (a)-[:IN]->(c), (b)-[:IN]->(c)""")
    assert names(check(graph, "fragmented-entity")) == []
    draw("""MATCH (x) DETACH DELETE x
            WITH count(*) AS gone CREATE (n:E {name: 'Hub', type: 'T'}), (c:Chunk {text: ''}) WITH n, c
            UNWIND ['PPL', 'Pacific Power and Light', 'Public Performance Limited', 'Phonographic Performance Licence'] AS name
            CREATE (a:E {name: name, type: 'T'}), (a)-[:R]->(n), (a)-[:IN]->(c)""")
    assert names(check(graph, "fragmented-entity")) == []


def test_an_acronym_beside_its_name_and_turned_words_are_found_and_the_surest_comes_first(graph, draw):
    draw("""CREATE (:E {name: 'World Health Organization (WHO)', type: 'Org'}), (:E {name: 'WHO', type: 'Org'}),
                   (a:E {name: 'Oda Nobunaga', type: 'Person'}), (b:E {name: 'Nobunaga Oda', type: 'Person'}),
                   (x:E {name: 'Kyoto', type: 'Place'}),
                   (a)-[:R]->(x), (b)-[:R]->(x)""")
    found = check(graph, "fragmented-entity")
    assert [sorted(pair) for pair in names(found)] == [["WHO", "World Health Organization (WHO)"], ["Nobunaga Oda", "Oda Nobunaga"]]
    assert [example.why.split(";")[0] for example in found.examples] == ["acronym in brackets", "order of words"]
