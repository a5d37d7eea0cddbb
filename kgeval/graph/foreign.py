"""Runs Cypher that kgeval did not write, as a read: planned first, so that a caller can refuse it, then run under limits.

The server refuses writes (READ access) and stops the query at its time limit; rows beyond a number are not fetched. Values come back
as plain tuples that can be compared and hashed, whatever the driver's classes are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kgeval.errors import QueryError, first_line
from kgeval.graph.connect import Graph
from kgeval.graph.failures import refuse_if_over
from kgeval.graph.sessions import marks, reading, stopping

if TYPE_CHECKING:
    import neo4j

# (kind, content): null, bool, int, float, text, bytes, list, map, node, relation, path, point, or a temporal type by its name
Cell = tuple[str, Any]
SCALARS = {"null": type(None), "bool": bool, "int": int, "float": float, "text": str}  # a bool is an int, too: it comes first
DEEPEST = 100  # lists and maps in lists and maps
MOST_CONTENT = 20_000_000  # characters and values of a result


class Unreadable(QueryError):
    """The query ran, but the driver cannot make something of its result (a year 99,999), or lost it in the middle."""


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
    import neo4j

    refuse_if_over()
    with graph._session(reading, limit=timeout) as session:
        summary = session.run(neo4j.Query(f"EXPLAIN {query}", metadata=marks(), timeout=timeout)).consume()
    plan: Any = summary.plan or {}
    return QueryPlan(summary.query_type or "", tuple(_operators(plan)))


def run_foreign(graph: Graph, query: str, *, timeout: float, rows: int) -> QueryResult:
    """The result of a query in a READ transaction of its own, at most `rows` rows and MOST_CONTENT of it. Not retried.

    Raises: QueryTimeout at the time limit (seconds), QueryError with the server's words, Unreadable, ConnectionLost.
    """
    with _reading(graph, timeout) as tx:
        result = tx.run(query)
        columns = tuple(result.keys())
        fetched: list[tuple[Cell, ...]] = []
        content = 0
        for record in result:
            if len(fetched) == rows or content > MOST_CONTENT:
                return QueryResult(columns, tuple(fetched), cut=True)
            fetched.append(tuple(plain(value) for value in record.values()))
            content += sum(map(_size, fetched[-1]))
    return QueryResult(columns, tuple(fetched), cut=content > MOST_CONTENT)


def _size(cell: Cell) -> int:
    kind, content = cell
    if kind == "map":
        return 1 + sum(len(key) + _size(part) for key, part in content)
    if kind in ("list", "path", "point"):
        return 1 + sum(map(_size, content))
    return 1 + (len(content) if isinstance(content, str | bytes) else 0)


@contextmanager
def _reading(graph: Graph, timeout: float) -> Iterator[neo4j.Transaction]:
    """A READ transaction that is always rolled back: what is left of a long result is thrown away by the server."""
    from neo4j.exceptions import DriverError, ServiceUnavailable, SessionExpired

    refuse_if_over()
    with graph._session(reading, limit=timeout, fetch_size=200) as session:
        tx = session.begin_transaction(metadata=marks(), timeout=timeout)
        try:
            with stopping(graph._driver, graph.info.database, session):  # before `close`, which waits for the query
                yield tx
        # these are DriverErrors too, but say nothing of the result: `translated` says that the server is gone
        except (ServiceUnavailable, SessionExpired):
            raise
        except DriverError as cause:
            raise Unreadable(f"the driver cannot read its result: {first_line(cause)}", fix="return other values") from cause
        finally:
            tx.close()


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
