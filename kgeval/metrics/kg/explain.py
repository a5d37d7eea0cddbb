"""One pair explained: its SIMILAR edges, the cheapest path of each input entity, and the communities of its first partition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import kgeval.graph.pairs as gds
from kgeval.graph.connect import Graph
from kgeval.metrics.kg.batch import join_all, partitioned
from kgeval.metrics.kg.costs import several_ways
from kgeval.metrics.kg.shape import TOLERANCE, PairGraph, similar_cost
from kgeval.metrics.kg.sides import PairRequest, community_fact, matching_fact

if TYPE_CHECKING:
    from kgeval.llm.embed import Embedder


@dataclass(frozen=True)
class Node:
    """A node of the pair's graph. `side`: input or context; `kind`: entity or relation."""

    name: str
    side: str
    kind: str


@dataclass(frozen=True)
class CheapestPath:
    """An input entity with its cheapest path to a context entity: nodes in order and the whole cost; none: there is no path."""

    entity: str
    matched: bool
    cost: float | None = None
    nodes: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Explained:
    """A pair's graph and what its scores rest on. `similar`: input entity, context entity, cosine, cost. `communities`: the nodes of
    each, of the partition of run 0, largest first; `shared` says of each whether it has entities of both sides."""

    question_id: str
    system: str
    pair: str
    nodes: tuple[Node, ...]
    graph: PairGraph
    similar: tuple[tuple[str, str, float, float], ...]
    ways: tuple[CheapestPath, ...]
    communities: tuple[tuple[Node, ...], ...]

    @property
    def id(self) -> str:
        """The pair's name in a database."""
        return f"{self.question_id} | {self.system} | {self.pair}"


def explain(request: PairRequest, graph: Graph, embedder: Embedder) -> Explained:
    """A pair whose sides both have triples. Raises: ModelError, QueryError, ConnectError."""
    import numpy as np

    pair = join_all([request], embedder)[0].graph
    settings, nodes = request.settings_for(matching_fact), nodes_of(pair)
    edges, ends = several_ways([pair], np.zeros(1, dtype=np.int64), settings)
    arrays = gds.Arrays(edges.source, edges.target, edges.value)
    paths = gds.nearest_paths(graph, arrays, ends, pair.nodes)
    community, _ = partitioned([pair], [0], request.settings_for(community_fact), graph)
    names, others = pair.input.names, pair.context.names
    similar = [
        (names[a], others[b], float(cosine), float(cost))
        for a, b, cosine, cost in zip(pair.similar_input, pair.similar_context, pair.cosine, similar_cost(pair), strict=True)
    ]
    groups: dict[int, list[Node]] = defaultdict(list)
    for node, number in zip(nodes, community.tolist(), strict=True):
        groups[number].append(node)
    return Explained(
        request.subject.row.question.id, request.subject.row.answer.system, request.pair, nodes, pair, tuple(similar),
        tuple(_cheapest(name, paths.get(place), nodes, settings.delta) for place, name in enumerate(names)),
        tuple(map(tuple, sorted(groups.values(), key=len, reverse=True))),
    )


def nodes_of(pair: PairGraph) -> tuple[Node, ...]:
    """The pair's nodes by their numbers."""
    return (
        *(Node(name, "input", "entity") for name in pair.input.names), *(Node(name, "context", "entity") for name in pair.context.names),
        *(Node(name, "input", "relation") for name in pair.input.relations),
        *(Node(name, "context", "relation") for name in pair.context.relations),
    )


def _cheapest(name: str, path: gds.Path | None, nodes: Sequence[Node], delta: float) -> CheapestPath:
    if path is None:
        return CheapestPath(name, matched=False)
    return CheapestPath(name, path.left[0] <= delta + TOLERANCE, path.left[0], tuple(nodes[number] for number in path.nodes))


def shared(group: Sequence[Node]) -> bool:
    """Whether a community has entities of both sides."""
    return len({node.side for node in group if node.kind == "entity"}) == 2
