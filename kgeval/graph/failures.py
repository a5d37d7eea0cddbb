"""What the driver's errors mean here."""

from __future__ import annotations

import errno
import re
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


# of a connection that was open, or had a first answer to its handshake
SPOKEN = re.compile(r"defunct connection|write data to connection|handshake v2")
INTERRUPTED = "interrupted: kgeval ended its queries"


class QueryTimeout(QueryError):
    """The server stopped a query at its time limit."""


class QueryEnded(QueryError):
    """Somebody ended the query on the server: an administrator, another program, or Ctrl-C in this one."""


class OutOfMemory(QueryError):
    """The server had too little memory for a query, or grants it too little."""


class ResultTooLarge(QueryError):
    """The query runs, and gives more than is read of it."""


class Unreadable(QueryError):
    """The query ran, but the driver cannot make something of its result (a year 99,999)."""


class ConnectionLost(QueryError):
    """The server went away in the middle; nothing more can be asked."""


class ConnectionBroke(QueryError):
    """The connection broke while the server worked on a query, and the server answers others."""


class BreaksConnection(QueryError):
    """The connection breaks, or is silent, whenever this is asked, and the server answers others."""


class ProjectionLost(QueryError):
    """A projection is not there any more: its server was started again."""


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


def is_away(cause: BaseException | None) -> bool:
    """Whether a server that has answered before may be being started again: nothing listens, connections break, its database is not there
    yet."""
    from neo4j.exceptions import Neo4jError, ServiceUnavailable, SessionExpired

    if isinstance(cause, Neo4jError):
        return (cause.code or "").endswith("DatabaseUnavailable")
    return isinstance(cause, ServiceUnavailable | SessionExpired | OSError)


def has_spoken(cause: BaseException | None) -> bool:
    """Whether the connection that broke was one to a server that speaks Bolt. By the driver's words, for its errors say nothing else of it:
    others are taken for those of an address where no Neo4j is."""
    # as the system has it: the driver asks a socket for its other end once the handshake is done. Within another error it may be of TLS
    if isinstance(cause, OSError) and cause.errno == errno.ENOTCONN:
        return True
    while cause is not None:
        if SPOKEN.search(str(cause)):
            return True
        cause = cause.__cause__
    return False


def refuse_if_over() -> None:
    """Before a query is sent, also where the driver sends one again because its connection broke: it would run on, and nobody would wait
    for it. Raises: QueryEnded if this thread does a part of work that is over (`sessions.part_of_work`)."""
    if work_is_over():
        raise QueryEnded(INTERRUPTED, fix="run the command again")


@contextmanager
def translated() -> Iterator[None]:
    """Driver errors become QueryError or one of its kinds. Ctrl-C stays Ctrl-C."""
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
    from neo4j.exceptions import BrokenRecordError, DriverError, Neo4jError, ServiceUnavailable, SessionExpired

    if isinstance(cause, Neo4jError):
        return _of_server(cause)
    if isinstance(cause, ServiceUnavailable | SessionExpired) or _of_a_line(cause):
        fix = "see whether the server still runs (kgeval server status, kgeval server logs), then run the command again"
        return ConnectionLost(f"the server went away: {first_line(cause)}", fix=fix)
    if isinstance(cause, BrokenRecordError):
        return Unreadable(f"the driver cannot read its result: {first_line(cause.__cause__ or cause)}", fix="return other values")
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
    if "GraphNotFoundException" in words or ("Graph with name" in words and "does not exist" in words):
        return ProjectionLost(f"a projection is gone: {words}", fix="run the command again: was the server started anew meanwhile?")
    # GDS says it in words of its own: of the heap's end, and of an estimate that the free heap does not meet
    if "OutOfMemory" in code or "OutOfMemoryError" in words or "exceeds current free memory" in words:
        fix = "raise db.memory.transaction.max or dbms.memory.transaction.total.max on the server, or --skip the check"
        return OutOfMemory(f"the query takes more memory than the server grants it: {cause.message}", fix=fix)
    return QueryError(f"{code}: {cause.message}", fix="see the server's log")
