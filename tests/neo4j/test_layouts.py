"""Every layout on a graph as its writer writes it: recognised, and bound to the right entities, types and provenance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from plan_hits import hits

from kgeval.graph.binding import bind_query
from kgeval.graph.connect import Graph
from kgeval.graph.layouts import bind, detect, load_profile
from kgeval.graph.queries import all_queries
from kgeval.records import Layout

PICTURES = Path(__file__).parents[1] / "graphs" / "layouts"
Draw = Callable[[str], None]

COUNT = """
MATCH (e) WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
RETURN count(*) AS entities, collect(DISTINCT coalesce(toStringOrNull(e[$layout.type_key]),
    head([l IN labels(e) WHERE NOT l IN $layout.type_label_ignored]))) AS types,
  collect(head([k IN $layout.name_keys WHERE e[k] IS NOT NULL | toStringOrNull(e[k])])) AS names,
  sum(CASE WHEN EXISTS { MATCH (e)-[m]-(c) WHERE type(m) IN $layout.mention_types AND any(l IN labels(c) WHERE l IN $layout.chunk_labels)
      } OR e[$layout.entity_source_key] IS NOT NULL THEN 1 ELSE 0 END) AS sourced
"""
RELATIONS = """
MATCH (a)-[r]->(b) WHERE type(r) IN $layout.relation_types AND ($layout.relations_join_entities_only OR
  (any(l IN labels(a) WHERE l IN $layout.entity_labels) AND any(l IN labels(b) WHERE l IN $layout.entity_labels)))
RETURN count(r) AS relations, count(r[$layout.relation_source_key]) AS sourced,
  collect(DISTINCT coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r))) AS labels
"""


@dataclass(frozen=True)
class Picture:
    """What a pictured graph must come out as. `sourced`: entities with a source, relations with one of their own."""

    file: str
    layout: str
    types: set[str]
    labels: set[str]
    relations: int = 2
    sourced: tuple[int, int] = (3, 0)
    only: bool = True


PEOPLE, VERBS = {"Person", "Machine"}, {"WROTE_ABOUT", "BUILT"}
CONSTANT = {"writing,notes", "part"}
GRAPHS = [
    Picture("neo4j-graphrag", "neo4j-graphrag", PEOPLE, VERBS),
    Picture("llm-graph-builder", "llm-graph-builder", PEOPLE, VERBS | {"PART_OF"}, relations=3, only=False),
    Picture("langchain", "langchain", PEOPLE, VERBS),
    Picture("langchain-nosource", "langchain", PEOPLE, VERBS, sourced=(0, 0)),
    Picture("langchain-nobase", "langchain-nobase", PEOPLE, VERBS),
    Picture("langchain-nobase-nosource", "langchain-nobase", PEOPLE, VERBS, sourced=(0, 0)),
    Picture("llamaindex", "llamaindex", {"PERSON", "MACHINE"}, VERBS, sourced=(3, 2), only=False),
    Picture("lightrag", "lightrag", {"person", "machine", "UNKNOWN"}, CONSTANT, sourced=(3, 2)),
    Picture("lightrag-1.4", "lightrag-1.4", {"person", "machine", "UNKNOWN"}, CONSTANT, sourced=(3, 2)),
    Picture("nano-graphrag", "nano-graphrag", {'"PERSON"', '"MACHINE"', '"UNKNOWN"'}, {"RELATED"}, sourced=(3, 2)),
    Picture("msgraphrag-notebook", "msgraphrag-notebook", {"PERSON", "MACHINE"}, {"RELATED"}, sourced=(3, 2)),
    Picture("ms-graphrag-neo4j", "ms-graphrag-neo4j", {"PERSON", "MACHINE"}, {"RELATIONSHIP"}, relations=3),
    Picture("graphiti", "graphiti", {"Person"}, VERBS, sourced=(2, 2)),
    Picture("cognee", "cognee", set(), {"wrote_about", "built"}),
    Picture("neo4j-agent-memory", "neo4j-agent-memory", {"PERSON", "OBJECT"}, {"WROTE_ABOUT", "KNOWS"}, sourced=(2, 2)),
    Picture("kg-gen", "kg-gen", set(), {"wrote about", "built"}, sourced=(0, 0)),
    Picture("kgeval", "kgeval", PEOPLE, {"wrote about", "built"}, sourced=(3, 2)),
    Picture("generic", "generic", PEOPLE, VERBS, sourced=(0, 0)),
]


def paint(draw: Draw, *names: str) -> None:
    for name in names:
        draw((PICTURES / f"{name}.cypher").read_text(encoding="utf-8"))


def ask(graph: Graph, query: str, layout: Layout) -> dict[str, object]:
    return graph.read(query, {"layout": layout.model_dump()})[0]


@pytest.mark.parametrize("picture", GRAPHS, ids=lambda p: p.file)
def test_detect_names_the_writer(graph: Graph, draw: Draw, picture: Picture) -> None:
    paint(draw, picture.file)
    found = detect(graph)
    assert found.choice == picture.layout, found.reason
    assert found.candidates[0].name == picture.layout
    assert found.candidates[0].roles is not None
    assert found.candidates[0].roles["entities"] == 3


@pytest.mark.parametrize("picture", GRAPHS, ids=lambda p: p.file)
def test_the_bound_layout_has_the_right_entities_types_relations_and_sources(graph: Graph, draw: Draw, picture: Picture) -> None:
    paint(draw, picture.file)
    layout = bind(graph, load_profile(picture.layout).layout)
    nodes, relations = ask(graph, COUNT, layout), ask(graph, RELATIONS, layout)
    assert nodes["entities"] == 3
    assert set(nodes["types"]) == picture.types  # type: ignore[call-overload]
    assert len(nodes["names"]) == 3  # type: ignore[arg-type]
    assert relations["relations"] == picture.relations
    assert set(relations["labels"]) == picture.labels  # type: ignore[call-overload]
    assert (nodes["sourced"], relations["sourced"]) == picture.sourced
    assert layout.relations_join_entities_only is picture.only
    assert "*" not in layout.entity_labels


def test_a_property_that_stood_in_another_graph_is_not_bound(graph: Graph, draw: Draw) -> None:
    """A database never forgets the name of a property: what is said of a graph must not depend on what stood there before."""
    paint(draw, "kgeval")
    before = bind(graph, load_profile("kgeval"))
    graph.write("CREATE (n:Elsewhere {embedding: [1.0], confidence: 1.0})-[:LINK {confidence: 1.0}]->(n)")
    graph.write("MATCH (n:Elsewhere) DETACH DELETE n")
    after = bind(graph, load_profile("kgeval"))
    assert before.embedding_key is None
    assert after == before
    graph.write("MATCH (c:Chunk) WITH c LIMIT 1 SET c.embedding = [1.0]")
    found = bind(graph, load_profile("kgeval"))
    assert (found.embedding_key, found.chunk_embedding_key) == (None, "embedding")


def test_a_property_is_found_behind_the_first_thousand_and_nothing_is_read_where_none_is_asked_for(graph: Graph, draw: Draw) -> None:
    draw("UNWIND range(1, 1100) AS i CREATE (:E {seldom: CASE i WHEN 1100 THEN i END})-[:R {rare: CASE i WHEN 1100 THEN i END}]->(:Chunk)")
    layout = load_profile("kgeval").model_dump() | {
        "entity_labels": ["E", "Chunk"], "chunk_labels": ["Chunk"], "relation_types": ["R"], "entity_excluded_labels": [],
        "scope_label": None, "scope_property": None,
    }
    query = all_queries()["layout-held-keys"]
    keys = {"entity": ["never", "seldom"], "chunk": ["seldom"], "relation": ["never", "rare"]}
    rows = graph.read(query, {"layout": layout, "keys": keys})
    assert sorted((row["role"], row["key"]) for row in rows) == [("entity", "seldom"), ("relation", "rare")]
    with graph.driver.session() as session:
        text, asked = bind_query(query, {"layout": layout, "keys": {role: [] for role in keys}})
        profile = session.run(f"PROFILE {text}", asked).consume().profile
    assert profile is not None and hits(profile) == 0
