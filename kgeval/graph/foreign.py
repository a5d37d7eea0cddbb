"""Runs Cypher that kgeval did not write, as a read: planned first, so that a caller can refuse it, then run under limits.

The server refuses writes (READ access) and stops the query at its time limit; rows beyond a number are not fetched. Values come back
as plain tuples that can be compared and hashed, whatever the driver's classes are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

from kgeval.errors import QueryError
from kgeval.graph.connect import Graph
from kgeval.graph.failures import ResultTooLarge, translated
from kgeval.graph.pipelining import ReadRequest

# (kind, content): null, bool, int, float, text, bytes, list, map, node, relation, path, point, or a temporal type by its name
Cell = tuple[str, Any]
SCALARS = {"null": type(None), "bool": bool, "int": int, "float": float, "text": str}  # a bool is an int, too: it comes first
DEEPEST = 100  # lists and maps in lists and maps
MOST_CONTENT = 20_000_000  # characters and values of a result
ROWS_AT_FIRST = 100  # that the server sends of a result before anybody knows how large they are
FEWEST_AT_A_TIME, MOST_AT_A_TIME = 10, 5_000


@dataclass(frozen=True)
class Operator:
    """A step of a plan: its name (`LoadCSV`), the database that it is for, and what it says of itself."""

    name: str
    database: str
    details: str


@dataclass(frozen=True)
class QueryPlan:
    """What the server would do. `kind`: r (reads), rw, w, or s (schema, administration), as the server says."""

    kind: str
    operators: tuple[Operator, ...]


@dataclass(frozen=True)
class QueryResult:
    """A result: columns, rows, and whether there was more than was fetched."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    cut: bool = False


def explain(graph: Graph, query: str, *, timeout: float) -> QueryPlan:
    """The plan of a query, which is not run.

    Raises: QueryError with the server's words where it is no Cypher, QueryTimeout, ConnectionLost.
    """
    answer = graph.answer(ReadRequest(f"EXPLAIN {query}"), timeout=timeout)
    return QueryPlan(answer.kind, tuple(_operators(answer.plan)))


def run_foreign(graph: Graph, query: str, *, timeout: float, rows: int) -> QueryResult:
    """The result of a query in a READ transaction of its own, at most `rows` rows and MOST_CONTENT of it.

    Raises: QueryTimeout at the time limit (seconds), QueryError with the server's words, Unreadable, ConnectionLost.
    """
    seen = _Seen()
    try:
        answer = graph.answer(ReadRequest(query, bound=partial(_Room, rows, seen), most_rows=ROWS_AT_FIRST), timeout=timeout)
    except ResultTooLarge:
        return _begin_to_read(graph, query, timeout, rows, at_a_time=seen.rows_that_fit())
    with translated():
        return QueryResult(answer.keys, tuple(_cells(answer.keys, record) for record in answer.records))


def _begin_to_read(graph: Graph, query: str, timeout: float, rows: int, *, at_a_time: int) -> QueryResult:
    """The first rows of a result."""
    with closing(graph.stream(query, timeout=timeout, fetch_size=at_a_time)) as records:
        room, fetched, columns = _Room(rows), list[tuple[Cell, ...]](), tuple[str, ...]()
        for record in records:
            columns = tuple(record)
            fetched.append(tuple(plain(value) for value in record.values()))
            if not room.fits(fetched[-1]):
                return QueryResult(columns, tuple(fetched[:rows]), cut=True)
    return QueryResult(columns, tuple(fetched))


@dataclass
class _Seen:
    """What came of a result before it was given up."""

    rows: int = 0
    content: int = 0

    def rows_that_fit(self) -> int:
        """About how many rows have MOST_CONTENT."""
        fitting = MOST_CONTENT * self.rows // max(self.content, 1)
        return min(max(fitting, FEWEST_AT_A_TIME), MOST_AT_A_TIME)


class _Room:
    """Says of each record in turn whether it still fits: so many rows, and MOST_CONTENT of the ones before it. `seen`: counts them, anew
    for each room."""

    def __init__(self, rows: int, seen: _Seen | None = None) -> None:
        self._most, self._seen = rows, seen or _Seen()
        self._seen.rows = self._seen.content = 0

    def __call__(self, record: Sequence[Any]) -> bool:
        try:
            return self.fits(tuple(plain(value) for value in record))
        except QueryError:  # it is too deep: said where its values are read
            return True

    def fits(self, cells: tuple[Cell, ...]) -> bool:
        seen = self._seen
        fits = seen.rows < self._most and seen.content <= MOST_CONTENT
        seen.rows += 1
        seen.content += sum(map(_size, cells))
        return fits


def _cells(keys: Sequence[str], record: Sequence[Any]) -> tuple[Cell, ...]:
    import neo4j

    return tuple(plain(value) for value in neo4j.Record(zip(keys, record, strict=True)).values())  # type: ignore[no-untyped-call]


def _size(cell: Cell) -> int:
    kind, content = cell
    if kind == "map":
        return 1 + sum(len(key) + _size(part) for key, part in content)
    if kind in ("list", "path", "point"):
        return 1 + sum(map(_size, content))
    return 1 + (len(content) if isinstance(content, str | bytes) else 0)


def _operators(plan: Mapping[str, Any]) -> Iterator[Operator]:
    """All steps of a plan. Not recursive: a plan is as deep as its query has clauses."""
    waiting = [plan] if plan else []
    while waiting:
        step = waiting.pop()
        name, _, database = str(step.get("operatorType", "")).partition("@")
        yield Operator(name, database, str((step.get("args") or {}).get("Details") or ""))
        waiting.extend(step.get("children") or ())


def plain(value: Any, depth: int = 0) -> Cell:
    """A value of the driver as (kind, content), all the way down. Nodes and relations are their element ids; a path is its nodes and
    relations in turn; maps are sorted by key; temporal values are their ISO text under the name of their type.

    Raises: QueryError for a value with more than DEEPEST levels.
    """
    if depth > DEEPEST:
        raise QueryError(f"a value of the result is nested more than {DEEPEST} levels deep", fix="return flat values")
    for kind, types in SCALARS.items():
        if isinstance(value, types):
            return (kind, value)
    if isinstance(value, bytes | bytearray):
        return ("bytes", bytes(value))
    if type(value) is dict:
        return ("map", tuple((key, plain(value[key], depth + 1)) for key in sorted(value)))
    if type(value) is list:
        return ("list", tuple(plain(part, depth + 1) for part in value))
    return _of_the_driver(value)


def _of_the_driver(value: Any) -> Cell:
    from neo4j.graph import Node, Path, Relationship
    from neo4j.spatial import Point

    if isinstance(value, Node):
        return ("node", value.element_id)
    if isinstance(value, Relationship):
        return ("relation", value.element_id)
    if isinstance(value, Path):
        parts = [value.nodes[0], *(part for pair in zip(value.relationships, value.nodes[1:], strict=True) for part in pair)]
        return ("path", tuple(plain(part) for part in parts))
    if isinstance(value, Point):
        return ("point", (("int", value.srid), *(("float", float(number)) for number in value)))
    iso = getattr(value, "iso_format", None)
    return (type(value).__name__, iso() if iso else str(value))
