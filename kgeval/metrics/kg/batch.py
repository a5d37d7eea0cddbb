"""The pairs of many rows at a time: one embedding of all names, one Dijkstra for all matchings, many partitions in one GDS call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from kgeval.errors import ConnectError, ModelError, QueryError, first_line
from kgeval.graph import pairs as gds
from kgeval.graph.connect import Graph
from kgeval.graph.failures import ConnectionLost
from kgeval.graph.project import sweep
from kgeval.graph.queries import all_queries
from kgeval.graph.retries import once_more
from kgeval.llm.calls import Failure
from kgeval.metrics.definition import MetricSettings, Subject
from kgeval.metrics.facts import PairCounts, StoredMatches
from kgeval.metrics.kg.costs import MOST_EDGES, costs_of, result_or_failure, spans_of
from kgeval.metrics.kg.shape import CELLS, DECIMALS, TOLERANCE, Edges, PairGraph, TripleSide, join, links, side_of, triples_matched
from kgeval.metrics.kg.sides import (
    NO_LAYOUT,
    STORED,
    PairRequest,
    community_fact,
    matching_fact,
    pair_fact,
    relation_fact,
    requests_of,
)
from kgeval.metrics.kg.triples import given_triples
from kgeval.metrics.references import others
from kgeval.metrics.stored.names import READ_ONCE
from kgeval.text.signs import identity_key

if TYPE_CHECKING:
    import numpy as np

    from kgeval.llm.embed import Embedder
    from kgeval.metrics.select import Selection
    from kgeval.records import Layout

# An answer's entities against the stored graph: [D eq. 1] with the entities of the graph as the context.

BLOCK = 2_048
MOST_NAMES = 200_000  # names of the graph that are embedded; beyond, equal normalised names alone count


@dataclass
class NearestEntities:
    """For each name the entity of the graph that is nearest to it so far: its cosine (-1: none) and element id."""

    cosine: np.ndarray
    element_id: list[str]
    exact: np.ndarray
    by_embedding: bool = True


def add_stored(subjects: Sequence[Subject], selection: Selection, graph: Graph, embedder: Embedder, layout: Layout | None) -> None:
    """Fills `facts.stored` for the rows that want it: the names of the graph are read once, as a stream, for all of them.

    Raises: ConnectionLost.
    """
    rows_left = [subject for subject in subjects if STORED in selection.facts_of(subject.row)]
    for subject in rows_left:
        triples = subject.facts.triples["triples:answer"]
        subject.facts.stored = StoredMatches(failure=NO_LAYOUT if layout is None else triples.failure)
    rows_left = [
        subject for subject in rows_left if subject.facts.stored == StoredMatches() and subject.facts.triples["triples:answer"].triples
    ]
    if not rows_left or layout is None:
        return
    try:
        once_more(lambda: _add_stored(rows_left, graph, embedder, layout))
    except (ModelError, ConnectError, QueryError) as cause:
        if isinstance(cause, ConnectionLost):
            raise
        failure = Failure("embedding_error" if isinstance(cause, ModelError) else "graph_error", first_line(cause))
        for subject in rows_left:
            subject.facts.stored = StoredMatches(failure=failure)


def _add_stored(subjects: Sequence[Subject], graph: Graph, embedder: Embedder, layout: Layout) -> None:
    import numpy as np

    sides = [side_of(subject.facts.triples["triples:answer"].triples) for subject in subjects]
    names = list(dict.fromkeys(name for side in sides for name in side.names))
    place = {name: index for index, name in enumerate(names)}
    nearby = nearest(names, graph, embedder, layout)
    settings = subjects[0].settings_for(STORED)
    graphs = [_against(side, [place[name] for name in side.names], nearby, settings) for side in sides]
    for subject, side, pair_graph, costs in zip(subjects, sides, graphs, costs_of(graphs, settings, graph), strict=True):
        if isinstance(costs, Failure):
            subject.facts.stored = StoredMatches(failure=costs)
            continue
        places = np.array([place[name] for name in side.names])
        matched = int((costs <= settings.delta + TOLERANCE).sum())
        subject.facts.stored = StoredMatches(
            entities=len(side.names), matched=matched, exact=int(nearby.exact[places].sum()), by_embedding=nearby.by_embedding,
            element_ids=tuple(dict.fromkeys(nearby.element_id[index] for index in places[pair_graph.similar_input])),
        )


def _against(side: TripleSide, places: list[int], nearby: NearestEntities, settings: MetricSettings) -> PairGraph:
    """The answer's graph with one SIMILAR edge for each entity that has one: to the nearest entity of the graph. Further ones could
    not make a path cheaper."""
    import numpy as np

    cosine = nearby.cosine[places]
    near = np.flatnonzero(cosine >= settings.tau)
    nobody = np.zeros(0, dtype=np.int64)
    context = TripleSide(tuple(nearby.element_id[places[at]] for at in near), (), nobody, nobody)
    return PairGraph(side, context, near, np.arange(len(near)), cosine[near])


def nearest(names: Sequence[str], graph: Graph, embedder: Embedder, layout: Layout) -> NearestEntities:
    """The entity of the graph nearest to each name: one with the same normalised name or alias (cosine 1), else by embedding.

    Raises: QueryError, ConnectionLost, ModelError.
    """
    import numpy as np

    nearby = NearestEntities(np.full(len(names), -1.0), [""] * len(names), np.zeros(len(names), dtype=bool))
    forms: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        if form := identity_key(name):
            forms.setdefault(form, []).append(place)
    known_names: list[tuple[str, str]] = []  # element id and name, as long as there are few enough to embed
    for row in graph.stream(all_queries()["gold-names"], {"layout": layout.model_dump()}, timeout=READ_ONCE):
        for form in {identity_key(text) for text in (row["name"], *row["aliases"])}:
            _exact(nearby, forms.get(form, ()), row["element_id"])
        # one more than is embedded: then it is known that there are too many, and no more are kept
        if len(known_names) <= MOST_NAMES:
            known_names.append((row["element_id"], row["name"]))
    if len(known_names) > MOST_NAMES:
        nearby.by_embedding = False
        return nearby
    vectors = embedder.embed(names)
    # so many cosines at a time, however many names the rows have
    block = min(BLOCK, max(1, CELLS // len(names)))
    for start in range(0, len(known_names), block):
        _embedded(nearby, vectors, known_names[start : start + block], embedder)
    return nearby


def _exact(nearby: NearestEntities, places: Sequence[int], element_id: str) -> None:
    """Of several with the name the first by element id, whatever order they come in."""
    for at in places:
        if not nearby.exact[at] or element_id < nearby.element_id[at]:
            nearby.exact[at], nearby.cosine[at], nearby.element_id[at] = True, 1.0, element_id


def _embedded(nearby: NearestEntities, vectors: np.ndarray, block: Sequence[tuple[str, str]], embedder: Embedder) -> None:
    import numpy as np

    cosines = np.round(np.minimum(vectors @ embedder.embed([name for _, name in block]).T, 1.0).astype(np.float64), DECIMALS)
    best = cosines.argmax(axis=1)
    for place in np.flatnonzero((cosines[np.arange(len(best)), best] > nearby.cosine) & ~nearby.exact).tolist():
        nearby.cosine[place], nearby.element_id[place] = cosines[place, best[place]], block[int(best[place])][0]


# Community overlap of many pair graphs from their partitions [D eq. 2, Algorithm 3]. Pure. Algorithm 3 counts communities, eq. 2 entities:
# both are kept, under names of their own.

INPUT, CONTEXT, RELATION = 0, 1, 2
# constants of SplitMix64 (Steele, Lea and Flood 2014): the same shuffles on every machine and version of numpy
_GOLDEN, _ONE, _TWO = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


@dataclass(frozen=True)
class PairBatch:
    """Graphs of several pairs side by side, one node numbering; a pair may stand there several times, shuffled each time.

    `edges`: in the order in which they are to be projected, each graph's weights adding up to 1. `group`: of each node, which graph.
    `role`: INPUT or CONTEXT entity, or RELATION.
    """

    edges: Edges
    group: np.ndarray
    role: np.ndarray
    graphs: int


@dataclass(frozen=True)
class CommunityOverlap:
    """Scores of each graph of a PairBatch: shares in 0..1, and the modularity of its own partition."""

    by_entity: np.ndarray
    by_community: np.ndarray
    modularity: np.ndarray


def side_by_side(pairs: Sequence[PairGraph], runs: Sequence[int], settings: MetricSettings) -> PairBatch:
    """Each pair with its run's number, side by side.

    What Leiden and Louvain find depends on the order of nodes, which is the order in which edges name them. The order of a pair's
    edges, and which end comes first, are drawn from the seed, the run and the edge's place in its pair: nothing else, so that they
    do not change with the pairs beside it.
    """
    import numpy as np

    parts, roles, offset = [], [], 0
    for pair, run in zip(pairs, runs, strict=True):
        edges = links(pair, settings)
        keys = _keys(len(edges.value), settings.community_seed, run)
        order, flip = np.argsort(keys), (keys & np.uint64(1)).astype(bool)
        source, target = np.where(flip, edges.target, edges.source), np.where(flip, edges.source, edges.target)
        total = edges.value.sum()
        weight = edges.value / total if total > 0 else edges.value
        parts.append((source[order] + offset, target[order] + offset, weight[order]))
        counts = [len(pair.input.names), len(pair.context.names), len(pair.input.heads) + len(pair.context.heads)]
        roles.append(np.repeat([INPUT, CONTEXT, RELATION], counts))
        offset += pair.nodes
    group = np.repeat(np.arange(len(pairs)), [len(role) for role in roles])
    source, target, weight = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return PairBatch(Edges(source, target, weight), group, np.concatenate(roles), len(pairs))


def _keys(count: int, seed: int, run: int) -> np.ndarray:
    """`count` pseudo-random 64-bit numbers (SplitMix64 of seed, run and place)."""
    import numpy as np

    mask = 2**64 - 1
    start = (seed * _ONE + run * _TWO + _GOLDEN) & mask
    state = np.uint64(start) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_GOLDEN)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(_ONE)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(_TWO)
    mixed: np.ndarray = state ^ (state >> np.uint64(31))
    return mixed


def overlap(several: PairBatch, community: np.ndarray) -> CommunityOverlap:
    """The scores of each graph for one partition of all nodes (`community`: a number a node; graphs share no community)."""
    import numpy as np

    # communities as 0..n-1, apart for each graph: of each node its community, and a node of each community
    apart = several.group * (int(community.max()) + 1) + community
    _, first, member = np.unique(apart, return_index=True, return_inverse=True)
    home = several.group[first]
    ours, theirs = (np.zeros(len(home), dtype=bool) for _ in range(2))
    ours[member[several.role == INPUT]] = True
    theirs[member[several.role == CONTEXT]] = True
    entities = np.flatnonzero(several.role == INPUT)
    sharing = np.bincount(several.group[entities], theirs[member[entities]], minlength=several.graphs)
    return CommunityOverlap(
        sharing / np.bincount(several.group[entities], minlength=several.graphs),
        np.bincount(home, ours & theirs, minlength=several.graphs) / np.bincount(home, minlength=several.graphs),
        _modularity(several, member, home),
    )


def _modularity(several: PairBatch, member: np.ndarray, home: np.ndarray) -> np.ndarray:
    """Newman's modularity of each graph; its weights add up to 1."""
    import numpy as np

    edges, nodes = several.edges, len(several.group)
    inside = np.bincount(
        several.group[edges.source], edges.value * (member[edges.source] == member[edges.target]), minlength=several.graphs,
    )
    degree = np.bincount(edges.source, edges.value, minlength=nodes) + np.bincount(edges.target, edges.value, minlength=nodes)
    volume = np.bincount(member, degree)
    modularity: np.ndarray = inside - np.bincount(home, (volume / 2) ** 2, minlength=several.graphs)
    return modularity


T = TypeVar("T")
MOST_TRIPLES = 50_000  # of the pairs whose names are embedded and joined together: bounds our memory


@dataclass
class PairWork:
    """A pair with its graph, on the way to its counts. `failure`: why it has none."""

    request: PairRequest
    graph: PairGraph
    found: PairCounts
    runs: list[tuple[float, float, float]] = field(default_factory=list)
    failure: Failure | None = None


def add_pairs(subjects: Sequence[Subject], selection: Selection, graph: Graph, embedder: Embedder, layout: Layout | None) -> None:
    """Fills `facts.pairs`, and `facts.stored` where the layout of a stored graph is given, for the metrics of every row.

    Triples that no model was asked for are taken from the row or the stored graph here. What fails is a PairCounts with its failure.
    Raises: ConnectionLost.
    """
    each = [variant for subject in subjects for variant in (subject, *others(subject, selection.facts_of(subject.row)))]
    given_triples(each, selection, graph, layout)
    if graph.info.gds is not None:
        with suppress(QueryError):  # what a run that was killed left in the server's memory
            sweep(graph)
    add_stored(subjects, selection, graph, embedder, layout)
    for part in _parts(request for subject in each for request in requests_of(subject, selection)):
        _add(part, graph, embedder)


def _parts(every: Iterable[PairRequest]) -> Iterator[list[PairRequest]]:
    """Pairs in parts of at most MOST_TRIPLES; those that fail or have an empty side are done with here."""
    part: list[PairRequest] = []
    size = 0
    for request in every:
        own, context = request.sides
        failure = own.failure or context.failure
        if failure is not None or not own.triples or not context.triples:
            empty = None if failure else "context" if own.triples else "input"
            _put(request, PairCounts(triples=len(own.triples), failure=failure, empty=empty))  # type: ignore[arg-type]
            continue
        if part and size + len(own.triples) + len(context.triples) > MOST_TRIPLES:
            yield part
            part, size = [], 0
        part.append(request)
        size += len(own.triples) + len(context.triples)
    if part:
        yield part


def _put(request: PairRequest, counts: PairCounts) -> None:
    request.subject.facts.pairs[pair_fact(request.pair)] = counts


def _add(part: Sequence[PairRequest], graph: Graph, embedder: Embedder) -> None:
    """The pairs of one part. A failed embedding is the failure of all of them, a failed query that of the pairs that it was for."""
    try:
        works = join_all(part, embedder)
    except ModelError as cause:
        for request in part:
            _put(request, PairCounts(failure=Failure("embedding_error", first_line(cause))))
        return
    match([work for work in works if work.request.matching], graph)
    split([work for work in works if work.request.communities and work.failure is None], graph)
    for work in works:
        columns = tuple(zip(*work.runs, strict=True)) or ((), (), ())
        counts = replace(work.found, by_entity=columns[0], by_community=columns[1], modularity=columns[2])
        _put(work.request, counts if work.failure is None else PairCounts(failure=work.failure))


def join_all(part: Sequence[PairRequest], embedder: Embedder) -> list[PairWork]:
    """The graphs of pairs that have both sides, and their matched triples where they are wanted. Each name is embedded once."""
    sides = [tuple(side_of(triples.triples) for triples in request.sides) for request in part]
    texts = [side.names for both in sides for side in both]
    texts += [side.relations for request, both in zip(part, sides, strict=True) if request.relations for side in both]
    place = {text: number for number, text in enumerate(dict.fromkeys(text for group in texts for text in group))}
    vectors = embedder.embed(list(place))

    def rows(names: tuple[str, ...]) -> np.ndarray:
        return vectors[[place[name] for name in names]]

    works = []
    for request, (own, context) in zip(part, sides, strict=True):
        joined = join(own, context, (rows(own.names), rows(context.names)), request.settings_for(pair_fact).tau)
        matched = 0
        if request.relations:
            relation_vectors = (rows(own.relations), rows(context.relations))
            matched = triples_matched(joined, relation_vectors, request.settings_for(relation_fact))
        works.append(PairWork(request, joined, PairCounts(
            entities=len(own.names), context_entities=len(context.names), triples=len(own.heads), triples_matched=matched,
        )))
    return works


def match(works: Sequence[PairWork], graph: Graph) -> None:
    """Counts matched input entities: one Dijkstra for all pairs [D Algorithm 2, eq. 1]."""
    if not works:
        return
    settings = works[0].request.settings_for(matching_fact)
    for work, costs in zip(works, costs_of([work.graph for work in works], settings, graph), strict=True):
        if isinstance(costs, Failure):
            work.failure = costs
        else:
            work.found = replace(work.found, matched=int((costs <= settings.delta + TOLERANCE).sum()))


def split(works: Sequence[PairWork], graph: Graph) -> None:
    """Adds to each pair its scores of R partitions [D eq. 2, Algorithm 3], in the order of the runs."""
    # Leiden's gamma makes the graphs of one call independent of each other (graph/pairs.py); Louvain has none: one graph a call
    if not works:
        return
    settings = works[0].request.settings_for(community_fact)
    every = [(work, run) for run in range(settings.runs) for work in works]
    most = 1 if settings.community == "louvain" else MOST_EDGES
    spans = list(spans_of([work.graph.size for work, _ in every], most))
    calls = (partial(_scores, every[first:last], settings, graph) for first, last in spans)
    for (first, last), scores in zip(spans, gds.two_at_a_time(graph, calls), strict=True):
        for index, (work, _) in enumerate(every[first:last]):
            if isinstance(scores, Failure):
                work.failure = scores
            else:
                work.runs.append(scores[index])


def _scores(part: Sequence[tuple[PairWork, int]], settings: MetricSettings, graph: Graph) -> list[tuple[float, float, float]] | Failure:
    """By entity, by community and modularity of each pair in its run. Pairs that failed in an earlier run are not tried again."""
    failures = [work.failure for work, _ in part if work.failure is not None]
    if len(failures) == len(part):
        return failures[0]
    outcome = result_or_failure(partial(partitioned, [work.graph for work, _ in part], [run for _, run in part], settings, graph))
    if isinstance(outcome, Failure):
        return outcome
    scores = outcome[1]
    return list(zip(scores.by_entity.tolist(), scores.by_community.tolist(), scores.modularity.tolist(), strict=True))


def partitioned(
    pairs: Sequence[PairGraph], runs: Sequence[int], settings: MetricSettings, graph: Graph,
) -> tuple[np.ndarray, CommunityOverlap]:
    """A community for each node of the pairs side by side, and what follows from it."""
    import numpy as np

    several = side_by_side(pairs, runs, settings)
    edges, nodes = several.edges, len(several.group)
    heavy = len(np.unique(several.group[edges.source[edges.value > 0]]))
    if heavy:
        arrays = gds.Arrays(edges.source, edges.target, edges.value)
        community = gds.communities(graph, arrays, nodes, graphs=heavy, algorithm=settings.community, seed=settings.community_seed)
    else:
        community = np.arange(nodes)
    return community, overlap(several, community)
