"""Structure figures against networkx, a second and independent computation, on the real server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgeval.auditing.structure import StructureOptions, measure
from kgeval.graph import plugin
from kgeval.graph.algorithms import Expected
from kgeval.graph.connect import Graph
from kgeval.graph.queries import all_queries, parse
from kgeval.graph.views import projected
from kgeval.records import Layout

LAYOUT = Layout(
    name="test", entity_labels=["E"], name_keys=["name"], type_key="type", relation_types=["R", "S"],
    relations_join_entities_only=True,
)
SCOPED = LAYOUT.model_copy(update={"scope_label": "Mine", "relations_join_entities_only": False})
GROUPED = LAYOUT.model_copy(update={"scope_property": "group_id", "scope_value": "mine", "relations_join_entities_only": False})


def write(graph: Graph, nodes: list[int], edges: list[tuple[int, int]], labels: str = "E") -> None:
    graph.write("MATCH (n) DETACH DELETE n")
    graph.write("UNWIND $n AS i CREATE (e:$($labels) {name: toString(i), type: 'T', i: i})", {"n": nodes, "labels": labels.split(":")})
    graph.write(
        "UNWIND range(0, size($e) - 1) AS k MATCH (a {i: $e[k][0]}), (b {i: $e[k][1]}) CREATE (a)-[:$(['R', 'S'][k % 2])]->(b)",
        {"e": [list(e) for e in edges]},
    )


def by_networkx(nodes: list[int], edges: list[tuple[int, int]]) -> dict[str, Any]:
    """The same figures by networkx."""
    multi = nx.MultiGraph()
    multi.add_nodes_from(nodes)
    multi.add_edges_from(edges)
    simple = nx.Graph(multi)
    simple.remove_edges_from(list(nx.selfloop_edges(simple)))
    clustering = nx.clustering(simple)
    two = [clustering[n] for n in simple if simple.degree(n) >= 2]
    parts = sorted(nx.connected_components(simple), key=len, reverse=True)
    degrees = [d for _, d in multi.degree()]
    return {
        "entities": len(nodes), "relations": len(edges), "simple_edges": simple.number_of_edges(),
        "average_degree": sum(degrees) / len(nodes), "density": nx.density(simple) if len(nodes) > 1 else None,
        "average_clustering": sum(clustering.values()) / len(nodes),
        "average_clustering_degree2": sum(two) / len(two) if two else None,
        "components": len(parts), "giant_share": len(parts[0]) / len(nodes), "isolated": nx.number_of_isolates(simple),
        "diameters": {nx.diameter(simple.subgraph(p)) for p in parts if len(p) == len(parts[0])},
        "articulation_points": len(list(nx.articulation_points(simple))), "bridges": len(list(nx.bridges(simple))),
        "degree_max": max(degrees), "degree_min": min(degrees),
        "degree_above_2": sum(d > 2 for d in degrees) / len(nodes),
    }


def assert_same(graph: Graph, layout: Layout, nodes: list[int], edges: list[tuple[int, int]]) -> None:
    mine = measure(graph, layout, StructureOptions(communities=False, properties=False)).numbers
    other = by_networkx(nodes, edges)
    assert mine["diameter"] in other.pop("diameters")
    for name, value in other.items():
        assert mine[name] == (value if value is None else pytest.approx(value, abs=1e-9)), name


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[int], list[tuple[int, int]]]:
    n = draw(st.integers(1, 12))
    end = st.integers(0, n - 1)
    return list(range(n)), draw(st.lists(st.tuples(end, end), max_size=30))


@pytest.mark.long
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=graphs())
def test_random_graphs_with_loops_and_parallel_relations_agree_with_networkx(
    graph: Graph, drawn: tuple[list[int], list[tuple[int, int]]],
) -> None:
    write(graph, *drawn)
    assert_same(graph, LAYOUT, *drawn)


def test_les_miserables_agrees_with_networkx(graph: Graph) -> None:
    drawn = nx.convert_node_labels_to_integers(nx.les_miserables_graph())
    nodes, edges = list(drawn), list(drawn.edges)
    write(graph, nodes, edges)
    assert_same(graph, LAYOUT, nodes, edges)


@pytest.mark.parametrize("layout", [SCOPED, GROUPED], ids=["label", "property"])
def test_a_graph_in_a_scope_is_measured_without_its_neighbours(graph: Graph, layout: Layout) -> None:
    nodes, edges = [0, 1, 2], [(0, 1), (1, 2), (2, 0), (0, 1)]
    write(graph, nodes, edges, labels="E:Mine")
    graph.write("MATCH (e) SET e.group_id = 'mine'")
    graph.write("""MATCH (a {i: 0}) CREATE (:E:Other {name: 'x', i: 99, group_id: 'other'})-[:R]->(a),
                   (:E:Other {name: 'y', group_id: 'other'})""")
    assert_same(graph, layout, nodes, edges)


def test_two_islands_of_two_and_three_and_a_hermit_by_hand(graph: Graph) -> None:
    write(graph, [0, 1, 2, 3, 4, 5], [(0, 1), (2, 3), (3, 4), (4, 2)])
    numbers = measure(graph, LAYOUT).numbers
    assert (numbers["components"], numbers["isolated"], numbers["giant_share"]) == (3, 1, 0.5)
    assert (numbers["component_size_mean"], numbers["component_size_geometric"]) == (2.5, pytest.approx(6**0.5))
    assert (numbers["diameter"], numbers["bridges"], numbers["articulation_points"]) == (1, 1, 0)
    assert (numbers["average_clustering"], numbers["average_clustering_degree2"]) == (0.5, 1.0)
    assert (numbers["degree_above_1"], numbers["degree_median"]) == (0.5, 1.5)
    assert numbers["communities"] == 3
    assert numbers["cross_community_share"] == 0
    assert numbers["community_stability"] == 1.0
    assert numbers["entities_by_type"] == {"T": 6}


def test_one_relation_of_seven_joins_two_triangles(graph: Graph) -> None:
    write(graph, list(range(6)), [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)])
    numbers = measure(graph, LAYOUT).numbers
    assert (numbers["communities"], numbers["community_size_max"]) == (2, 3)
    assert numbers["cross_community_share"] == pytest.approx(1 / 7)


def test_louvain_modularity_is_not_below_networkx_by_more_than_a_hundredth(graph: Graph) -> None:
    drawn = nx.convert_node_labels_to_integers(nx.les_miserables_graph())
    write(graph, list(drawn), list(drawn.edges))
    numbers = measure(graph, LAYOUT).numbers
    best = max(nx.community.modularity(drawn, nx.community.louvain_communities(drawn, weight=None, seed=s), weight=None) for s in range(5))
    assert numbers["modularity"] > best - 0.01
    assert 0 < numbers["community_stability"] <= 1


@pytest.mark.both_lines
@pytest.mark.long
@pytest.mark.parametrize(("louvain_up_to", "few_edges", "name"), [(50_000, 5_000, "Louvain"), (50_000, 0, "Louvain"), (3, 5_000, "Leiden")])
def test_stability_is_high_where_communities_are_planted_and_low_where_there_are_none(
    graph: Graph, monkeypatch: pytest.MonkeyPatch, louvain_up_to: int, few_edges: int, name: str,
) -> None:
    monkeypatch.setattr("kgeval.auditing.communities.LOUVAIN_UP_TO", louvain_up_to)
    monkeypatch.setattr("kgeval.graph.algorithms.FEW_EDGES", few_edges)
    figures = {}
    for drawn in (nx.planted_partition_graph(6, 30, 0.5, 0.004, seed=1), nx.gnm_random_graph(180, 540, seed=1)):
        write(graph, list(drawn), list(drawn.edges))
        numbers = measure(graph, LAYOUT, StructureOptions(properties=False)).numbers
        assert numbers["community_algorithm"].startswith(name)
        figures[numbers["community_stability"]] = numbers["community_stability_runs"]
    clear, none = figures
    assert clear > 0.9 and none < 0.5
    assert figures[clear] == 2


@pytest.mark.long
@pytest.mark.parametrize("name", ["karate_club_graph", "les_miserables_graph"])
def test_further_runs_here_say_of_the_communities_what_runs_on_the_server_say(
    graph: Graph, monkeypatch: pytest.MonkeyPatch, name: str,
) -> None:
    drawn = nx.convert_node_labels_to_integers(getattr(nx, name)())
    write(graph, list(drawn), list(drawn.edges))
    means = []
    for few_edges in (5_000, 0):
        monkeypatch.setattr("kgeval.graph.algorithms.FEW_EDGES", few_edges)
        found = [measure(graph, LAYOUT, StructureOptions(properties=False, community_seed=seed)).numbers for seed in range(4)]
        means.append(sum(numbers["community_stability"] for numbers in found) / len(found))
    assert means[0] == pytest.approx(means[1], abs=0.15)


def test_what_is_counted_here_of_few_edges_is_what_the_server_says_of_many(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = nx.convert_node_labels_to_integers(nx.les_miserables_graph())
    drawn.add_nodes_from([100, 101])
    write(graph, list(drawn), list(drawn.edges))
    said = []
    for few_edges in (5_000, 0):
        monkeypatch.setattr("kgeval.graph.algorithms.FEW_EDGES", few_edges)
        with projected(graph, LAYOUT, Expected(len(drawn), len(drawn.edges), 0), timeout=60) as view:
            neighbours = view.adjacency()
            groups, _ = view.communities("louvain", 1)
            said.append((
                neighbours.ids.tolist(), neighbours.starts.tolist(), neighbours.others.tolist(),
                view.best_connected(groups, sorted(set(groups.groups.tolist())), 5),
            ))
    assert said[0] == said[1]
    ids, starts, others, _ = said[0]
    assert sorted(starts[i + 1] - starts[i] for i in range(len(ids))) == sorted(degree for _, degree in drawn.degree if degree)
    assert len(others) == 2 * len(drawn.edges)


def test_a_graph_of_one_node_has_no_density_and_diameter_zero(graph: Graph) -> None:
    write(graph, [0], [])
    numbers = measure(graph, LAYOUT).numbers
    assert (numbers["entities"], numbers["density"], numbers["diameter"], numbers["average_degree"]) == (1, None, 0, 0)
    assert "modularity" not in numbers


def test_an_empty_graph_gives_counts_of_zero_and_reasons_for_the_rest(graph: Graph) -> None:
    found = measure(graph, LAYOUT)
    assert found.numbers["entities"] == 0
    assert "density" not in found.numbers
    assert any("no entities" in skip.reason for skip in found.skipped)


def test_beyond_the_exact_limit_the_diameter_is_a_lower_bound_and_named_so(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgeval.auditing.structure.EXACT_DIAMETER_NODES", 3)
    write(graph, list(range(6)), [(i, i + 1) for i in range(5)])
    numbers = measure(graph, LAYOUT, StructureOptions(communities=False)).numbers
    assert numbers["diameter_lower_bound"] == 5
    assert "diameter" not in numbers


SLOW = """// count-bridges: takes for ever.
//
// :param graph_name => 'mine'     -- STRING: a projected graph
//
// returns: bridges INTEGER
// mode: read
UNWIND range(1, 10000000000) AS i WITH i WHERE i < 0 AND $graph_name <> '' RETURN count(i) AS bridges
"""


@pytest.mark.both_lines
@pytest.mark.long
def test_a_part_over_its_time_limit_is_skipped_and_the_rest_goes_on(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    write(graph, [0, 1], [(0, 1)])
    measure(graph, LAYOUT)  # plans the other queries, which takes a busy server seconds
    slow, faults = parse(SLOW, Path("count-bridges.cypher"))
    assert not faults
    monkeypatch.setattr(plugin, "all_queries", lambda: {**all_queries(), "count-bridges": slow})
    found = measure(graph, LAYOUT, StructureOptions(timeout=3))
    assert found.incomplete
    assert [skip.ids for skip in found.skipped if "time limit" in skip.reason] == [["articulation_points", "bridges"]]
    assert found.numbers["communities"] == 1


def test_no_projection_is_left_behind(graph: Graph) -> None:
    write(graph, [0, 1], [(0, 1)])
    measure(graph, LAYOUT)
    assert [info.graph_name for info in graph.gds.graph.list() if info.graph_name.startswith("kgeval_")] == []


def test_projections_of_dead_processes_are_swept_and_those_of_living_ones_kept(graph: Graph) -> None:
    from kgeval.graph import processes, project

    dead = f"kgeval_{processes._host()}_999999_1_1"
    alive = project.graph_name()
    for name in (dead, alive):
        graph.read("CALL gds.graph.project($name, '*', '*') YIELD nodeCount RETURN nodeCount", {"name": name})
    assert project.sweep(graph) == [dead]
    project.drop(graph, alive)
