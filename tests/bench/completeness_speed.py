"""How long completeness takes against comparing every gold name with every graph name. Not a test.

    python tests/bench/completeness_speed.py [--entities 100000] [--gold 10000] [--seed 7]

Builds a graph of made-up names in an embedded server of its own (or in KGEVAL_TEST_URI, which is wiped), measures it both ways,
and prints seconds, processor seconds of the client, peak memory, and ratios. The plain way pulls all names, then runs rapidfuzz's
cdist (all cores, C++) batch by batch, and must find the same near names.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time

import numpy as np
from neo4j_server import server
from rapidfuzz import fuzz, process

from kgeval.auditing.completeness.candidates import find
from kgeval.auditing.completeness.gold import Gold, gold_of
from kgeval.auditing.completeness.index import FuzzyIndex
from kgeval.auditing.graph_reader import GraphReader
from kgeval.graph.connect import Graph, open_graph
from kgeval.graph.layouts import bind, load_profile
from kgeval.graph.queries import all_queries
from kgeval.records import LEVELS, GoldEntity, Layout
from kgeval.text.names import normalise

NEAREST = 90.0
SYLLABLES = (
    "ba", "ker", "lon", "mi", "ra", "to", "ven", "sul", "dor", "eth", "gan", "pol", "ri", "sta", "ne", "wi", "ch", "or", "am", "el",
    "fin", "gre", "hal", "jo", "ka", "lu", "mar", "no", "os", "pe",
)


def names(count: int, seed: int) -> list[str]:
    """Names of one to five words of two to four syllables."""
    rng = random.Random(seed)
    words = sorted({"".join(rng.choices(SYLLABLES, k=rng.randint(2, 4))) for _ in range(max(200, count // 15))})
    return [" ".join(rng.choices(words, k=rng.choice((1, 2, 2, 2, 3, 4, 5)))).title() for _ in range(count)]


def build(graph: Graph, found: list[str]) -> None:
    """Wipes the database and writes the entities as `kgeval import` does."""
    for pattern in ("()-[x]->()", "(x)"):
        while graph.write(f"MATCH {pattern} WITH x LIMIT 50000 DELETE x RETURN count(*) AS n")[0]["n"]:
            pass
    graph.schema_command(all_queries()["create-name-index"])
    graph.write("CREATE (:__KgevalGraph__ {name: 'bench', status: 'ready'})")
    for start in range(0, len(found), 20_000):
        rows = [[str(start + at), name, normalise(name)] for at, name in enumerate(found[start: start + 20_000])]
        graph.write("UNWIND $rows AS r CREATE (:__Entity__:bench {id: r[0], name: r[1], name_key: r[2]})", {"rows": rows})
    graph.schema_command("CALL db.awaitIndexes()")


def gold(found: list[str], count: int, seed: int) -> Gold:
    """Gold names: half as they are, some in capitals, some misspelt, some with a title, three in ten not in the graph."""
    rng = random.Random(seed + 1)
    out = []
    for name in rng.sample(found, count):
        kind, place = rng.random(), rng.randrange(len(name))
        made = (
            name if kind < 0.4 else f"The {name.upper()}" if kind < 0.5 else f"Dr. {name}" if kind < 0.55
            else name[:place] + name[place + 1:] if kind < 0.7 else f"{name} unheard-of {rng.randrange(10**6)}"
        )
        out.append(GoldEntity(name=made))
    return gold_of(out, [], label="bench")


class Watch:
    """Seconds and processor seconds of this process since it was made."""

    def __init__(self) -> None:
        self._wall, self._own = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        return time.perf_counter() - self._wall, time.process_time() - self._own


def line(what: str, spent: tuple[float, float], found: int) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{what:44} {spent[0]:8.1f} s {spent[1]:8.1f} s own  {peak:7.0f} MB peak  {found:,} found")


def plain_way(graph: Graph, layout: Layout, wanted: Gold) -> tuple[set[tuple[str, int]], tuple[float, float]]:
    """All names over Bolt, all pairs compared."""
    watch = Watch()
    rows = graph.stream(all_queries()["gold-names"], {"layout": layout.model_dump()})
    pulled = [(row["element_id"], normalise(row["name"])) for row in rows]
    normal = [normalise(entity.name) for entity in wanted.entities]
    near: set[tuple[str, int]] = set()
    for start in range(0, len(pulled), 2_000):
        part = pulled[start: start + 2_000]
        scores = process.cdist(
            [name for _, name in part], normal, scorer=fuzz.token_sort_ratio, score_cutoff=NEAREST, dtype=np.float32, workers=-1,
        )
        near |= {(part[row][0], column) for row, column in np.argwhere(scores >= NEAREST).tolist()}
    return near, watch.read()


def near_way(graph: Graph, layout: Layout, wanted: Gold) -> tuple[set[tuple[str, int]], tuple[float, float]]:
    """The fuzzy index alone, on the same stream."""
    watch = Watch()
    index = FuzzyIndex([normalise(entity.name) for entity in wanted.entities], NEAREST)
    rows = graph.stream(all_queries()["gold-names"], {"layout": layout.model_dump()})
    near = {(row["element_id"], at) for row in rows for at, _ in index.near(normalise(row["name"]))}
    return near, watch.read()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, default=100_000)
    parser.add_argument("--gold", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    with server() as address, open_graph(address) as graph:
        found = names(given.entities, given.seed)
        build(graph, found)
        layout = bind(graph, load_profile("kgeval").layout, "bench")
        wanted = gold(found, given.gold, given.seed)
        print(f"{len(found):,} entities, {len(wanted.entities):,} gold entities")
        compare(graph, layout, wanted)


def compare(graph: Graph, layout: Layout, wanted: Gold) -> None:
    """Prints every way and fails if the index and the plain way do not find the same names."""
    watch = Watch()
    keyed = find(GraphReader(graph, layout, 3600), wanted, ("exact", "normalised"))
    line("exact and normalised, by our own index", watch.read(), sum(map(bool, keyed.hits)))
    foreign = layout.model_copy(update={"expected_indexes": []})
    watch = Watch()
    scanned = find(GraphReader(graph, foreign, 3600), wanted, ("exact", "normalised"))
    line("exact and normalised, one scan", watch.read(), sum(map(bool, scanned.hits)))
    watch = Watch()
    every = find(GraphReader(graph, foreign, 3600), wanted, LEVELS[:4])
    full = watch.read()
    line("exact to fuzzy, one scan", full, sum(map(bool, every.hits)))
    near, near_spent = near_way(graph, foreign, wanted)
    line("near names by pieces", near_spent, len(near))
    pairs, plain_spent = plain_way(graph, foreign, wanted)
    line("near names, all with all (cdist, all cores)", plain_spent, len(pairs))
    if keyed.hits != scanned.hits or near != pairs:
        sys.exit("the ways do not find the same names")
    print(f"ratio plain / pieces: {plain_spent[0] / near_spent[0]:.1f} in time, {plain_spent[1] / near_spent[1]:.1f} in processor time")
    print(f"ratio plain (near names only) / all four levels: {plain_spent[0] / full[0]:.1f} in time, {plain_spent[1] / full[1]:.1f} own")


if __name__ == "__main__":
    main()
