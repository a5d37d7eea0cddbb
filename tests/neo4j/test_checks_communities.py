"""Checks of communities and of an agent's memories as they are stored, on graphs that can be counted by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kgeval.auditing.engine import run_check
from kgeval.graph.connect import Graph
from kgeval.graph.layouts import bind, load_profile
from kgeval.records import Finding

Draw = Callable[[str], None]
# twelve entities in four communities of level 0, these in two of level 1, all with summaries
LEVELS = """
UNWIND range(0, 3) AS low
CREATE (c:__Community__ {id: '0-' + low, level: 0, title: 'Low ' + low, summary: 'Three things'})
MERGE (up:__Community__ {id: '1-' + (low / 2)}) ON CREATE SET up.level = 1, up.title = 'High ' + (low / 2), up.summary = 'Two'
CREATE (c)-[:PARENT_COMMUNITY]->(up)
WITH c, low UNWIND range(1, 3) AS at
CREATE (e:__Entity__:Thing {id: 'e' + low + at})-[:IN_COMMUNITY]->(c), (:Chunk {id: 'c' + low + at, text: 'x'})-[:HAS_ENTITY]->(e)
"""
# Microsoft GraphRAG's import: members by links on each level, parents and members listed too
ROWS = """
UNWIND range(0, 5) AS at
CREATE (c:__Community__ {community: at, level: CASE WHEN at < 2 THEN 0 ELSE 1 END, parent: CASE WHEN at < 2 THEN -1 ELSE at % 2 END,
  title: 'Community ' + at, summary: 's', full_content: 'f', entity_ids: [at + 'a', at + 'b']})
WITH c, at UNWIND ['a', 'b'] AS part
CREATE (e:__Entity__:THING {id: at + part, name: 'THING ' + at + part})-[:IN_COMMUNITY]->(c),
  (:__Chunk__ {id: 'c' + at + part, text: 'x'})-[:HAS_ENTITY]->(e)
"""
MEMORY = """
CREATE (u:User {identifier: 'u'}), (v:Conversation {session_id: 's'})
WITH u, v UNWIND range(1, 6) AS at
CREATE (v)-[:HAS_MESSAGE]->(m:Message {id: 'm' + at, content: 'Text ' + at})
    -[:MENTIONS]->(e:Entity {id: 'e' + at, name: 'Name ' + at, type: 'PERSON'}),
  (u)-[:HAS_PREFERENCE]->(p:Preference {id: 'p' + at, preference: 'Likes ' + at}), (p)-[:ABOUT]->(e),
  (f:Fact {id: 'f' + at, subject: 'Name ' + at, predicate: 'likes', object: 'tea'}),
  (v)-[:HAS_TRACE]->(:ReasoningTrace {id: 't' + at, task: 'Task ' + at})
    -[:HAS_STEP]->(:ReasoningStep {id: 's' + at, thought: 'Thought ' + at})
"""
COMMUNITY_CHECKS = ["community-without-members", "community-without-report", "community-without-parent"]
LAYOUT = {LEVELS: "llm-graph-builder", ROWS: "msgraphrag-notebook", MEMORY: "neo4j-agent-memory"}


def found(graph: Graph, rule: str, layout: str, **settings: Any) -> Finding:
    return run_check(graph, bind(graph, load_profile(layout).layout), rule, examples=0, settings=settings)


def hits(graph: Graph, rule: str, layout: str) -> list[tuple[str, str | None]]:
    finding = found(graph, rule, layout)
    assert finding.status in ("passed", "failed"), finding.reason
    return [(example.items[0].name, example.why) for example in finding.examples]


@pytest.mark.parametrize("rule", COMMUNITY_CHECKS)
@pytest.mark.parametrize("drawn", [LEVELS, ROWS], ids=["levels", "rows"])
def test_communities_that_are_whole_have_no_hit(graph: Graph, draw: Draw, rule: str, drawn: str) -> None:
    draw(drawn)
    finding = found(graph, rule, LAYOUT[drawn])
    assert (finding.status, finding.count) == ("passed", 0), finding.reason
    assert finding.total == (4 if rule == "community-without-parent" else 6)


def test_a_community_that_lost_its_members_is_found(graph: Graph, draw: Draw) -> None:
    draw(LEVELS)
    draw("""MATCH (e)-[:IN_COMMUNITY]->(:__Community__ {id: '0-1'}) DETACH DELETE e
            WITH count(*) AS done CREATE (:__Community__ {id: '9-9'})""")
    assert hits(graph, "community-without-members", "llm-graph-builder") == [
        ("Low 1", "it has a report, and nothing is in it"), ("9-9", "nothing is in it"),
    ]


def test_members_that_are_listed_and_gone_and_reports_without_a_row_are_found(graph: Graph, draw: Draw) -> None:
    draw(ROWS)
    draw("""MATCH (e:__Entity__) WHERE e.id IN ['3a', '4a', '4b'] DETACH DELETE e
            WITH count(*) AS done CREATE (:__Community__ {community: 17, full_content: 'A report', summary: 'A report'})""")
    assert hits(graph, "community-without-members", "msgraphrag-notebook") == [
        ("17", "it has a report, and nothing is in it"), ("Community 3", "1 member that it lists is gone: 3a"),
        ("Community 4", "it has a report, and nothing is in it"),
    ]


def test_lists_of_other_ids_name_no_members(graph: Graph, draw: Draw) -> None:
    draw(ROWS)
    draw("MATCH (c:__Community__) SET c.entity_ids = [1, 2, 3]")
    assert hits(graph, "community-without-members", "msgraphrag-notebook") == []


def test_a_community_without_a_report_is_one_where_its_level_has_them(graph: Graph, draw: Draw) -> None:
    draw(LEVELS)
    draw("""MATCH (c:__Community__ {id: '0-2'}) SET c.summary = ' '
            WITH 1 AS done MATCH (up:__Community__ {level: 1}) REMOVE up.summary
            WITH count(*) AS done CREATE (:__Entity__ {id: 'alone'})-[:IN_COMMUNITY]->(:__Community__ {id: '0-9', level: 0})""")
    assert hits(graph, "community-without-report", "llm-graph-builder") == [("Low 2", "on level 0")]


def test_a_community_without_a_parent_is_one_where_its_level_has_them(graph: Graph, draw: Draw) -> None:
    draw(LEVELS)
    draw("MATCH (:__Community__ {id: '0-3'})-[r:PARENT_COMMUNITY]->() DELETE r")
    assert hits(graph, "community-without-parent", "llm-graph-builder") == [("Low 3", "it has none, on level 0")]


def test_a_parent_that_is_named_and_not_there_is_found(graph: Graph, draw: Draw) -> None:
    draw(ROWS)
    draw("MATCH (c:__Community__ {community: 4}) SET c.parent = 55")
    assert hits(graph, "community-without-parent", "msgraphrag-notebook") == [("Community 4", "its parent 55 is not there")]


def test_graphitis_communities_hold_entities(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 4) AS at CREATE (:Community {uuid: 'k' + at, name: 'K' + at, group_id: 'g', summary: 's'})-[:HAS_MEMBER]->
              (e:Entity {uuid: 'e' + at, name: 'E' + at, group_id: 'g'}),
              (:Episodic {uuid: 'p' + at, content: 'x', group_id: 'g'})-[:MENTIONS]->(e)
            WITH count(*) AS done CREATE (:Community {uuid: 'bare', name: 'Bare', group_id: 'g', summary: 's'})""")
    assert hits(graph, "community-without-members", "graphiti") == [("Bare", "it has a report, and nothing is in it")]
    assert found(graph, "community-without-parent", "graphiti").status == "skipped"


def test_a_memory_that_nothing_is_linked_to_is_orphaned_where_its_kind_is_linked(graph: Graph, draw: Draw) -> None:
    draw(MEMORY)
    assert hits(graph, "orphaned-memory", "neo4j-agent-memory") == [], "facts are never linked here"
    draw("""CREATE (:Preference {id: 'lost', preference: 'No meetings'}), (:ReasoningStep {id: 'step', thought: 'And then?'}),
              (:Fact {id: 'f', subject: 'a', predicate: 'b', object: 'c'})""")
    finding = found(graph, "orphaned-memory", "neo4j-agent-memory")
    assert [(example.items[0].type, example.items[0].name) for example in finding.examples] == [
        ("Preference", "No meetings"), ("ReasoningStep", "And then?"),
    ]
    assert finding.total == 20
    draw("MATCH (f:Fact), (e:Entity) WHERE f.subject = e.name CREATE (f)-[:ABOUT]->(e)")
    assert ("a b c", None) in hits(graph, "orphaned-memory", "neo4j-agent-memory")
