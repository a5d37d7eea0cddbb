"""Checks of the group connectivity, each on graphs that can be counted by hand."""

from __future__ import annotations

import pytest

from kgeval.auditing.engine import run_check
from kgeval.records import Finding, Layout

PLAIN = Layout(
    name="plain", entity_labels=["__Entity__"], type_label_ignored=["__Entity__"], name_keys=["name"],
    relation_types=["KNOWS", "OWNS"], relations_join_entities_only=True,
)
SCOPED = Layout(
    name="scoped", entity_labels=["Entity"], type_label_ignored=["Entity"], name_keys=["name"], key_property="uuid",
    relation_types=["RELATES_TO"], relation_label_key="name", scope_property="group_id", scope_value="mine",
)
RULES = ["isolated-entity", "small-component", "super-node", "bridge-only-access"]


def names(finding: Finding) -> list[list[str]]:
    return [[item.name for item in example.items] for example in finding.examples]


def counted(finding: Finding) -> tuple[int | None, int | None]:
    assert finding.status in ("passed", "failed"), finding.reason
    return finding.count, finding.total


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("layout", [PLAIN, SCOPED], ids=["plain", "scoped"])
def test_an_empty_database_has_nothing_to_find(graph, rule, layout):
    finding = run_check(graph, layout, rule)
    assert (finding.status, finding.count) == ("skipped", None)


def test_one_lone_entity_is_isolated_and_nothing_else(graph, draw):
    draw("CREATE (:__Entity__ {name: 'alone'})")
    assert counted(run_check(graph, PLAIN, "isolated-entity")) == (1, 1)
    assert run_check(graph, PLAIN, "small-component").status == "skipped"


def test_a_self_loop_or_a_chunk_does_not_connect_an_entity(graph, draw):
    draw("""CREATE (a:__Entity__:Person {name: 'Ada'})-[:KNOWS]->(:__Entity__ {name: 'Bob'}),
                   (l:__Entity__:Person {name: 'loop'})-[:KNOWS]->(l),
                   (:__Entity__ {name: 'sourced'})-[:FROM_CHUNK]->(:Chunk)""")
    finding = run_check(graph, PLAIN, "isolated-entity")
    assert counted(finding) == (2, 4)
    assert names(finding) == [["loop"], ["sourced"]]
    assert finding.examples[0].items[0].type == "Person"


def test_a_relation_into_another_group_does_not_connect(graph, draw):
    draw("""CREATE (:Entity {name: 'A', uuid: 'u1', group_id: 'mine'})-[:RELATES_TO]->(:Entity {name: 'B', group_id: 'other'}),
                   (:Entity {name: 'C', group_id: 'mine'})-[:RELATES_TO]->(:Entity {name: 'D', group_id: 'mine'})""")
    finding = run_check(graph, SCOPED, "isolated-entity")
    assert counted(finding) == (1, 3)
    assert finding.examples[0].items[0].key == "u1"


def test_nameless_and_strangely_named_isolated_entities_are_listed(graph, draw):
    draw("""CREATE (:__Entity__:`a``b c`), (:__Entity__ {name: [1, 2]}),
                   (:__Entity__ {name: reduce(s = 'x', i IN range(1, 17) | s + s)})""")
    finding = run_check(graph, PLAIN, "isolated-entity")
    assert counted(finding) == (3, 3)
    assert max(len(item.name) for example in finding.examples for item in example.items) == 200


PAIR_BESIDE_A_RING = """
    UNWIND range(1, 6) AS i CREATE (:__Entity__ {name: 'r' + i, i: i}) WITH count(*) AS ring
    MATCH (a:__Entity__), (b:__Entity__) WHERE b.i = a.i % 6 + 1 CREATE (a)-[:KNOWS]->(b) WITH count(*) AS ring
    CREATE (:__Entity__ {name: 'x'})-[:KNOWS]->(:__Entity__ {name: 'y'}), (:__Entity__ {name: 'alone'})"""


def test_a_pair_beside_a_ring_of_six_is_a_small_component(graph, draw):
    draw(PAIR_BESIDE_A_RING)
    finding = run_check(graph, PLAIN, "small-component")
    assert counted(finding) == (1, 2)
    assert names(finding) == [["x", "y"]]


def test_without_a_giant_component_nothing_is_small(graph, draw):
    draw("UNWIND range(1, 5) AS i CREATE (:__Entity__ {name: 'a' + i})-[:OWNS]->(:__Entity__ {name: 'b' + i})")
    assert counted(run_check(graph, PLAIN, "small-component")) == (0, 5)


def test_components_are_those_of_the_scope(graph, draw):
    draw("""CREATE (a:Entity {name: 'a', group_id: 'mine'})-[:RELATES_TO]->(b:Entity {name: 'b', group_id: 'mine'}),
              (b)-[:RELATES_TO]->(:Entity {name: 'c', group_id: 'mine'})-[:RELATES_TO]->(:Entity {name: 'd', group_id: 'mine'}),
              (a)-[:RELATES_TO]->(:Entity {name: 'z', group_id: 'other'})<-[:RELATES_TO]-(q:Entity {name: 'q', group_id: 'mine'}),
              (q)-[:RELATES_TO]->(:Entity {name: 'p', group_id: 'mine'})""")
    finding = run_check(graph, SCOPED, "small-component")
    assert counted(finding) == (1, 2)
    assert names(finding) == [["p", "q"]]


def test_projections_are_dropped(graph, draw):
    draw(PAIR_BESIDE_A_RING)
    run_check(graph, PLAIN, "small-component")
    run_check(graph, PLAIN, "bridge-only-access")
    assert graph.read("CALL gds.graph.list() YIELD graphName RETURN graphName") == []


def star(name: str, leaves: int) -> str:
    return (f"CREATE (h:__Entity__ {{name: '{name}'}}) WITH h "
            f"UNWIND range(1, {leaves}) AS i CREATE (h)-[:KNOWS]->(:__Entity__ {{name: 'leaf ' + i}})")


@pytest.mark.parametrize(("name", "leaves", "hits"), [
    ("Ada", 20, 0), ("Ada", 21, 1), ("He", 5, 0), ("He", 6, 1), ("the company", 6, 1), ("Ada", 6, 0),
])
def test_a_hub_is_an_outlier_above_20_and_a_pronoun_or_generic_word_above_5(graph, draw, name, leaves, hits):
    draw(star(name, leaves))
    finding = run_check(graph, PLAIN, "super-node")
    assert counted(finding) == (hits, leaves + 1)
    assert names(finding) == [[name]] * hits


def test_the_fence_is_the_median_plus_five_mads_of_the_log_degree(graph, draw):
    """Degrees 1, 2, 2, 4 and 40: the median is 2, the MAD of the logarithms is log 2, so the fence is 2 * 2^5 = 64."""
    draw("""CREATE (a:__Entity__ {name: 'a'}) CREATE (hub:__Entity__ {name: 'hub'}), (x:__Entity__)-[:OWNS]->(hub)
            CREATE (b:__Entity__), (c:__Entity__)
            WITH hub, a, b, c, [[a, 4], [b, 2], [c, 2]] AS ends, range(1, 31) AS more
            FOREACH (i IN range(1, 4) | CREATE (a)-[:KNOWS]->(hub)) FOREACH (i IN range(1, 2) | CREATE (b)-[:KNOWS]->(hub))
            FOREACH (i IN range(1, 2) | CREATE (c)-[:KNOWS]->(hub)) FOREACH (i IN more | CREATE (hub)-[:OWNS]->(hub))""")
    assert run_check(graph, PLAIN, "super-node").count == 0
    assert run_check(graph, PLAIN, "super-node", settings={"mad_factor": 4.0}).count == 1


def test_super_nodes_of_another_layout_count_only_their_scope(graph, draw):
    draw("""CREATE (h:Entity {name: 'hub', group_id: 'mine'}) WITH h
            UNWIND range(1, 30) AS i
            CREATE (h)-[:RELATES_TO]->(:Entity {name: 'leaf', group_id: CASE WHEN i <= 15 THEN 'mine' ELSE 'other' END})""")
    assert counted(run_check(graph, SCOPED, "super-node")) == (0, 16)
    assert counted(run_check(graph, SCOPED, "super-node", settings={"min_degree": 14})) == (1, 16)


def ring(name: str, size: int, label: str = "__Entity__", relation: str = "KNOWS", more: str = "") -> str:
    return f"""UNWIND range(1, {size}) AS i CREATE (:{label} {{name: '{name}' + i, i: i, ring: '{name}'{more}}}) WITH count(*) AS n
        MATCH (a {{ring: '{name}'}}), (b {{ring: '{name}'}}) WHERE b.i = a.i % {size} + 1 CREATE (a)-[:{relation}]->(b)"""


def test_a_ring_behind_one_relation_hangs_on_the_entity_before_it(graph, draw):
    draw(ring("big", 12))
    draw(ring("small", 5))
    draw("MATCH (a {name: 'big3'}), (b {name: 'small1'}) CREATE (a)-[:OWNS]->(b), (b)-[:OWNS]->(a)")
    finding = run_check(graph, PLAIN, "bridge-only-access", settings={"min_part": 4})
    assert counted(finding) == (5, 17)
    assert names(finding) == [["big3", "small1"]]
    assert finding.examples[0].why == "5 entities are reached only through big3, over its one link to small1"


def test_a_second_way_in_takes_the_finding_away(graph, draw):
    draw(ring("big", 12))
    draw(ring("small", 5))
    draw("""MATCH (a {name: 'big3'}), (b {name: 'small1'}), (c {name: 'big4'}), (d {name: 'small3'})
            CREATE (a)-[:OWNS]->(b), (c)-[:OWNS]->(d)""")
    assert counted(run_check(graph, PLAIN, "bridge-only-access", settings={"min_part": 4})) == (0, 17)


def test_bridging_works_in_a_scoped_layout(graph, draw):
    draw(ring("big", 12, "Entity", "RELATES_TO", ", group_id: 'mine'"))
    draw(ring("small", 5, "Entity", "RELATES_TO", ", group_id: 'mine'"))
    draw("MATCH (a {name: 'big3'}), (b {name: 'small1'}) CREATE (a)-[:RELATES_TO]->(b), (a)-[:RELATES_TO]->(:Entity {group_id: 'other'})")
    assert counted(run_check(graph, SCOPED, "bridge-only-access", settings={"min_part": 5})) == (5, 17)
