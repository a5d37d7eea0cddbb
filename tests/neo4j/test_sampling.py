"""Structures drawn out of real graphs: complete, each once, repeatable, of the layouts' own details."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, islice

import networkx as nx
import pytest
from plan_hits import hits

from kgeval.errors import ConnectError, UsageError
from kgeval.graph.binding import bind_query
from kgeval.graph.connect import Graph
from kgeval.graph.layouts import bind, load_profile
from kgeval.graph.queries import all_queries
from kgeval.questions.draw_spec import Capacity, DrawSpec
from kgeval.questions.sampling.sampler import open_sampler
from kgeval.records import Layout, Structure

# Ada, Ben and Cy in a triangle (Ada and Ben joined twice), Cy - Dee - Eva in a row; Fay alone; a self-loop, and a node without a name
NODES = [
    "(d1:Document {id: 'D1'})", "(d2:Document {id: 'D2'})", "(c1:Chunk {id: 'c1', text: 'One.'})", "(c2:Chunk {id: 'c2', text: 'Two.'})",
    "(a:__Entity__ {name: 'Ada', type: 'P', aliases: ['A. L.'], description: 'Poet'})", "(b:__Entity__ {name: 'Ben', type: 'P'})",
    "(c:__Entity__ {name: 'Cy', type: 'P'})", "(d:__Entity__ {name: 'Dee', type: 'Q'})", "(e:__Entity__ {name: 'Eva', type: 'Q'})",
    "(:__Entity__ {name: 'Fay'})", "(n:__Entity__ {type: 'P'})",
]
LINKS = [
    "(c1)-[:FROM_DOCUMENT]->(d1)", "(c2)-[:FROM_DOCUMENT]->(d2)", "(a)-[:FROM_CHUNK]->(c1)", "(b)-[:FROM_CHUNK]->(c1)",
    "(c)-[:FROM_CHUNK]->(c1)", "(c)-[:FROM_CHUNK]->(c2)", "(d)-[:FROM_CHUNK]->(c2)", "(n)-[:KNOWS]->(a)", "(e)-[:KNOWS]->(e)",
    "(a)-[:KNOWS {predicate: 'knows', chunk_ids: ['c1', 'gone']}]->(b)", "(b)-[:LIKES {predicate: 'likes'}]->(a)",
    "(b)-[:KNOWS {predicate: 'knows'}]->(c)", "(c)-[:KNOWS {predicate: 'knows', description: 'well'}]->(a)",
    "(d)-[:KNOWS {predicate: 'knows', chunk_ids: ['c2']}]->(c)", "(d)-[:KNOWS {predicate: 'knows'}]->(e)",
]
SMALL = f"CREATE {', '.join([*NODES, *LINKS])}"
SMALL_TURNED = f"UNWIND range(1, 5) AS i CREATE (:Other) WITH count(i) AS n0 CREATE {', '.join([*reversed(NODES), *reversed(LINKS)])}"
EVERY = [
    DrawSpec("node"), DrawSpec("edge"), DrawSpec("neighbourhood", hops=2), DrawSpec("path", hops=2), DrawSpec("path", hops=3),
    DrawSpec("chain", min_relations=3), DrawSpec("subgraph", min_relations=4), DrawSpec("pair"), DrawSpec("community"),
    DrawSpec("node", stratify="type"), DrawSpec("edge", stratify="degree"), DrawSpec("path", hops=2, stratify="document"),
    DrawSpec("node", stratify="community"),
]


def kgeval_layout(graph: Graph) -> Layout:
    return bind(graph, load_profile("kgeval").layout, None)


def drawn(graph: Graph, wanted: DrawSpec, seed: int = 0, *, most: int = 10_000, layout: Layout | None = None) -> list[Structure]:
    with open_sampler(graph, layout or kgeval_layout(graph), seed=seed) as sampler:
        return list(islice(sampler.structures(wanted), most))


def can_give(graph: Graph, wanted: DrawSpec) -> Capacity:
    with open_sampler(graph, kgeval_layout(graph), seed=0) as sampler:
        return sampler.capacity(wanted)


def relations_of(structure: Structure) -> frozenset[str]:
    return frozenset(relation.element_id for relation in structure.relations)


def names(structure: Structure) -> tuple[object, ...]:
    return (structure.stratum, *(n.name for n in structure.nodes), *(structure.text_of(r) for r in structure.relations))


def test_each_kind_gives_all_that_there_is_once_and_says_before_how_much_that_is(graph: Graph, draw: Callable[[str], None]) -> None:
    draw(SMALL)
    multi = nx.MultiGraph([("A", "B"), ("A", "B"), ("B", "C"), ("C", "A"), ("D", "C"), ("D", "E")])
    paths = {
        hops: len({
            frozenset(path) for a, b in combinations(multi, 2) for path in nx.all_simple_edge_paths(multi, a, b, cutoff=hops)
            if len(path) == hops
        }) for hops in (2, 3)
    }
    expected = {DrawSpec("node"): 6, DrawSpec("edge"): 6, DrawSpec("path"): 6, DrawSpec("pair"): 3 + 1, **{
        DrawSpec("path", hops=hops): count for hops, count in paths.items()
    }}
    for wanted, count in expected.items():
        found, told = drawn(graph, wanted), can_give(graph, wanted)
        assert (told.available, told.exact) == (count, True), wanted
        assert len(found) == count, wanted
        assert [one.number for one in found] == list(range(count))
        if wanted.kind in ("edge", "path"):
            assert len({relations_of(one) for one in found}) == count
        else:
            assert len({frozenset(node.name for node in one.nodes) for one in found}) == count


@pytest.mark.long
@pytest.mark.parametrize("wanted", EVERY, ids=lambda w: f"{w.kind}-{w.hops}-{w.stratify}")
def test_the_same_seed_gives_the_same_structures_and_so_does_the_same_graph_built_again(
    graph: Graph, draw: Callable[[str], None], wanted: DrawSpec,
) -> None:
    draw(SMALL)
    first, again = drawn(graph, wanted), drawn(graph, wanted)
    assert first == again
    assert any([names(x) for x in drawn(graph, wanted, seed)] != [names(x) for x in first] for seed in range(1, 9)) or len(first) == 1
    draw("MATCH (n) DETACH DELETE n")
    draw(SMALL_TURNED)
    assert [names(one) for one in drawn(graph, wanted)] == [names(one) for one in first]


def test_structures_carry_what_the_graph_says_with_its_passages(graph: Graph, draw: Callable[[str], None]) -> None:
    draw(SMALL)
    ada = next(one for one in drawn(graph, DrawSpec("node")) if one.nodes[0].name == "Ada").nodes[0]
    assert (ada.type, ada.description, ada.aliases, ada.degree, ada.chunk_ids, ada.documents) == ("P", "Poet", ["A. L."], 3, ["c1"], ["D1"])
    edges = {one.text_of(one.relations[0]): one for one in drawn(graph, DrawSpec("edge"))}
    assert set(edges) == {"Ada: knows: Ben", "Ben: likes: Ada", "Ben: knows: Cy", "Cy: knows: Ada", "Dee: knows: Cy", "Dee: knows: Eva"}
    own, shared, none = edges["Ada: knows: Ben"], edges["Ben: knows: Cy"], edges["Dee: knows: Eva"]
    assert (own.relations[0].chunk_ids, own.relations[0].documents) == (["c1", "gone"], ["D1"])
    assert (shared.relations[0].chunk_ids, none.relations[0].chunk_ids) == (["c1"], [])  # the chunk that mentions both ends
    assert [(p.chunk_id, p.document, p.text) for p in own.passages] == [("c1", "D1", "One.")]
    assert edges["Cy: knows: Ada"].relations[0].description == "well"
    assert own.relations[0].type == "KNOWS"


def test_paths_follow_relations_both_ways_and_keep_their_own_direction(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("""CREATE (b:__Entity__ {name: 'B'}), (:__Entity__ {name: 'A'})-[:R {predicate: 'r'}]->(b),
        (:__Entity__ {name: 'C'})-[:S {predicate: 's'}]->(b)""")
    [path] = drawn(graph, DrawSpec("path", hops=2))
    assert [node.name for node in path.nodes] in (["A", "B", "C"], ["C", "B", "A"])
    assert {path.text_of(relation) for relation in path.relations} == {"A: r: B", "C: s: B"}
    assert drawn(graph, DrawSpec("path", hops=3)) == []
    assert can_give(graph, DrawSpec("path", hops=3)).available == 0


def test_a_subgraph_has_so_many_distinct_relations_and_all_of_it_can_be_walked(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("""UNWIND range(0, 59) AS i CREATE (:__Entity__ {name: 'n' + i, i: i})""")
    draw("""MATCH (a:__Entity__), (b:__Entity__) WHERE b.i = (a.i + 1) % 60 OR b.i = (a.i + 7) % 60
        CREATE (a)-[:R {predicate: 'r'}]->(b)""")
    draw("MATCH (a:__Entity__)-[:R]->(b) WHERE a.i < 10 CREATE (a)-[:S {predicate: 's'}]->(b)")
    found = drawn(graph, DrawSpec("subgraph"), most=20)
    assert len(found) == 20
    for one in found:
        assert len(relations_of(one)) == len(one.relations) == 50
        piece = nx.Graph([(relation.source, relation.target) for relation in one.relations])
        assert nx.is_connected(piece)
        assert set(piece) == {node.element_id for node in one.nodes}
    assert len({relations_of(one) for one in found}) == 20
    assert any(len({r.type for r in one.relations}) == 2 for one in found)


def test_a_graph_that_cannot_give_a_subgraph_says_at_once_how_large_its_largest_component_is(
    graph: Graph, draw: Callable[[str], None],
) -> None:
    draw(SMALL)
    told = can_give(graph, DrawSpec("subgraph"))
    assert told == Capacity(0, True, "its largest component has 6 relations, 50 are asked for")
    assert drawn(graph, DrawSpec("subgraph")) == []
    why = can_give(graph, DrawSpec("chain", min_relations=9)).why
    assert why == "its largest component has 5 entities; a chain of 9 relations needs 10"


def test_a_star_that_a_short_walk_cannot_cover_is_walked_longer(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("CREATE (h:__Entity__ {name: 'hub'}) WITH h UNWIND range(1, 55) AS i CREATE (h)-[:R]->(:__Entity__ {name: 'n' + i})")
    found = drawn(graph, DrawSpec("subgraph", walk_length=60), most=3)  # 50 of 55 leaves take about 260 steps
    assert [len(one.relations) for one in found] == [50, 50, 50]


def test_chains_are_simple_paths_of_the_length_that_was_asked_for(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("UNWIND range(0, 29) AS i CREATE (:__Entity__ {name: 'n' + i, i: i})")
    draw("MATCH (a:__Entity__), (b:__Entity__) WHERE b.i = a.i + 1 OR b.i = a.i + 5 CREATE (a)-[:R {predicate: 'r'}]->(b)")
    for one in drawn(graph, DrawSpec("chain", min_relations=6), most=20):
        assert len(one.relations) == 6
        assert len({node.element_id for node in one.nodes}) == 7
        for (here, there), relation in zip(zip(one.nodes, one.nodes[1:], strict=False), one.relations, strict=True):
            assert {relation.source, relation.target} == {here.element_id, there.element_id}


def test_a_neighbourhood_has_what_lies_within_its_radius_and_no_more_than_its_limit(graph: Graph, draw: Callable[[str], None]) -> None:
    draw(SMALL)
    by_centre = {one.nodes[0].name: {node.name for node in one.nodes} for one in drawn(graph, DrawSpec("neighbourhood"))}
    assert by_centre["Dee"] == {"Dee", "Cy", "Eva"}
    assert by_centre["Eva"] == {"Eva", "Dee"}
    wider = {one.nodes[0].name: len(one.relations) for one in drawn(graph, DrawSpec("neighbourhood", hops=2))}
    assert wider["Eva"] == 2
    assert wider["Dee"] == 4  # all but the two that join Ada and Ben: they lie between two entities at distance 2
    assert all(len(one.relations) <= 2 for one in drawn(graph, DrawSpec("neighbourhood", hops=3, most_relations=2)))


def test_communities_are_whole_and_do_not_overlap(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("""UNWIND ['x', 'y'] AS side UNWIND range(0, 4) AS i CREATE (:__Entity__ {name: side + i, side: side, i: i})""")
    draw("MATCH (a:__Entity__), (b:__Entity__) WHERE a.side = b.side AND a.i < b.i CREATE (a)-[:R {predicate: 'r'}]->(b)")
    draw("MATCH (a {name: 'x0'}), (b {name: 'y0'}) CREATE (a)-[:R {predicate: 'r'}]->(b)")
    found = drawn(graph, DrawSpec("community"))
    assert sorted({node.name[0] for node in one.nodes} == {"x"} for one in found) == [False, True]
    assert [(len(one.nodes), len(one.relations)) for one in found] == [(5, 10), (5, 10)]
    assert can_give(graph, DrawSpec("community")) == Capacity(2, True, "it has 2 communities of at least two entities")


def test_strata_are_drawn_evenly_until_the_small_ones_run_out(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("UNWIND range(1, 30) AS i CREATE (:__Entity__ {name: 'n' + i, type: CASE WHEN i < 4 THEN 'rare' ELSE 'common' END})")
    strata = [one.stratum for one in drawn(graph, DrawSpec("node", stratify="type"))]
    assert sorted(strata[:6]) == ["type=common"] * 3 + ["type=rare"] * 3
    assert strata[6:] == ["type=common"] * 24


def test_few_starts_give_as_many_paths_as_many_starts_when_types_are_drawn_evenly(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("""CREATE (h:__Entity__ {name: 'hub', type: 'rare'})
        WITH h UNWIND range(1, 20) AS i CREATE (h)-[:R]->(:__Entity__ {name: 'n' + i, type: 'c'})""")
    strata = [one.stratum for one in drawn(graph, DrawSpec("path", stratify="type"), most=16)]
    assert 7 <= strata.count("type=rare") <= 9


def test_paths_and_pairs_of_two_documents_come_from_two(graph: Graph, draw: Callable[[str], None]) -> None:
    draw(SMALL)
    paths = drawn(graph, DrawSpec("path", hops=2, documents=2))
    assert paths
    assert all(len({name for r in one.relations for name in r.documents}) >= 2 for one in paths)
    assert {frozenset(n.name for n in one.nodes) for one in drawn(graph, DrawSpec("pair", documents=2))} == {
        frozenset(("Ada", "Cy")), frozenset(("Ben", "Cy")),
    }
    assert can_give(graph, DrawSpec("pair", documents=3)).why == "its passages come from 2 documents, 3 are asked for"
    assert drawn(graph, DrawSpec("pair", documents=3)) == []


def test_what_does_not_fit_together_is_refused_before_anything_is_drawn(graph: Graph, draw: Callable[[str], None]) -> None:
    draw(SMALL)
    with open_sampler(graph, kgeval_layout(graph), seed=0) as sampler:
        for wanted in (DrawSpec("node", documents=2), DrawSpec("community", stratify="type"), DrawSpec("path", hops=0)):
            with pytest.raises(UsageError):
                sampler.structures(wanted)


def test_without_gds_nodes_edges_paths_pairs_and_neighbourhoods_work_and_the_rest_says_why_not(
    graph: Graph, draw: Callable[[str], None], monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw(SMALL)
    monkeypatch.setattr(graph, "info", graph.info.model_copy(update={"gds": None}))
    for wanted in (DrawSpec("node"), DrawSpec("edge"), DrawSpec("path", hops=2), DrawSpec("pair"), DrawSpec("neighbourhood")):
        assert drawn(graph, wanted)
    with open_sampler(graph, kgeval_layout(graph), seed=0) as sampler:
        for wanted in (DrawSpec("chain"), DrawSpec("subgraph"), DrawSpec("community"), DrawSpec("node", stratify="community")):
            with pytest.raises(ConnectError, match="no Graph Data Science"):
                sampler.structures(wanted)


def test_a_graph_of_one_entity_and_no_chunks_gives_that_entity_and_nothing_else(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("CREATE (:__Entity__ {name: 'only'})")
    [one] = drawn(graph, DrawSpec("node"))
    assert (one.nodes[0].name, one.passages, one.relations) == ("only", [], [])
    for wanted in EVERY[1:9]:
        assert drawn(graph, wanted) == []
        assert can_give(graph, wanted).available == 0
    with pytest.raises(UsageError, match="no entity comes from a document"):
        drawn(graph, DrawSpec("node", stratify="document"))


def test_the_projection_is_gone_when_the_sampler_is_closed_even_after_an_error(graph: Graph, draw: Callable[[str], None]) -> None:
    draw(SMALL)
    with pytest.raises(RuntimeError), open_sampler(graph, kgeval_layout(graph), seed=0) as sampler:
        next(iter(sampler.structures(DrawSpec("subgraph", min_relations=2))))
        assert len(graph.read(all_queries()["list-graphs"])) == 1
        raise RuntimeError
    assert graph.read(all_queries()["list-graphs"]) == []


def test_the_same_walks_come_from_the_native_projection_as_often_as_it_is_made(
    graph: Graph, draw: Callable[[str], None], monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kgeval.graph.walks.ORDERED_MOST", 0)
    draw("UNWIND range(0, 59) AS i CREATE (:__Entity__ {name: 'n' + i, i: i})")
    draw("MATCH (a:__Entity__), (b:__Entity__) WHERE b.i = (a.i + 1) % 60 OR b.i = (a.i + 7) % 60 CREATE (a)-[:R {predicate: 'r'}]->(b)")
    with open_sampler(graph, kgeval_layout(graph), seed=0) as sampler:
        assert not sampler._graph.walk_graph.ordered
    first = drawn(graph, DrawSpec("subgraph"), most=5)
    assert first == drawn(graph, DrawSpec("subgraph"), most=5)
    assert len(first) == 5


def test_lists_of_sources_with_a_separator_are_read_and_chunks_may_come_from_files(graph: Graph, draw: Callable[[str], None]) -> None:
    from kgeval.auditing.accuracy.chunks import Chunks

    draw("""CREATE (a:base {entity_id: 'A', entity_type: 'T', source_id: 'c1<SEP>c2'}),
        (b:base {entity_id: 'B', source_id: 'c2<SEP>UNKNOWN'}), (a)-[:DIRECTED {keywords: 'knows', source_id: 'c2<SEP>c3'}]->(b)""")
    layout = bind(graph, load_profile("lightrag").layout, None)
    [one] = drawn(graph, DrawSpec("edge"), layout=layout)
    assert (one.nodes[0].chunk_ids, one.nodes[1].chunk_ids, one.relations[0].chunk_ids) == (["c1", "c2"], ["c2"], ["c2", "c3"])
    assert (one.passages, one.text_of(one.relations[0])) == ([], "A: knows: B")
    chunks = Chunks({"c1": "One.", "c2": "Two."}, {"c1": "D1", "c2": "D2"})
    with open_sampler(graph, layout, seed=0, chunks=chunks) as sampler:
        [two] = sampler.structures(DrawSpec("edge"))
        assert {node.name: node.documents for node in two.nodes} == {"A": ["D1", "D2"], "B": ["D2"]}
    assert [(p.chunk_id, p.text) for p in two.passages] == [("c2", "Two."), ("c1", "One.")]


def test_super_nodes_are_read_once_and_give_the_same(graph: Graph, draw: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    draw(SMALL)
    before = [drawn(graph, wanted) for wanted in EVERY[1:4]]
    monkeypatch.setattr("kgeval.questions.sampling.links.HUB", 1)
    assert [drawn(graph, wanted) for wanted in EVERY[1:4]] == before
    monkeypatch.setattr("kgeval.questions.sampling.links.MOST_KEPT", 3)  # room for one of them
    assert [drawn(graph, wanted) for wanted in EVERY[1:4]] == before


def test_what_mentions_both_ends_of_a_super_node_s_relation_is_looked_for_from_the_other_end(
    graph: Graph, draw: Callable[[str], None],
) -> None:
    draw("""CREATE (h:__Entity__ {name: 'hub'})-[:FROM_CHUNK]->(c:Chunk {id: 'c1', text: 'One.'})
        WITH h, c UNWIND range(1, 300) AS i CREATE (h)-[:R]->(e:__Entity__ {name: 'n' + i})
        FOREACH (x IN CASE WHEN i < 3 THEN [1] ELSE [] END | CREATE (e)-[:FROM_CHUNK]->(c))""")
    ids = [row["id"] for row in graph.read("MATCH ()-[r:R]->() RETURN elementId(r) AS id")]
    params = {"layout": kgeval_layout(graph).model_dump(), "ids": ids, "most": 50}
    query = all_queries()["structure-relations"]
    assert sorted(row["chunks"] for row in graph.read(query, params)) == [[]] * 298 + [["c1"]] * 2
    with graph._driver.session() as session:
        text, asked = bind_query(query, params)
        profile = session.run(f"PROFILE {text}", asked).consume().profile
    assert hits(profile) < 300 * 300  # from the hub's side each relation would look at all 300


def test_a_dense_graph_says_soon_what_it_has_of_long_paths(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("UNWIND range(0, 29) AS i CREATE (:__Entity__ {name: 'n' + i, i: i})")
    draw("MATCH (a:__Entity__), (b:__Entity__) WHERE a.i < b.i CREATE (a)-[:R {predicate: 'r'}]->(b)")
    assert can_give(graph, DrawSpec("path", hops=30)) == Capacity(0, True, "it has 0 paths of 30 relations")
    told = can_give(graph, DrawSpec("path", hops=20))
    assert (told.available, told.exact) == (None, False)
    assert [len(one.relations) for one in drawn(graph, DrawSpec("path", hops=20), most=2)] == [20, 20]


def test_a_sample_is_the_beginning_of_a_larger_one(graph: Graph, draw: Callable[[str], None]) -> None:
    draw(SMALL)
    for wanted in (replace(EVERY[3], stratify="degree"), *EVERY[:4]):
        assert drawn(graph, wanted, most=3) == drawn(graph, wanted)[:3]


def test_a_structure_has_100_passages_or_all_that_its_parts_come_from(graph: Graph, draw: Callable[[str], None]) -> None:
    draw(
        "CREATE (a:__Entity__ {name: 'A'})-[:KNOWS {predicate: 'knows'}]->(b:__Entity__ {name: 'B'}) WITH a, b UNWIND range(1, 130) AS i "
        "CREATE (c:Chunk {id: 'c' + toString(i), text: 'Text ' + toString(i)}) CREATE (a)-[:FROM_CHUNK]->(c) "
        "FOREACH (_ IN CASE WHEN i % 2 = 0 THEN [1] ELSE [] END | CREATE (b)-[:FROM_CHUNK]->(c))"
    )
    (some,), (every,) = (drawn(graph, DrawSpec("subgraph", min_relations=1, most_passages=most)) for most in (100, None))
    assert len(some.nodes[0].chunk_ids) == 50 and len(some.passages) <= 100
    assert {p.chunk_id for p in every.passages} == {f"c{n}" for n in range(1, 131)} and len(every.passages) == 130
    assert len(every.relations[0].chunk_ids) == 65, "those that name both ends"
