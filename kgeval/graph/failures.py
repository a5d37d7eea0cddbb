"""What the driver's errors mean here."""

from __future__ import annotations

import errno
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kgeval.ending import interrupted
from kgeval.errors import QueryError, first_line
from kgeval.graph.sessions import after_an_interrupt, stopped_just_now, work_is_over

if TYPE_CHECKING:
    from neo4j.exceptions import Neo4jError


INTERRUPTED = "interrupted: kgeval ended its queries"


class QueryTimeout(QueryError):
    """The server stopped a query at its time limit."""


class QueryEnded(QueryError):
    """Somebody ended the query on the server: an administrator, another program, or Ctrl-C in this one."""


class OutOfMemory(QueryError):
    """The server had too little memory for a query, or grants it too little."""


class ConnectionLost(QueryError):
    """The server went away in the middle; nothing more can be asked."""


class ConnectionBroke(QueryError):
    """The connection broke while the server worked on a query, and the server answers others."""


def transient(cause: QueryError) -> bool:
    """Whether the server refuses a query for now only. Not where it lacks memory: it most likely lacks it the next second too."""
    from neo4j.exceptions import Neo4jError

    return type(cause) is QueryError and isinstance(cause.__cause__, Neo4jError) and cause.__cause__.is_retryable()


def broke(cause: BaseException | None) -> bool:
    """Whether a connection that there was broke: not where none came about, and not where the server answered."""
    from neo4j.exceptions import ServiceUnavailable, SessionExpired

    lost = False
    while cause is not None:
        if isinstance(cause, ConnectionRefusedError | TimeoutError | socket.gaierror):
            return False
        lost |= isinstance(cause, ServiceUnavailable | SessionExpired | OSError)
        cause = cause.__cause__
    return lost


def refuse_if_over() -> None:
    """Before a query is sent, also where the driver sends one again because its connection broke: it would run on, and nobody would wait
    for it. Raises: QueryEnded if this thread does a part of work that is over (`sessions.part_of_work`)."""
    if work_is_over():
        raise QueryEnded(INTERRUPTED, fix="run the command again")


@contextmanager
def translated() -> Iterator[None]:
    """Driver errors become QueryError, QueryTimeout, QueryEnded or ConnectionLost. Ctrl-C stays Ctrl-C."""
    before = sys.exception()
    try:
        yield
    except after_an_interrupt() as cause:
        if interrupted(cause, before):
            raise KeyboardInterrupt from cause
        meaning = _meaning(cause)
        if meaning is None:
            raise
        raise meaning from cause


def _meaning(cause: Exception) -> QueryError | None:
    """What the driver's error means here; None where it has no meaning of ours."""
    from neo4j.exceptions import DriverError, Neo4jError, ServiceUnavailable, SessionExpired

    if isinstance(cause, Neo4jError):
        return _of_server(cause)
    if isinstance(cause, ServiceUnavailable | SessionExpired) or _of_a_line(cause):
        fix = "see whether the server still runs (kgeval server status, kgeval server logs), then run the command again"
        return ConnectionLost(f"the server went away: {first_line(cause)}", fix=fix)
    if isinstance(cause, DriverError):
        fix = "run the command again; kgeval server logs shows the server's side"
        return QueryError(f"the connection broke: {first_line(cause)}", fix=fix)
    return None


def _of_a_line(cause: Exception) -> bool:
    """Whether the system says that a connection broke: the driver lets some such errors through while it connects."""
    broken = (errno.ENOTCONN, errno.ETIMEDOUT, errno.EHOSTUNREACH, errno.ENETUNREACH)
    return isinstance(cause, ConnectionError) or (isinstance(cause, OSError) and cause.errno in broken)


def _of_server(cause: Neo4jError) -> QueryError:
    """What an answer of the server means: ended at a time limit, by somebody or by Ctrl-C, out of memory, or wrong."""
    code, words = cause.code or "", cause.message or ""
    longer = "raise --timeout (or db.transaction.timeout on the server, if that is shorter), or --skip the check"
    if code.endswith("TransactionTimedOut"):
        fix = "raise db.transaction.timeout on the server, or --skip the check"
        return QueryTimeout("stopped at its time limit, that of the server (db.transaction.timeout)", fix=fix)
    if "TransactionTimedOut" in code:  # TransactionTimedOutClientConfiguration: the limit was ours
        return QueryTimeout("stopped at its time limit", fix=longer)
    if code.endswith("DatabaseUnavailable"):  # it answers before its databases do
        return ConnectionLost(f"the database is not there: {words}", fix="see SHOW DATABASES, then run the command again")
    if "Terminated" in code or "TerminatedException" in words:
        if stopped_just_now():
            return QueryEnded(INTERRUPTED, fix="run the command again")
        if "Terminated" in code:
            return QueryEnded(f"somebody ended the query on the server ({cause.message})", fix="run the command again")
        # GDS wraps what ended it into an error of its own and says no more
        return QueryTimeout(f"stopped by the server, most likely at its time limit ({first_line(cause)})", fix=longer)
    # GDS says it in words of its own: of the heap's end, and of an estimate that the free heap does not meet
    if "OutOfMemory" in code or "OutOfMemoryError" in words or "exceeds current free memory" in words:
        fix = "raise db.memory.transaction.max or dbms.memory.transaction.total.max on the server, or --skip the check"
        return OutOfMemory(f"the query takes more memory than the server grants it: {cause.message}", fix=fix)
    return QueryError(f"{code}: {cause.message}", fix="see the server's log")
