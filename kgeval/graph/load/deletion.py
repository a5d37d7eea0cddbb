"""Deletes a graph of kgeval's own, and only what carries its name: relations first, so that super-nodes fit into a transaction."""

from __future__ import annotations

from collections.abc import Callable

from kgeval.graph.connect import Graph
from kgeval.graph.queries import all_queries

NODES_A_DELETION = 2_000


def delete_nodes(graph: Graph, name: str, ids: list[str], *, batch: int) -> int:
    """Deletes nodes of the graph by element id, at most `batch` relations at a time. Returns the number of nodes."""
    queries = all_queries()
    while graph.write(queries["delete-relations"], {"graph": name, "ids": ids, "most": batch})[0]["deleted"]:
        pass
    return int(graph.write(queries["delete-nodes"], {"graph": name, "ids": ids})[0]["deleted"])


def delete_graph(graph: Graph, name: str, *, batch: int, progress: Callable[[str, int, int], None]) -> int:
    """Deletes all nodes of the graph; merges stay. Returns the number of nodes."""
    ids = [row["element_id"] for row in graph.stream(all_queries()["imported-nodes"], {"graph": name})]
    deleted = 0
    for start in range(0, len(ids), NODES_A_DELETION):
        part = ids[start:start + NODES_A_DELETION]
        deleted += delete_nodes(graph, name, part, batch=batch)
        progress("deleting the old graph", start + len(part), len(ids))
    return deleted


def drop_merges(graph: Graph, ids: list[str], *, batch: int) -> None:
    """Deletes merges by element id."""
    for start in range(0, len(ids), batch):
        graph.write(all_queries()["drop-merges"], {"ids": ids[start:start + batch]})
