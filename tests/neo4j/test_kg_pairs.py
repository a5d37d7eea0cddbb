"""Matching and communities of text pairs in GDS against networkx and python-louvain, built anew from the text of [D]."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import fmean, stdev
from typing import Any

import community as louvain
import networkx as nx
import numpy as np
import pytest

from kgeval.errors import ModelError, QueryError
from kgeval.graph import pairs as gds
from kgeval.graph.connect import Graph
from kgeval.graph.failures import ConnectionLost, QueryTimeout
from kgeval.metrics import definition
from kgeval.metrics.definition import SETTING_NAMES, MetricSettings, MetricValue, SettingsView, Subject
from kgeval.metrics.facts import FACT_SETTINGS, PairCounts, RowFacts, Triples
from kgeval.metrics.kg.batch import add_pairs, join_all, partitioned
from kgeval.metrics.kg.shape import PairGraph
from kgeval.metrics.kg.sides import requests_of
from kgeval.metrics.select import select
from kgeval.metrics.table import all_metrics
from kgeval.records import Answer, Passage, Question, Row, Triple

FAITHFUL = ("kg_matching_faithfulness", "kg_community_faithfulness", "kg_community_by_community_faithfulness",
            "kg_triple_matching_faithfulness")
TINY = 1e-9


class Vectors:
    """Unit vectors by name in few dimensions, so that names are near each other by chance."""

    name = "made up"

    def __init__(self, dimensions: int = 4) -> None:
        self.dimensions = dimensions
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.asked += texts
        return np.stack([self._one(text) for text in texts]).astype(np.float32) if texts else np.zeros((0, 0), dtype=np.float32)

    def _one(self, text: str) -> np.ndarray:
        vector = np.random.default_rng(list(text.encode("utf-8", "surrogatepass"))).standard_normal(self.dimensions)
        return vector / np.linalg.norm(vector)


class Angles:
    """Names that end in a number of degrees, as "cat@30": cosines known by hand."""

    name = "angles"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        turn = [np.radians(float(text.rpartition("@")[2] or 0) if "@" in text else 90.0) for text in texts]
        return np.stack([np.cos(turn), np.sin(turn)], axis=1).astype(np.float32)


def triple(text: str) -> Triple:
    head, relation, tail = text.split(" ", 2)
    return Triple(subject=head, predicate=relation, object=tail)


def subject(given: Sequence[Triple], context: Sequence[Triple], settings: MetricSettings, n: int = 0) -> Subject:
    answer = Answer(question_id=f"q{n}", system="s", answer="a", contexts=[Passage(text="c")])
    row = Row(n=n, where="", question=Question(id=f"q{n}", question="?"), answer=answer)
    return Subject(row, RowFacts(triples={"triples:answer": Triples(tuple(given)), "triples:contexts": Triples(tuple(context))}), settings)


def made_up(rng: random.Random, count: int, names: int) -> list[Triple]:
    return [Triple(subject=f"n{rng.randrange(names)}", predicate=f"r{rng.randrange(3)}", object=f"n{rng.randrange(names)}")
            for _ in range(count)]


def some_pairs(count: int, settings: MetricSettings, seed: int = 0, *, sizes: tuple[int, int] = (8, 40)) -> list[Subject]:
    rng = random.Random(seed)
    return [
        subject(made_up(rng, rng.randint(1, sizes[0]), 30), made_up(rng, rng.randint(1, sizes[1]), 60), settings, n) for n in range(count)
    ]


def alike(count: int, settings: MetricSettings, seed: int, sizes: tuple[int, int] = (8, 40)) -> list[Subject]:
    """Pairs of a given size in which half of the input's names are the context's too, and no other names are near (32 dimensions)."""
    rng, found = random.Random(seed), []
    for n in range(count):
        shared, own = range(sizes[0] // 2), range(1000, 1000 + sizes[0] - sizes[0] // 2)
        context = made_up(rng, sizes[1], sizes[1])
        names = [f"n{at}" for at in (*shared, *own)]
        given = [Triple(subject=rng.choice(names), predicate="r", object=rng.choice(names)) for _ in range(sizes[0])]
        found.append(subject(given, context, settings, n))
    return found


def pair_of(graph: Graph, one: Subject, embedder: object | None = None, metrics: Sequence[str] = FAITHFUL) -> PairCounts:
    add_pairs([one], select(metrics), graph, embedder or Vectors(), None)  # type: ignore[arg-type]
    return one.facts.pairs["pairs:faithfulness"]


def value(one: Subject, metric: str) -> MetricValue:
    return all_metrics()[metric].value(one)


def algorithm_1(one: Subject, embedder: Vectors) -> nx.MultiDiGraph:
    """The graph of [D] as its Algorithm 1 reads; parallel edges are kept."""
    settings, graph = one.run_settings, nx.MultiDiGraph()
    names: dict[str, list[str]] = {}
    for end, fact in (("_in", "triples:answer"), ("_ctx", "triples:contexts")):
        for at, t in enumerate(one.facts.triples[fact].triples):
            for name in (t.subject, t.object):
                graph.add_node(name + end, group=end, type="entity")
            graph.add_node((t.predicate, at, end), group=end, type="relation")
            graph.add_edge(t.subject + end, (t.predicate, at, end), weight=settings.edge_weight, cost=settings.edge_cost)
            graph.add_edge((t.predicate, at, end), t.object + end, weight=settings.edge_weight, cost=settings.edge_cost)
        names[end] = sorted({name for t in one.facts.triples[fact].triples for name in (t.subject, t.object)})
    for a in names["_in"]:
        for b in names["_ctx"]:
            cosine = round(min(1.0, float(embedder.embed([a])[0] @ embedder.embed([b])[0])), 6)
            if cosine >= settings.tau:
                graph.add_edge(a + "_in", b + "_ctx", weight=cosine, cost=1 - cosine)
    return graph


def entities(graph: nx.MultiDiGraph, end: str) -> list[str]:
    return [node for node, data in graph.nodes(data=True) if data["type"] == "entity" and data["group"] == end]


def algorithm_2(graph: nx.MultiDiGraph, settings: MetricSettings) -> float:
    """Dijkstra from every input entity by itself; undirected: on the graph without directions."""
    ours, theirs = entities(graph, "_in"), set(entities(graph, "_ctx"))
    walked = graph.to_undirected() if settings.undirected else graph
    matched = 0
    for node in ours:
        costs = nx.single_source_dijkstra_path_length(walked, node, weight="cost")
        matched += any(costs.get(other, 9e9) <= settings.delta + TINY for other in theirs)
    return matched / len(ours)


@pytest.mark.both_lines
@pytest.mark.long
@pytest.mark.parametrize(("tau", "delta", "undirected"), [
    (0.7, 0.5, False), (0.7, 0.5, True), (0.5, 0.3, True), (0.9, 1.0, False), (0.7, 0.0, True),
])
def test_matching_is_what_networkx_finds_on_the_graph_of_algorithm_1(graph: Graph, tau: float, delta: float, undirected: bool) -> None:
    settings = MetricSettings(tau=tau, delta=delta, undirected=undirected)
    subjects = some_pairs(40, settings, seed=int(10 * tau))
    add_pairs(subjects, select(["kg_matching_faithfulness"]), graph, Vectors(), None)  # type: ignore[arg-type]
    ours = [value(one, "kg_matching_faithfulness").value for one in subjects]
    theirs = [algorithm_2(algorithm_1(one, Vectors()), settings) for one in subjects]
    assert ours == pytest.approx(theirs, abs=TINY)
    assert len({round(one, 3) for one in theirs}) > 3 or delta == 0.0


@pytest.mark.long
def test_by_hand_one_similarity_edge_two_triples_and_direction(graph: Graph) -> None:
    """a -> b -> c, c is 18 degrees from the context's x (cosine 0.951057, cost 0.048943): b costs 0.248943, a 0.448943."""
    given, context = [triple("a@90 r b@200"), triple("b@200 r c@18")], [triple("x@0 r y@290")]
    found = {}
    for delta in (0.04, 0.048943, 0.24, 0.248943, 0.448942, 0.448943):
        one = subject(given, context, MetricSettings(delta=delta))
        found[delta] = pair_of(graph, one, Angles()).matched
    assert found == {0.04: 0, 0.048943: 1, 0.24: 1, 0.248943: 2, 0.448942: 2, 0.448943: 3}
    turned = [triple("c@18 r b@200")]
    assert pair_of(graph, subject(turned, context, MetricSettings()), Angles()).matched == 1
    assert pair_of(graph, subject(turned, context, MetricSettings(undirected=True)), Angles()).matched == 2


def test_a_cost_that_is_delta_but_for_the_last_bits_counts(graph: Graph) -> None:
    """0.1 + 0.1 + 0.3 is 0.5 although its floating point sum may be more."""
    cosine = np.degrees(np.arccos(0.7))
    one = subject([triple(f"a@200 r b@{cosine}")], [triple("x@0 r y@100")], MetricSettings(tau=0.7, delta=0.5))
    assert pair_of(graph, one, Angles()).matched == 2


def undirected(graph: nx.MultiDiGraph) -> nx.Graph:
    """One edge a pair of nodes, weights added up."""
    flat = nx.Graph()
    flat.add_nodes_from(graph.nodes)
    for a, b, weight in graph.edges(data="weight"):
        flat.add_edge(a, b, weight=weight + flat.get_edge_data(a, b, {"weight": 0})["weight"])
    return flat


def parts(graph: Graph, one: Subject, run: int) -> tuple[PairGraph, list[object], list[int]]:
    """A pair's graph, its nodes as algorithm_1 calls them, and the community of each in one run."""
    work = join_all(requests_of(one, select(FAITHFUL)), Vectors())[0]  # type: ignore[arg-type]
    community, _ = partitioned([work.graph], [run], one.run_settings, graph)
    sides = (("_in", work.graph.input), ("_ctx", work.graph.context))
    nodes: list[object] = [name + end for end, side in sides for name in side.names]
    nodes += [(name, at, end) for end, side in sides for at, name in enumerate(side.relations)]
    return work.graph, nodes, community.tolist()


def test_community_scores_and_modularity_are_what_python_makes_of_the_same_partition(graph: Graph) -> None:
    settings = MetricSettings(runs=2)
    for one in some_pairs(3, settings, seed=2):
        found = pair_of(graph, one)
        plain = algorithm_1(one, Vectors())
        for run in range(settings.runs):
            _, nodes, community = parts(graph, one, run)
            groups: dict[int, set[object]] = {}
            for node, number in zip(nodes, community, strict=True):
                groups.setdefault(number, set()).add(node)
            ours, theirs = set(entities(plain, "_in")), set(entities(plain, "_ctx"))
            sharing = [group for group in groups.values() if group & ours and group & theirs]
            alone = MetricSettings(runs=1)
            assert len(nodes) == len(plain)
            single = partitioned([parts(graph, one, run)[0]], [run], alone, graph)[1]
            assert single.by_entity[0] == pytest.approx(sum(len(g & ours) for g in sharing) / len(ours), abs=TINY)
            assert single.by_community[0] == pytest.approx(len(sharing) / len(groups), abs=TINY)
            reference = nx.community.modularity(undirected(plain), groups.values())
            assert single.modularity[0] == pytest.approx(reference, abs=1e-6)  # a cosine may be rounded the other way
        assert len(found.by_entity) == len(found.by_community) == len(found.modularity) == 2


def louvains(one: Subject, runs: int) -> list[tuple[float, float, float]]:
    """By entity, by community and modularity of python-louvain's partitions."""
    plain = algorithm_1(one, Vectors())
    flat, ours, theirs, found = undirected(plain), entities(plain, "_in"), entities(plain, "_ctx"), []
    for run in range(runs):
        part = louvain.best_partition(flat, random_state=run)
        both = {part[n] for n in ours} & {part[n] for n in theirs}
        found.append((sum(part[n] in both for n in ours) / len(ours), len(both) / len(set(part.values())), louvain.modularity(part, flat)))
    return found


@pytest.mark.parametrize("sizes", [(8, 40), pytest.param((40, 300), marks=pytest.mark.long)])
def test_modularity_of_each_pair_is_not_below_python_louvain_by_more_than_a_hundredth_on_average(graph: Graph, sizes) -> None:
    subjects = some_pairs(12, MetricSettings(), seed=4, sizes=sizes)
    add_pairs(subjects, select(FAITHFUL), graph, Vectors(8), None)  # type: ignore[arg-type]
    best = [max(one.facts.pairs["pairs:faithfulness"].modularity) for one in subjects]

    class Eight(Vectors):
        def __init__(self) -> None:
            super().__init__(8)

    plain = []
    for one in subjects:
        flat = undirected(algorithm_1(one, Eight()))
        plain.append(max(louvain.modularity(louvain.best_partition(flat, random_state=run), flat) for run in range(20)))
    differences = np.subtract(best, plain)
    print(f"best of 20, GDS - python-louvain: mean {differences.mean():.5f}, worst {differences.min():.5f}")
    assert differences.mean() > -0.01
    assert differences.min() > -0.02


@pytest.mark.long
def test_one_partition_is_a_coin_toss_and_the_mean_of_twenty_is_not(graph: Graph) -> None:
    """Spread of the score between disjoint sets of runs: of one partition, and of the mean of 20."""
    single, mean = [], []
    for seed in range(5):
        subjects = alike(12, MetricSettings(community_seed=seed), seed=5)
        add_pairs(subjects, select(["kg_community_faithfulness"]), graph, Vectors(32), None)  # type: ignore[arg-type]
        scores = [one.facts.pairs["pairs:faithfulness"].by_entity for one in subjects]
        single.append([runs[0] for runs in scores])
        mean.append([fmean(runs) for runs in scores])
    before, after = (float(np.mean(np.std(rows, axis=0, ddof=1))) for rows in (single, mean))
    print(f"standard deviation between seeds: one partition {before:.4f}, mean of 20 {after:.4f}, ratio {before / after:.1f}")
    assert before > 0.02
    assert after < before / 2


@pytest.mark.long
def test_the_same_seed_gives_the_same_numbers_and_another_seed_others(graph: Graph) -> None:
    first, second, other = (some_pairs(12, MetricSettings(community_seed=seed), seed=6) for seed in (1, 1, 2))
    for subjects in (first, second, other):
        add_pairs(subjects, select(FAITHFUL), graph, Vectors(), None)  # type: ignore[arg-type]
    assert [one.facts.pairs for one in first] == [one.facts.pairs for one in second]
    assert [one.facts.pairs for one in first] != [one.facts.pairs for one in other]


@pytest.mark.long
def test_neither_order_nor_company_of_rows_changes_a_matching(graph: Graph) -> None:
    together, backwards, alone = (some_pairs(15, MetricSettings(), seed=7) for _ in range(3))
    matching = select([FAITHFUL[0], FAITHFUL[3]])
    add_pairs(together, matching, graph, Vectors(), None)  # type: ignore[arg-type]
    add_pairs(backwards[::-1], matching, graph, Vectors(), None)  # type: ignore[arg-type]
    for one in alone:
        add_pairs([one], matching, graph, Vectors(), None)  # type: ignore[arg-type]
    counts = [[(p.matched, p.entities, p.triples_matched) for p in (o.facts.pairs["pairs:faithfulness"] for o in subjects)]
              for subjects in (together, backwards, alone)]
    assert counts[0] == counts[1] == counts[2]


@pytest.mark.long
def test_company_hardly_changes_communities(graph: Graph) -> None:
    """Leiden's refinement draws from one random stream for a whole call: a pair's partition is mostly, not always, what it is alone."""
    together, alone = (alike(12, MetricSettings(), seed=8) for _ in range(2))
    add_pairs(together, select(FAITHFUL), graph, Vectors(32), None)  # type: ignore[arg-type]
    for one in alone:
        add_pairs([one], select(FAITHFUL), graph, Vectors(32), None)  # type: ignore[arg-type]
    a, b = (np.array([one.facts.pairs["pairs:faithfulness"].by_entity for one in subjects]) for subjects in (together, alone))
    same, moved = float((abs(a - b) < TINY).mean()), float(abs(a.mean(axis=1) - b.mean(axis=1)).mean())
    print(f"equal scores of single partitions {same:.3f}; means of 20 differ by {moved:.4f} on average")
    assert same > 0.9
    assert moved < 0.02


@pytest.mark.long
def test_louvain_pair_by_pair_is_the_papers_form(graph: Graph) -> None:
    subjects = some_pairs(8, MetricSettings(community="louvain", runs=1), seed=9)
    add_pairs(subjects, select(FAITHFUL), graph, Vectors(), None)  # type: ignore[arg-type]
    for one in subjects:
        found = one.facts.pairs["pairs:faithfulness"]
        assert len(found.by_entity) == 1
        assert found.modularity[0] > max(row[2] for row in louvains(one, 5)) - 0.03
        assert value(one, "kg_community_faithfulness").detail["sd"] is None


@pytest.mark.parametrize(("given", "context", "empty"), [([], ["a r b"], "input"), (["a r b"], [], "context"), ([], [], "input")])
def test_an_empty_side_is_zero_with_its_reason(graph: Graph, given: list[str], context: list[str], empty: str) -> None:
    one = subject([triple(t) for t in given], [triple(t) for t in context], MetricSettings())
    assert pair_of(graph, one).empty == empty
    for metric in FAITHFUL:
        found = value(one, metric)
        assert (found.status, found.value, found.reason) == ("scored", 0.0, f"the {empty} has no triples")


def test_one_triple_against_itself_matches_whole(graph: Graph) -> None:
    one = subject([triple("Ada wrote notes")], [triple("Ada wrote notes")], MetricSettings())
    found = pair_of(graph, one)
    assert (found.matched, found.entities, found.triples_matched, found.triples) == (2, 2, 1, 1)
    assert value(one, "kg_matching_faithfulness").value == value(one, "kg_triple_matching_faithfulness").value == 1.0
    assert value(one, "kg_community_faithfulness").value > 0.5


def test_self_loops_and_repeated_triples_keep_each_relation_a_node(graph: Graph) -> None:
    loop = [triple("a knows a"), triple("a knows a")]
    one = subject(loop, [triple("b knows b")], MetricSettings(runs=2))
    found = pair_of(graph, one, Vectors())
    assert (found.entities, found.context_entities, found.triples) == (1, 1, 2)
    assert found.matched == algorithm_2(algorithm_1(one, Vectors()), one.run_settings)
    assert parts(graph, one, 0)[0].nodes == 5


@pytest.mark.both_lines
@pytest.mark.long
def test_a_triple_matches_only_as_a_whole_and_the_right_way_round(graph: Graph) -> None:
    context = [triple("a@0 likes@90 b@60"), triple("c@120 hates@150 d@240")]
    cases = {
        "same": ("a@0 likes@90 b@60", 1), "near": ("a@5 loves@92 b@55", 1), "turned": ("b@60 likes@90 a@0", 0),
        "other relation": ("a@0 hates@150 b@60", 0), "ends of two triples": ("a@0 likes@90 d@240", 0),
    }
    found = {name: pair_of(graph, subject([triple(text)], context, MetricSettings(tau=0.9)), Angles()).triples_matched
             for name, (text, _) in cases.items()}
    assert found == {name: count for name, (_, count) in cases.items()}
    either_way = subject([triple("b@60 likes@90 a@0")], context, MetricSettings(tau=0.9, undirected=True))
    assert pair_of(graph, either_way, Angles()).triples_matched == 1


def test_hostile_names_are_names(graph: Graph) -> None:
    names = ["'); MATCH (n) DETACH DELETE n //", "\u202eevil", "a\x00b", "{{text}}", "`x`", "$sources", "\ud83d\ude00", "x" * 100_000]
    given = [Triple(subject=a, predicate="r", object=b) for a, b in pairwise(names)]
    found = pair_of(graph, subject(given, given, MetricSettings(runs=2)))
    assert (found.matched, found.entities) == (len(names), len(names))


def test_a_context_of_three_thousand_triples_goes_through(graph: Graph) -> None:
    rng = random.Random(1)
    one = subject(made_up(rng, 40, 60), made_up(rng, 3000, 2500), MetricSettings(runs=4))
    found = pair_of(graph, one, Vectors(6))
    assert found.triples == 40
    assert len(found.by_entity) == 4
    assert 0 < found.matched <= found.entities


def test_nothing_is_left_in_gds_nor_written(graph: Graph) -> None:
    add_pairs(some_pairs(5, MetricSettings(runs=3)), select(FAITHFUL), graph, Vectors(), None)  # type: ignore[arg-type]
    assert graph.gds.graph.list() == []
    assert graph.read("MATCH (n) RETURN count(n) AS n")[0]["n"] == 0


def test_each_name_is_embedded_once_a_part_and_relations_only_where_they_are_asked_for(graph: Graph) -> None:
    embedder = Vectors()
    subjects = some_pairs(10, MetricSettings(runs=1))
    add_pairs(subjects, select(["kg_matching_faithfulness"]), graph, embedder, None)  # type: ignore[arg-type]
    assert len(embedder.asked) == len(set(embedder.asked))
    assert not any(text.startswith("r") for text in embedder.asked)
    assert subjects[0].facts.pairs["pairs:faithfulness"].by_entity == ()


def test_a_failed_embedding_is_unscored_for_its_pairs(graph: Graph) -> None:
    class Broken:
        name = "broken"

        def embed(self, texts: Sequence[str]) -> np.ndarray:
            raise ModelError("the model is gone", fix="none")

    one = subject([triple("a r b")], [triple("a r b")], MetricSettings())
    pair_of(graph, one, Broken())
    found = value(one, "kg_matching_faithfulness")
    assert (found.status, found.cause) == ("unscored", "embedding_error")


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pair in a projection of its own."""
    for module in ("batch", "costs"):
        monkeypatch.setattr(f"kgeval.metrics.kg.{module}.MOST_EDGES", 1)


class Refusing:
    """Refuses the n-th call (from 0) of a function of graph/pairs.py; `error`: with what."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, name: str, n: int, error: Exception) -> None:
        self.calls, self.n, self.error, self.real = 0, n, error, getattr(gds, name)
        monkeypatch.setattr(gds, name, self)

    def __call__(self, *given: object, **named: object) -> object:
        self.calls += 1
        if self.calls - 1 == self.n:
            raise self.error
        return self.real(*given, **named)


NO_MEMORY = QueryError("blocked since minimum estimated memory exceeds free memory", fix="")


@pytest.mark.both_lines
@pytest.mark.long
@pytest.mark.parametrize("name", ["nearest_costs", "communities"])
@pytest.mark.parametrize("error", [NO_MEMORY, QueryTimeout("stopped at its time limit", fix="")])
def test_what_the_server_refuses_is_the_failure_of_those_pairs_and_of_no_other(
    graph: Graph, monkeypatch: pytest.MonkeyPatch, cut: None, name: str, error: QueryError,
) -> None:
    subjects = some_pairs(4, MetricSettings(runs=3), seed=3)
    refused = Refusing(monkeypatch, name, 2, error)
    add_pairs(subjects, select(FAITHFUL), graph, Vectors(), None)  # type: ignore[arg-type]
    found = [value(one, "kg_community_faithfulness") for one in subjects]
    assert [one.status for one in found].count("scored") == 3
    lost = next(one for one in found if one.status == "unscored")
    assert (lost.cause, lost.reason) == ("graph_error", error.message)
    # a pair that failed is not tried in its other runs
    assert refused.calls == (4 if name == "nearest_costs" else 4 * 3 - 2)
    assert graph.gds.graph.list() == []


@pytest.mark.parametrize("name", ["nearest_costs", "communities"])
def test_a_server_that_goes_away_ends_the_run(graph: Graph, monkeypatch: pytest.MonkeyPatch, cut: None, name: str) -> None:
    Refusing(monkeypatch, name, 1, ConnectionLost("the server went away", fix=""))
    with pytest.raises(ConnectionLost):
        add_pairs(some_pairs(4, MetricSettings(runs=3), seed=3), select(FAITHFUL), graph, Vectors(), None)  # type: ignore[arg-type]
    assert graph.gds.graph.list() == []


@pytest.mark.both_lines
@pytest.mark.long
def test_the_server_stops_a_query_at_its_time_limit(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gds, "LIMIT", 0.001)
    rng = random.Random(1)
    for _ in range(20):  # the server looks every two seconds, and may find no query running
        one = subject(made_up(rng, 3000, 2000), made_up(rng, 3000, 2000), MetricSettings(runs=2))
        pair_of(graph, one, Vectors(6))
        found = value(one, "kg_matching_faithfulness")
        if found.status != "scored":
            break
    assert (found.status, found.cause) == ("unscored", "graph_error")
    assert "time limit" in str(found.reason)
    assert graph.gds.graph.list() == []


def test_large_sides_are_compared_in_blocks(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, cut_up = (some_pairs(6, MetricSettings(runs=1), seed=13) for _ in range(2))
    add_pairs(whole, select(FAITHFUL), graph, Vectors(), None)  # type: ignore[arg-type]
    monkeypatch.setattr("kgeval.metrics.kg.shape.CELLS", 7)
    add_pairs(cut_up, select(FAITHFUL), graph, Vectors(), None)  # type: ignore[arg-type]
    counts = [[(p.matched, p.triples_matched, p.by_entity) for p in (one.facts.pairs["pairs:faithfulness"] for one in subjects)]
              for subjects in (whole, cut_up)]
    assert counts[0] == counts[1]


@pytest.mark.long
def test_small_parts_and_large_ones_give_the_same_matchings(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    from kgeval.metrics.kg import batch, costs

    whole, cut = (some_pairs(6, MetricSettings(runs=1), seed=3) for _ in range(2))
    add_pairs(whole, select(FAITHFUL), graph, Vectors(), None)  # type: ignore[arg-type]
    monkeypatch.setattr(batch, "MOST_TRIPLES", 60)
    for module in (batch, costs):
        monkeypatch.setattr(module, "MOST_EDGES", 50)
    add_pairs(cut, select(FAITHFUL), graph, Vectors(), None)  # type: ignore[arg-type]
    for a, b in zip(whole, cut, strict=True):
        left, right = a.facts.pairs["pairs:faithfulness"], b.facts.pairs["pairs:faithfulness"]
        assert replace(left, by_entity=(), by_community=(), modularity=()) == replace(right, by_entity=(), by_community=(), modularity=())


def test_spread_is_told_in_the_detail(graph: Graph) -> None:
    one = some_pairs(1, MetricSettings(runs=5), seed=11)[0]
    found = pair_of(graph, one)
    detail = value(one, "kg_community_faithfulness").detail
    assert detail["runs"] == 5
    assert detail["sd"] == pytest.approx(stdev(found.by_entity))
    assert (detail["min"], detail["max"], detail["first"]) == (min(found.by_entity), max(found.by_entity), found.by_entity[0])


def test_weights_of_zero_leave_every_node_alone(graph: Graph) -> None:
    one = subject([triple("a@0 r b@90")], [triple("c@180 r d@270")], MetricSettings(edge_weight=0.0, runs=2))
    found = pair_of(graph, one, Angles())
    assert (found.by_entity, found.by_community) == ((0.0, 0.0), (0.0, 0.0))


def test_each_fact_of_a_pair_reads_the_settings_that_it_declares_and_no_other(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: dict[str, set[str]] = {}

    class Probe(SettingsView):
        def __getattribute__(self, name: str) -> Any:
            if name in SETTING_NAMES:
                reads.setdefault(object.__getattribute__(self, "_reader"), set()).add(name)
            return super().__getattribute__(name)

    monkeypatch.setattr(definition, "SettingsView", Probe)
    pair_of(graph, some_pairs(1, MetricSettings(runs=2), seed=3)[0])
    facts = ("pairs", "matching", "communities", "relations")
    assert reads == {f"the fact {fact}:faithfulness": set(FACT_SETTINGS[fact]) for fact in facts}


def test_communities_alone_need_no_paths(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(gds, "nearest_costs", lambda *_: asked.append("paths"))
    found = pair_of(graph, some_pairs(1, MetricSettings(runs=2), seed=3)[0], metrics=["kg_community_faithfulness"])
    assert len(found.by_entity) == 2 and asked == []
