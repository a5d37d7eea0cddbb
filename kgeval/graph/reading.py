"""A driver for graphdatascience that reads only: every session is READ, every query has the time limit.

The client sends some procedure calls in WRITE mode although they write nothing. Through this driver the server refuses
whatever would write, and on a cluster the whole audit stays on one kind of member.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import neo4j

from kgeval.ending import interrupted
from kgeval.errors import QueryError
from kgeval.graph.failures import refuse_if_over
from kgeval.graph.pace import Pace
from kgeval.graph.sessions import marks, reading


def limited(query: str | neo4j.Query, timeout: float | None) -> neo4j.Query:
    """The query with the time limit and our mark, its metadata kept."""
    if isinstance(query, neo4j.Query):
        return neo4j.Query(query.text, metadata={**(query.metadata or {}), **marks()}, timeout=timeout)
    return neo4j.Query(query, metadata=marks(), timeout=timeout)


class ReadingSession:
    """A session whose queries carry the driver's time limit (seconds; None = none) and our mark."""

    def __init__(self, inner: neo4j.Session, timeout: float | None) -> None:
        self._inner = inner
        self._timeout = timeout

    def run(self, query: str | neo4j.Query, parameters: dict[str, Any] | None = None, **more: Any) -> neo4j.Result:
        """Runs one query with the time limit."""
        return self._inner.run(limited(query, self._timeout), parameters, **more)

    def begin_transaction(self, metadata: dict[str, Any] | None = None, timeout: float | None = None) -> neo4j.Transaction:
        """A READ transaction with the time limit (the shorter one, where another is asked for) and our mark."""
        limits = [limit for limit in (timeout, self._timeout) if limit is not None]
        return self._inner.begin_transaction(metadata={**(metadata or {}), **marks()}, timeout=min(limits, default=None))

    def execute_write(self, *_: Any, **__: Any) -> Any:
        """Refused: the driver would route it WRITE, whatever the session is."""
        fix = "this is a fault in kgeval or its GDS client; please report it"
        raise QueryError("a connection that only reads was asked to write", fix=fix)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class ReadingDriver(neo4j.Driver):
    """Hands out READ sessions of another driver. `timeout`: seconds for each query. `renew` is called when an interrupt has left a
    session: the inner driver's connections are not to be asked again. `pace`: what is between queries."""

    def __init__(
        self, inner: neo4j.Driver, renew: Callable[[], object], timeout: float | None, pace: Pace | None = None,
    ) -> None:
        self._pool = inner._pool  # the client asks whether the connection is encrypted
        self.inner = inner
        self._renew = renew
        self.timeout = timeout
        self._pace = pace or Pace()
        self._closed = True  # the inner driver is closed by its owner

    @contextmanager
    def session(self, **config: Any) -> Iterator[Any]:  # type: ignore[override]
        """A READ session, whatever mode was asked for; for a `with` only."""
        refuse_if_over()
        self._pace.wait()
        before = sys.exception()
        try:
            with reading(self.inner, config.pop("database", None), limit=self.timeout, **config) as inner:
                yield ReadingSession(inner, self.timeout)
        except BaseException as cause:
            if interrupted(cause, before):
                self._renew()
            raise
        finally:
            self._pace.end()

    def execute_query(  # type: ignore[override]
        self, query_: Any, parameters_: dict[str, Any] | None = None, *, database_: str | None = None,
        result_transformer_: Callable[[neo4j.Result], Any] = neo4j.Result.to_eager_result, **more: Any,
    ) -> Any:
        """One READ query, whatever routing was asked for; not asked again, for it may make a projection. `more`: the client's bookmark
        manager; its routing is left out."""
        with self.session(database=database_, bookmark_manager=more.get("bookmark_manager_")) as session:
            return result_transformer_(session.run(query_, parameters_))

    def verify_connectivity(self, **config: Any) -> None:
        """Nothing: the client asks before each query, one message more to a server that may be far away; the query itself tells."""

    def close(self) -> None:
        """Nothing: the inner driver is closed by its owner."""
