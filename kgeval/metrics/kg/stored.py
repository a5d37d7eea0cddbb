"""An answer's entities against the stored graph: [D eq. 1] with the entities of the graph as the context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgeval.errors import ConnectError, ModelError, QueryError, first_line
from kgeval.graph.connect import Graph
from kgeval.graph.failures import ConnectionLost
from kgeval.graph.queries import all_queries
from kgeval.llm.calls import Failure
from kgeval.metrics.definition import Settings, Subject
from kgeval.metrics.facts import Stored
from kgeval.metrics.kg.costs import costs_of
from kgeval.metrics.kg.shape import CELLS, DECIMALS, TOLERANCE, PairGraph, Side, side_of
from kgeval.metrics.kg.sides import NO_LAYOUT, STORED
from kgeval.metrics.stored.names import READ_ONCE
from kgeval.text.names import normalise

if TYPE_CHECKING:
    import numpy as np

    from kgeval.llm.embed import Embedder
    from kgeval.metrics.select import Selection
    from kgeval.records import Layout

BLOCK = 2_048
MOST_NAMES = 200_000  # names of the graph that are embedded; beyond, equal normalised names alone count


@dataclass
class Nearest:
    """For each name the entity of the graph that is nearest to it so far: its cosine (-1: none) and element id."""

    cosine: np.ndarray
    element_id: list[str]
    exact: np.ndarray
    by_embedding: bool = True


def add_stored(subjects: Sequence[Subject], selection: Selection, graph: Graph, embedder: Embedder, layout: Layout | None) -> None:
    """Fills `facts.stored` for the rows that want it: the names of the graph are read once, as a stream, for all of them.

    Raises: ConnectionLost.
    """
    wanting = [subject for subject in subjects if STORED in selection.facts_of(subject.row)]
    for subject in wanting:
        triples = subject.facts.triples["triples:answer"]
        subject.facts.stored = Stored(failure=NO_LAYOUT if layout is None else triples.failure)
    wanting = [subject for subject in wanting if subject.facts.stored == Stored() and subject.facts.triples["triples:answer"].triples]
    if not wanting or layout is None:
        return
    try:
        _add(wanting, graph, embedder, layout)
    except (ModelError, ConnectError, QueryError) as cause:
        if isinstance(cause, ConnectionLost):
            raise
        failure = Failure("embedding_error" if isinstance(cause, ModelError) else "graph_error", first_line(cause))
        for subject in wanting:
            subject.facts.stored = Stored(failure=failure)


def _add(subjects: Sequence[Subject], graph: Graph, embedder: Embedder, layout: Layout) -> None:
    import numpy as np

    sides = [side_of(subject.facts.triples["triples:answer"].triples) for subject in subjects]
    names = list(dict.fromkeys(name for side in sides for name in side.names))
    place = {name: at for at, name in enumerate(names)}
    found = nearest(names, graph, embedder, layout)
    graphs = [_against(side, [place[name] for name in side.names], found, subjects[0].settings) for side in sides]
    for subject, side, one, costs in zip(subjects, sides, graphs, costs_of(graphs, subjects[0].settings, graph), strict=True):
        if isinstance(costs, Failure):
            subject.facts.stored = Stored(failure=costs)
            continue
        places = np.array([place[name] for name in side.names])
        matched = int((costs <= subject.settings.delta + TOLERANCE).sum())
        subject.facts.stored = Stored(
            entities=len(side.names), matched=matched, exact=int(found.exact[places].sum()), by_embedding=found.by_embedding,
            element_ids=tuple(dict.fromkeys(found.element_id[at] for at in places[one.similar_input])),
        )


def _against(side: Side, places: list[int], found: Nearest, settings: Settings) -> PairGraph:
    """The answer's graph with one SIMILAR edge for each entity that has one: to the nearest entity of the graph. Further ones could
    not make a path cheaper."""
    import numpy as np

    cosine = found.cosine[places]
    near = np.flatnonzero(cosine >= settings.tau)
    nobody = np.zeros(0, dtype=np.int64)
    context = Side(tuple(found.element_id[places[at]] for at in near), (), nobody, nobody)
    return PairGraph(side, context, near, np.arange(len(near)), cosine[near])


def nearest(names: Sequence[str], graph: Graph, embedder: Embedder, layout: Layout) -> Nearest:
    """The entity of the graph nearest to each name: one with the same normalised name or alias (cosine 1), else by embedding.

    Raises: QueryError, ConnectionLost, ModelError.
    """
    import numpy as np

    found = Nearest(np.full(len(names), -1.0), [""] * len(names), np.zeros(len(names), dtype=bool))
    forms: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        if form := normalise(name):
            forms.setdefault(form, []).append(at)
    known: list[tuple[str, str]] = []  # element id and name, as long as there are few enough to embed
    for row in graph.stream(all_queries()["gold-names"], {"layout": layout.model_dump()}, timeout=READ_ONCE):
        for form in {normalise(text) for text in (row["name"], *row["aliases"])}:
            _exact(found, forms.get(form, ()), row["element_id"])
        if len(known) <= MOST_NAMES:
            known.append((row["element_id"], row["name"]))
    if len(known) > MOST_NAMES:
        found.by_embedding = False
        return found
    vectors = embedder.embed(names)
    block = min(BLOCK, max(1, CELLS // len(names)))
    for start in range(0, len(known), block):
        _embedded(found, vectors, known[start : start + block], embedder)
    return found


def _exact(found: Nearest, places: Sequence[int], element_id: str) -> None:
    """Of several with the name the first by element id, whatever order they come in."""
    for at in places:
        if not found.exact[at] or element_id < found.element_id[at]:
            found.exact[at], found.cosine[at], found.element_id[at] = True, 1.0, element_id


def _embedded(found: Nearest, vectors: np.ndarray, block: Sequence[tuple[str, str]], embedder: Embedder) -> None:
    import numpy as np

    cosines = np.round(np.minimum(vectors @ embedder.embed([name for _, name in block]).T, 1.0).astype(np.float64), DECIMALS)
    best = cosines.argmax(axis=1)
    for at in np.flatnonzero((cosines[np.arange(len(best)), best] > found.cosine) & ~found.exact).tolist():
        found.cosine[at], found.element_id[at] = cosines[at, best[at]], block[int(best[at])][0]
