"""What lies around the first example of a finding, as nodes and relations, by any layout; and the map of communities."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from plan_hits import hits

from kgeval.auditing.engine import EngineOptions, run_check
from kgeval.auditing.engine import audit as run_audit
from kgeval.auditing.graph_reader import GraphReader
from kgeval.auditing.pictures import neighbourhood, pictures
from kgeval.auditing.rulebook import choose
from kgeval.auditing.structure import measure
from kgeval.graph.binding import bind_query
from kgeval.graph.connect import Graph
from kgeval.graph.failures import QueryTimeout
from kgeval.graph.queries import all_queries
from kgeval.records import Layout, Picture
from kgeval.reports.pictures import neighbourhood as figure

KGEVAL = Layout(
    name="kgeval", scope_label="small", entity_labels=["__Entity__"], type_label_ignored=["__Entity__", "small"], name_keys=["name"],
    key_property="id", type_key="type", relation_types=["RELATES"], relation_label_key="predicate", chunk_labels=["Chunk"],
    chunk_text_keys=["text"], chunk_id_keys=["id"], document_labels=["Document"], document_key="id", mention_types=["FROM_CHUNK"],
    chunk_document_types=["FROM_DOCUMENT"],
)
GRAPHITI = Layout(
    name="graphiti", entity_labels=["Entity"], entity_excluded_labels=["Community"], type_label_ignored=["Entity"], name_keys=["name"],
    relation_types=["RELATES_TO"], relation_label_key="name", scope_property="group_id", scope_value="mine", chunk_labels=["Episodic"],
    chunk_id_keys=["uuid"], mention_types=["MENTIONS"],
)
HOSTILE = "<script>alert(1)</script>`'\"\\u0027‮" + "x" * 100_000


def ids(graph: Graph, *names: str) -> list[str]:
    rows = graph.read("MATCH (n) WHERE n.name IN $names RETURN n.name AS name, elementId(n) AS id", {"names": list(names)})
    return [row["id"] for name in names for row in rows if row["name"] == name]


def shown(picture: Picture | None) -> tuple[set[str], set[tuple[str, str, str]]]:
    assert picture is not None
    names = [node.name for node in picture.nodes]
    return set(names), {(names[one.start], one.type, names[one.end]) for one in picture.relations}


def test_two_entities_with_what_they_share_their_texts_and_nothing_of_another_graph(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("""
        CREATE (a:__Entity__:small {name: 'Ada', type: 'Person'}), (b:__Entity__:small {name: 'ada', type: 'Person'}),
          (c:__Entity__:small {name: 'Both'}), (d:__Entity__:small {name: 'One'}), (far:__Entity__:small {name: 'Far'}),
          (x:__Entity__:other {name: 'Other graph'}), (k:Chunk:small {id: 'k1', text: 'Ada and ada'}), (:Chunk:small {id: 'k2'}),
          (m:__KgevalGraph__:small {name: 'mark'}),
          (a)-[:RELATES {predicate: 'knows'}]->(c), (b)-[:RELATES {predicate: 'likes'}]->(c), (a)-[:RELATES]->(d), (d)-[:RELATES]->(far),
          (a)-[:RELATES]->(x), (a)-[:FROM_CHUNK]->(k), (b)-[:FROM_CHUNK]->(k), (c)-[:FROM_CHUNK]->(k), (a)-[:HAS]->(m)
    """)
    picture = neighbourhood(GraphReader(graph, KGEVAL), ids(graph, "Ada", "ada"))
    names, relations = shown(picture)
    assert names == {"Ada", "ada", "Both", "One", "k1"}
    assert relations == {
        ("Ada", "knows", "Both"), ("ada", "likes", "Both"), ("Ada", "RELATES", "One"),
        ("Ada", "FROM_CHUNK", "k1"), ("ada", "FROM_CHUNK", "k1"),
    }
    assert picture is not None
    assert [node.name for node in picture.nodes if node.mark == "hit"] == ["Ada", "ada"]
    assert {node.name: node.kind for node in picture.nodes}["k1"] == "chunk"
    assert (picture.nodes[0].type, picture.more, picture.at_least) == ("Person", 0, False)


def test_another_layout_a_relation_and_its_ends(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("""
        CREATE (a:Entity:Person {name: 'Ada', group_id: 'mine'})-[:RELATES_TO {name: 'MET'}]->(b:Entity {name: 'Ben', group_id: 'mine'}),
          (a)-[:RELATES_TO]->(:Entity {name: 'Stranger', group_id: 'yours'}), (:Episodic {uuid: 'e1', group_id: 'mine'})-[:MENTIONS]->(a),
          (a)-[:HAS_MEMBER]->(:Entity:Community {name: 'All', group_id: 'mine'}), (a)-[:RELATES_TO {name: 'IS'}]->(a)
    """)
    hits = [row["id"] for row in graph.read("MATCH ()-[r:RELATES_TO {name: 'MET'}]->() RETURN elementId(r) AS id")]
    picture = neighbourhood(GraphReader(graph, GRAPHITI), hits)
    assert shown(picture) == ({"Ada", "Ben", "e1"}, {("Ada", "MET", "Ben"), ("Ada", "IS", "Ada"), ("e1", "MENTIONS", "Ada")})
    assert picture is not None
    assert [one.type for one in picture.relations if one.mark == "hit"] == ["MET"]
    assert picture.nodes[0].type == "Person"


def read_of(graph: Graph, wanted: list[str]) -> int:
    """What the store reads for the picture of these nodes."""
    query = all_queries()["neighbourhood"]
    given = GraphReader(graph, KGEVAL).params(query, ids=wanted, most=25, looked_at=1000)
    with graph._driver.session(database=graph.info.database) as session:
        # the suite's servers never plan a query again; others do when a graph has grown, and a plan for an empty store scans it
        text, asked = bind_query(query, given)
        profile = session.run("CYPHER replan=force PROFILE " + text, asked).consume().profile
    assert profile is not None
    return hits(profile)


@pytest.mark.both_lines
def test_a_super_node_costs_no_more_and_says_that_there_is_more(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("""
        UNWIND range(1, 1000) AS i MERGE (a:__Entity__:small {name: 'small hub'}) CREATE (a)-[:RELATES]->(:__Entity__:small {name: 'm' + i})
    """)
    small = read_of(graph, ids(graph, "small hub"))
    draw("""
        CREATE (hub:__Entity__:small {name: 'hub'}), (second:__Entity__:small {name: 'second'}) CREATE (hub)-[:RELATES]->(second)
        WITH hub, second UNWIND range(1, 4000) AS i CREATE (hub)-[:RELATES]->(n:__Entity__:small {name: 'n' + i})<-[:RELATES]-(second)
    """)
    wanted = ids(graph, "hub")
    picture = neighbourhood(GraphReader(graph, KGEVAL), wanted)
    assert read_of(graph, wanted) < 1.5 * small
    assert picture is not None
    assert (len(picture.nodes), picture.at_least) == (25, True)
    assert 900 <= picture.more <= 1000
    joined = {one.end if one.start == 0 else one.start for one in picture.relations if 0 in (one.start, one.end)}
    assert joined == set(range(1, 25))  # nothing floats
    assert len(picture.relations) <= 60


def test_each_of_several_given_nodes_has_its_neighbours(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("""
        CREATE (a:__Entity__:small {name: 'a'}), (z:__Entity__:small {name: 'z'})
        WITH a, z UNWIND range(1, 60) AS i CREATE (a)-[:RELATES]->(:__Entity__:small {name: 'a' + i})
        WITH z, count(*) AS n UNWIND range(1, 3) AS i CREATE (z)-[:RELATES]->(:__Entity__:small {name: 'z' + i})
    """)
    names, _ = shown(neighbourhood(GraphReader(graph, KGEVAL), ids(graph, "a", "z")))
    assert {"z1", "z2", "z3"} <= names
    assert len(names) == 25


def test_hostile_names_are_cut_and_harmless(graph: Graph, draw: Callable[[str], None]) -> None:
    graph.write(
        "CREATE (:__Entity__:small {name: $name, type: $name})-[:RELATES {predicate: $name}]->(:__Entity__:small {name: '', type: 'T'})",
        {"name": HOSTILE},
    )
    (hit,) = graph.read("MATCH (n:small)-->() RETURN elementId(n) AS id")
    picture = neighbourhood(GraphReader(graph, KGEVAL), [hit["id"]])
    assert picture is not None
    assert [len(node.name) for node in picture.nodes] == [1000, 0]
    svg = figure(picture, {}).svg
    assert "<script" not in svg and "‮" not in svg and "(empty)" in svg


def test_what_is_gone_has_no_picture(graph: Graph) -> None:
    assert neighbourhood(GraphReader(graph, KGEVAL), ["4:x:123456", "nothing"]) is None
    assert neighbourhood(GraphReader(graph, KGEVAL), []) is None


def test_what_neo4j_browser_gets_are_nodes_and_relations(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("CREATE (:__Entity__:small {name: 'a'})-[:RELATES]->(:__Entity__:small {name: 'b'})")
    picture = neighbourhood(GraphReader(graph, KGEVAL), ids(graph, "a"))
    assert picture is not None
    wanted = [one.element_id for one in picture.relations]
    with graph._driver.session(database=graph.info.database) as session:
        rows = session.run(all_queries()["look-at-hits"].text, {"element_ids": wanted})
        drawn = rows.graph()
        list(rows)
    assert {node["name"] for node in drawn.nodes} == {"a", "b"}
    assert [one.type for one in drawn.relationships] == ["RELATES"]


LONELY = "UNWIND range(1, 4) AS i CREATE (:__Entity__:small {name: 'lonely ' + i})"


def test_findings_to_look_at_first_have_pictures_and_a_time_limit_breaks_nothing(
    graph: Graph, draw: Callable[[str], None], monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw(LONELY)
    found = run_check(graph, KGEVAL, "isolated-entity")
    (picture,) = pictures(graph, KGEVAL, [found], timeout=60).values()
    assert [(node.name, node.mark) for node in picture.nodes] == [("lonely 1", "hit")]
    asked = []

    def late(*_: object, **__: object) -> object:
        asked.append(1)
        raise QueryTimeout("too long", fix="wait")

    monkeypatch.setattr(GraphReader, "rows", late)
    assert pictures(graph, KGEVAL, [found, found], timeout=60) == {}
    assert asked == [1]


def test_an_example_that_is_accepted_is_not_drawn_where_another_is_open(graph: Graph, draw: Callable[[str], None]) -> None:
    draw(LONELY)
    found = run_check(graph, KGEVAL, "isolated-entity")
    first, *others = found.examples
    waived = found.model_copy(update={"examples": [first.model_copy(update={"waived": "known"}), *others]})
    (picture,) = pictures(graph, KGEVAL, [waived], timeout=60).values()
    assert picture.nodes[0].name == "lonely 2"


def test_the_map_of_two_triangles_and_one_bridge(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("UNWIND range(0, 6) AS i CREATE (:__Entity__:small {i: i, name: 'n' + i})")
    edges = [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [2, 3]]
    graph.write("UNWIND $edges AS edge MATCH (a {i: edge[0]}), (b {i: edge[1]}) CREATE (a)-[:RELATES]->(b)", {"edges": edges})
    found = measure(graph, KGEVAL).community_map
    assert found is not None
    assert [(one.size, one.names[0]) for one in found.communities] in ([(3, "n2"), (3, "n3")], [(3, "n3"), (3, "n2")])
    assert [(one.start, one.end, one.pairs) for one in found.links] == [(0, 1, 1)]
    assert (found.more, found.more_entities, found.alone) == (0, 0, 1)  # the lone one is no community of a map


def test_an_audit_has_no_map_where_nothing_was_measured(graph: Graph, draw: Callable[[str], None]) -> None:
    draw(LONELY)
    found = run_audit(graph, KGEVAL, EngineOptions(rules=choose(["isolated-entity"], []), structure=None))
    assert found.structure.community_map is None
