"""Whether graph algorithms fit the memory that the user grants them on the server (`--memory-limit`), by GDS's own estimates."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kgeval.errors import QueryError, UsageError
from kgeval.graph.connect import Graph
from kgeval.graph.queries import all_queries

PROJECTION = "projection"
_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt])(?:i?b)?", re.IGNORECASE)


class TooLarge(QueryError):
    """What was asked for may take more memory than the user grants; it was not begun."""


@dataclass(frozen=True)
class MemoryEstimate:
    """What the algorithms of an audit take of the server's heap, in bytes: at most, by step. `limit`: what the user grants, or None."""

    steps: dict[str, int]
    limit: int | None = None

    @property
    def peak(self) -> int:
        """The projection and the largest algorithm on it."""
        return max((self.needed(step) for step in self.steps), default=0)

    def needed(self, step: str) -> int:
        """What a step takes while the projection is there."""
        return self.steps[step] + (self.steps.get(PROJECTION, 0) if step != PROJECTION else 0)

    def refusal(self, step: str) -> str | None:
        """Why a step may not run; None if it may. An unknown step takes what the projection takes."""
        known = step if step in self.steps else PROJECTION
        if self.limit is None or known not in self.steps or self.needed(known) <= self.limit:
            return None
        return f"may take {amount(self.needed(known))} of the server's heap, more than --memory-limit {amount(self.limit)}"


def estimate(graph: Graph, nodes: int, relations: int, *, timeout: float | None = None) -> MemoryEstimate:
    """The estimate for a graph of so many entities and relations; empty where the server has no GDS or algorithms run in a session.

    Raises: QueryError where a limit is set and GDS does not answer: what cannot be told is not tried.
    """
    if graph.info.gds is None or graph.algorithms is not None:
        return MemoryEstimate({}, graph.memory_limit)
    return _asked(graph, "algorithm-memory", {"nodes": nodes, "relations": relations}, timeout)


def check_vectors(graph: Graph, nodes: int, dimension: int, top_k: int, *, timeout: float | None = None) -> None:
    """Raises: TooLarge if so many vectors of so many numbers, and the search for the `top_k` nearest of each, may take more than
    --memory-limit; QueryError where GDS does not answer."""
    if graph.memory_limit is None:
        return
    needs = _asked(graph, "vector-memory", {"nodes": nodes, "dimension": dimension, "top_k": top_k}, timeout)
    for step in needs.steps:
        if refusal := needs.refusal(step):
            what = f"comparing {nodes:,} vectors of {dimension:,} numbers"
            raise TooLarge(f"{what} {refusal}", fix="raise --memory-limit, or --skip the check")


def _asked(graph: Graph, query: str, params: dict[str, int], timeout: float | None) -> MemoryEstimate:
    """The estimate of GDS; empty where it does not answer and no limit is set."""
    try:
        rows = graph.read(all_queries()[query], params, timeout=timeout)
    except QueryError:
        if graph.memory_limit is not None:
            raise
        return MemoryEstimate({})
    steps: dict[str, int] = {}
    for row in rows:
        steps[row["step"]] = max(steps.get(row["step"], 0), row["bytes_max"])
    return MemoryEstimate(steps, graph.memory_limit)


def size_of(text: str) -> int:
    """Bytes of `512m`, `2g`, `1.5GB`. Raises: UsageError."""
    match = _SIZE.fullmatch(text.strip())
    if match is None or not float(match[1]):
        raise UsageError(f"{text!r} is no amount of memory", fix="write a number with k, m, g or t: --memory-limit 2g")
    return int(float(match[1]) * _UNITS[match[2].lower()])


def amount(number: int) -> str:
    """Bytes for people: `1.4 GB`."""
    for unit, name in ((1 << 40, "TB"), (1 << 30, "GB"), (1 << 20, "MB")):
        if number >= unit:
            return f"{number / unit:.3g} {name}"
    return f"{number / 1024:.3g} kB"
