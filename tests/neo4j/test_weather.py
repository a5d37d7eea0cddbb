"""Between kgeval and a healthy server a proxy breaks connections at a chosen moment: what is asked comes, or it is said why not."""

from __future__ import annotations

import errno
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import neo4j
import pytest
from bolt_proxy import BoltProxy, Fault, Weather
from waiting import wait_until

from kgeval.auditing.attempts import attempt
from kgeval.auditing.engine import Audit, EngineOptions, audit
from kgeval.auditing.rulebook import choose
from kgeval.auditing.structure import StructureOptions
from kgeval.errors import ConnectError, QueryError
from kgeval.graph import retries, sessions
from kgeval.graph.connect import Address, Graph, open_graph
from kgeval.graph.failures import BreaksConnection, ConnectionBroke, ConnectionLost, QueryTimeout, has_spoken
from kgeval.graph.guarded import run_guarded
from kgeval.graph.pipelining import ReadRequest
from kgeval.records import Layout

LAYOUT = Layout(
    name="test", entity_labels=["E"], name_keys=["name"], type_key="type", relation_types=["R"], chunk_labels=["C"],
    chunk_text_keys=["text"], chunk_id_keys=["id"], mention_types=["IN"], relations_join_entities_only=True,
)
PICTURE = """UNWIND range(1, 12) AS i CREATE (:E {name: 'Name ' + (i % 9), type: ['P', 'Q', 'p'][i % 3], i: i})
WITH count(*) AS n CREATE (c:C {id: 'c', text: 'Name 1 met Name 2.'}) WITH c
MATCH (a:E), (b:E {i: 1 + a.i % 12}) CREATE (a)-[:R {x: a.i}]->(b), (a)-[:IN]->(c)"""


@contextmanager
def weather(address: Address, fault: Weather | None = None, *, round_trip: float = 0.0) -> Iterator[tuple[Graph, BoltProxy]]:
    """A graph behind a proxy; the fault's moment is counted from when it is open."""
    server = urlsplit(address.uri)
    with (
        BoltProxy(server.hostname or "", server.port or 0, round_trip=round_trip) as proxy,
        open_graph(Address(proxy.uri, address.username, address.password, source="test")) as graph,
    ):
        proxy.expect(fault)
        yield graph, proxy


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "GRACE", 0.5)
    monkeypatch.setattr(retries, "AWAY", 20.0)


@pytest.mark.long
@pytest.mark.parametrize("fault", ["drop", "truncate", "restart", "delay"])
@pytest.mark.usefixtures("graph", "impatient")
def test_a_read_whose_connection_breaks_is_asked_again(address: Address, fault: Fault) -> None:
    with weather(address, Weather(fault, 1, seconds=0.5)) as (graph, proxy):
        assert graph.read("RETURN 1 AS one", timeout=30) == [{"one": 1}]
        assert proxy.hurt == 1
        if fault == "truncate":  # the half that comes may hold a row
            return
        proxy.expect(Weather(fault, 1, seconds=0.5))
        assert list(graph.stream("UNWIND range(1, 3) AS i RETURN i", timeout=30)) == [{"i": 1}, {"i": 2}, {"i": 3}]
        assert proxy.hurt == 1


@pytest.mark.parametrize("fault", ["drop", "truncate"])
@pytest.mark.usefixtures("graph")
def test_a_connection_that_breaks_while_it_is_opened_is_opened_again(address: Address, fault: Fault) -> None:
    server = urlsplit(address.uri)
    with BoltProxy(server.hostname or "", server.port or 0) as proxy:
        for at in range(1, 7):
            proxy.expect(Weather(fault, at))
            with open_graph(Address(proxy.uri, address.username, address.password, source="test")) as graph:
                graph.read("RETURN 1")
            assert proxy.hurt == (at <= proxy.trips), at


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
@pytest.mark.usefixtures("graph", "impatient")
def test_a_server_that_goes_away_while_it_is_connected_to_is_waited_for(
    address: Address, scheme: str, caplog: pytest.LogCaptureFixture,
) -> None:
    server = urlsplit(address.uri)
    with BoltProxy(server.hostname or "", server.port or 0) as proxy:
        for at in (2, 3):  # behind the first answer
            proxy.expect(Weather("restart", at))
            with open_graph(Address(f"{scheme}://127.0.0.1:{proxy.port}", address.username, address.password, source="test")):
                pass
            assert proxy.hurt == 1
            assert [record.message for record in caplog.records if record.name == "kgeval.graph"] == [
                "the server does not answer; waiting up to 20 s for it", "the server answers again",
            ]
            caplog.clear()


def test_a_connection_that_breaks_between_handshake_and_login_was_one_to_a_server() -> None:
    cut_off = OSError(errno.ENOTCONN, "Transport endpoint is not connected")
    assert has_spoken(cut_off)
    within_tls = neo4j.exceptions.ServiceUnavailable("Couldn't connect")
    within_tls.__cause__ = cut_off
    assert not has_spoken(within_tls) and not has_spoken(ConnectionResetError(errno.ECONNRESET, "reset"))


def test_an_address_where_nothing_has_answered_in_bolt_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "AWAY", 3600.0)

    def reset(listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                accepted, _ = listener.accept()
                accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                accepted.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=reset, args=(listener,), daemon=True).start()
        port = listener.getsockname()[1]
        for uri in (f"bolt://127.0.0.1:{port}", f"neo4j://127.0.0.1:{port}", f"bolt+ssc://127.0.0.1:{port}"):
            begun = time.monotonic()
            with pytest.raises(ConnectError, match="cannot be reached"):
                open_graph(Address(uri, "neo4j", "x", source="test"), timeout=2.0)
            assert time.monotonic() - begun < 30
        listener.shutdown(socket.SHUT_RDWR)


@pytest.mark.both_lines
@pytest.mark.long
@pytest.mark.usefixtures("graph", "impatient")
def test_a_connection_that_goes_silent_is_given_up_at_the_time_limit_and_asked_again(address: Address) -> None:
    with weather(address, Weather("swallow", 1)) as (graph, proxy):
        begun = time.monotonic()
        assert graph.read("RETURN 1 AS one", timeout=1) == [{"one": 1}] and proxy.hurt == 1
        assert 1 <= time.monotonic() - begun < 60  # of the two minutes that the driver would wait


def test_what_is_silent_twice_is_not_taken_for_slow() -> None:
    def ask(left: float | None) -> None:
        time.sleep(left or 0)
        raise ConnectionLost("gone")

    with pytest.raises(BreaksConnection, match=r"twice no answer came within the time limit of 0\.05 s"):
        retries.Retries(lambda: True).read(ask, 0.05)


@pytest.mark.usefixtures("graph", "impatient")
def test_a_query_that_breaks_each_connection_is_not_asked_for_ever_and_others_are_answered(address: Address) -> None:
    with weather(address) as (graph, proxy):
        proxy.expect(lambda data: b"DEADLY" in data)
        result = attempt(lambda: graph.read("RETURN 'DEADLY' AS x", timeout=30))
        assert result.failure is not None and not result.failure.lost and "broke 3 times" in result.failure.reason
        assert graph.read("RETURN 1 AS one", timeout=30) == [{"one": 1}] and proxy.hurt == 3


@pytest.mark.usefixtures("graph", "impatient")
def test_rows_under_way_are_not_asked_again_but_the_part_that_wanted_them_is(address: Address) -> None:
    with weather(address) as (graph, proxy):
        begun: list[int] = []

        def count_rows() -> int:
            begun.append(0)
            with closing(graph.stream("UNWIND range(1, 20000) AS i RETURN i", timeout=30)) as rows:
                next(rows)
                if len(begun) == 1:
                    proxy.break_all()
                return 1 + sum(1 for _ in rows)

        assert attempt(count_rows).value == 20000 and len(begun) == 2
        with pytest.raises(ConnectionBroke), closing(graph.stream("UNWIND range(1, 20000) AS i RETURN i", timeout=30)) as rows:
            next(rows)
            proxy.break_all()
            list(rows)


@pytest.mark.usefixtures("graph")
def test_a_server_that_does_not_come_back_is_waited_for_once(
    address: Address, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(retries, "AWAY", 1.0)
    with weather(address, Weather("restart", 1, seconds=3600)) as (graph, proxy):
        with pytest.raises(ConnectionLost):
            graph.read("RETURN 1 AS one", timeout=30)
        assert [record.message for record in caplog.records if record.name == "kgeval.graph"] == [
            "the server does not answer; waiting up to 1 s for it",
        ]
        monkeypatch.setattr(retries, "AWAY", 3600.0)
        with pytest.raises(ConnectionLost):
            graph.read("RETURN 1 AS one", timeout=30)  # at once
        proxy.come_back()
        assert graph.read("RETURN 1 AS one", timeout=30) == [{"one": 1}]


def said(found: Audit) -> Any:
    """What an audit says."""
    return (
        [(one.rule_id, one.status, one.count, one.total, one.reason) for one in found.findings],
        found.structure.numbers, found.structure.skipped, found.judged,
    )


@pytest.mark.long
@pytest.mark.parametrize("fault", ["drop", "truncate", "restart"])
@pytest.mark.usefixtures("impatient")
def test_an_audit_whose_connection_breaks_says_what_it_says_else(
    address: Address, draw: Callable[[str], None], fault: Fault,
) -> None:
    draw(PICTURE)
    options = EngineOptions(rules=choose([], []), structure=StructureOptions(), concurrent_queries=2, timeout=30)
    with weather(address) as (graph, proxy):
        whole = audit(graph, LAYOUT, options)
        trips = proxy.trips
        assert not whole.incomplete
    for at in range(2, trips, 13):
        with weather(address, Weather(fault, at, seconds=0.3)) as (graph, proxy):
            found = audit(graph, LAYOUT, options)
            assert proxy.hurt
            assert said(found) == said(whole), at


@pytest.mark.long
@pytest.mark.usefixtures("impatient")
def test_figures_and_checks_whose_projection_is_gone_have_another_one(address: Address, draw: Callable[[str], None], graph: Graph) -> None:
    draw(PICTURE)
    options = EngineOptions(rules=choose(["small-component", "bridge-only-access"], []), structure=StructureOptions(), timeout=30)
    forget = "CALL gds.graph.list() YIELD graphName CALL gds.graph.drop(graphName) YIELD graphName AS gone RETURN count(*)"
    with weather(address) as (near, proxy):
        whole = audit(near, LAYOUT, options)
        for word in (b"gds.wcc", b"gds.bridges", b"gds.leiden", b"gds.louvain", b"$max_size"):
            met: list[int] = []

            def lose(data: bytes, word: bytes = word, met: list[int] = met) -> bool:
                if word in data and not met:
                    met.append(0)
                    graph.tidy(forget)  # as a server does that is started again
                return False

            proxy.expect(lose)
            found = audit(near, LAYOUT, options)
            assert said(found) == said(whole), word
            assert met or word in (b"gds.leiden", b"gds.louvain")


@pytest.mark.long
@pytest.mark.usefixtures("impatient")
def test_an_audit_with_a_silent_connection_says_which_check_has_no_answer(address: Address, draw: Callable[[str], None]) -> None:
    draw(PICTURE)
    options = EngineOptions(rules=choose(["names", "properties"], []), structure=None, timeout=1)
    with weather(address) as (graph, proxy):
        whole = audit(graph, LAYOUT, options)
        trips = proxy.trips
    for at in range(3, trips, 9):
        with weather(address, Weather("swallow", at)) as (graph, proxy):
            found = audit(graph, LAYOUT, options)
            assert proxy.hurt
        for now, before in zip(found.findings, whole.findings, strict=True):
            assert now.status == before.status or (now.status == "incomplete" and "silent" in (now.reason or "")), (at, now)


@pytest.mark.long
@pytest.mark.usefixtures("graph")
def test_what_is_asked_ahead_is_one_message_and_each_answer_is_what_it_would_be_alone(address: Address) -> None:
    slow = "UNWIND range(1, 1000000000) AS i WITH i WHERE i < 0 RETURN i"
    texts = ["RETURN 1 AS x", "RETURN 2 AS x", "RETURN 1/0 AS x", "RETURN 3 AS x", slow, "RETURN 4 AS x"]

    def outcome(graph: Graph, text: str) -> Any:
        try:
            return graph.read(text, timeout=2)
        except QueryError as cause:
            return type(cause), cause.message

    with weather(address) as (graph, proxy):
        alone = [outcome(graph, text) for text in texts]
        with graph.remembering():
            proxy.expect(None)
            graph.read_ahead([ReadRequest(text) for text in texts[:2]], timeout=2)
            assert proxy.trips == 1
            graph.read_ahead([ReadRequest(text) for text in texts], timeout=2)
            assert [outcome(graph, text) for text in texts] == alone
            before = proxy.trips
            assert outcome(graph, texts[0]) == alone[0] and proxy.trips == before, "it is not asked twice"
        assert graph.read(texts[0]) == alone[0] and proxy.trips == before + 1, "nothing is kept behind the block"


@pytest.mark.usefixtures("graph")
def test_a_driver_without_what_messages_together_need_is_asked_one_by_one(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgeval.graph.pipelining.can_pipeline", lambda session: False)
    with weather(address) as (graph, proxy), graph.remembering():
        graph.read_ahead([ReadRequest("RETURN 1 AS x"), ReadRequest("RETURN 1/0 AS x"), ReadRequest("RETURN 3 AS x")], timeout=9)
        assert proxy.trips >= 3
        assert (graph.read("RETURN 1 AS x"), graph.read("RETURN 3 AS x")) == ([{"x": 1}], [{"x": 3}])
        with pytest.raises(QueryError, match="by zero"):
            graph.read("RETURN 1/0 AS x")


@pytest.mark.usefixtures("graph")
def test_work_side_by_side_asks_in_common_messages_and_each_gets_its_own(address: Address) -> None:
    """Each asks three times, one after another; some fail, one is slow, one costs the server's connection whenever it is asked."""

    def work(number: int) -> list[object]:
        first = graph.read("RETURN $n AS n", {"n": number}, timeout=20)[0]["n"]
        second: object = None
        try:
            second = graph.read(f"RETURN 100 / ({number} % 7) AS n", timeout=20)[0]["n"]
        except QueryError as cause:
            second = "by zero" in cause.message
        return [first, second, graph.read("RETURN $n + 1 AS n", {"n": number}, timeout=20)[0]["n"]]

    wanted = [[n, 100 // (n % 7) if n % 7 else True, n + 1] for n in range(40)]
    with weather(address) as (graph, proxy):
        graph.read("RETURN 1")
        proxy.expect(None)
        assert list(graph.side_by_side(work, range(40))) == wanted
        assert proxy.trips < 40, "two parts of three messages, and some more behind what fails"
        assert next(graph.side_by_side(lambda n: graph.read("RETURN 1 AS n")[0]["n"] + n, range(1000))) == 1
        with pytest.raises(ZeroDivisionError):
            list(graph.side_by_side(lambda n: 1 / n, [1, 0]))


@pytest.mark.usefixtures("graph")
def test_one_that_is_slow_or_breaks_the_connection_costs_no_other_its_answer(address: Address) -> None:
    slow = "UNWIND range(1, 100000000) AS i WITH i WHERE i % 7 = 9 RETURN count(i) AS n"

    def work(number: int) -> object:
        text = {3: slow, 5: "RETURN 'DEADLY' AS n"}.get(number, f"RETURN {number} AS n")
        try:
            return graph.read(text, timeout=1)[0]["n"]
        except QueryError as cause:
            return type(cause)

    with weather(address) as (graph, proxy):
        proxy.expect(lambda data: b"DEADLY" in data)
        outcomes = list(graph.side_by_side(work, range(8)))
    assert outcomes == [0, 1, 2, QueryTimeout, 4, BreaksConnection, 6, 7]


@pytest.mark.both_lines
@pytest.mark.long
@pytest.mark.usefixtures("graph")
def test_strangers_queries_are_planned_and_run_in_common_messages(address: Address) -> None:
    texts = [
        "RETURN 1 AS one", "RETURN", "UNWIND range(1, 50) AS i RETURN i", "CREATE (n)", "RETURN 1 / 0 AS x",
        "RETURN date('2024-01-01') AS d", "UNWIND range(1, 3000) AS i RETURN 'x' AS i",
    ] * 4
    run = partial(run_guarded, timeout=20.0, rows=20)
    with weather(address) as (graph, proxy):
        alone = [run(graph, text) for text in texts]
        one_by_one = proxy.trips
        proxy.expect(None)
        assert list(graph.side_by_side(lambda text: run(graph, text), texts)) == alone
        assert [ran.table.cut for ran in alone[:7] if ran.table] == [False, True, False, True]
        assert proxy.trips < one_by_one


def test_the_proxy_counts_what_it_carries(address: Address) -> None:
    with weather(address, round_trip=0.1) as (graph, proxy):
        graph.read("RETURN 1 AS one")
        before, begun = proxy.trips, time.monotonic()
        for _ in range(5):
            graph.read("RETURN 1 AS one", timeout=30)
        assert proxy.trips - before == 5  # one each
        assert time.monotonic() - begun >= 0.5
        assert wait_until(lambda: proxy.connections) == 1
