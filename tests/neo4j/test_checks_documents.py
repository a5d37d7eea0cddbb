"""Checks of documents and chunks as they are stored, on graphs that can be counted by hand; and on graphs in which Document, Chunk or
Session mean something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kgeval.auditing.engine import run_check
from kgeval.auditing.rulebook import load_rules
from kgeval.graph.connect import Graph
from kgeval.graph.layouts import bind, load_profile
from kgeval.records import Finding

Draw = Callable[[str], None]
LONG = "The harbour board met on the second of March and voted for the new wall, with one vote against it by the pilot. "
# four documents of four chunks with text, place, NEXT_CHUNK, an entity each, as LLM Graph Builder writes them
FILES = f"""
UNWIND ['a.pdf', 'b.pdf', 'c.pdf', 'd.pdf'] AS file
CREATE (d:Document {{fileName: file, status: 'Completed', total_chunks: 4, processed_chunk: 4}})
CREATE (x:__Entity__:Thing {{id: 'Thing of ' + file}})
WITH d, x, file
UNWIND range(1, 4) AS at
CREATE (c:Chunk {{id: file + '-' + at, position: at, text: file + ' ' + at + ' {LONG}', fileName: file}})-[:PART_OF]->(d)
CREATE (c)-[:HAS_ENTITY]->(x)
WITH d, collect(c) AS chunks
UNWIND range(0, 2) AS at
WITH d, chunks, chunks[at] AS one, chunks[at + 1] AS two
CREATE (one)-[:NEXT_CHUNK]->(two)
WITH DISTINCT d, chunks[0] AS first
CREATE (d)-[:FIRST_CHUNK]->(first)
"""
CHECKS = [rule.id for rule in load_rules().values() if rule.group == "store" and rule.id != "missing-index"]
OF_DOCUMENTS = [
    "document-unfinished", "document-without-chunks", "duplicate-document", "chunk-without-document", "empty-chunk", "duplicate-chunk",
    "broken-chunk-order",
]


def found(graph: Graph, rule: str, layout: str = "llm-graph-builder", **settings: Any) -> Finding:
    return run_check(graph, bind(graph, load_profile(layout).layout), rule, examples=0, settings=settings)


def hits(graph: Graph, rule: str, layout: str = "llm-graph-builder", **settings: Any) -> list[tuple[list[str], str | None]]:
    finding = found(graph, rule, layout, **settings)
    assert finding.status in ("passed", "failed"), finding.reason
    return [([item.name for item in example.items], example.why) for example in finding.examples]


@pytest.mark.parametrize("rule", OF_DOCUMENTS)
def test_documents_that_are_whole_have_no_hit(graph: Graph, draw: Draw, rule: str) -> None:
    draw(FILES)
    finding = found(graph, rule)
    assert (finding.status, finding.count) == ("passed", 0), finding.reason
    assert finding.total == {"duplicate-chunk": 16, "chunk-without-document": 16, "empty-chunk": 16}.get(rule, 4)


def test_a_document_is_unfinished_by_its_state_or_by_its_counts(graph: Graph, draw: Draw) -> None:
    draw(FILES)
    draw("""MATCH (a:Document {fileName: 'a.pdf'}) SET a.status = 'Failed', a.processed_chunk = 1
            WITH 1 AS done MATCH (b:Document {fileName: 'b.pdf'}) SET b.processed_chunk = 2, b.total_chunks = 20
            WITH 1 AS done MATCH (c:Document {fileName: 'c.pdf'}) SET c.status = 'completed '
            WITH 1 AS done CREATE (:Document {fileName: 'n.pdf', status: 'New', total_chunks: 0, processed_chunk: 0}),
              (:Document {fileName: 'p.pdf', status: "it's", total_chunks: 'x'})""")
    assert hits(graph, "document-unfinished") == [
        (["a.pdf"], "its state is 'Failed', and 1 of 4 chunks are done"),
        (["b.pdf"], "its state is 'Completed', but 2 of 20 chunks are done"),
        (["n.pdf"], "its state is 'New'"), (["p.pdf"], "its state is 'it's'"),
    ]


def test_where_a_layout_knows_no_states_counts_alone_say_how_far_a_document_is(graph: Graph, draw: Draw) -> None:
    draw(FILES)
    draw("""MATCH (x:__Entity__) REMOVE x:__Entity__ WITH count(*) AS done MATCH (d:Document) SET d.status = 'Archived'
            WITH count(*) AS done MATCH (b:Document {fileName: 'b.pdf'}) SET b.processed_chunk = 3
            WITH 1 AS done CREATE (:Document {fileName: 'bare.pdf'})""")
    assert hits(graph, "document-unfinished", "generic") == [(["b.pdf"], "3 of 4 chunks are done")]
    assert [names for names, _ in hits(graph, "document-without-chunks", "generic")] == [["bare.pdf"]]


def test_a_document_without_chunks_is_one_where_documents_have_chunks(graph: Graph, draw: Draw) -> None:
    draw(FILES)
    draw("""CREATE (:Document {fileName: 'gone.pdf', status: 'Completed'}), (:Document {fileName: 'no state.pdf'}),
              (:Document {fileName: 'new.pdf', status: 'New'}),
              (:Document {fileName: 'linked.pdf'})-[:HAS_ENTITY]->(:__Entity__:Thing {id: 'y'})""")
    assert [names for names, _ in hits(graph, "document-without-chunks")] == [["gone.pdf"], ["no state.pdf"]]
    draw("UNWIND range(1, 9) AS at CREATE (:Document {fileName: 'plain ' + at})")
    assert found(graph, "document-without-chunks").status == "skipped"


def test_documents_are_in_the_graph_twice_by_key_or_by_their_texts(graph: Graph, draw: Draw) -> None:
    draw(FILES)
    draw(f"""
        CREATE (again:Document {{fileName: 'a.pdf'}})<-[:PART_OF]-(:Chunk {{id: 'a2', text: 'a.pdf 2 {LONG}'}}),
          (other:Document {{fileName: 'b.pdf'}})<-[:PART_OF]-(:Chunk {{id: 'other', text: 'nothing of b'}}),
          (bare:Document {{fileName: 'c.pdf'}})
        WITH 1 AS done CREATE (d:Document {{fileName: 'copy of d.pdf'}}) WITH d
        UNWIND [2, 1, 4, 3] AS at CREATE (:Chunk {{id: 'copy-' + at, text: 'd.pdf ' + at + ' {LONG}'}})-[:PART_OF]->(d)""")
    assert hits(graph, "duplicate-document") == [
        (["a.pdf", "a.pdf"], "2 documents have the key 'a.pdf' and share texts"),
        (["c.pdf", "c.pdf"], "2 documents have the key 'c.pdf', and only one has chunks"),
        (["copy of d.pdf", "d.pdf"], "2 documents hold the same 4 texts"),
    ]


def test_equal_texts_are_repeats_and_short_ones_are_none(graph: Graph, draw: Draw) -> None:
    draw(FILES)
    draw(f"""MATCH (a:Document {{fileName: 'a.pdf'}})
             CREATE (:Chunk {{id: 'x', text: 'b.pdf 2 {LONG}'}})-[:PART_OF]->(a),
               (:Chunk {{id: 'y', text: 'b.pdf 2 {LONG}'}})-[:PART_OF]->(a),
               (:Chunk {{id: 'near', text: 'b.pdf 2 {LONG[:60]}!{LONG[61:]}'}})-[:PART_OF]->(a),
               (:Chunk {{id: 's', text: 'Yes.'}})-[:PART_OF]->(a),
               (:Chunk {{id: 't', text: 'Yes.'}})-[:PART_OF]->(a)""")
    finding = found(graph, "duplicate-chunk")
    assert [[item.name for item in example.items] for example in finding.examples] == [["b.pdf-2", "x", "y"]]
    assert (finding.count, finding.total) == (2, 19)
    assert found(graph, "duplicate-chunk", min_characters=3).count == 3


def test_blank_chunks_and_chunks_without_a_text_are_found_and_stand_ins_are_not(graph: Graph, draw: Draw) -> None:
    draw(FILES)
    draw("""MATCH (a:Document {fileName: 'a.pdf'})
            CREATE (:Chunk {id: 'blank', text: ' \\n\\t'})-[:PART_OF]->(a), (:Chunk {id: 'none'})-[:PART_OF]->(a),
              (:Chunk {id: 'stand-in'}), (:Chunk {id: 'said'})-[:HAS_ENTITY]->(:__Entity__ {id: 'z'}),
              (:Chunk {id: 'number', text: 7}), (:Chunk {id: 'made', dangling: true})""")
    assert hits(graph, "empty-chunk") == [
        (["blank"], "its text is blank"), (["none"], "it has no text"), (["said"], "it has no text"),
    ]


def test_a_chunk_without_a_document_is_one_where_chunks_have_documents(graph: Graph, draw: Draw) -> None:
    draw(FILES)
    draw("CREATE (:Chunk {id: 'lost', text: 'alone'}), (:Chunk {id: 'stand-in'})")
    assert hits(graph, "chunk-without-document") == [(["lost"], "it begins: alone")]
    draw("UNWIND range(1, 40) AS at CREATE (:Chunk {id: at, text: 'text input'})")
    assert found(graph, "chunk-without-document").status == "skipped"


@pytest.mark.parametrize(("change", "why"), [
    ("MATCH (c:Chunk {id: 'a.pdf-3'}) SET c.position = 2", "place 2 is taken more than once; 1 place is missing, the first behind 2"),
    ("MATCH (c:Chunk {id: 'a.pdf-3'}) DETACH DELETE c", "1 place is missing, the first behind 2; there are 2 chains"),
    ("MATCH (b:Chunk {id: 'a.pdf-2'}), (d:Chunk {id: 'a.pdf-4'}) CREATE (b)-[:NEXT_CHUNK]->(d)", "two chunks follow a.pdf-2"),
    ("MATCH (a:Chunk {id: 'a.pdf-1'}), (d:Chunk {id: 'a.pdf-4'}) CREATE (d)-[:NEXT_CHUNK]->(a)", "the chain has no beginning"),
    ("MATCH (:Chunk {id: 'a.pdf-2'})-[r:NEXT_CHUNK]->() DELETE r", "there are 2 chains"),
    ("MATCH (b:Chunk {id: 'a.pdf-2'})-[r:NEXT_CHUNK]->(c) DELETE r CREATE (c)-[:NEXT_CHUNK]->(b)",
     "two chunks follow a.pdf-3; the chain goes back behind a.pdf-3; there are 2 chains"),
    ("MATCH (b:Chunk {id: 'a.pdf-2'}), (c:Chunk {id: 'b.pdf-3'}) CREATE (b)-[:NEXT_CHUNK]->(c)", None),
    ("MATCH (b:Chunk {id: 'a.pdf-2'}), (c:Chunk {id: 'a.pdf-3'}) CREATE (b)-[:NEXT_CHUNK]->(c)", None),
])
def test_an_order_is_broken_where_chunks_are_in_no_single_order(graph: Graph, draw: Draw, change: str, why: str | None) -> None:
    draw(FILES)
    draw(change)
    assert hits(graph, "broken-chunk-order") == ([(["a.pdf"], why)] if why else [])


def test_chunks_that_documents_share_break_no_order(graph: Graph, draw: Draw) -> None:
    """LLM Graph Builder keeps a text once: it has two places, and the last one written is stored."""
    draw(FILES)
    draw("""MATCH (a2:Chunk {id: 'a.pdf-2'}), (b2:Chunk {id: 'b.pdf-2'}), (b1:Chunk {id: 'b.pdf-1'}), (b3:Chunk {id: 'b.pdf-3'}),
              (b:Document {fileName: 'b.pdf'})
            DETACH DELETE b2 CREATE (a2)-[:PART_OF]->(b), (b1)-[:NEXT_CHUNK]->(a2), (a2)-[:NEXT_CHUNK]->(b3) SET a2.position = 4""")
    assert hits(graph, "broken-chunk-order") == []


def test_what_most_documents_have_is_how_the_writer_counts(graph: Graph, draw: Draw) -> None:
    """Places that begin anew on each page, a chain for each section."""
    draw("""UNWIND range(1, 5) AS doc CREATE (d:Document {fileName: 'f' + doc}) WITH d, doc
            UNWIND range(0, 3) AS at
            CREATE (c:Chunk {id: doc + '-' + at, position: at % 2, text: 'x' + doc + at})-[:PART_OF]->(d),
              (c)-[:HAS_ENTITY]->(:__Entity__ {id: doc + '/' + at})
            WITH d, collect(c) AS chunks WITH d, chunks, chunks[0] AS a, chunks[1] AS b, chunks[2] AS c, chunks[3] AS e
            CREATE (a)-[:NEXT_CHUNK]->(b), (c)-[:NEXT_CHUNK]->(e)""")
    assert hits(graph, "broken-chunk-order") == []


@pytest.mark.parametrize("rule", CHECKS)
def test_a_graph_whose_labels_mean_something_else_is_not_asked(graph: Graph, draw: Draw, rule: str) -> None:
    """A lawyer's documents have states, a conference its sessions, a town its communities, a shop its preferences."""
    draw("""UNWIND range(1, 8) AS at
            CREATE (d:Document {id: at, name: 'Contract ' + (at % 3), status: CASE WHEN at < 4 THEN 'Draft' ELSE 'Signed' END, pages: at}),
              (:Session {id: at, title: 'Keynote', text: 'Keynote'}), (c:Community {id: at, name: 'Community ' + at, level: at % 2}),
              (:Fact {id: at, subject: 'a', predicate: 'b', object: 'c'}), (:Preference {id: at, preference: 'tea'}),
              (:Chunk {id: at, size: at, name: 'Chunk of ore ' + at}), (p:Party {name: 'Party ' + at})
            CREATE (d)-[:SIGNED_BY]->(p), (p)-[:LIVES_IN]->(c)
            WITH collect(c) AS all FOREACH (c IN all[..3] | DETACH DELETE c)""")
    finding = found(graph, rule, "generic")
    assert finding.status == "skipped", (finding.count, [example.why for example in finding.examples])


@pytest.mark.parametrize("rule", CHECKS)
def test_odd_values_do_no_harm(graph: Graph, draw: Draw, rule: str) -> None:
    draw("""CREATE (d:Document {fileName: ['x'], status: 7, total_chunks: 'many', processed_chunk: [1]})
              <-[:PART_OF]-(:Chunk {id: 1, text: ['list'], position: 'first'})-[:HAS_ENTITY]->(e:__Entity__ {id: ['x']}),
              (:Document)<-[:PART_OF]-(:Chunk {text: 7, position: 2.5})-[:NEXT_CHUNK]->(:Chunk),
              (e)-[:IN_COMMUNITY]->(c:__Community__ {id: [1], level: 'top', summary: 5}), (:__Community__ {entity_ids: 'x', level: [1]})""")
    loop = "CREATE (:Document {fileName: $n, status: $n})<-[:PART_OF]-(c:Chunk {id: $n, text: $n, position: 1})-[:NEXT_CHUNK]->(c)"
    graph.write(loop, {"n": "`$x" * 50_000})
    finding = found(graph, rule)
    assert finding.status in ("passed", "failed", "skipped"), finding.reason
    assert all(len(item.name) <= 300 and len(example.why or "") < 1000 for example in finding.examples for item in example.items)
