"""One graph, read by one layout: the shipped queries by name, each within the time limit; and long lists in batches."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from kgeval.graph.binding import bind_query
from kgeval.graph.connect import Graph, Row
from kgeval.graph.pipelining import ReadRequest
from kgeval.graph.queries import Query, all_queries
from kgeval.records import Layout

T = TypeVar("T")


@dataclass(frozen=True)
class GraphReader:
    """A graph and its bound layout. `timeout`: seconds a query; None: without end.

    Every read raises QueryError, QueryTimeout, ConnectionLost.
    """

    graph: Graph
    layout: Layout
    timeout: float | None = 120.0

    def pool(self) -> dict[str, Any]:
        """What queries may ask for without being given it."""
        return {"layout": self.layout.model_dump()}

    def params(self, query: Query, **more: Any) -> dict[str, Any]:
        """The layout, and the parameters that a query declares, from `more` and the pool."""
        pool = {**self.pool(), **more}
        return {name: pool[name] for name in ("layout", *(p.name for p in query.params)) if name in pool}

    def rows(self, name: str, **more: Any) -> list[Row]:
        """All rows of a shipped query."""
        return self.rows_asked(all_queries()[name], **more)

    def rows_asked(self, query: Query, **more: Any) -> list[Row]:
        """All rows of a query, asked as `ahead` asks it."""
        return self.graph.read(query, self.params(query, **more), timeout=self.timeout)

    def asked(self, query: Query, **more: Any) -> ReadRequest:
        """A shipped query as `Graph.read_ahead` takes it."""
        return ReadRequest(*bind_query(query, self.params(query, **more)))

    def ahead(self, reads: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        """Asks in one message what will be read by `rows` in this block of `Graph.remembering`: names, and what is said besides."""
        self.graph.read_ahead([self.asked(all_queries()[name], **more) for name, more in reads], timeout=self.timeout)

    def stream(self, name: str, **more: Any) -> Generator[Row, None, None]:
        """The rows of a shipped query one by one, in flat memory."""
        query = all_queries()[name]
        yield from self.graph.stream(query, self.params(query, **more), timeout=self.timeout)

    def rows_of(self, name: str, ids: Iterable[str], *, size: int, **more: Any) -> Iterator[Row]:
        """The rows of a shipped query for each of the `ids` (its parameter), each asked once, `size` at a time."""
        for batch in batched(sorted(set(ids)), size):
            yield from self.rows(name, ids=batch, **more)


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of `size`, the last one shorter; nothing is read ahead (itertools.batched, of Python 3.12)."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
