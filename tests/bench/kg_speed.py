"""How long the knowledge-graph metrics of text pairs take against networkx + python-louvain, pair by pair. Not a test.

    python tests/bench/kg_speed.py [--small 3000] [--large 20] [--runs 20] [--share 0.05] [--seed 1] [--growth]

Small pairs have 8 input and 40 context triples, large ones 40 and 3,000. Both ways get the same triples and the same vectors (made up;
the embedding is left out of both), build the graphs, match, and average the community scores over the same number of partitions.
The plain way does the --share of the pairs, spread over all of them, and its seconds are scaled up (1: all of them).
Prints seconds and ratios, all from one run, by the clock and in processor time (ours: client and server together), which other work
on the machine disturbs less. kgeval keeps two cores busy, the plain way one. Matching must agree exactly. `--growth`: how time grows
with pairs and context size.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import community as louvain
import networkx as nx
import numpy as np
import psutil
from neo4j_server import server

from kgeval.graph.connect import Graph, open_graph
from kgeval.metrics.definition import MetricSettings, Subject
from kgeval.metrics.facts import PairCounts, RowFacts, Triples
from kgeval.metrics.kg.batch import add_pairs
from kgeval.metrics.select import Selection, select
from kgeval.records import Answer, Question, Row, Triple

PAIR = "faithfulness"
WINDOW = 512
DIMENSIONS = 384
VOCABULARY = 20_000


class Vectors:
    """Unit vectors of made-up names: "N.v" is variant v of thing N; two variants are near each other (cosine about 0.8)."""

    name = "made up"

    def __init__(self) -> None:
        self._known: dict[str, np.ndarray] = {}

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.stack([self._vector(text) for text in texts]) if texts else np.zeros((0, 0), dtype=np.float32)

    def _vector(self, text: str) -> np.ndarray:
        if text not in self._known:
            thing, _, variant = text.partition(".")
            near = self._random(thing) + 0.5 * self._random(f"{thing}/{variant}")
            self._known[text] = (near / np.linalg.norm(near)).astype(np.float32)
        return self._known[text]

    @staticmethod
    def _random(text: str) -> np.ndarray:
        vector = np.random.default_rng(list(text.encode())).standard_normal(DIMENSIONS)
        return vector / np.linalg.norm(vector)


@dataclass(frozen=True)
class Case:
    """One pair of triple lists."""

    given: tuple[Triple, ...]
    context: tuple[Triple, ...]


def cases(count: int, given: int, context: int, seed: int) -> list[Case]:
    """Pairs whose triples are about a few things each; input and context share half of them, under other names. Names of things come
    from one vocabulary, as in a corpus."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        ours, theirs = rng.sample(range(VOCABULARY), max(2, given)), rng.sample(range(VOCABULARY), max(2, context))
        theirs[: len(ours) // 2] = ours[: len(ours) // 2]
        found.append(Case(_triples(rng, ours, given, 0), _triples(rng, theirs, context, 1)))
    return found


def _triples(rng: random.Random, things: list[int], count: int, variant: int) -> tuple[Triple, ...]:
    pick = [f"{rng.choice(things)}.{variant}" for _ in range(2 * count)]
    return tuple(Triple(subject=a, predicate=f"r{rng.randrange(20)}", object=b) for a, b in zip(pick[::2], pick[1::2], strict=True))


class Watch:
    """Seconds by the clock, and processor seconds of this process and of the server."""

    def __init__(self, server_process: psutil.Process | None = None) -> None:
        self._server = server_process
        self._begun = time.perf_counter(), self._processor()

    def _processor(self) -> float:
        times = self._server.cpu_times() if self._server else None
        return time.process_time() + (times.user + times.system if times else 0.0)

    def read(self) -> tuple[float, float]:
        return time.perf_counter() - self._begun[0], self._processor() - self._begun[1]


def process_at(uri: str) -> psutil.Process | None:
    """The process that listens at a bolt address on this machine."""
    port = int(uri.rpartition(":")[2])
    pids = [c.pid for c in psutil.net_connections("tcp") if c.status == psutil.CONN_LISTEN and c.laddr and c.laddr.port == port]
    return psutil.Process(pids[0]) if pids and pids[0] else None


def selection(*, communities: bool) -> Selection:
    return select([f"kg_matching_{PAIR}", *([f"kg_community_{PAIR}", f"kg_community_by_community_{PAIR}"] if communities else [])])


def ours(
    graph: Graph, work: Sequence[Case], embedder: Vectors, settings: MetricSettings, *, communities: bool = True,
) -> tuple[list[PairCounts], tuple[float, float]]:
    """kgeval's way, window by window as the engine does it."""
    chosen, found = selection(communities=communities), []
    watch = Watch(process_at(graph.info.uri))
    for start in range(0, len(work), WINDOW):
        window = [_subject(case, settings) for case in work[start : start + WINDOW]]
        add_pairs(window, chosen, graph, embedder, None)  # type: ignore[arg-type]
        found += [subject.facts.pairs[f"pairs:{PAIR}"] for subject in window]
    return found, watch.read()


def _subject(case: Case, settings: MetricSettings) -> Subject:
    row = Row(n=0, where="", question=Question(id="q", question="?"), answer=Answer(question_id="q", system="s", answer="a", contexts=[]))
    facts = RowFacts(triples={"triples:answer": Triples(case.given), "triples:contexts": Triples(case.context)})
    return Subject(row, facts, settings)


def plain(case: Case, embedder: Vectors, settings: MetricSettings, *, communities: bool = True) -> tuple[float, float, float, float]:
    """Matching, both community scores and modularity, as somebody writes it with networkx and python-louvain."""
    graph = nx.DiGraph()
    sides: dict[str, list[str]] = {}
    for suffix, triples in (("in", case.given), ("ctx", case.context)):
        names: dict[str, None] = {}
        for at, one in enumerate(triples):
            relation = f"{one.predicate}_{at}_{suffix}"
            graph.add_edge(f"{one.subject}_{suffix}", relation, weight=settings.edge_weight, cost=settings.edge_cost)
            graph.add_edge(relation, f"{one.object}_{suffix}", weight=settings.edge_weight, cost=settings.edge_cost)
            names |= {one.subject: None, one.object: None}
        sides[suffix] = list(names)
    cosines = np.round(np.minimum(embedder.embed(sides["in"]) @ embedder.embed(sides["ctx"]).T, 1).astype(float), 6)
    for row, column in np.argwhere(cosines >= settings.tau).tolist():
        cosine = float(cosines[row, column])
        graph.add_edge(f"{sides['in'][row]}_in", f"{sides['ctx'][column]}_ctx", weight=cosine, cost=1 - cosine)
    given, context = ([f"{name}_{suffix}" for name in sides[suffix]] for suffix in ("in", "ctx"))
    costs = nx.multi_source_dijkstra_path_length(graph.reverse(copy=False), set(context), cutoff=settings.delta + 1e-9, weight="cost")
    matched = sum(name in costs for name in given) / len(given)
    if not communities:
        return matched, 0.0, 0.0, 0.0
    undirected = nx.Graph(graph)
    found = []
    for run in range(settings.runs):
        parts = louvain.best_partition(undirected, weight="weight", random_state=settings.community_seed + run)
        ours, theirs = {parts[name] for name in given}, {parts[name] for name in context}
        by_entity = sum(parts[name] in theirs for name in given) / len(given)
        found.append((by_entity, len(ours & theirs) / len(set(parts.values())), louvain.modularity(parts, undirected)))
    return (matched, *np.mean(found, axis=0).tolist())


def compare(graph: Graph, what: str, work: Sequence[Case], share: float, settings: MetricSettings, *, communities: bool) -> float:
    """Prints both ways for one kind of pairs; the ratio."""
    embedder = Vectors()
    for case in work:
        embedder.embed([name for t in (*case.given, *case.context) for name in (t.subject, t.object)])
    some = list(range(0, len(work), max(1, round(1 / share))))
    found, spent = ours(graph, work, embedder, settings, communities=communities)
    watch = Watch()
    reference = [plain(work[at], embedder, settings, communities=communities) for at in some]
    theirs = tuple(seconds * len(work) / len(some) for seconds in watch.read())
    if any(abs(found[at].matched / found[at].entities - one[0]) > 1e-9 for at, one in zip(some, reference, strict=True)):
        sys.exit("the ways do not match the same entities")
    print(f"{what:50} by the clock {spent[0]:7.2f} s, {theirs[0]:7.1f} s: ratio {theirs[0] / spent[0]:5.1f}; "
          f"processor {spent[1]:7.2f} s, {theirs[1]:7.1f} s: ratio {theirs[1] / spent[1]:5.1f} ({len(some)} of {len(work)} pairs)")
    if communities:
        mean = [np.mean([np.mean(getattr(found[at], name)) for at in some]) for name in ("by_entity", "by_community", "modularity")]
        plainly = np.mean([one[1:] for one in reference], axis=0)
        for name, ours_, plain_ in zip(("by_entity", "by_community", "modularity"), mean, plainly, strict=True):
            print(f"    mean {name:14} {ours_:.4f} against {plain_:.4f}")
    return theirs[0] / spent[0]


def growth(graph: Graph, settings: MetricSettings, seed: int) -> None:
    """Prints seconds for more pairs and for larger contexts."""
    for kind, sizes in (("pairs of 8 + 40", [(n, 8, 40) for n in (250, 500, 1000, 2000)]), ("context of 4 pairs", _contexts())):
        for count, given, context in sizes:
            work, embedder = cases(count, given, context, seed), Vectors()
            for case in work:
                embedder.embed([name for t in (*case.given, *case.context) for name in (t.subject, t.object)])
            _, spent = ours(graph, work, embedder, settings)
            triples = count * (given + context)
            each = spent[1] / triples * 1e6
            what = f"{kind:20} {count:6} pairs, {context:6} context triples:"
            print(f"{what} {spent[0]:7.2f} s, processor {spent[1]:7.2f} s, {each:5.0f} us a triple")


def _contexts() -> Iterator[tuple[int, int, int]]:
    return ((4, 40, context) for context in (750, 1500, 3000, 6000, 12000))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", type=int, default=3_000)
    parser.add_argument("--large", type=int, default=20)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--growth", action="store_true")
    given = parser.parse_args()
    settings = MetricSettings(runs=given.runs)
    with server() as address, open_graph(address) as graph:
        ours(graph, cases(200, 8, 40, 0), Vectors(), settings)  # the server warms up
        if given.growth:
            growth(graph, settings, given.seed)
            return
        small, large = cases(given.small, 8, 40, given.seed), cases(given.large, 40, 3_000, given.seed)
        print("kgeval first, then networkx + python-louvain")
        compare(graph, f"{given.small} small pairs, matching alone", small, 1, settings, communities=False)
        compare(graph, f"{given.small} small pairs, both metrics, {given.runs} partitions", small, given.share, settings, communities=True)
        compare(graph, f"{given.large} large pairs, matching alone", large, 1, settings, communities=False)
        share = max(given.share, 2 / given.large)
        compare(graph, f"{given.large} large pairs, both metrics, {given.runs} partitions", large, share, settings, communities=True)


if __name__ == "__main__":
    main()
