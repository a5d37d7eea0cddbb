"""How long many random walks take in one GDS call, against one Cypher query a walk. Not a test.

    python tests/bench/walk_speed.py [--entities 100000] [--relations 500000] [--walks 10000] [--steps 100] [--share 0.01] [--seed 1]

The graph is made up: entities joined at random. kgeval's way: one projection, then all walks in one call, with the walks as lists of
node numbers on our side; both times are printed. The other way: a parametrised query a walk that takes its random steps in Cypher, each
along a random one of the entity's relations, in the faster of two forms (a subquery a step; all steps in one reduce). The --share of the
walks is walked that way, after a warm-up, and its seconds are scaled up (1: all of them). The walks of both ways are checked: each step
is a relation of the graph.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import pairwise

import numpy as np
from neo4j_server import server, wipe

from kgeval.graph.algorithms import node_number
from kgeval.graph.connect import Graph, open_graph
from kgeval.graph.walks import walkable
from kgeval.records import Layout

LAYOUT = Layout(name="bench", entity_labels=["E"], name_keys=["name"], relation_types=["R"], relations_join_entities_only=True)
BATCH = 20_000
STEP = "CALL (n{at}) {{ MATCH (n{at})-[r:R]-(m) RETURN m AS n{next} ORDER BY rand() LIMIT 1 }}"
REDUCED = (
    "MATCH (start) WHERE elementId(start) = $start "
    "WITH reduce(walk = [start], step IN range(1, {steps}) | walk + "
    "head(COLLECT {{ WITH last(walk) AS n MATCH (n)-[r:R]-(m) RETURN m ORDER BY rand() LIMIT 1 }})) AS nodes "
    "RETURN [n IN nodes | elementId(n)] AS walk"
)


def make(graph: Graph, entities: int, relations: int, seed: int) -> set[tuple[int, int]]:
    """Writes the graph. Returns the joined pairs by node number, both ways round."""
    wipe(graph)
    graph.schema_command("CREATE INDEX bench_i IF NOT EXISTS FOR (e:E) ON (e.i)")
    for start in range(0, entities, BATCH):
        ends = {"first": start, "last": min(start + BATCH, entities) - 1}
        graph.write("UNWIND range($first, $last) AS i CREATE (:E {i: i, name: 'entity ' + i})", ends)
    pairs = np.random.default_rng(seed).integers(entities, size=(relations, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    for start in range(0, len(pairs), BATCH):
        part = pairs[start : start + BATCH].tolist()
        graph.write("UNWIND $pairs AS pair MATCH (a:E {i: pair[0]}) MATCH (b:E {i: pair[1]}) CREATE (a)-[:R]->(b)", {"pairs": part})
    number = {row["i"]: node_number(row["id"]) for row in graph.read("MATCH (e:E) RETURN e.i AS i, elementId(e) AS id")}
    joined = {(number[a], number[b]) for a, b in pairs.tolist()}
    return joined | {(b, a) for a, b in joined}


def ours(graph: Graph, relations: int, entities: int, starts: list[str], args: argparse.Namespace) -> tuple[float, float, list[list[int]]]:
    """Seconds with and without the projection, and the walks."""
    begun = time.perf_counter()
    with walkable(graph, LAYOUT, entities=entities, relations=relations) as walked:
        projected = time.perf_counter()
        walks = walked.walks([node_number(name) for name in starts], steps=args.steps, seed=args.seed)
        ended = time.perf_counter()
    return ended - begun, ended - projected, list(walks.values())


def forms(steps: int) -> dict[str, str]:
    """The Cypher forms of a walk of so many random steps from $start."""
    calls = "\n".join(STEP.format(at=at, next=at + 1) for at in range(steps))
    nodes = ", ".join(f"elementId(n{at})" for at in range(steps + 1))
    return {
        "a subquery a step": f"MATCH (n0) WHERE elementId(n0) = $start\n{calls}\nRETURN [{nodes}] AS walk",
        "all steps in one reduce": REDUCED.format(steps=steps),
    }


def theirs(graph: Graph, starts: list[str], steps: int) -> tuple[str, float, list[list[int]]]:
    """The faster form, its seconds for these starts, a query a walk, and the walks."""
    tried = []
    for name, query in forms(steps).items():
        for start in starts[:10]:  # the first one is planned, which takes long
            graph.read(query, {"start": start})
        begun = time.perf_counter()
        walks = [[node_number(node) for node in graph.read(query, {"start": start})[0]["walk"]] for start in starts]
        tried.append((time.perf_counter() - begun, name, walks))
        print(f"    Cypher, {name}: {tried[-1][0] / len(starts) * 1000:.1f} ms a walk", flush=True)
    spent, name, walks = min(tried)
    return name, spent, walks


def check(walks: list[list[int]], joined: set[tuple[int, int]], steps: int) -> None:
    """Ends the bench where a walk does not walk along relations, or is too short."""
    if any(len(walk) != steps + 1 or any(step not in joined for step in pairwise(walk)) for walk in walks):
        sys.exit("a walk leaves the graph, or is too short")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, default=100_000)
    parser.add_argument("--relations", type=int, default=500_000)
    parser.add_argument("--walks", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--share", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with server() as address, open_graph(address) as graph:
        joined = make(graph, args.entities, args.relations, args.seed)
        relations = graph.read("MATCH ()-[r:R]->() RETURN count(r) AS n")[0]["n"]
        ids = [row["id"] for row in graph.read("MATCH (e:E)-[:R]-() RETURN DISTINCT elementId(e) AS id ORDER BY id")]
        starts = [ids[at] for at in np.random.default_rng(args.seed).choice(len(ids), size=args.walks, replace=False)]
        print(f"{args.walks:,} walks of {args.steps} steps on {args.entities:,} entities and {relations:,} relations", flush=True)
        ours(graph, relations, args.entities, starts[:10], args)  # the server warms up
        whole, alone, walks = ours(graph, relations, args.entities, starts, args)
        check(walks, joined, args.steps)
        print(f"    one GDS call: {alone:.2f} s; with its projection {whole:.2f} s", flush=True)
        some = starts[: max(10, round(args.walks * args.share))]
        name, spent, cypher_walks = theirs(graph, some, args.steps)
        check(cypher_walks, joined, args.steps)
        scaled = spent * args.walks / len(some)
        print(f"    Cypher, a query a walk ({name}): {scaled:.1f} s ({len(some)} of {args.walks:,} walks in {spent:.2f} s, scaled up)")
        print(f"    ratio {scaled / alone:.0f} without the projection, {scaled / whole:.0f} with it")


if __name__ == "__main__":
    main()
