"""false-merger, on graphs that can be counted by hand."""

from __future__ import annotations

from kgeval.auditing.engine import run_check
from kgeval.graph.layouts import load_profile
from kgeval.records import Finding

NEO4J = load_profile("neo4j-graphrag").model_copy(update={"relation_types": ["R"]})
LIGHTRAG = load_profile("lightrag").model_copy(update={"entity_labels": ["base"], "scope_label": None})

HOSPITAL = """
CREATE (a:Document), (b:Document), (c:Chunk)-[:FROM_DOCUMENT]->(a), (d:Chunk)-[:FROM_DOCUMENT]->(b),
  (m:__Entity__:Place {name: 'Mercy Hospital'})-[:FROM_CHUNK]->(c), (m)-[:FROM_CHUNK]->(d)
WITH c, d, m UNWIND [[c, 'Ames'], [c, 'Ward 3'], [d, 'Rossi'], [d, 'Po valley']] AS p
WITH p[0] AS chunk, p[1] AS name, m CREATE (m)-[:R]->(:__Entity__:Person {name: name})-[:FROM_CHUNK]->(chunk)"""


def check(graph, layout=NEO4J, **settings: object) -> Finding:
    return run_check(graph, layout, "false-merger", examples=0, settings=settings)


def test_an_entity_whose_neighbours_fall_into_two_documents_is_listed_with_both_groups(graph, draw):
    draw(HOSPITAL)
    found = check(graph)
    assert (found.count, found.total, found.examples[0].items[0].name) == (1, 1, "Mercy Hospital")
    assert found.examples[0].why == "2 groups of neighbours with no document or neighbour in common: Ames, Ward 3 | Po valley, Rossi"


def test_neighbours_that_are_related_across_the_documents_hold_it_together(graph, draw):
    draw(HOSPITAL)
    draw("MATCH (a {name: 'Ames'}), (r {name: 'Rossi'}) CREATE (a)-[:R]->(r)")
    assert (check(graph).count, check(graph).total) == (0, 1)


def test_a_third_entity_that_both_groups_know_holds_it_together(graph, draw):
    draw(HOSPITAL)
    draw("MATCH (a {name: 'Ames'}), (r {name: 'Rossi'}) CREATE (a)-[:R]->(:__Entity__ {name: 'Medicine'})<-[:R]-(r)")
    assert check(graph).count == 0


def test_one_document_or_few_relations_are_not_looked_at(graph, draw):
    draw(HOSPITAL)
    assert (check(graph, min_degree=5).status, check(graph, max_documents=1).status) == ("skipped", "skipped")


def test_one_stray_neighbour_is_no_group(graph, draw):
    draw(HOSPITAL)
    assert check(graph, min_group=3).count == 0


def test_two_labels_that_never_go_together_contradict_each_other(graph, draw):
    draw("""CREATE (:Document)<-[:FROM_DOCUMENT]-(c:Chunk) WITH c UNWIND range(1, 20) AS i
            CREATE (c)<-[:FROM_CHUNK]-(:__Entity__:Person {name: 'p' + i}),
                (:__Entity__:City {name: 'c' + i})-[:R]->(:__Entity__:City:Capital {name: 'k' + i})
            WITH collect(i) AS all CREATE (:__Entity__:Person:City {name: 'Jordan'})""")
    found = check(graph)
    assert [(e.items[0].name, e.why) for e in found.examples] == [("Jordan", "labelled City and Person, which hardly any other entity is")]


def test_without_documents_it_is_skipped_with_the_reason(graph, draw):
    assert check(graph).status == "skipped"
    draw("CREATE (:base {entity_id: 'A', source_id: 'c1'})-[:DIRECTED]->(:base {entity_id: 'B', source_id: 'c1'})")
    found = check(graph, LIGHTRAG)
    assert (found.status, found.reason) == ("skipped", "the graph has no documents")
