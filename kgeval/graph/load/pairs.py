"""Writes the graph of a pair of texts into Neo4j, to be looked at: labels KgevalPair, KgevalPairEntity, KgevalPairRelation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kgeval.graph.connect import Graph
from kgeval.graph.queries import all_queries

BATCH = 5_000


@dataclass(frozen=True)
class PairRows:
    """A pair's graph as rows. `about`: properties of the pair. `nodes`: properties of entities and relations, `number` and `kind`
    among them. `edges`: HEAD, TAIL (entity-relation by number) and SIMILAR (entity-entity): type, from, to, properties."""

    id: str
    about: dict[str, Any]
    nodes: Sequence[dict[str, Any]]
    edges: Sequence[tuple[str, int, int, dict[str, Any]]]


def write_pair(graph: Graph, rows: PairRows) -> int:
    """Writes the pair; what an earlier run wrote under its id is replaced. Returns how many nodes it has. Names and ids are
    parameters, labels and types are fixed."""
    delete_pair(graph, rows.id)
    graph.write(all_queries()["write-pair"], {"id": rows.id, "about": rows.about})
    for start in range(0, len(rows.nodes), BATCH):
        graph.write(all_queries()["write-pair-nodes"], {"id": rows.id, "rows": list(rows.nodes[start : start + BATCH])})
    for kind in ("HEAD", "TAIL", "SIMILAR"):
        edges = [[first, last, more] for type_, first, last, more in rows.edges if type_ == kind]
        for start in range(0, len(edges), BATCH):
            graph.write(all_queries()[f"write-pair-{kind.lower()}"], {"id": rows.id, "rows": edges[start : start + BATCH]})
    return len(rows.nodes)


def delete_pair(graph: Graph, pair_id: str) -> int:
    """Deletes what was written under a pair's id. Returns how many nodes that were."""
    return int(graph.write(all_queries()["delete-pair"], {"id": pair_id})[0]["deleted"])
