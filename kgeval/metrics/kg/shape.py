"""The graph of one pair of texts as arrays [D Algorithm 1]: entities of the input and of the context, relations, and SIMILAR edges. Pure.

Nodes are numbered: input entities, context entities, input relations, context relations. Every occurrence of a relation is a node of
its own; an entity is one node a side, by its exact name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgeval.metrics.definition import MetricSettings
from kgeval.records import Triple

if TYPE_CHECKING:
    import numpy as np

CELLS = 4_000_000  # cosines that are held at a time
DECIMALS = 6  # of a cosine: the last bits depend on what else is multiplied beside it
TOLERANCE = 1e-9  # of a sum of costs: 0.1 + 0.1 + 0.3 must count as 0.5


@dataclass(frozen=True)
class TripleSide:
    """One side's triples: `names` of entities, `relations` of triples, and per triple the places of head and tail in `names`."""

    names: tuple[str, ...]
    relations: tuple[str, ...]
    heads: np.ndarray
    tails: np.ndarray


@dataclass(frozen=True)
class PairGraph:
    """Both sides and the SIMILAR edges between them: places in the sides' names, and cosines (at most 1, 6 decimals)."""

    input: TripleSide
    context: TripleSide
    similar_input: np.ndarray
    similar_context: np.ndarray
    cosine: np.ndarray

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.input.names) + len(self.context.names) + len(self.input.heads) + len(self.context.heads)

    @property
    def size(self) -> int:
        """How many edges there are."""
        return 2 * (len(self.input.heads) + len(self.context.heads)) + len(self.cosine)


@dataclass(frozen=True)
class Edges:
    """Edges by node numbers, with a cost or a weight each."""

    source: np.ndarray
    target: np.ndarray
    value: np.ndarray


def side_of(triples: Sequence[Triple]) -> TripleSide:
    """The triples of one side; names as they are."""
    import numpy as np

    place: dict[str, int] = {}
    heads = np.fromiter((place.setdefault(t.subject, len(place)) for t in triples), dtype=np.int64, count=len(triples))
    tails = np.fromiter((place.setdefault(t.object, len(place)) for t in triples), dtype=np.int64, count=len(triples))
    return TripleSide(tuple(place), tuple(t.predicate for t in triples), heads, tails)


def join(given: TripleSide, context: TripleSide, vectors: tuple[np.ndarray, np.ndarray], tau: float) -> PairGraph:
    """The pair's graph. `vectors`: of unit length, a row a name, of both sides. Cosines are rounded before they are held against tau."""
    import numpy as np

    rows, columns, values = [], [], []
    # the whole table of cosines of two long contexts would not fit into memory
    block = max(1, CELLS // len(vectors[1]))
    for start in range(0, len(vectors[0]), block):
        cosines = np.round(np.minimum(vectors[0][start : start + block] @ vectors[1].T, 1.0).astype(np.float64), DECIMALS)
        row, column = np.nonzero(cosines >= tau)
        rows.append(row + start)
        columns.append(column)
        values.append(cosines[row, column])
    return PairGraph(given, context, np.concatenate(rows), np.concatenate(columns), np.concatenate(values))


def links(pair: PairGraph, settings: MetricSettings) -> Edges:
    """All edges with their weights, for communities; each once, undirected."""
    import numpy as np

    first, second = len(pair.input.names), len(pair.input.names) + len(pair.context.names)
    ours = np.arange(second, second + len(pair.input.heads))
    theirs = np.arange(second + len(pair.input.heads), pair.nodes)
    source = [pair.input.heads, ours, pair.context.heads + first, theirs, pair.similar_input]
    target = [ours, pair.input.tails, theirs, pair.context.tails + first, pair.similar_context + first]
    structural = np.full(pair.size - len(pair.cosine), settings.edge_weight)
    return Edges(np.concatenate(source), np.concatenate(target), np.concatenate([structural, pair.cosine]))


def ways(pair: PairGraph, settings: MetricSettings) -> Edges:
    """The edges that a path from an input entity to its first context entity can use, with their costs.

    These are the input's relations and SIMILAR: the first context entity on a path ends it, so no edge of the context matters.
    Undirected: relations both ways, and SIMILAR from input to context all the same (back, it would leave the end of the path).
    """
    import numpy as np

    first, second = len(pair.input.names), len(pair.input.names) + len(pair.context.names)
    relations = np.arange(second, second + len(pair.input.heads))
    source = [pair.input.heads, relations]
    target = [relations, pair.input.tails]
    if settings.undirected:
        source, target = [*source, relations, pair.input.tails], [*target, pair.input.heads, relations]
    structural = np.full(len(relations) * len(source), settings.edge_cost)
    return Edges(
        np.concatenate([*source, pair.similar_input]), np.concatenate([*target, pair.similar_context + first]),
        np.concatenate([structural, similar_cost(pair)]),
    )


def similar_cost(pair: PairGraph) -> np.ndarray:
    """Cost of each SIMILAR edge: 1 - cosine, without the noise that the subtraction adds."""
    import numpy as np

    return np.round(1.0 - pair.cosine, DECIMALS)


def triples_matched(pair: PairGraph, relations: tuple[np.ndarray, np.ndarray], settings: MetricSettings) -> int:
    """Input triples for which one context triple has a SIMILAR head (cost <= delta), a SIMILAR tail, and a relation with a cosine >= tau.

    `relations`: unit vectors, a row a triple, of both sides. Undirected: the context triple may also stand the other way round.
    """
    import numpy as np

    near = np.zeros((len(pair.input.names), len(pair.context.names)), dtype=bool)
    good = similar_cost(pair) <= settings.delta + TOLERANCE
    near[pair.similar_input[good], pair.similar_context[good]] = True
    count, block = 0, max(1, CELLS // len(pair.context.heads))
    for start in range(0, len(pair.input.heads), block):
        heads, tails = near[pair.input.heads[start : start + block]], near[pair.input.tails[start : start + block]]
        both = heads[:, pair.context.heads] & tails[:, pair.context.tails]
        if settings.undirected:
            both |= heads[:, pair.context.tails] & tails[:, pair.context.heads]
        cosines = np.round((relations[0][start : start + block] @ relations[1].T).astype(np.float64), DECIMALS)
        count += int((both & (cosines >= settings.tau)).any(axis=1).sum())
    return count
