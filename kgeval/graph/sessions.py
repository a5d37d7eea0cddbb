"""Sessions whose queries end with the process that asked them: on Ctrl-C the server is told to stop them.

The driver alone does not do that: its clean-up after an interrupt reads the running query to its end first, which may take as long as
the time limit. So an interrupt cuts the connection off, as the driver itself does for a task that is cancelled, and nothing waits for it;
every transaction carries a mark, and the marked ones are ended over another connection.
"""

from __future__ import annotations

import signal
import socket
import struct
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from kgeval.ending import interrupted
from kgeval.graph.processes import abandoned, mark

if TYPE_CHECKING:
    import neo4j

MARK, NAME = "kgeval", "kgeval_name"
TIDYING = "tidying"  # the name of a transaction that cleans up: an interrupt does not end it
SECONDS = 5.0
GRACE = 10.0  # seconds after its time limit within which the server says of a query that it has met it: it looks every two
PATIENCE = 1.0  # seconds that an interrupt waits for a server to end queries; one that hangs is not waited for
RUNNING = (
    "SHOW TRANSACTIONS YIELD transactionId, metaData, currentQuery, elapsedTime WHERE elapsedTime.milliseconds >= $older "
    "RETURN transactionId AS id, metaData AS marks, left(currentQuery, 300) AS query"
)
TERMINATE = "TERMINATE TRANSACTIONS $ids YIELD message RETURN message"
DROP_OWN = (
    "CALL gds.graph.list() YIELD graphName AS name WHERE name STARTS WITH $own "
    "CALL gds.graph.drop(name, false) YIELD graphName RETURN graphName"
)
ENDED = "Transaction terminated."  # the server's word for each that it ended; else it says why not
JUST_NOW = 10.0
_stopped: list[float] = []  # when this process last ended its own queries
_thread = threading.local()  # `over`: of the work that this thread does parts of


def marks(name: str = "") -> dict[str, str]:
    """The metadata of every transaction of this process; `name`: of this one, so that it can be ended alone."""
    return {MARK: mark(), **({NAME: name} if name else {})}


def signed(query: str, name: str) -> str:
    """A query that another client runs for us, with our mark and a name of its own in a comment: its transaction carries none."""
    return f"// {mark()} {name}\n{query}"


def stopped_just_now() -> bool:
    """Whether this process itself ended its queries some seconds ago: then a query that was ended is an interrupt."""
    return bool(_stopped) and time.monotonic() - _stopped[-1] < JUST_NOW


@contextmanager
def part_of_work(over: threading.Event) -> Iterator[None]:
    """Within the block this thread does a part of somebody's work. Once that is over, nobody wants the part any more, and its further
    queries are refused (`failures.refuse_if_over`), save those that clean up."""
    before = _overs()
    _thread.over = (*before, over)
    try:
        yield
    finally:
        _thread.over = before


def work_is_over() -> bool:
    """Whether this thread does a part of work that is over."""
    return any(over.is_set() for over in _overs())


def _overs() -> tuple[threading.Event, ...]:
    return getattr(_thread, "over", ())


@contextmanager
def quiet(
    driver: neo4j.Driver, database: str | None, *, write: bool = False, limit: float | None = None, **config: Any,
) -> Iterator[neo4j.Session]:
    """A session without the server's notifications: there is one for each label or property that a query names and the database lacks,
    and a driver of the caller's own writes them all to its log. An interrupt leaves it cut off, also one that falls into its closing: else
    its connection goes back into the pool in the midst of a message, and whoever gets it next reads the rest of that.

    `limit`: the time limit of its queries in seconds; a connection that is silent for longer than that is taken for broken."""
    import neo4j

    mode = neo4j.WRITE_ACCESS if write else neo4j.READ_ACCESS
    session = driver.session(**{**config, "database": database, "default_access_mode": mode, "notifications_min_severity": "OFF"})
    with cancelled_by_interrupts(), _cutting(session), session, _cutting(session), _hearing(session, mode, limit):
        yield session


@contextmanager
def _hearing(session: neo4j.Session, mode: str, limit: float | None) -> Iterator[None]:
    """Bounds how long the session waits for a word of the server. By itself the driver waits as long as the server asks it to, two
    minutes, within which a server says at least that it lives. The driver has no option for it: in a version to come that lacks the names
    used here, those two minutes stay."""
    try:
        _log_in(session, mode)
        connection: Any = session._connection
        line = connection.socket
        bound: Callable[[float | None], object] = getattr(line, "set_read_timeout", None) or line.settimeout  # of neo4j 6, of neo4j 5
        hints = connection.connection_hints if hasattr(connection, "connection_hints") else connection.configuration_hints
    except AttributeError:
        yield
        return
    asked = hints.get("connection.recv_timeout_seconds")
    silence = min((seconds for seconds in (asked, limit and limit + GRACE) if seconds), default=None)
    _keep_alive(getattr(line, "_socket", None))
    bound(silence)
    try:
        yield
    finally:
        if silence != asked:
            bound(asked)  # the connection goes back into a pool that may be the caller's


def _log_in(session: neo4j.Session, mode: str) -> None:
    """Connects. A secret that the server refuses, and for which there is another one by now, is worth a second try: nothing was asked yet.
    The driver tells its manager of secrets only what an open connection meets. Raises: what the driver does; AttributeError as `_hearing`
    has it."""
    from neo4j.exceptions import AuthError

    manager = session._pool.pool_config.auth
    auth = manager.get_auth()
    try:
        session._connect(mode)  # type: ignore[no-untyped-call]
    except AuthError as cause:
        if not cause.is_retryable() and not manager.handle_security_exception(auth, cause):
            raise
        session._connect(mode)  # type: ignore[no-untyped-call]


def _keep_alive(line: Any) -> None:
    """Has the system notice within a minute that the other end of a connection is gone, or that a balancer forgot it. Linux's names."""
    for option, value in (("TCP_KEEPIDLE", 20), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        if hasattr(line, "setsockopt") and hasattr(socket, option):
            with suppress(OSError):
                line.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


class _Open:
    """Stands for a block of the main thread in which Ctrl-C is to reach the driver; gone with the block's frame at the latest."""


_open: weakref.WeakSet[_Open] = weakref.WeakSet()


@contextmanager
def cancelled_by_interrupts() -> Iterator[None]:
    """Ctrl-C reaches the driver as the end of a task that nobody waits for any more. Wherever it is, it knows what to do then: it kills the
    connection. Of a KeyboardInterrupt it knows nothing, and may go on to read half of a message. Where Ctrl-C is handled by somebody
    else (asyncio, a program of the caller's, kgeval's own command line), it stays as it is."""
    begun = _Open()
    try:
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) in (signal.default_int_handler, _cancel):
            _open.add(begun)
            _handle_with(_cancel)
        yield
    except _cancellation() as cause:
        raise KeyboardInterrupt().with_traceback(cause.__traceback__) from None
    finally:
        _open.discard(begun)
        if not _open and signal.getsignal(signal.SIGINT) is _cancel:
            _handle_with(signal.default_int_handler)


def _handle_with(handler: Callable[..., object]) -> None:
    with suppress(ValueError):  # only the main thread may; a stream that nobody closed may be ended by another one
        signal.signal(signal.SIGINT, handler)


def _cancel(*_: object) -> None:
    """The handler; runs in the main thread. Where no block is open any more, it was left behind."""
    if _open:
        raise _cancellation()
    _handle_with(signal.default_int_handler)
    raise KeyboardInterrupt


@cache
def _cancellation() -> type[KeyboardInterrupt]:
    """What is both, an interrupt and the end of a task. Code that works on the rows of an open stream may get this class itself: Python
    prints it as KeyboardInterrupt."""
    from asyncio import CancelledError  # loaded with the driver, not before

    return type("KeyboardInterrupt", (KeyboardInterrupt, CancelledError), {"__module__": "builtins"})


@contextmanager
def _cutting(session: neo4j.Session, then: Callable[[], object] | None = None) -> Iterator[None]:
    """On Ctrl-C, cuts the session off. What leaves is a KeyboardInterrupt and nothing else: the driver stumbles over what it was told (its
    transactions lack the method that they call then)."""
    before = sys.exception()
    try:
        yield
    except BaseException as cause:
        if interrupted(cause, before):
            cut(session)
            if then is not None:
                then()
            if type(cause) not in (KeyboardInterrupt, GeneratorExit):
                raise KeyboardInterrupt().with_traceback(cause.__traceback__) from None
        raise


@contextmanager
def reading(
    driver: neo4j.Driver, database: str | None, *, limit: float | None = None, **config: Any,
) -> Iterator[neo4j.Session]:
    """A READ session; the server refuses writes. An interrupt inside the block stops this process's queries on the server."""
    with quiet(driver, database, limit=limit, **config) as session, stopping(driver, database, session):
        yield session


@contextmanager
def writing(driver: neo4j.Driver, database: str | None, *, limit: float | None = None) -> Iterator[neo4j.Session]:
    """A session that may write: for importers, builders and `score --write-back` only. Interrupts as `reading`."""
    with quiet(driver, database, write=True, limit=limit) as session, stopping(driver, database, session):
        yield session


def stopping(driver: neo4j.Driver, database: str | None, session: neo4j.Session) -> AbstractContextManager[None]:
    """On Ctrl-C, cuts the session off and ends this process's transactions on the server before whatever is around it cleans up. So too for
    who iterates: the interrupt meets who works on the rows, and the iterator is then closed from outside."""
    return _cutting(session, lambda: stop(driver, database))


@contextmanager
def ending(driver: neo4j.Driver, database: str | None, name: str, session: neo4j.Session) -> Iterator[None]:
    """As `stopping`, for a stream of rows, whose transaction has this name: who needs no more rows closes it before its end, and its query
    is ended on the server in any case, else the session would have the server make all its rows; where that is not told to have been done,
    the connection goes, and the query with it."""
    before = sys.exception()
    try:
        with stopping(driver, database, session):
            yield
    except GeneratorExit as cause:
        if not interrupted(cause, before) and not stop_signed(driver, database, name):
            cut(session)
        raise


def cut(session: neo4j.Session) -> None:
    """Closes the session's connection without a word to the server, and so without waiting for it. May be called twice."""
    from asyncio import CancelledError  # what the driver takes for the end of a task that nobody waits for any more

    with suppress(*after_an_interrupt()):
        session.__exit__(CancelledError, CancelledError(), None)  # type: ignore[no-untyped-call]


def after_an_interrupt() -> tuple[type[Exception], ...]:
    """What the driver's clean-up after an interrupt may raise: that the query was ended, or that half of a message cannot be read."""
    from neo4j.exceptions import DriverError, Neo4jError

    return Neo4jError, DriverError, BufferError, ValueError, TypeError, LookupError, OSError, AssertionError, struct.error


def stop(driver: neo4j.Driver, database: str | None, *, older: float = 0.0) -> int:
    """Ends the transactions of this process (those that have run for `older` seconds). How many; 0 also where the server does not let its
    user do so, or does not answer within a second: then it goes on being asked, by a thread that nobody waits for."""
    own = mark()
    _stopped[:] = [time.monotonic()]
    ended: list[int] = []
    _ask(lambda: ended.append(_terminate(driver, database, lambda name: name == own, older=older))).join(PATIENCE)
    return sum(ended)


def drop_own(driver: neo4j.Driver, database: str | None, *, patience: float = PATIENCE) -> None:
    """Drops what this process has projected into GDS, after `stop`: a projection that was being made when its connection was cut off
    may stand only after who made it has dropped it. Waits for such queries to end, for so many seconds at most; 0: for nothing."""
    from neo4j import Query

    until, own = time.monotonic() + patience, mark()

    def drop() -> None:
        with suppress(*after_an_interrupt()), quiet(driver, database, limit=SECONDS) as session:
            while True:
                running = time.monotonic() < until and _running(session, lambda owner: owner == own)
                session.run(Query(DROP_OWN, metadata=marks(TIDYING), timeout=SECONDS), own=f"{own}_").consume()
                if not running:
                    return
                time.sleep(0.05)

    _ask(drop).join(patience)


def _ask(work: Callable[[], object]) -> threading.Thread:
    """Begins to ask the server, on a thread of its own: it may not answer."""
    asking = threading.Thread(target=work, name="kgeval-stop", daemon=True)
    asking.start()
    return asking


def stop_signed(driver: neo4j.Driver, database: str | None, name: str) -> int:
    """Ends what runs under this name, as `signed` gave it. How many."""
    return _terminate(driver, database, lambda own: own == mark(), name)


def left_behind(rows: Iterable[Mapping[str, Any]]) -> bool:
    """Whether some of these transactions (rows of RUNNING) are of kgeval processes of this machine that were killed."""
    return any(abandoned(_owner(row)[0]) for row in rows)


def sweep_transactions(driver: neo4j.Driver, database: str | None) -> int:
    """Ends transactions of kgeval processes of this machine that were killed. How many."""
    return _terminate(driver, database, abandoned)


def _terminate(
    driver: neo4j.Driver, database: str | None, ours: Callable[[str], bool], name: str | None = None, *, older: float = 0.0,
) -> int:
    """Ends the transactions whose mark is ours (and which carry this name). How many the server says it ended."""
    from neo4j.exceptions import DriverError, Neo4jError

    for _ in range(2):
        try:
            with quiet(driver, database, limit=SECONDS) as session:
                ids = [transaction_id for transaction_id, own in _running(session, ours, older=older) if name in (None, own)]
                if not ids:
                    return 0
                return [row["message"] for row in session.run(_limited(TERMINATE), ids=ids).data()].count(ENDED)
        except (DriverError, Neo4jError, OSError):
            return 0
        except after_an_interrupt():
            pass  # the pool gave the connection that the interrupt had left in the midst of a message; it has others
    return 0


def _running(session: neo4j.Session, ours: Callable[[str], bool], *, older: float = 0.0) -> list[tuple[str, str]]:
    """The transactions whose mark is ours, save those that clean up: id and name."""
    rows = session.run(_limited(RUNNING), older=int(older * 1000)).data()
    owners = [(row["id"], *_owner(row)) for row in rows]
    return [(transaction_id, name) for transaction_id, owner, name in owners if ours(owner) and name != TIDYING]


def _owner(row: Mapping[str, Any]) -> tuple[str, str]:
    """The mark of a transaction, and its name if it is signed; empty where it has none."""
    if own := (row["marks"] or {}).get(MARK):
        return str(own), str(row["marks"].get(NAME) or "")
    first = str(row.get("query") or "").partition("\n")[0].split()
    return (first[1], first[2]) if len(first) == 3 and first[0] == "//" else ("", "")


def _limited(text: str) -> neo4j.Query:
    import neo4j

    return neo4j.Query(text, timeout=SECONDS)
