"""How long the audit's structure figures take, against pulling the graph into networkx and igraph. Not a test.

    python tests/bench/audit_speed.py [--entities 100000] [--relations 500000] [--seed 7] [--communities] [--home FOLDER] [--keep]

Loads a power-law graph (big_graph.py) into an embedded server of its own (--home: its database is REPLACED; --keep: what it holds is
measured), measures it, pulls the same graph over Bolt, computes the same figures with both libraries, prints times and ratios, and
checks that all agree. One figure after the other is asked of both sides of a comparison in the same run.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import numpy as np
from big_graph import GRAPH, VERBS, load, started_server

from kgeval.auditing.structure import StructureOptions, measure
from kgeval.graph.connect import Graph, open_graph
from kgeval.graph.server import stop
from kgeval.records import Layout

Figures = dict[str, float | None]
Pairs = list[tuple[int, int]]
LAYOUT = Layout(  # kgeval's own, without the chunks: the libraries are given entities and relations only
    name="bench", entity_labels=["__Entity__"], type_key="type", type_label_ignored=["__Entity__", GRAPH], name_keys=["name"],
    relation_label_key="predicate", relation_types=[verb.upper().replace(" ", "_") for verb in VERBS], relations_join_entities_only=True,
)
COMPARED = (
    "entities", "relations", "simple_edges", "average_degree", "degree_median", "degree_p95", "degree_max", "density", "components",
    "giant_share", "isolated", "average_clustering", "component_size_mean", "articulation_points", "bridges",
)


FIRST, AGAIN = "kgeval, first after the start", "kgeval, once more"  # the server compiles what runs often as it runs
EVERYTHING = "MATCH (a)-[r]->() RETURN sum(size(keys(a)) + size(keys(r))) AS properties"  # a count alone comes from the count store


def pull(graph: Graph) -> tuple[list[int], Pairs]:
    """Every entity and every relation, over Bolt."""
    nodes = [row["i"] for row in graph.stream("MATCH (e:__Entity__) RETURN id(e) AS i")]
    pairs = [(row["a"], row["b"]) for row in graph.stream("MATCH (a:__Entity__)-[r]->(b:__Entity__) RETURN id(a) AS a, id(b) AS b")]
    return nodes, pairs


def from_degrees(degrees: list[int], relations: int) -> Figures:
    values = np.array(degrees)
    return {
        "entities": len(degrees), "relations": relations, "average_degree": 2 * relations / len(degrees),
        "degree_median": float(np.quantile(values, 0.5)), "degree_p95": float(np.quantile(values, 0.95)), "degree_max": int(values.max()),
    }


def from_sizes(sizes: list[int], entities: int) -> Figures:
    large = [size for size in sizes if size > 1]
    return {"components": len(sizes), "giant_share": max(sizes) / entities, "component_size_mean": sum(large) / len(large)}


def with_networkx(nodes: list[int], pairs: Pairs) -> Figures:
    """The figures, computed by networkx."""
    multi = nx.MultiGraph()
    multi.add_nodes_from(nodes)
    multi.add_edges_from(pairs)
    simple = nx.Graph(multi)
    simple.remove_edges_from(list(nx.selfloop_edges(simple)))
    components = list(nx.connected_components(simple))
    far(lambda start: nx.single_source_shortest_path_length(simple, start), max(components, key=len))
    return {
        **from_degrees([d for _, d in multi.degree()], multi.number_of_edges()), **from_sizes([len(c) for c in components], len(nodes)),
        "simple_edges": simple.number_of_edges(), "density": nx.density(simple), "isolated": nx.number_of_isolates(simple),
        "average_clustering": nx.average_clustering(simple),
        "articulation_points": sum(1 for _ in nx.articulation_points(simple)), "bridges": sum(1 for _ in nx.bridges(simple)),
    }


def far(distances: Callable[[int], dict[int, int]], component: set[int]) -> int:
    """The double sweep: the farthest node from any, and the farthest from that. Its length bounds the diameter from below."""
    first = distances(min(component))
    return max(distances(max(first, key=lambda node: first[node])).values())


def with_igraph(nodes: list[int], pairs: Pairs) -> Figures:
    """The figures, computed by igraph."""
    number = {node: at for at, node in enumerate(nodes)}
    multi = igraph.Graph(n=len(nodes), edges=[(number[a], number[b]) for a, b in pairs])
    simple = multi.copy()
    simple.simplify()
    components = simple.connected_components()
    giant = set(max(components, key=len))
    far(lambda start: {v: d for v, d in enumerate(simple.distances([start])[0]) if d != math.inf}, giant)
    return {
        **from_degrees(multi.degree(), multi.ecount()), **from_sizes(components.sizes(), len(nodes)),
        "simple_edges": simple.ecount(), "density": simple.density(), "isolated": simple.degree().count(0),
        "average_clustering": simple.transitivity_avglocal_undirected(mode="zero"),
        "articulation_points": len(simple.articulation_points()), "bridges": len(simple.bridges()),
    }


def timed(label: str, work: Callable[[], Any], seconds: dict[str, float]) -> Any:
    started = time.perf_counter()
    result = work()
    seconds[label] = time.perf_counter() - started
    print(f"{label:<46}{seconds[label]:8.1f} s", flush=True)
    return result


def differences(ours: dict[str, Any], others: dict[str, Figures]) -> list[str]:
    """One line for each figure that does not agree to 1e-9."""
    return [
        f"{name}: kgeval {ours.get(name)}, {library} {figures[name]}"
        for library, figures in others.items() for name in COMPARED
        if ours.get(name) is None or not math.isclose(ours[name], figures[name] or 0, rel_tol=1e-9, abs_tol=1e-12)
    ]


def compare(graph: Graph, communities: bool) -> int:
    """Runs all three, prints the ratios; 1 if figures differ, else 0."""
    seconds: dict[str, float] = {}
    plain = StructureOptions(communities=False, properties=False, timeout=600)
    timed("first look, so that the server's files are in memory", lambda: graph.read(EVERYTHING), seconds)
    timed(FIRST, lambda: measure(graph, LAYOUT, plain), seconds)
    found = timed(AGAIN, lambda: measure(graph, LAYOUT, plain), seconds)
    with_properties = StructureOptions(communities=False, timeout=600)
    timed("kgeval: the same with property figures", lambda: measure(graph, LAYOUT, with_properties), seconds)
    if communities:
        timed("kgeval: the same with communities", lambda: measure(graph, LAYOUT, StructureOptions(timeout=600)), seconds)
    nodes, pairs = timed("pull over Bolt", lambda: pull(graph), seconds)
    others = {
        "igraph": timed("igraph: the same figures", lambda: with_igraph(nodes, pairs), seconds),
        "networkx": timed("networkx: the same figures", lambda: with_networkx(nodes, pairs), seconds),
    }
    for library in others:
        total = seconds["pull over Bolt"] + seconds[f"{library}: the same figures"]
        print(f"pull + {library}: {total:.1f} s, {total / seconds[FIRST]:.1f} times {FIRST}, {total / seconds[AGAIN]:.1f} times {AGAIN}")
    wrong = differences(found.numbers, others)
    skipped = [f"skipped: {', '.join(part.ids)}: {part.reason}" for part in found.skipped]
    print("\n".join([*skipped, *(wrong or [f"all {len(COMPARED)} figures agree"])]))
    print(f"graph: {len(nodes):,} entities, {len(pairs):,} relations")
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--entities", type=int, default=100_000)
    parser.add_argument("--relations", type=int, default=500_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--communities", action="store_true", help="time Louvain and its stability too (kgeval only)")
    parser.add_argument("--home", type=Path, help="folder of the server; its database is replaced")
    parser.add_argument("--keep", action="store_true", help="measure what --home holds, load nothing")
    parser.add_argument("--heap", default="6g")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kgeval-bench-") as folder:
        home = (chosen.home or Path(folder) / "home").resolve()
        if not chosen.keep:
            for step, seconds in load(home, chosen.entities, chosen.relations, seed=chosen.seed, heap=chosen.heap):
                print(f"{step:<46}{seconds:8.1f} s", flush=True)
        try:
            with open_graph(started_server(home, chosen.heap)) as graph:
                return compare(graph, chosen.communities)
        finally:
            stop(home)


if __name__ == "__main__":
    raise SystemExit(main())
