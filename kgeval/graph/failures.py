"""What the driver's errors mean here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kgeval.errors import QueryError, first_line
from kgeval.graph.sessions import after_an_interrupt, interrupted, stopped_just_now

if TYPE_CHECKING:
    from neo4j.exceptions import Neo4jError


class QueryTimeout(QueryError):
    """The server stopped a query at its time limit."""


class QueryEnded(QueryError):
    """Somebody ended the query on the server: an administrator, another program, or Ctrl-C in this one."""


class ConnectionLost(QueryError):
    """The server went away in the middle; nothing more can be asked."""


@contextmanager
def translated() -> Iterator[None]:
    """Driver errors become QueryError, QueryTimeout, QueryEnded or ConnectionLost. Ctrl-C stays Ctrl-C."""
    try:
        yield
    except after_an_interrupt() as cause:
        if interrupted(cause):
            raise KeyboardInterrupt from cause
        _translate(cause)
        raise


def _translate(cause: Exception) -> None:
    """Raises what the driver's error means here; returns where it has no meaning of ours."""
    from neo4j.exceptions import DriverError, Neo4jError, ServiceUnavailable, SessionExpired

    if isinstance(cause, Neo4jError):
        _ended(cause)
        code = cause.code or ""
        if "OutOfMemory" in code:
            fix = "raise db.memory.transaction.max or dbms.memory.transaction.total.max on the server, or --skip the check"
            raise QueryError(f"the query takes more memory than the server grants it: {cause.message}", fix=fix) from cause
        raise QueryError(f"{code}: {cause.message}", fix="see the server's log") from cause
    if isinstance(cause, ServiceUnavailable | SessionExpired):
        fix = "see whether the server still runs (kgeval server status, kgeval server logs), then run the command again"
        raise ConnectionLost(f"the server went away: {first_line(cause)}", fix=fix) from cause
    if isinstance(cause, DriverError):
        fix = "run the command again; kgeval server logs shows the server's side"
        raise QueryError(f"the connection broke: {first_line(cause)}", fix=fix) from cause


def _ended(cause: Neo4jError) -> None:
    """Raises where the query was ended before its end: at a time limit, by somebody, or by Ctrl-C. Returns where it was not."""
    code, fix = cause.code or "", "raise --timeout (or db.transaction.timeout on the server, if that is shorter), or --skip the check"
    if code.endswith("TransactionTimedOut"):
        fix = "raise db.transaction.timeout on the server, or --skip the check"
        raise QueryTimeout("stopped at its time limit, that of the server (db.transaction.timeout)", fix=fix) from cause
    if "TransactionTimedOut" in code:
        raise QueryTimeout("stopped at its time limit", fix=fix) from cause
    if "Terminated" not in code and "TerminatedException" not in (cause.message or ""):
        return
    if stopped_just_now():
        raise QueryEnded("interrupted: kgeval ended its queries", fix="run the command again") from cause
    if "Terminated" in code:
        raise QueryEnded(f"somebody ended the query on the server ({cause.message})", fix="run the command again") from cause
    # GDS says no more
    raise QueryTimeout(f"stopped by the server, most likely at its time limit ({first_line(cause)})", fix=fix) from cause
