"""An interrupt stays one, whatever the driver's clean-up after it meets; and what ended a query is told as what it was."""

from __future__ import annotations

import signal
import struct
import threading
import time
from asyncio import CancelledError
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from neo4j.exceptions import Neo4jError, ServiceUnavailable
from waiting import LONGEST

from kgeval.auditing.attempts import attempt
from kgeval.errors import QueryError
from kgeval.graph import sessions
from kgeval.graph.connect import Address, Graph
from kgeval.graph.failures import OutOfMemory, QueryEnded, QueryTimeout, translated
from kgeval.graph.pairs import two_at_a_time
from kgeval.graph.processes import mark
from kgeval.graph.reading import ReadingDriver, ReadingSession
from kgeval.graph.sessions import ENDED, MARK, TIDYING, _cutting, marks, quiet, signed, stop, stop_signed

SERVER: Any = SimpleNamespace(database="neo4j", gds=None)


class Broken:
    """A driver whose connection is in the midst of a message: it can be closed with an error only."""

    def __init__(self) -> None:
        self.closed = False

    def session(self, **_: Any) -> Any:
        raise KeyboardInterrupt

    def close(self) -> None:
        self.closed = True
        raise BufferError("Existing exports of data: object cannot be re-sized")


def test_after_an_interrupt_no_connection_of_before_is_asked_again() -> None:
    broken: Any = Broken()
    graph = Graph(broken, SERVER, Address("bolt://127.0.0.1:1", "neo4j", "x", source="test"))
    with pytest.raises(KeyboardInterrupt):
        graph.read("RETURN 1")
    assert (broken.closed, graph._driver is broken) == (False, False)  # another thread may be reading from it
    graph.close()
    assert broken.closed


class Retrying:
    """A driver and its session. The connection breaks in the first query, when the work is over; it asks again, as neo4j's driver does."""

    _pool = None

    def __init__(self, over: threading.Event) -> None:
        self.over, self.sent = over, 0

    def session(self, **_: Any) -> Retrying:
        return self

    def __enter__(self) -> Retrying:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def run(self, *_: Any, **__: Any) -> Any:
        self.sent += 1
        self.over.set()
        raise ServiceUnavailable("the connection broke")

    def execute_read(self, work: Callable[[Any], Any]) -> Any:
        for _ in range(2):
            with suppress(ServiceUnavailable):
                return work(self)
        return []

    execute_write = execute_read


def reading_driver(driver: Any) -> Any:
    return ReadingDriver(driver, lambda: None, 9).execute_query("RETURN 1")


@pytest.mark.parametrize(("ask", "cause"), [
    (lambda driver: Graph(driver, SERVER, None).read("RETURN 1"), QueryEnded),
    (lambda driver: next(Graph(driver, SERVER, None).stream("RETURN 1")), QueryEnded),
    (lambda driver: Graph(driver, SERVER, None).write("RETURN 1"), QueryEnded),
    (reading_driver, ServiceUnavailable),  # it asks nothing twice: GDS may have made a graph
], ids=["read", "stream", "write", "gds"])
def test_a_part_of_work_that_is_over_sends_no_query_again_whose_connection_broke(
    ask: Callable[[Any], Any], cause: type[Exception],
) -> None:
    over = threading.Event()
    driver = Retrying(over)
    with sessions.part_of_work(over), pytest.raises(cause):
        ask(driver)
    assert driver.sent == 1


@pytest.mark.parametrize("given_up", [False, True], ids=["fails", "given-up"])
def test_where_one_of_two_calls_fails_or_nobody_wants_more_no_other_begins_and_no_query_is_ended(given_up: bool) -> None:
    class Unasked:
        def stop(self) -> None:
            raise AssertionError("queries of this process, those of others among them, are not to be ended")

    begun, both, over = list[int](), threading.Barrier(2), list[bool]()

    def call(number: int) -> int:
        begun.append(number)
        both.wait(LONGEST)
        if number == 0 and not given_up:
            raise ZeroDivisionError
        while number == 1 and not sessions.work_is_over():
            time.sleep(0.01)
        over.append(sessions.work_is_over())
        return number

    graph: Any = Unasked()
    results = two_at_a_time(graph, [partial(call, number) for number in (0, 1)] + [partial(begun.append, 9)] * 6)  # type: ignore[list-item]
    if given_up:
        assert next(results) == 0
        results.close()
    else:
        with pytest.raises(ZeroDivisionError):
            next(results)
    assert over[-1] and begun.count(9) <= 1


MET = [ValueError, struct.error, KeyError, OSError]


@pytest.mark.parametrize("met", MET, ids=lambda met: met.__name__)
def test_half_a_message_after_an_interrupt_is_the_interrupt(met: type[Exception]) -> None:
    with pytest.raises(KeyboardInterrupt), translated():
        try:
            raise KeyboardInterrupt
        finally:
            raise met("half of a message")


@pytest.mark.parametrize("met", MET, ids=lambda met: met.__name__)
def test_without_an_interrupt_it_is_what_it_is(met: type[Exception]) -> None:
    with pytest.raises(met), translated():
        raise met("half of a message")


def refused(code: str, message: str = "The transaction has been terminated.") -> Neo4jError:
    """What the driver raises for an answer of the server's."""
    return Neo4jError._hydrate_neo4j(code=code, message=message)


@pytest.fixture(autouse=True)
def nothing_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_stopped", [])


@pytest.mark.parametrize(("error", "kind", "said"), [
    (refused("Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"), QueryTimeout, "stopped at its time limit"),
    (refused("Neo.ClientError.Transaction.TransactionTimedOut"), QueryTimeout, r"db\.transaction\.timeout"),
    (refused("Neo.ClientError.Transaction.Terminated"), QueryEnded, "somebody ended the query"),
    (refused("Neo.ClientError.Procedure.ProcedureCallFailed", "x: TerminatedException: ended"), QueryTimeout, "most likely"),
    (refused("Neo.TransientError.General.MemoryPoolOutOfMemoryError", "limit 10.0 MiB"), OutOfMemory,
     r"more memory than the server grants it.*10\.0 MiB"),
    (refused("Neo.ClientError.Statement.SyntaxError", "too much"), QueryError, "SyntaxError: too much"),
])
def test_only_a_query_that_was_timed_out_is_a_time_out(error: Neo4jError, kind: type[QueryError], said: str) -> None:
    with pytest.raises(QueryError, match=said) as caught, translated():
        raise error
    assert type(caught.value) is kind


def test_a_query_that_somebody_ended_is_incomplete_and_no_time_out() -> None:
    def work() -> None:
        raise refused("Neo.ClientError.Transaction.Terminated")

    failure = attempt(work).failure
    assert failure is not None
    assert (failure.status, "somebody ended" in failure.reason, "limit" in failure.reason) == ("incomplete", True, False)


class Server:
    """As much of a driver as the ending of transactions touches. `running`: rows of SHOW TRANSACTIONS; `words`: the answer by id."""

    def __init__(self, running: list[dict[str, Any]], words: dict[str, str]) -> None:
        self.running, self.words, self.closed = running, words, False
        self.asked: list[str] = []

    def session(self, **_: Any) -> Server:
        return self

    def run(self, query: Any, ids: list[str] | None = None, **_: Any) -> SimpleNamespace:
        if ids is None:
            return SimpleNamespace(data=lambda: self.running)
        self.asked += ids
        return SimpleNamespace(data=lambda: [{"message": self.words.get(one, ENDED)} for one in ids])

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def close(self) -> None:
        self.closed = True


def row(number: str, own: str | None = None, query: str = "RETURN 1") -> dict[str, Any]:
    return {"id": number, "marks": {MARK: own} if own else {}, "query": query}


def test_only_transactions_that_the_server_ended_are_counted() -> None:
    server: Any = Server([row("1", mark()), row("2", mark()), row("3", "kgeval_else_1_1"), row("4")], {"2": "Transaction not found."})
    assert stop(server, None) == 1
    assert server.asked == ["1", "2"]


def test_a_connection_that_an_interrupt_left_half_read_is_not_the_one_that_ends_the_queries() -> None:
    server: Any = Server([row("1", mark())], {})
    sound, met = server.session, [BufferError("Existing exports of data: object cannot be re-sized")]

    def session(**config: Any) -> Any:
        if met:
            raise met.pop()
        return sound(**config)

    server.session = session
    assert stop(server, None) == 1 and server.asked == ["1"]


def test_a_query_of_another_client_is_known_by_its_comment_and_ended_by_its_name() -> None:
    server: Any = Server([row("1", query=signed("MATCH (n)", "one")), row("2", query=signed("MATCH (n)", "two")), row("3", mark())], {})
    assert stop_signed(server, None, "two") == 1
    assert server.asked == ["2"]
    assert stop(server, None) == 3


def test_what_cleans_up_is_not_ended_by_an_interrupt() -> None:
    """The drop of a projection was ended like any other query of the process, and the projection stayed."""
    server: Any = Server([row("1", mark()), {**row("2"), "marks": marks(TIDYING)}], {})
    assert stop(server, None) == 1
    assert server.asked == ["1"]


def test_an_interrupt_between_two_rows_ends_the_queries_before_the_connection_is_closed() -> None:
    server: Any = Server([row("1", mark())], {})
    info: Any = SimpleNamespace(database=None, gds=None)
    with pytest.raises(KeyboardInterrupt), Graph(server, info, Address("bolt://x", "u", "p")):
        raise KeyboardInterrupt
    assert (server.asked, server.closed) == (["1"], True)
    with pytest.raises(QueryEnded, match="interrupted"), translated():
        raise refused("Neo.ClientError.Transaction.Terminated")


def test_a_connection_that_reads_refuses_to_write_and_limits_what_it_begins() -> None:
    begun: dict[str, Any] = {}
    inner: Any = SimpleNamespace(begin_transaction=begun.update, execute_write=lambda work: work(None))
    session = ReadingSession(inner, 7.0)
    with pytest.raises(QueryError, match="only reads"):
        session.execute_write(print)
    session.begin_transaction(timeout=9)
    assert (begun["timeout"], begun["metadata"]) == (7.0, marks())


class Session:
    """A session that notes how it ended."""

    def __init__(self) -> None:
        self.ends: list[str] = []

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        self.ends.append(kind.__name__ if kind else "closed")


@pytest.fixture
def handled() -> Iterator[None]:
    """Ctrl-C as Python handles it by itself, before and afterwards."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    left = signal.signal(signal.SIGINT, before)
    assert left is signal.default_int_handler


def opened(session: Session) -> Any:
    driver: Any = SimpleNamespace(session=lambda **_: session)
    return quiet(driver, None)


def rows(session: Session) -> Iterator[int]:
    with opened(session):
        yield from range(3)


def test_the_driver_meets_a_cancellation_and_whoever_asked_an_interrupt(handled: None) -> None:
    session = Session()
    with pytest.raises(KeyboardInterrupt) as met, opened(session):
        try:
            signal.raise_signal(signal.SIGINT)
        except CancelledError as cause:
            assert isinstance(cause, KeyboardInterrupt)
            assert (type(cause).__module__, type(cause).__name__) == ("builtins", "KeyboardInterrupt")
            raise
    assert type(met.value) is KeyboardInterrupt and session.ends[0] == "CancelledError"


def test_what_the_driver_stumbles_over_after_an_interrupt_is_cut_off_and_is_the_interrupt(handled: None) -> None:
    session, ended = Session(), list[str]()
    with pytest.raises(KeyboardInterrupt) as met, opened(session), _cutting(session, lambda: ended.append("ended")):  # type: ignore[arg-type]
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            raise AttributeError("'Transaction' object has no attribute '_cancel'")
    assert (type(met.value), session.ends[0], ended) == (KeyboardInterrupt, "CancelledError", ["ended"])


def test_who_handles_ctrl_c_himself_goes_on_doing_so() -> None:
    def own(*_: object) -> None:
        raise KeyboardInterrupt("mine")

    before = signal.signal(signal.SIGINT, own)
    try:
        with pytest.raises(KeyboardInterrupt, match="mine"), opened(Session()):
            assert signal.getsignal(signal.SIGINT) is own
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, before)


def test_of_two_streams_the_one_that_goes_on_keeps_its_cancellation(handled: None) -> None:
    first, second = rows(Session()), rows(Session())
    next(first), next(second)
    first.close()  # type: ignore[attr-defined]
    with pytest.raises(CancelledError):
        signal.raise_signal(signal.SIGINT)
    second.close()  # type: ignore[attr-defined]


def test_a_stream_that_another_thread_closes_leaves_a_plain_interrupt(handled: None) -> None:
    stream = rows(Session())
    next(stream)
    closing = threading.Thread(target=stream.close)  # type: ignore[attr-defined]
    closing.start()
    closing.join()
    with pytest.raises(KeyboardInterrupt) as met:
        signal.raise_signal(signal.SIGINT)
    assert type(met.value) is KeyboardInterrupt
