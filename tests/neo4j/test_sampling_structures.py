"""Structures of several parts, hierarchies and dependencies, against networkx."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice, pairwise, permutations

import networkx as nx
import pytest

from kgeval.graph.connect import Graph
from kgeval.graph.layouts import bind, load_profile, override
from kgeval.questions.draw_spec import Capacity, DrawSpec
from kgeval.questions.sampling import several
from kgeval.questions.sampling.links import links_joining
from kgeval.questions.sampling.sampler import open_sampler
from kgeval.records import Layout, Structure

# a wheel-like town: every place joins the next but one and the one after that; two islands of their own
LINKS = [(f"P{i}", "faces", f"P{(i + step) % 12}") for i in range(12) for step in (1, 3)]
ISLAND = [("I0", "faces", "I1"), ("I1", "faces", "I2"), ("I2", "faces", "I0")]
# parts of a ship; what is above is said in both directions, and one relation is of another kind
SHIP = [
    ("plate", "part_of", "hull"), ("rivet", "is part of", "hull"), ("hull", "PartOf", "ship"), ("ship", "contains", "mast"),
    ("mast", "has part", "yard"), ("sail", "belongs to", "mast"), ("ship", "belongs_to", "fleet"), ("plate", "rusts_like", "rivet"),
    ("fleet", "part_of", "fleet2"), ("fleet2", "part_of", "fleet"),
]
CAUSES = [
    ("storm", "causes", "leak"), ("leak", "leads to", "list"), ("rot", "causes", "leak"), ("sinking", "caused_by", "list"),
    ("voyage", "requires", "crew"), ("storm", "is older than", "rot"),
]


WIPE = "MATCH (n) DETACH DELETE n"


def cypher(links: Sequence[tuple[str, str, str]], *, turned: bool = False) -> str:
    rows = list(links)[::-1] if turned else list(links)
    listed = ", ".join(f"['{a}', '{predicate}', '{b}']" for a, predicate, b in rows)
    first = "CREATE (:Other) WITH 1 AS one " if turned else ""
    return (
        f"{first}UNWIND [{listed}] AS row MERGE (a:__Entity__ {{name: row[0], type: 'T'}}) "
        "MERGE (b:__Entity__ {name: row[2], type: 'T'}) CREATE (a)-[:SAYS {predicate: row[1]}]->(b)"
    )


def kgeval_layout(graph: Graph, **keys: str) -> Layout:
    return bind(graph, override(load_profile("kgeval").layout, keys), None)


def drawn(graph: Graph, wanted: DrawSpec, *, seed: int = 0, most: int = 500, **keys: str) -> list[Structure]:
    with open_sampler(graph, kgeval_layout(graph, **keys), seed=seed) as sampler:
        return list(islice(sampler.structures(wanted), most))


def can_give(graph: Graph, wanted: DrawSpec, **keys: str) -> Capacity:
    with open_sampler(graph, kgeval_layout(graph, **keys), seed=0) as sampler:
        return sampler.capacity(wanted)


def texts(structures: Sequence[Structure]) -> list[list[str]]:
    return [[structure.text_of(relation) for relation in structure.relations] for structure in structures]


def by_part(structure: Structure) -> list[list[tuple[str, str]]]:
    """The ends of each part's relations, by name."""
    ends = {r.element_id: (structure.node(r.source).name, structure.node(r.target).name) for r in structure.relations}
    assert sorted(name for part in structure.parts for name in part) == sorted(ends), "each relation is in one part"
    return [[ends[name] for name in part] for part in structure.parts]


def test_chains_begin_at_one_entity_and_share_no_other(graph: Graph, draw: Callable[[str], None]) -> None:
    draw(cypher(LINKS))
    found = drawn(graph, DrawSpec("chains", hops=2, parts=3), most=40)
    assert len(found) == 40 and len({frozenset(map(str, text)) for text in texts(found)}) == 40
    for structure in found:
        parts = [nx.Graph(part) for part in by_part(structure)]
        start = structure.nodes[0].name
        assert len(parts) == 3
        for part in parts:
            assert nx.is_path(part, list(nx.dfs_preorder_nodes(part, start))) and part.number_of_edges() == 2 and part.degree(start) == 1
        whole = nx.compose_all(parts)
        assert nx.is_tree(whole) and whole.number_of_edges() == 6 and whole.degree(start) == 3


def test_too_few_relations_for_the_chains(graph: Graph, draw: Callable[[str], None]) -> None:
    draw(cypher(ISLAND))
    assert drawn(graph, DrawSpec("chains", hops=1, parts=3)) == []
    capacity = can_give(graph, DrawSpec("chains", hops=1, parts=3))
    assert (capacity.available, capacity.exact) == (0, True) and "0 of its 3 entities have 3 relations or more" in capacity.why


def test_disjoint_subgraphs_share_nothing_and_no_relation_joins_them(graph: Graph, draw: Callable[[str], None]) -> None:
    draw(cypher([*LINKS, *ISLAND]))
    whole = nx.Graph((a, b) for a, _, b in (*LINKS, *ISLAND))
    found = drawn(graph, DrawSpec("disjoint", hops=1, most_relations=3))
    assert found
    for structure in found:
        one, other = ({name for ends in part for name in ends} for part in by_part(structure))
        assert not one & other and not any(whole.has_edge(a, b) for a in one for b in other)
        assert all(2 <= len(part) <= 3 for part in structure.parts)
    assert any({name for ends in part for name in ends} <= {"I0", "I1", "I2"} for structure in found for part in by_part(structure))
    draw(WIPE)
    draw(cypher(ISLAND))
    assert drawn(graph, DrawSpec("disjoint", hops=1)) == [], "all touch each other"


def test_only_entities_with_relations_beyond_their_subgraph_are_looked_up(
    graph: Graph, draw: Callable[[str], None], monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of hubs with 30 neighbours each the hubs alone: else 900 pairs for each pair of subgraphs."""
    draw(cypher([(f"h{hub}-{leaf}", "faces", f"H{hub}") for hub in range(4) for leaf in range(30)] + [("H0", "faces", "H1")]))
    pairs: list[tuple[str, str]] = []
    monkeypatch.setattr(several, "links_joining", lambda graph, asked: pairs.extend(asked) or links_joining(graph, asked))
    found = drawn(graph, DrawSpec("disjoint", hops=1, most_relations=31), most=20)
    hubs = {frozenset(node.name for node in structure.nodes if node.name.startswith("H")) for structure in found}
    assert hubs and frozenset({"H0", "H1"}) not in hubs and len(set(pairs)) < 900


def ways(links: Sequence[tuple[str, str]], hops: int) -> set[tuple[str, ...]]:
    """All directed simple paths of so many relations, by networkx."""
    whole = nx.DiGraph(links)
    paths = (path for a, b in permutations(whole, 2) for path in nx.all_simple_paths(whole, a, b, cutoff=hops))
    return {tuple(path) for path in paths if len(path) == hops + 1}


UP = [
    ("plate", "hull"), ("rivet", "hull"), ("hull", "ship"), ("mast", "ship"), ("yard", "mast"), ("sail", "mast"), ("ship", "fleet"),
    ("fleet", "fleet2"), ("fleet2", "fleet"),
]
ALONG = [("storm", "leak"), ("leak", "list"), ("rot", "leak"), ("list", "sinking"), ("crew", "voyage")]


@pytest.mark.parametrize(("kind", "links", "edges", "hops"), [
    ("hierarchy", SHIP, UP, 2), ("hierarchy", SHIP, UP, 3), ("dependency", CAUSES, ALONG, 2), ("dependency", CAUSES, ALONG, 3),
])
def test_every_way_upwards_is_drawn_by_steps_whichever_way_it_is_said(
    kind: str, links: list[tuple[str, str, str]], edges: list[tuple[str, str]], hops: int, graph: Graph, draw: Callable[[str], None],
) -> None:
    draw(cypher(links))
    found = drawn(graph, DrawSpec(kind, hops=hops, min_relations=1, most_relations=hops))  # type: ignore[arg-type]
    assert {tuple(node.name for node in structure.nodes) for structure in found} == ways(edges, hops)
    for structure in found:
        names = [node.name for node in structure.nodes]
        assert [set(part[0]) for part in by_part(structure)] == [{a, b} for a, b in pairwise(names)]
    for structure in drawn(graph, DrawSpec(kind, hops=hops, min_relations=1, most_relations=8)):  # type: ignore[arg-type]
        for step, part in enumerate(by_part(structure)):
            low, high = structure.nodes[step].name, structure.nodes[step + 1].name
            for ends in part:
                a, b = ends if ends in edges else ends[::-1]
                assert (a, b) in edges and (a == low or b == high), "beside the way stands what leads along the same step"


def test_a_way_with_little_beside_it_goes_on_as_far_as_it_can(graph: Graph, draw: Callable[[str], None]) -> None:
    draw(cypher([(f"n{i}", "causes", f"n{i + 1}") for i in range(5)]))
    found = drawn(graph, DrawSpec("dependency", hops=2, min_relations=4))
    assert {tuple(node.name for node in one.nodes) for one in found} == {
        tuple(f"n{i}" for i in range(start, min(start + 5, 6))) for start in range(4)
    }
    assert all(len(part) == 1 for one in found for part in one.parts)


@pytest.mark.both_lines
@pytest.mark.long
def test_the_same_seed_gives_the_same_structures_also_after_a_rebuild(graph: Graph, draw: Callable[[str], None]) -> None:
    specs = [
        DrawSpec("hierarchy", hops=2, most_relations=4), DrawSpec("dependency", hops=2), DrawSpec("chains", hops=1, parts=2),
        DrawSpec("disjoint", hops=1, most_relations=2), DrawSpec("hierarchy", hops=1, stratify="degree"),
    ]
    draw(cypher([*SHIP, *CAUSES]))
    first = [texts(drawn(graph, spec, seed=5)) for spec in specs]
    assert all(first) and [texts(drawn(graph, spec, seed=5)) for spec in specs] == first
    assert [texts(drawn(graph, spec, seed=6)) for spec in specs] != first
    draw(WIPE)
    draw(cypher([*SHIP, *CAUSES], turned=True))
    assert [texts(drawn(graph, spec, seed=5)) for spec in specs] == first


def test_a_layout_names_its_own_relations(graph: Graph, draw: Callable[[str], None]) -> None:
    draw(cypher([("a", "sits under", "b"), ("c", "tops", "b"), ("a", "part_of", "z"), ("z", "part_of", "y")]))
    spec = DrawSpec("hierarchy", hops=2, most_relations=2)
    assert [[n.name for n in s.nodes] for s in drawn(graph, spec)] == [["a", "z", "y"]]
    assert [[n.name for n in s.nodes] for s in drawn(graph, spec, hierarchy_relations="SITS_UNDER,<tops")] == [["a", "b", "c"]]


def test_why_there_is_none_is_said(graph: Graph, draw: Callable[[str], None]) -> None:
    draw(cypher(ISLAND))
    none = can_give(graph, DrawSpec("hierarchy", hops=2))
    assert (none.available, none.exact) == (0, True) and "--set hierarchy_relations=A,B" in none.why
    undirected = can_give(graph, DrawSpec("dependency", hops=2), relations_undirected="true")
    assert undirected.available == 0 and "have no direction" in undirected.why
    draw(WIPE)
    draw(cypher(SHIP))
    some, short = can_give(graph, DrawSpec("hierarchy", hops=2)), can_give(graph, DrawSpec("hierarchy", hops=6))
    assert some.available is None and "part_of 3" in some.why and "6 steps" in short.why and short.available is None
    assert drawn(graph, DrawSpec("hierarchy", hops=6)) == [], "a circle has ways of any length, but no simple ones"
