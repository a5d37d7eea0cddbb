"""The pairs of many rows at a time: one embedding of all names, one Dijkstra for all matchings, many partitions in one GDS call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from kgeval.errors import ModelError, QueryError, first_line
from kgeval.graph import pairs as gds
from kgeval.graph.connect import Graph
from kgeval.graph.project import sweep
from kgeval.llm.calls import Failure
from kgeval.metrics.definition import Settings, Subject
from kgeval.metrics.facts import Pair
from kgeval.metrics.kg.costs import MOST_EDGES, costs_of, spans_of, tried
from kgeval.metrics.kg.overlap import Overlap, beside, overlap
from kgeval.metrics.kg.shape import TOLERANCE, PairGraph, join, side_of, triples_matched
from kgeval.metrics.kg.sides import Asked, asked, matching_fact
from kgeval.metrics.kg.stored import add_stored
from kgeval.metrics.kg.triples import given_triples
from kgeval.metrics.references import others

if TYPE_CHECKING:
    import numpy as np

    from kgeval.llm.embed import Embedder
    from kgeval.metrics.select import Selection
    from kgeval.records import Layout

T = TypeVar("T")
MOST_TRIPLES = 50_000  # of the pairs whose names are embedded and joined together: bounds our memory


@dataclass
class Work:
    """A pair with its graph, on the way to its counts. `failure`: why it has none."""

    asked: Asked
    graph: PairGraph
    found: Pair
    runs: list[tuple[float, float, float]] = field(default_factory=list)
    failure: Failure | None = None


def add_pairs(subjects: Sequence[Subject], selection: Selection, graph: Graph, embedder: Embedder, layout: Layout | None) -> None:
    """Fills `facts.pairs`, and `facts.stored` where the layout of a stored graph is given, for the metrics of every row.

    Triples that no model was asked for are taken from the row or the stored graph here. What fails is a Pair with its failure.
    Raises: ConnectionLost.
    """
    each = [one for subject in subjects for one in (subject, *others(subject, selection.facts_of(subject.row)))]
    given_triples(each, selection, graph, layout)
    if graph.info.gds is not None:
        with suppress(QueryError):  # what a run that was killed left in the server's memory
            sweep(graph)
    add_stored(subjects, selection, graph, embedder, layout)
    for part in _parts(one for subject in each for one in asked(subject, selection)):
        _add(part, graph, embedder)


def _parts(every: Iterable[Asked]) -> Iterator[list[Asked]]:
    """Pairs in parts of at most MOST_TRIPLES; those that fail or have an empty side are done with here."""
    part: list[Asked] = []
    size = 0
    for one in every:
        given, context = one.sides
        failure = given.failure or context.failure
        if failure is not None or not given.triples or not context.triples:
            empty = None if failure else "context" if given.triples else "input"
            _put(one, Pair(triples=len(given.triples), failure=failure, empty=empty))  # type: ignore[arg-type]
            continue
        if part and size + len(given.triples) + len(context.triples) > MOST_TRIPLES:
            yield part
            part, size = [], 0
        part.append(one)
        size += len(given.triples) + len(context.triples)
    if part:
        yield part


def _put(one: Asked, found: Pair) -> None:
    one.subject.facts.pairs[matching_fact(one.pair)] = found


def _add(part: Sequence[Asked], graph: Graph, embedder: Embedder) -> None:
    """The pairs of one part. A failed embedding is the failure of all of them, a failed query that of the pairs that it was for."""
    try:
        works = join_all(part, embedder)
    except ModelError as cause:
        for one in part:
            _put(one, Pair(failure=Failure("embedding_error", first_line(cause))))
        return
    match(works, graph)
    split([work for work in works if work.asked.communities and work.failure is None], graph)
    for work in works:
        columns = tuple(zip(*work.runs, strict=True)) or ((), (), ())
        counts = replace(work.found, by_entity=columns[0], by_community=columns[1], modularity=columns[2])
        _put(work.asked, counts if work.failure is None else Pair(failure=work.failure))


def join_all(part: Sequence[Asked], embedder: Embedder) -> list[Work]:
    """The graphs of pairs that have both sides, and their matched triples where they are wanted. Each name is embedded once."""
    sides = [tuple(side_of(triples.triples) for triples in one.sides) for one in part]
    texts = [side.names for both in sides for side in both]
    texts += [side.relations for one, both in zip(part, sides, strict=True) if one.relations for side in both]
    place = {text: at for at, text in enumerate(dict.fromkeys(text for group in texts for text in group))}
    vectors = embedder.embed(list(place))

    def rows(names: tuple[str, ...]) -> np.ndarray:
        return vectors[[place[name] for name in names]]

    works = []
    for one, (given, context) in zip(part, sides, strict=True):
        settings = one.subject.settings
        joined = join(given, context, (rows(given.names), rows(context.names)), settings.tau)
        matched = triples_matched(joined, (rows(given.relations), rows(context.relations)), settings) if one.relations else 0
        works.append(Work(one, joined, Pair(
            entities=len(given.names), context_entities=len(context.names), triples=len(given.heads), triples_matched=matched,
        )))
    return works


def match(works: Sequence[Work], graph: Graph) -> None:
    """Counts matched input entities: one Dijkstra for all pairs [D Algorithm 2, eq. 1]."""
    if not works:
        return
    settings = works[0].asked.subject.settings
    for work, costs in zip(works, costs_of([work.graph for work in works], settings, graph), strict=True):
        if isinstance(costs, Failure):
            work.failure = costs
        else:
            work.found = replace(work.found, matched=int((costs <= settings.delta + TOLERANCE).sum()))


def split(works: Sequence[Work], graph: Graph) -> None:
    """Adds to each pair its scores of R partitions [D eq. 2, Algorithm 3], in the order of the runs."""
    if not works:
        return
    settings = works[0].asked.subject.settings
    every = [(work, run) for run in range(settings.runs) for work in works]
    most = 1 if settings.community == "louvain" else MOST_EDGES
    spans = list(spans_of([work.graph.size for work, _ in every], most))
    calls = (partial(_scores, every[first:last], settings, graph) for first, last in spans)
    for (first, last), found in zip(spans, gds.two_at_a_time(calls), strict=True):
        for at, (work, _) in enumerate(every[first:last]):
            if isinstance(found, Failure):
                work.failure = found
            else:
                work.runs.append(found[at])


def _scores(part: Sequence[tuple[Work, int]], settings: Settings, graph: Graph) -> list[tuple[float, float, float]] | Failure:
    """By entity, by community and modularity of each pair in its run. Pairs that failed in an earlier run are not tried again."""
    failures = [work.failure for work, _ in part if work.failure is not None]
    if len(failures) == len(part):
        return failures[0]
    found = tried(partial(partitioned, [work.graph for work, _ in part], [run for _, run in part], settings, graph))
    if isinstance(found, Failure):
        return found
    scores = found[1]
    return list(zip(scores.by_entity.tolist(), scores.by_community.tolist(), scores.modularity.tolist(), strict=True))


def partitioned(pairs: Sequence[PairGraph], runs: Sequence[int], settings: Settings, graph: Graph) -> tuple[np.ndarray, Overlap]:
    """A community for each node of the pairs side by side, and what follows from it."""
    import numpy as np

    several = beside(pairs, runs, settings)
    edges, nodes = several.edges, len(several.group)
    heavy = len(np.unique(several.group[edges.source[edges.value > 0]]))
    if heavy:
        arrays = gds.Arrays(edges.source, edges.target, edges.value)
        community = gds.communities(graph, arrays, nodes, graphs=heavy, algorithm=settings.community, seed=settings.seed)
    else:
        community = np.arange(nodes)
    return community, overlap(several, community)
