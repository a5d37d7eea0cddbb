"""What "uniform" means for each kind of structure, tested with chi-square against chances worked out by hand or with networkx."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from scipy.stats import chisquare

from kgeval.graph.connect import Graph
from kgeval.graph.layouts import bind, load_profile
from kgeval.questions.draw_spec import DrawSpec
from kgeval.questions.sampling import neighbourhoods, uniform
from kgeval.questions.sampling.links import DrawnStructure
from kgeval.questions.sampling.paths import walked
from kgeval.questions.sampling.random_walks import subgraphs
from kgeval.questions.sampling.sampled_graph import SampledGraph, in_seeded_order
from kgeval.questions.sampling.turns import Seed

# a triangle A B C with A - B twice, and a tail C - D
DRAWN = """CREATE (a:__Entity__ {name: 'A', type: 'T'}), (b:__Entity__ {name: 'B', type: 'T'}), (c:__Entity__ {name: 'C', type: 'T'}),
  (d:__Entity__ {name: 'D', type: 'U'}), (:__Entity__ {name: 'E', type: 'U'}), (a)-[:R {predicate: 'ab'}]->(b),
  (b)-[:R {predicate: 'ba'}]->(a), (b)-[:R {predicate: 'bc'}]->(c), (a)-[:R {predicate: 'ac'}]->(c), (d)-[:R {predicate: 'dc'}]->(c)"""
EDGES = {"ab": "AB", "ba": "AB", "bc": "BC", "ac": "AC", "dc": "CD"}
SEEDS = 250
SURE = 1e-3  # the seeds are fixed, so a test that passes once passes always


@pytest.fixture
def world(graph: Graph, draw: Callable[[str], None]) -> Iterator[Callable[[int], SampledGraph]]:
    """A world of any seed, on one projection; entities are read once."""
    draw(DRAWN)
    layout = bind(graph, load_profile("kgeval").layout, None)
    with ExitStack() as held:
        first = SampledGraph(graph, layout, 0, timeout=None, chunks=None, held=held)
        rows = first.ask("sample-entities")
        projected = first.walk_graph

        def make(seed: int) -> SampledGraph:
            one = SampledGraph(graph, layout, seed, timeout=None, chunks=None, held=held)
            one.__dict__.update(entities=in_seeded_order(rows, seed), walk_graph=projected, passages=first.passages)
            return one

        yield make


def named(graph: Graph) -> dict[str, str]:
    """Element id -> name or predicate."""
    rows = graph.read("MATCH (n:__Entity__) RETURN elementId(n) AS id, n.name AS name UNION MATCH ()-[r:R]->() "
                      "RETURN elementId(r) AS id, r.predicate AS name")
    return {row["id"]: row["name"] for row in rows}


def fits(counted: Mapping[object, int], chances: Mapping[object, float]) -> bool:
    """Whether what was counted may come from these chances, and nothing else came."""
    assert set(counted) <= set(chances)
    total = sum(counted.values())
    return bool(chisquare([counted.get(key, 0) for key in chances], [total * chance for chance in chances.values()]).pvalue > SURE)


def first_of(batches: Iterator[list[DrawnStructure]]) -> DrawnStructure:
    return next(one for batch in batches for one in batch)


def alike(keys: object) -> dict[object, float]:
    listed = list(keys)  # type: ignore[call-overload]
    return {key: 1 / len(listed) for key in listed}


@pytest.mark.long
def test_nodes_pairs_and_centres_have_the_same_chance_each(world: Callable[[int], SampledGraph], graph: Graph) -> None:
    names, worlds = named(graph), [world(seed) for seed in range(SEEDS)]
    nodes = Counter(names[first_of(uniform.nodes(one, DrawSpec("node"))).nodes[0]] for one in worlds)
    assert fits(nodes, alike("ABCDE"))
    pairs = Counter(frozenset(names[name] for name in first_of(uniform.pairs(one, DrawSpec("pair"))).nodes) for one in worlds)
    assert fits(pairs, alike([frozenset(pair) for pair in (*combinations("ABC", 2), "DE")]))
    centres = Counter(names[first_of(neighbourhoods.neighbourhoods(one, DrawSpec("neighbourhood"))).nodes[0]] for one in worlds)
    assert fits(centres, alike("ABCD"))


@pytest.mark.long
def test_edges_have_the_same_chance_each_and_strata_too_when_they_are_drawn_evenly(
    world: Callable[[int], SampledGraph], graph: Graph,
) -> None:
    names = named(graph)
    edges = Counter(names[first_of(uniform.edges(world(seed), DrawSpec("edge"))).links[0].relation] for seed in range(SEEDS))
    assert fits(edges, alike(EDGES))
    first = [first_of(uniform.edges(world(seed), DrawSpec("edge", stratify="type"))) for seed in range(SEEDS)]
    assert fits(Counter(one.stratum for one in first), alike(["type=T", "type=U"]))
    assert {names[one.links[0].relation] for one in first if one.stratum == "type=U"} == {"dc"}  # D's only relation
    ends = {"ab": 2, "ba": 2, "bc": 2, "ac": 2, "dc": 1}  # how many ends of it are of type T
    of_t = Counter(names[one.links[0].relation] for one in first if one.stratum == "type=T")
    assert fits(of_t, {name: count / 9 for name, count in ends.items()})


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_a_path_starts_anywhere_alike_and_takes_each_relation_that_leads_on_alike(
    world: Callable[[int], SampledGraph], graph: Graph, hops: int,
) -> None:
    names, one = named(graph), world(5)
    rng = np.random.default_rng(5)
    seeds = [Seed(int(at), None) for at in rng.choice(one.entities.joined, size=4000)]
    ways = walked(one, seeds, hops, rng)
    counted = Counter(tuple(names[link.relation] for link in way.links) if not way.ended else None for way in ways)
    chances = path_chances(hops)
    chances[None] = 1 - sum(chances.values())
    assert fits(counted, {key: chance for key, chance in chances.items() if chance > 1e-12})


def path_chances(hops: int) -> dict[object, float]:
    """The chance of every path, by walking all of them: an independent reckoning."""
    graph = nx.MultiGraph()
    for predicate, (a, b) in EDGES.items():
        graph.add_edge(a, b, key=predicate)
    found: dict[object, float] = {}

    def go_on(nodes: str, told: tuple[str, ...], chance: float) -> None:
        if len(told) == hops:
            found[told] = found.get(told, 0) + chance
            return
        leads_on = [(b, key) for _, b, key in graph.edges(nodes[-1], keys=True) if b not in nodes]
        for b, key in leads_on:
            go_on(nodes + b, (*told, key), chance / len(leads_on))

    for start in graph:
        go_on(start, (), 1 / len(graph))
    return found


@pytest.mark.long
def test_a_walk_starts_anywhere_alike_and_takes_each_relation_alike_parallel_ones_too(
    world: Callable[[int], SampledGraph], graph: Graph,
) -> None:
    names = named(graph)
    counted: Counter[object] = Counter()
    for seed in range(SEEDS):
        one = first_of(subgraphs(world(seed), DrawSpec("subgraph", min_relations=1)))
        counted[names[one.nodes[0]], names[one.links[0].relation]] += 1
    degree = Counter("".join(EDGES.values()))
    assert fits(counted, {(node, name): 1 / 4 / degree[node] for name, ends in EDGES.items() for node in ends})


