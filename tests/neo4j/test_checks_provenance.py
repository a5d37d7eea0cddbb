"""Checks of the group provenance, on graphs that can be counted by hand."""

from __future__ import annotations

import pytest

from kgeval.auditing.engine import run_check
from kgeval.graph.layouts import load_profile
from kgeval.records import Finding

OWN = load_profile("kgeval").model_copy(update={"scope_label": "demo", "relation_types": ["R"], "type_label_ignored": ["__Entity__",
    "demo"]})
NEO4J = load_profile("neo4j-graphrag").model_copy(update={"relation_types": ["R"]})
LIGHTRAG = load_profile("lightrag").model_copy(update={"entity_labels": ["base"], "scope_label": None})
RULES = [
    "entity-without-source", "relation-without-source", "dangling-source", "chunk-without-entities", "saturated-source-list",
    "name-not-in-source", "ends-not-in-source",
]


def check(graph, rule: str, layout=OWN, **settings: object) -> Finding:
    finding = run_check(graph, layout, rule, examples=0, settings=settings)
    assert finding.status in ("passed", "failed"), finding.reason
    return finding


def counted(finding: Finding) -> tuple[int | None, int | None, list[str]]:
    return finding.count, finding.total, [item.name for example in finding.examples for item in example.items]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("layout", [OWN, NEO4J, LIGHTRAG], ids=lambda layout: layout.name)
def test_an_empty_database_gives_no_hit(graph, rule, layout):
    found = run_check(graph, layout, rule)
    assert (found.status, found.count) == ("skipped", None)


@pytest.mark.parametrize("rule", RULES)
def test_odd_values_do_no_harm(graph, draw, rule):
    draw("""CREATE (c:Chunk:demo {id: 1, text: ['list']}), (d:Chunk:demo {text: 7}), (a:__Entity__:demo {name: ['x']})-[:FROM_CHUNK]->(c),
                   (b:__Entity__:demo {aliases: 5})-[:FROM_CHUNK]->(d), (a)-[:R {chunk_ids: 'c1'}]->(b), (a)-[:R {chunk_ids: [1, 2]}]->(b),
                   (:Chunk:demo {id: 'z', text: '`$layout'})<-[:FROM_CHUNK]-(e:__Entity__:demo {name: '`$x'}),
                       (e)-[:R {chunk_ids: [true]}]->(e)""")
    graph.write("""CREATE (e:__Entity__:demo {name: $n})-[:FROM_CHUNK]->(:Chunk:demo {id: $n, text: $n}),
           (e)-[:R {chunk_ids: [$n]}]->(e)""", {"n": "x" * 100_000})
    found = run_check(graph, OWN, rule, examples=0)
    assert found.status in ("passed", "failed") or rule == "saturated-source-list", found.reason
    assert all(len(item.name) <= 600 for example in found.examples for item in example.items)


def test_an_entity_that_no_chunk_mentions_has_no_source_but_a_dangling_end_is_not_counted(graph, draw):
    draw("""CREATE (:__Entity__:demo {name: 'with'})-[:FROM_CHUNK]->(:Chunk:demo {id: 'c'}), (:__Entity__:demo {name: 'without'}),
                   (:__Entity__:demo {name: 'end', dangling: true}), (:__Entity__:other {name: 'of another graph'})""")
    assert counted(check(graph, "entity-without-source")) == (1, 2, ["without"])


def test_an_entity_that_is_linked_to_a_document_has_a_source(graph, draw):
    draw("""CREATE (d:Document {path: 'a.txt'})<-[:FROM_DOCUMENT]-(c:Chunk {id: 'c', text: 'x'})
                     <-[:FROM_CHUNK]-(:__Entity__ {name: 'of chunk'}),
                   (:__Entity__ {name: 'of document'})-[:FROM_CHUNK]->(d), (d)-[:DESCRIBES]->(:__Entity__ {name: 'otherwise linked'}),
                   (:__Entity__ {name: 'of none'})-[:R]->(:Chart {path: 'no document'})""")
    layout = NEO4J.model_copy(update={"entity_labels": ["__Entity__"]})
    assert counted(check(graph, "entity-without-source", layout)) == (1, 4, ["of none"])


def test_in_lightrag_the_source_property_counts_and_a_placeholder_is_no_source(graph, draw):
    draw("""CREATE (a:base {entity_id: 'A',
        source_id: 'c1<SEP>c2'})-[:DIRECTED {source_id: 'manual_creation'}]->(b:base {entity_id: 'B', source_id: 'UNKNOWN'}),
                   (b)-[:DIRECTED {source_id: 'c1'}]->(:base {entity_id: 'C'})""")
    assert counted(check(graph, "entity-without-source", LIGHTRAG)) == (2, 3, ["B", "C"])
    assert counted(check(graph, "relation-without-source", LIGHTRAG))[:2] == (1, 2)


@pytest.mark.both_lines
@pytest.mark.long
def test_neo4j_graphrag_chunks_need_no_id(graph, draw):
    draw("""CREATE (c:Chunk {text: 'Ada wrote notes.'}), (:Chunk {text: 'Bob lives in Sarn County'}),
        (a:__Entity__:Person {name: 'Ada'})-[:FROM_CHUNK]->(c),
                   (m:__Entity__:Person {name: 'Moriarty'})-[:FROM_CHUNK]->(c), (p:__Entity__ {name: 'Poe'}), (m)-[:R]->(p),
                       (a)-[:R]->(m)""")
    assert counted(check(graph, "entity-without-source", NEO4J)) == (1, 3, ["Poe"])
    assert check(graph, "chunk-without-entities", NEO4J).count == 1
    assert counted(check(graph, "dangling-source", NEO4J)) == (0, 1, [])
    assert counted(check(graph, "name-not-in-source", NEO4J)) == (1, 2, ["Moriarty"])
    assert counted(check(graph, "ends-not-in-source", NEO4J)) == (1, 2, ["Moriarty -[R]-> Poe"])
    assert run_check(graph, NEO4J, "relation-without-source").status == "skipped"


def test_a_relation_without_chunk_ids_is_listed_unless_it_touches_a_dangling_end(graph, draw):
    draw("""CREATE (a:__Entity__:demo {name: 'A'}), (b:__Entity__:demo {name: 'B'}), (d:__Entity__:demo {name: 'D', dangling: true}),
                   (a)-[:R {chunk_ids: ['c']}]->(b), (b)-[:R {chunk_ids: [], predicate: 'knows'}]->(a), (a)-[:R]->(b), (a)-[:R]->(d)""")
    assert counted(check(graph, "relation-without-source")) == (2, 3, ["A -[R]-> B", "B -[knows]-> A"])


def test_ids_that_name_no_chunk_and_chunks_made_up_by_an_import_are_dangling(graph, draw):
    draw("""CREATE (a:__Entity__:demo {name: 'A'})-[:FROM_CHUNK]->(:Chunk:demo {id: 'c1'}), (b:__Entity__:demo {name: 'B'}),
                   (b)-[:FROM_CHUNK]->(:Chunk:demo {id: 'c2', dangling: true}), (:Chunk:demo {id: 'unused'}),
                       (a)-[:R {chunk_ids: ['c1', 'c3']}]->(b)""")
    assert counted(check(graph, "dangling-source")) == (2, 3, ["c2", "c3"])


def test_source_ids_on_entities_are_looked_up_too(graph, draw):
    layout = NEO4J.model_copy(update={"entity_source_key": "source_id", "source_separator": ","})
    draw("""CREATE (:Chunk {id: 'c1', text: 'x'}), (:Chunk {id: 'c2', text: 'Bob lives in Sarn County'}),
           (:__Entity__ {name: 'x', source_id: 'c1, c9'}), (:__Entity__ {name: 'z', source_id: 'c1'})""")
    assert counted(check(graph, "dangling-source", layout)) == (1, 2, ["c9"])
    assert counted(check(graph, "chunk-without-entities", layout)) == (1, 2, ["c2"])
    assert counted(check(graph, "name-not-in-source", layout)) == (1, 2, ["z"])


def test_the_longest_chunk_without_entities_comes_first_and_a_text_too_short_for_a_fact_is_none(graph, draw):
    draw("""CREATE (:Chunk:demo {id: 'short', text: 'Ada wrote three notes.'}),
                   (:Chunk:demo {id: 'long', text: 'Ada wrote all of the notes.'}),
                   (:Chunk:demo {id: 'm1', text: 'Great, thanks!'}), (:Chunk:demo {id: 'm2', text: '  Yes                     '}),
                   (:__Entity__:demo {name: 'x'})-[:FROM_CHUNK]->(:Chunk:demo {id: 'used', text: 'x'})""")
    found = check(graph, "chunk-without-entities")
    assert counted(found) == (2, 5, ["long", "short"])
    assert found.examples[0].why == "27 characters: Ada wrote all of the notes."


def test_source_lists_at_the_cap_are_saturated(graph, draw):
    layout = LIGHTRAG.model_copy(update={"source_limit": 3})
    draw("""CREATE (a:base {entity_id: 'A', source_id: 'c1<SEP>c2<SEP>c3'})-[:DIRECTED {source_id: 'c1'}]->(b:base {entity_id: 'B',
        source_id: 'c1<SEP>c2'}),
                   (b)-[:DIRECTED {keywords: 'k', source_id: 'c1<SEP>c2<SEP>c3<SEP>c4'}]->(:base {entity_id: 'C'})""")
    assert counted(check(graph, "saturated-source-list", layout)) == (2, 4, ["A", "B -[k]-> C"])
    assert check(graph, "saturated-source-list", LIGHTRAG).count == 0


@pytest.mark.parametrize(("name", "text", "missing"), [
    ("Ada Lovelace", "Then ADA LOVELACE wrote.", 0), ("The E-Mail", "an email came", 0), ("O'Neil", "said ONeil", 0),
        ("Holmes, Sherlock", "Sherlock Holmes", 0),
    ("福尔摩斯", "夏洛克·福尔摩斯来了。", 0), ("Ｆｕｌｌ", "full", 0), ("Scrooge's Bedroom", "Scrooge went to the bedroom", 0), ("Moriarty",
        "Holmes spoke.", 1),
    ("莫里亚蒂", "福尔摩斯来了。", 1), ("Ada Byron", "Ada wrote.", 1),
])
def test_a_name_is_in_its_source_whatever_its_punctuation_case_and_script(graph, name, text, missing):
    graph.write("CREATE (:__Entity__:demo {name: $name})-[:FROM_CHUNK]->(:Chunk:demo {id: 'c', text: $text})", {"name": name, "text": text})
    assert counted(check(graph, "name-not-in-source"))[:2] == (missing, 1)


def test_an_alias_or_one_of_several_chunks_is_enough(graph, draw):
    draw("""CREATE (a:__Entity__:demo {name: 'CIA', aliases: ['the Agency']})-[:FROM_CHUNK]->(:Chunk:demo {id: 'a', text: 'the agency'}),
                   (b:__Entity__:demo {name: 'Bob'})-[:FROM_CHUNK]->(:Chunk:demo {id: 'b', text: 'he'}),
                       (b)-[:FROM_CHUNK]->(:Chunk:demo {id: 'c', text: 'Bob'})""")
    assert counted(check(graph, "name-not-in-source")) == (0, 2, [])


def test_a_relation_is_checked_in_its_own_chunks_first(graph, draw):
    draw("""CREATE (c:Chunk:demo {id: 'c', text: 'Ada and Bob'}), (:Chunk:demo {id: 'd', text: 'nobody'}),
        (a:__Entity__:demo {name: 'Ada'})-[:FROM_CHUNK]->(c),
                   (b:__Entity__:demo {name: 'Bob'})-[:FROM_CHUNK]->(c), (a)-[:R {predicate: 'met', chunk_ids: ['d']}]->(b),
                       (b)-[:R {chunk_ids: ['c']}]->(a),
                   (a)-[:R]->(b), (a)-[:R {chunk_ids: ['d', 'c']}]->(b)""")
    assert counted(check(graph, "ends-not-in-source")) == (1, 4, ["Ada -[met]-> Bob"])


def test_relations_of_a_hub_are_all_looked_at_though_they_come_in_several_rows(graph, draw):
    """More relations than a row holds, beside entities with few, and hits at both ends of the hub's."""
    draw("""CREATE (hub:__Entity__:demo {name: 'Hub'})-[:FROM_CHUNK]->(:Chunk:demo {id: 'c', text: 'Ada'}),
                   (ada:__Entity__:demo {name: 'Ada'})-[:R {chunk_ids: ['c']}]->(hub)
            WITH hub UNWIND range(1, 12001) AS n
            CREATE (hub)-[:R {chunk_ids: ['c']}]->(:__Entity__:demo {name: CASE WHEN n % 4000 = 1 THEN 'Bob ' + n ELSE 'Ada' END})""")
    missed = ["Hub -[R]-> Bob 1", "Hub -[R]-> Bob 12001", "Hub -[R]-> Bob 4001", "Hub -[R]-> Bob 8001"]
    assert counted(check(graph, "ends-not-in-source")) == (4, 12_002, missed)
