"""Faults of what is stored beside entities, planted in graphs as three writers leave them: an audit with defaults names each, and says
nothing of the kind about the graphs without them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import kgeval
from kgeval.graph.connect import Graph

Draw = Callable[[str], None]
VECTOR = "[x IN range(1, 16) | sin(x * {0}) + 0.1]"

BUILDER = f"""
UNWIND range(1, 6) AS file
CREATE (d:Document {{fileName: 'report-' + file + '.pdf', fileType: 'pdf', status: 'Completed', total_chunks: 5, processed_chunk: 5}})
WITH d, file UNWIND range(1, 5) AS at
CREATE (c:Chunk {{id: 'r' + file + '-' + at, position: at, fileName: d.fileName, embedding: {VECTOR.format('(file * 7 + at)')},
    text: 'Ferry ' + file + at + ' sails from pier ' + (file * at) + ' to island ' + (file + at) + ' on every weekday in summer, and on'
      + ' Sundays when the sea is calm, said the harbour master of place ' + file}})-[:PART_OF]->(d),
  (c)-[:HAS_ENTITY]->(e:__Entity__:Ferry {{id: 'Ferry ' + file + at, embedding: {VECTOR.format('(file + at * 11)')}}})
MERGE (k:__Community__ {{id: '0-' + file}})
  ON CREATE SET k.level = 0, k.title = 'Fleet ' + file, k.summary = 'The ferries of report ' + file, k.embedding = {VECTOR.format('file')}
CREATE (e)-[:IN_COMMUNITY]->(k)
MERGE (up:__Community__ {{id: '1-' + (file % 2)}})
  ON CREATE SET up.level = 1, up.title = 'Coast ' + (file % 2), up.summary = 'Fleets', up.embedding = {VECTOR.format('(file + 3)')}
MERGE (k)-[:PARENT_COMMUNITY]->(up)
WITH d, c, e ORDER BY c.position WITH d, collect(c) AS chunks, collect(e) AS ferries
FOREACH (at IN range(0, 3) | FOREACH (a IN [chunks[at]] | FOREACH (b IN [chunks[at + 1]] | CREATE (a)-[:NEXT_CHUNK]->(b))))
FOREACH (at IN range(0, 3) | FOREACH (a IN [ferries[at]] | FOREACH (b IN [ferries[at + 1]] | CREATE (a)-[:MEETS]->(b))))
WITH d, chunks[0] AS first CREATE (d)-[:FIRST_CHUNK]->(first)
"""
IN_BUILDER = [
    ("MATCH (d:Document {fileName: 'report-1.pdf'}) SET d.status = 'Failed'", "document-unfinished", "report-1.pdf"),
    ("MATCH (d:Document {fileName: 'report-2.pdf'}) SET d.total_chunks = 20, d.processed_chunk = 8", "document-unfinished", "report-2.pdf"),
    ("CREATE (:Document {fileName: 'scan.pdf', status: 'Completed', total_chunks: 0, processed_chunk: 0})", "document-without-chunks",
     "scan.pdf"),
    ("""MATCH (:Document {fileName: 'report-6.pdf'})<-[:PART_OF]-(c) MERGE (d:Document {fileName: 'report-6 (1).pdf'})
        SET d.status = 'Completed' CREATE (c)-[:PART_OF]->(d)""", "duplicate-document", "report-6.pdf"),
    ("""MATCH (c:Chunk {id: 'r3-2'})-[:PART_OF]->(d), (c)-[:HAS_ENTITY]->(e)
        CREATE (k:Chunk {id: 'again', position: 6, text: c.text, embedding: c.embedding})-[:PART_OF]->(d), (k)-[:HAS_ENTITY]->(e)
        WITH k MATCH (c:Chunk {id: 'r3-5'}) CREATE (c)-[:NEXT_CHUNK]->(k)""", "duplicate-chunk", "again"),
    ("MATCH (c:Chunk {id: 'r4-3'}) SET c.text = ' '", "empty-chunk", "r4-3"),
    ("MATCH (:Chunk {id: 'r5-5'})-[r:PART_OF]->() DELETE r", "chunk-without-document", "r5-5"),
    ("MATCH (a:Chunk {id: 'r1-2'}), (b:Chunk {id: 'r1-4'}) CREATE (a)-[:NEXT_CHUNK]->(b)", "broken-chunk-order", "report-1.pdf"),
    ("MATCH (c:Chunk {id: 'r2-4'}) SET c.position = 3", "broken-chunk-order", "report-2.pdf"),
    ("MATCH (:__Community__ {id: '0-4'})<-[r:IN_COMMUNITY]-() DELETE r", "community-without-members", "Fleet 4"),
    ("MATCH (:__Community__ {id: '0-5'})-[r:PARENT_COMMUNITY]->() DELETE r", "community-without-parent", "Fleet 5"),
    ("MATCH (k:__Community__ {id: '0-3'}) REMOVE k.summary", "community-without-report", "Fleet 3"),
    ("MATCH (k:__Community__ {id: '0-2'}) REMOVE k.embedding", "missing-embedding", "0-2"),
    ("MATCH (k:__Community__ {id: '0-1'}) SET k.embedding = [x IN range(1, 16) | 0.0]", "zero-embedding", "0-1"),
    ("""MATCH (c:Chunk) SET c.embedded_at = datetime('2024-01-01T00:00:00Z'),
          c.updated_at = datetime(CASE c.id WHEN 'r6-1' THEN '2024-05-05T00:00:00Z' ELSE '2023-12-31T00:00:00Z' END)""",
     "stale-embedding", "r6-1"),
]
ROWS = f"""
UNWIND range(1, 4) AS doc
CREATE (d:__Document__ {{id: 'd' + doc, title: 'chapter-' + doc + '.txt'}})
WITH d, doc UNWIND range(1, 6) AS at
CREATE (c:__Chunk__ {{id: 'c' + doc + at, n_tokens: 40, text: 'In the spring of year ' + (1800 + doc * at) + ' the mill at bend ' + doc + at
    + ' of the river ground rye for town ' + (doc + at) + ', as the parish book says, until the flood took its wheel'}})-[:PART_OF]->(d)
CREATE (e:__Entity__:MILL {{id: 'e' + doc + at, name: 'MILL ' + doc + at, description: 'A mill', human_readable_id: doc * 10 + at,
    description_embedding: {VECTOR.format('(doc + at * 13)')}}})<-[:HAS_ENTITY]-(c)
MERGE (top:__Community__ {{community: doc % 2}}) ON CREATE SET top.level = 0, top.title = 'River ' + (doc % 2), top.parent = -1,
  top.summary = 'Mills', top.full_content = 'All mills of a river', top.entity_ids = []
MERGE (low:__Community__ {{community: 10 + doc}}) ON CREATE SET low.level = 1, low.title = 'Bend ' + doc, low.parent = doc % 2,
  low.summary = 'Mills', low.full_content = 'The mills of a bend', low.entity_ids = []
CREATE (e)-[:IN_COMMUNITY]->(top), (e)-[:IN_COMMUNITY]->(low)
SET top.entity_ids = top.entity_ids + e.id, low.entity_ids = low.entity_ids + e.id
WITH d, collect(e) AS mills, collect(c) AS chunks
FOREACH (at IN range(0, 4) | FOREACH (a IN [mills[at]] | FOREACH (b IN [mills[at + 1]] |
  CREATE (a)-[:RELATED {{id: a.id + b.id, weight: 1.0, description: 'below', text_unit_ids: [chunks[at].id]}}]->(b))))
"""
IN_ROWS = [
    ("""MATCH (d:__Document__ {id: 'd1'})<-[:PART_OF]-(c) MERGE (k:__Document__ {id: 'd9', title: 'chapter-1.txt'})
        CREATE (c)-[:PART_OF]->(k)""", "duplicate-document", "chapter-1.txt"),
    ("CREATE (:__Document__ {id: 'd7', title: 'plates.txt'})", "document-without-chunks", "plates.txt"),
    ("MATCH (:__Chunk__ {id: 'c23'})-[r:PART_OF]->() DELETE r", "chunk-without-document", "c23"),
    ("MATCH (a:__Chunk__ {id: 'c31'}), (b:__Chunk__ {id: 'c32'}) SET b.text = a.text", "duplicate-chunk", "c32"),
    ("MATCH (c:__Chunk__ {id: 'c33'}) SET c.text = ''", "empty-chunk", "c33"),
    ("MATCH (e:__Entity__ {id: 'e46'}) DETACH DELETE e", "community-without-members", "Bend 4"),
    ("CREATE (:__Community__ {community: 44, title: 'Delta', summary: 'The delta', full_content: 'The delta'})",
     "community-without-members", "Delta"),
    ("MATCH (k:__Community__ {community: 13}) SET k.parent = 77", "community-without-parent", "Bend 3"),
    ("MATCH (k:__Community__ {community: 12}) REMOVE k.summary, k.full_content", "community-without-report", "Bend 2"),
    ("MATCH (e:__Entity__ {id: 'e11'}) REMOVE e.description_embedding", "missing-embedding", "MILL 11"),
    ("MATCH (e:__Entity__ {id: 'e12'}) SET e.description_embedding = [0.5, 0.5]", "embedding-dimension", "MILL 12"),
    ("MATCH (a:__Entity__ {id: 'e21'})-[r:RELATED]->() SET r.text_unit_ids = ['gone']", "dangling-source", "gone"),
]
MEMORY = f"""
CREATE (u:User {{identifier: 'u1'}})
WITH u UNWIND range(1, 4) AS talk
CREATE (v:Conversation {{id: 'v' + talk, session_id: 's' + talk}})
WITH u, v, talk UNWIND range(1, 5) AS at
CREATE (v)-[:HAS_MESSAGE]->(m:Message {{id: 'm' + talk + at, role: 'user', content: 'Guest ' + talk + at + ' comes on day ' + at,
    embedding: {VECTOR.format('(talk * 5 + at)')}}}),
  (m)-[:MENTIONS]->(e:Entity:Person {{id: 'g' + talk + at, name: 'Guest ' + talk + at, type: 'PERSON',
    embedding: {VECTOR.format('(talk + at * 3)')}}}),
  (u)-[:HAS_PREFERENCE]->(p:Preference {{id: 'p' + talk + at, category: 'food', preference: 'Guest ' + talk + at + ' takes tea',
    embedding: {VECTOR.format('(talk + at)')}}}),
  (f:Fact {{id: 'f' + talk + at, subject: 'Guest ' + talk + at, predicate: 'stays in', object: 'room ' + at}})-[:ABOUT]->(e),
  (v)-[:HAS_TRACE]->(t:ReasoningTrace {{id: 't' + talk + at, task: 'Book ' + talk + at}})
    -[:HAS_STEP]->(s:ReasoningStep {{id: 'x' + talk + at, thought: 'Look for room ' + talk + at}})
WITH v, m, e ORDER BY m.id WITH v, collect(m) AS messages, collect(e) AS guests
FOREACH (at IN range(0, 3) | FOREACH (a IN [messages[at]] | FOREACH (b IN [messages[at + 1]] | CREATE (a)-[:NEXT_MESSAGE]->(b))))
FOREACH (at IN range(0, 3) | FOREACH (a IN [guests[at]] | FOREACH (b IN [guests[at + 1]] |
  CREATE (a)-[:RELATED_TO {{id: a.id + b.id, type: 'KNOWS', confidence: 0.9, source_message_ids: [messages[at].id]}}]->(b))))
WITH v, messages[0] AS first CREATE (v)-[:FIRST_MESSAGE]->(first)
"""
IN_MEMORY = [
    ("MATCH (:User)-[r]->(:Preference {id: 'p11'}) DELETE r", "orphaned-memory", "Guest 11 takes tea"),
    ("MATCH (f:Fact {id: 'f12'})-[r]->() DELETE r", "orphaned-memory", "Guest 12 stays in room 2"),
    ("MATCH ()-[r:HAS_STEP]->(:ReasoningStep {id: 'x13'}) DELETE r", "orphaned-memory", "Look for room 13"),
    ("MATCH (v)-[r]->(t:ReasoningTrace {id: 't14'}) DELETE r WITH t MATCH (t)-[r:HAS_STEP]->(s) DETACH DELETE s", "orphaned-memory",
     "Book 14"),
    ("MATCH ()-[r:HAS_MESSAGE]->(:Message {id: 'm25'}) DELETE r", "chunk-without-document", "m25"),
    ("MATCH (m:Message {id: 'm31'}) SET m.content = ''", "empty-chunk", "m31"),
    ("MATCH (a:Message {id: 'm41'}), (b:Message {id: 'm43'}) CREATE (a)-[:NEXT_MESSAGE]->(b)", "broken-chunk-order", "s4"),
    ("MATCH (p:Preference {id: 'p21'}) REMOVE p.embedding", "missing-embedding", "p21"),
    ("MATCH (p:Preference {id: 'p22'}) SET p.embedding = p.embedding + p.embedding", "embedding-dimension", "p22"),
    ("MATCH (m:Message {id: 'm35'}) SET m.embedding = [x IN range(1, 16) | 0.0]", "zero-embedding", "m35"),
    ("MATCH (:Entity {id: 'g42'})-[r:RELATED_TO]->() SET r.source_message_ids = ['m99']", "dangling-source", "m99"),
    ("MATCH (:Message)-[r:MENTIONS]->(:Entity {id: 'g45'}) DELETE r", "entity-without-source", "Guest 45"),
]
GRAPHS = {"LLM Graph Builder": (BUILDER, IN_BUILDER), "Microsoft GraphRAG": (ROWS, IN_ROWS), "memory": (MEMORY, IN_MEMORY)}


def named(graph: Graph) -> dict[str, set[str]]:
    """By check, the things that errors, warnings and remarks of an audit with defaults name."""
    findings = kgeval.audit(graph.driver, no_structure=True, examples=0).findings
    assert [finding.reason for finding in findings if finding.status in ("error", "incomplete")] == []
    return {
        finding.rule_id: {item.name for example in finding.examples for item in example.items}
        for finding in findings if finding.status == "failed"
    }


@pytest.mark.parametrize("name", GRAPHS)
def test_each_planted_fault_of_the_store_is_named_and_nothing_else(graph: Graph, draw: Draw, name: str) -> None:
    drawn, faults = GRAPHS[name]
    draw(drawn)
    rules = {rule for _, rule, _ in faults}
    assert {rule: things for rule, things in named(graph).items() if rule in rules} == {}
    for statement, _, _ in faults:
        draw(statement)
    found = named(graph)
    assert [(rule, thing) for _, rule, thing in faults if thing not in found.get(rule, ())] == []
