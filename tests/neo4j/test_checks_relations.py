"""Checks of the group relations, each on graphs that can be counted by hand."""

from __future__ import annotations

import pytest

from kgeval.auditing.engine import run_check
from kgeval.graph.layouts import bind, load_profile
from kgeval.records import Finding, Layout

PLAIN = Layout(
    name="plain", entity_labels=["__Entity__"], type_label_ignored=["__Entity__"], name_keys=["name"],
    relation_types=["KNOWS", "OWNS", "IN"], relations_join_entities_only=True,
)
NAMED = Layout(
    name="named", entity_labels=["Entity"], type_label_ignored=["Entity"], name_keys=["name"], key_property="uuid", type_key="kind",
    relation_types=["RELATES_TO"], relation_label_key="name", valid_to_key="invalid_at", expired_key="expired_at",
    scope_property="group_id", scope_value="mine",
)
CONSTANT = PLAIN.model_copy(update={"name": "constant", "relation_types": ["RELATED"]})
RULES = [
    "self-loop", "parallel-relation", "inverse-duplicate", "dangling-relation", "conflicting-value", "signature-outlier",
    "constant-relation-type", "rare-relation-type",
]


def check(graph, rule: str, layout: Layout = PLAIN, **settings: object) -> Finding:
    finding = run_check(graph, layout, rule, examples=0, settings=settings)
    assert finding.status in ("passed", "failed"), finding.reason
    return finding


def counted(finding: Finding) -> tuple[int | None, int | None]:
    return finding.count, finding.total


def shown(finding: Finding) -> list[list[str]]:
    return [[item.name for item in example.items] for example in finding.examples]


@pytest.mark.both_lines
@pytest.mark.long
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("layout", [PLAIN, NAMED], ids=["plain", "named"])
def test_without_relations_each_check_is_skipped_with_the_reason(graph, draw, rule, layout):
    assert run_check(graph, layout, rule).reason == "the graph has no relations between entities"
    draw("CREATE (:__Entity__ {name: 'alone'}), (:Entity {name: 'alone', group_id: 'mine'})")
    assert run_check(graph, layout, rule).status == "skipped"


@pytest.mark.parametrize("rule", RULES)
def test_no_check_stumbles_over_unusual_names_and_labels(graph, draw, rule):
    draw("""CREATE (a:Entity {name: ['x'], group_id: 'mine', kind: 'x'})-[:RELATES_TO {name: ['list']}]->(b:Entity {group_id: 'mine'}),
                   (a)-[:RELATES_TO {name: 7}]->(b), (a)-[:RELATES_TO]->(a), (b)-[:RELATES_TO {name: '`"$layout'}]->(a)""")
    graph.write("""CREATE (a:Entity {name: $text, group_id: 'mine'})-[:RELATES_TO {name: $text}]->
                          (b:Entity {name: $text, group_id: 'mine'}),
                          (a)-[:RELATES_TO {name: $text}]->(b)""", {"text": "x" * 100_000})
    finding = run_check(graph, NAMED, rule)
    assert finding.status in ("passed", "failed") or "nothing to look at" in (finding.reason or ""), finding.reason
    assert all(len(item.name) <= 300 for example in finding.examples for item in example.items)


def test_a_loop_is_counted_once_among_all_relations(graph, draw):
    draw("""CREATE (a:__Entity__ {name: 'A'})-[:OWNS]->(a), (a)-[:OWNS]->(:__Entity__ {name: 'B'}), (a)-[:SEEN_IN]->(a)""")
    finding = check(graph, "self-loop")
    assert counted(finding) == (1, 2)
    assert (shown(finding), finding.examples[0].items[0].kind) == ([["A -[OWNS]-> A"]], "relation")


def test_repeats_are_counted_beyond_the_first_and_by_direction_and_label(graph, draw):
    draw("""CREATE (a:__Entity__ {name: 'A'})-[:OWNS]->(b:__Entity__ {name: 'B'}), (a)-[:OWNS]->(b), (a)-[:OWNS]->(b),
                   (a)-[:KNOWS]->(b), (b)-[:OWNS]->(a), (a)-[:OWNS]->(a), (a)-[:OWNS]->(a)""")
    finding = check(graph, "parallel-relation")
    assert counted(finding) == (2, 7)
    assert (shown(finding), finding.examples[0].why) == ([["A -[OWNS]-> B"] * 3], "3 times")


def test_labels_in_a_property_scope_and_validity_tell_repeats_apart(graph, draw):
    draw("""CREATE (a:Entity {name: 'A', group_id: 'mine'})-[:RELATES_TO {name: 'likes'}]->(b:Entity {name: 'B', group_id: 'mine'}),
                   (a)-[:RELATES_TO {name: 'likes'}]->(b), (a)-[:RELATES_TO {name: 'hates'}]->(b),
                   (a)-[:RELATES_TO {name: 'likes', invalid_at: datetime('2020-01-01')}]->(b),
                   (c:Entity {name: 'C', group_id: 'other'})-[:RELATES_TO {name: 'x'}]->(c2:Entity {group_id: 'other'}),
                   (c)-[:RELATES_TO {name: 'x'}]->(c2)""")
    finding = check(graph, "parallel-relation", NAMED)
    assert (counted(finding), shown(finding)) == ((1, 4), [["A -[likes]-> B"] * 2])


def test_opposite_relations_of_one_label_are_one_pair(graph, draw):
    draw("""CREATE (a:__Entity__ {name: 'A'})-[:KNOWS]->(b:__Entity__ {name: 'B'})-[:KNOWS]->(a), (b)-[:KNOWS]->(a),
                   (a)-[:OWNS]->(c:__Entity__ {name: 'C'})-[:IN]->(a), (b)-[:IN]->(b)""")
    finding = check(graph, "inverse-duplicate")
    assert counted(finding) == (1, 2)
    assert (shown(finding), finding.examples[0].why) == ([["A -[KNOWS]-> B", "B -[KNOWS]-> A"]], "3 relations in both directions")
    assert counted(check(graph, "inverse-duplicate", any_label=True)) == (2, 2)


def test_marked_ends_make_their_relations_dangle(graph, draw):
    draw("""CREATE (a:__Entity__ {name: 'A'})-[:KNOWS]->(x:__Entity__ {name: 'X', dangling: true})
                     -[:KNOWS]->(y:__Entity__ {name: 'Y', dangling: true}),
                   (a)-[:OWNS]->(:__Entity__ {name: 'B', dangling: false})""")
    finding = check(graph, "dangling-relation")
    assert (counted(finding), finding.severity) == ((2, 3), "error")
    assert shown(finding) == [["A -[KNOWS]-> X"], ["X -[KNOWS]-> Y"]]
    assert finding.examples[0].why == "missing end: X (2 missing ends in all)"


def test_lightrags_unknown_ends_dangle(graph, draw):
    draw("""CREATE (a:base {entity_id: 'A', entity_type: 'person'})-[:DIRECTED {keywords: 'x'}]->
                   (:base {entity_id: 'Ghost', entity_type: 'UNKNOWN'}),
                   (a)-[:DIRECTED {keywords: 'y'}]->(:base {entity_id: 'B', entity_type: 'person'})""")
    finding = check(graph, "dangling-relation", bind(graph, load_profile("lightrag").layout))
    assert (counted(finding), shown(finding)) == ((1, 2), [["A -[x]-> Ghost"]])


def test_llamaindexs_chunks_without_text_are_missing_ends(graph, draw):
    draw("""CREATE (a:__Node__:__Entity__:PERSON {id: 'A', name: 'A'})-[:KNOWS]->(:__Node__:Chunk {id: 'Ghost'}),
                   (a)-[:LIVES_IN]->(:__Node__:Chunk {id: 'Void'}),
                   (a)-[:KNOWS]->(:__Node__:__Entity__:PERSON {id: 'B', name: 'B'}),
                   (:__Node__:Chunk {id: 'c1', text: 'words'})-[:MENTIONS]->(a)""")
    finding = check(graph, "dangling-relation", bind(graph, load_profile("llamaindex").layout))
    assert shown(finding)[0] == ["A -[KNOWS]-> Ghost"]
    assert finding.total == finding.count + 1


def test_relations_to_chunks_communities_and_other_graphs_do_not_dangle(graph, draw):
    draw("""CREATE (a:Entity {name: 'A', group_id: 'mine'})-[:RELATES_TO]->(:Entity {name: 'B', group_id: 'mine'}),
                   (a)-[:RELATES_TO]->(:Entity {name: 'C', group_id: 'other'}), (a)-[:RELATES_TO]->(:Community),
                   (a)-[:RELATES_TO]->(:Chunk {text: 't'}),
                   (a)-[:RELATES_TO]->(:Stray {name: 'S'}), (:Stray)-[:RELATES_TO]->(:Stray)""")
    layout = NAMED.model_copy(update={"entity_excluded_labels": ["Community"], "chunk_labels": ["Chunk"], "chunk_text_keys": ["text"]})
    finding = check(graph, "dangling-relation", layout)
    assert (counted(finding), shown(finding)) == ((1, 2), [["A -[RELATES_TO]-> S"]])


def test_a_second_birthplace_conflicts_where_nearly_all_have_one(graph, draw):
    draw("""UNWIND range(1, 20) AS i CREATE (:__Entity__ {name: 'p' + i})-[:BORN_IN]->(:__Entity__ {name: 'c' + i})
            WITH count(*) AS n MATCH (p {name: 'p3'}) MATCH (q {name: 'p4'}) MATCH (c {name: 'c4'})
            CREATE (p)-[:BORN_IN]->(:__Entity__ {name: 'Bath'}), (q)-[:BORN_IN]->(c), (p)-[:KNOWS]->(q), (p)-[:KNOWS]->(c)""")
    layout = PLAIN.model_copy(update={"relation_types": ["KNOWS", "OWNS", "BORN_IN", "FOUNDED"]})
    finding = check(graph, "conflicting-value", layout)
    assert counted(finding) == (1, 20)
    assert shown(finding)[0][0] == "p3"
    assert sorted(shown(finding)[0][1:]) == ["p3 -[BORN_IN]-> Bath", "p3 -[BORN_IN]-> c3"]
    assert finding.examples[0].why == "2 objects of BORN_IN; 95 % of 20 subjects have one"
    graph.write("MATCH (p)-[r:BORN_IN]->(c) CREATE (p)-[:FOUNDED]->(c) DELETE r")
    assert run_check(graph, layout, "conflicting-value").status == "skipped", "one can found two firms"
    assert run_check(graph, layout, "conflicting-value", settings={"min_subjects": 21}).status == "skipped"
    assert counted(check(graph, "conflicting-value", layout, min_subjects=21, functional="owns, knows")) == (1, 1)


def test_an_ended_fact_does_not_conflict_with_the_new_one(graph, draw):
    draw("""CREATE (a:Entity {name: 'A', group_id: 'mine'}), (b:Entity {name: 'B', group_id: 'mine'}),
                   (c:Entity {name: 'C', group_id: 'mine'}),
                   (a)-[:RELATES_TO {name: 'lives in', invalid_at: date('2020-01-01')}]->(b), (a)-[:RELATES_TO {name: 'lives in'}]->(c)""")
    assert counted(check(graph, "conflicting-value", NAMED, functional="lives in")) == (0, 1)


def test_a_reversed_relation_is_the_odd_signature(graph, draw):
    draw("""UNWIND range(1, 30) AS i CREATE (:__Entity__:Person {name: 'p' + i})-[:IN]->(:__Entity__:Company {name: 'c' + i})
            WITH count(*) AS n CREATE (:__Entity__:Company {name: 'Acme'})-[:IN]->(:__Entity__:Person {name: 'Ada'}),
                   (:__Entity__:Place {name: 'Kent'})-[:IN]->(:__Entity__:Person {name: 'Bea'}),
                   (:__Entity__ {name: 'untyped'})-[:IN]->(:__Entity__:Person), (:__Entity__:X)-[:KNOWS]->(:__Entity__:Y)""")
    finding = check(graph, "signature-outlier")
    assert (counted(finding), shown(finding)) == ((2, 33), [["Acme -[IN]-> Ada"], ["Kent -[IN]-> Bea"]])
    assert [example.why for example in finding.examples] == [
        "Company -> Person: 1 of 32; usual: Person -> Company (30); it stands the wrong way round",
        "Place -> Person: 1 of 32; usual: Person -> Company (30)",
    ]
    assert finding.repair.parameters == {"element_ids": [finding.examples[0].items[0].element_id]}
    assert check(graph, "signature-outlier", min_relations=33).count == 0


@pytest.mark.parametrize(("wrong", "found"), [(4, 4), (9, 9), (12, 0)])
def test_of_a_frequent_relation_more_may_stand_the_wrong_way_round(graph, draw, wrong, found):
    """But of another pair of types no more than of a rare relation."""
    draw(f"""UNWIND range(1, 462) AS i
            CREATE (a:__Entity__:Incident {{name: 'i' + i}}), (s:__Entity__:Service {{name: 's' + i}}),
              (t:__Entity__:Team {{name: 't' + i}})
            FOREACH (x IN CASE WHEN i > {wrong} THEN [1] ELSE [] END | CREATE (a)-[:IN]->(s))
            FOREACH (x IN CASE WHEN i <= {wrong} THEN [1] ELSE [] END | CREATE (s)-[:IN]->(a))
            FOREACH (x IN CASE WHEN i <= 4 THEN [1] ELSE [] END | CREATE (t)-[:IN]->(a))""")
    assert counted(check(graph, "signature-outlier")) == (found, 466)


def test_a_label_that_joins_everything_has_no_outliers(graph, draw):
    draw("""UNWIND range(1, 40) AS i CREATE (:Entity {name: 'a', kind: 't' + i, group_id: 'mine'})-[:RELATES_TO {name: 'is near'}]->
                                            (:Entity {name: 'b', kind: 'u' + i, group_id: 'mine'})""")
    assert counted(check(graph, "signature-outlier", NAMED)) == (0, 40)
    assert counted(check(graph, "signature-outlier", NAMED, max_rare_share=1.0)) == (40, 40)


def test_one_label_for_everything_is_constant(graph, draw):
    draw("UNWIND range(1, 20) AS i CREATE (:__Entity__)-[:RELATED]->(:__Entity__)")
    finding = check(graph, "constant-relation-type", CONSTANT)
    assert (counted(finding), shown(finding)) == ((20, 20), [["RELATED"]])
    assert check(graph, "constant-relation-type", CONSTANT, min_relations=21).count == 0
    assert run_check(graph, CONSTANT, "rare-relation-type").status == "skipped"


def test_labels_in_a_property_are_not_constant(graph, draw):
    draw("""UNWIND range(1, 20) AS i CREATE (:Entity {group_id: 'mine'})-[:RELATES_TO {name: 'r' + (i % 2)}]->
                                            (:Entity {group_id: 'mine'})""")
    assert counted(check(graph, "constant-relation-type", NAMED)) == (0, 20)


def test_a_label_used_once_is_rare(graph, draw):
    draw("""CREATE (a:__Entity__ {name: 'A'})-[:KNOWS]->(b:__Entity__ {name: 'B'}), (a)-[:OWNS]->(b), (b)-[:OWNS]->(a), (a)-[:IN]->(b)""")
    finding = check(graph, "rare-relation-type")
    assert counted(finding) == (2, 3)
    assert shown(finding) == [["IN", "A -[IN]-> B"], ["KNOWS", "A -[KNOWS]-> B"]]
    assert [item.kind for item in finding.examples[0].items] == ["type", "relation"]
