"""Reading large databases of others: queries end with Ctrl-C, leftovers are cleared, a part may do, memory is granted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import Neo4jError
from waiting import LONGEST, wait_until

from kgeval.auditing.attempts import attempt
from kgeval.auditing.engine import run_check
from kgeval.auditing.partial_scan import PartialScan
from kgeval.auditing.tasks import Task, run_tasks
from kgeval.cli.main import run as kgeval
from kgeval.graph.connect import Address, Graph
from kgeval.graph.failures import QueryEnded
from kgeval.graph.foreign import run_foreign
from kgeval.graph.memory import PROJECTION, estimate
from kgeval.graph.pairs import two_at_a_time
from kgeval.graph.pipelining import ReadRequest
from kgeval.graph.project import clear
from kgeval.graph.reading import ReadingDriver
from kgeval.graph.sessions import MARK, NAME, TIDYING, part_of_work, signed, stop
from kgeval.records import Layout
from kgeval.workflows import audit as workflow

ENDLESS = "UNWIND range(1, 100000000000) AS i WITH i WHERE i < 0 RETURN i"
LAYOUT = Layout(name="test", entity_labels=["E"], name_keys=["name"], relation_types=["R"], relations_join_entities_only=True)
PEOPLE = "UNWIND range(1, 1000) AS i CREATE (:E {name: CASE WHEN i % 5 = 0 THEN 'he' ELSE 'Person ' + i END})"
RING = (
    "UNWIND range(0, 49) AS i CREATE (:E {i: i, name: 'n' + i}) WITH count(*) AS n "
    "MATCH (a:E), (b:E {i: (a.i + 1) % 50}) CREATE (a)-[:R]->(b)"
)


ROWS = "UNWIND range(1, 100000000000) AS i RETURN i"
RUNNING = "SHOW TRANSACTIONS YIELD transactionId, metaData, status WHERE NOT status STARTS WITH 'Terminated' RETURN *"


def ours(graph: Graph) -> list[str]:
    """Transactions on the server that carry a mark of kgeval and that nobody has ended, but for the one that asks. What cleans up is none:
    an interrupt leaves it to a thread that nobody waits for, and it may still run in the next test."""
    with graph._driver.session(database=graph.info.database) as session:
        found = [(row["transactionId"], row["metaData"] or {}) for row in session.run(RUNNING).data()]
    return [transaction_id for transaction_id, marks in found if MARK in marks and marks.get(NAME) != TIDYING]


def ended(name: str) -> None:
    """The threads of this name come to their ends."""
    for thread in threading.enumerate():
        if thread.name.startswith(name):
            thread.join(LONGEST)
            assert not thread.is_alive()


@contextmanager
def interrupted(begun: Callable[[], object]) -> Iterator[list[float]]:
    """Ctrl-C meets the block, and is to end it, as soon as this is true. Yields a list that gets the time of it."""
    sent = list[float]()

    def press() -> None:
        wait_until(begun)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what runs in the background with SIGINT ignored
    pressing = threading.Thread(target=press, daemon=True)
    pressing.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            yield sent
    finally:
        signal.signal(signal.SIGINT, before)
        pressing.join()


def streamed(graph: Graph) -> None:
    with closing(graph.stream(ROWS, timeout=600)) as rows:
        for _ in rows:
            pass


at_a_row = threading.Event()


def work_on_row() -> None:
    at_a_row.set()
    for _ in range(10 * LONGEST):  # not one sleep: a signal that comes just before it does not end it
        time.sleep(0.1)


def worked_on(graph: Graph) -> None:
    with closing(graph.stream(ROWS, timeout=600)) as rows:
        for _ in rows:
            work_on_row()


def worked_on_without_closing(graph: Graph) -> None:
    for _ in graph.stream(ROWS, timeout=600):
        work_on_row()


def begun(graph: Graph, ask: Callable[[Graph], Any]) -> Callable[[], object]:
    """Whether a way of asking has come to where Ctrl-C is to meet it: the query runs, or a row of it is worked on."""
    at_a_row.clear()
    return at_a_row.is_set if ask in (worked_on, worked_on_without_closing) else lambda: ours(graph)


def by_the_gds_client(graph: Graph) -> None:
    graph.ask_gds(lambda gds: gds.run_cypher(ENDLESS, mode="READ"), timeout=600)


def ahead(graph: Graph) -> None:
    with graph.remembering():
        graph.read_ahead([ReadRequest("RETURN 1 AS one"), ReadRequest(ENDLESS), ReadRequest(ENDLESS + " AS other")], timeout=600)


WAYS = [
    lambda graph: graph.read(ENDLESS, timeout=600), lambda graph: graph.read_lists(ENDLESS, timeout=600), streamed,
    worked_on, worked_on_without_closing, by_the_gds_client,
    lambda graph: run_foreign(graph, ENDLESS, timeout=600, rows=1), lambda graph: graph.write(ENDLESS, timeout=600), ahead,
]
NAMES = ["read", "lists", "stream", "rows", "bare", "gds", "foreign", "write", "ahead"]


@pytest.mark.parametrize("ask", WAYS, ids=NAMES)
def test_ctrl_c_ends_the_query_on_the_server_too(graph: Graph, ask: Callable[[Graph], Any]) -> None:
    with interrupted(begun(graph, ask)):
        ask(graph)
    assert ours(graph) == []
    assert graph.read("RETURN 1 AS one") == [{"one": 1}]


@pytest.mark.parametrize("ask", WAYS, ids=NAMES)
def test_ctrl_c_waits_for_no_server_that_goes_on_with_the_query(
    graph: Graph, ask: Callable[[Graph], Any], monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As where the query has not come to the server yet when it is asked to end what runs, or where its user may not do so."""
    with monkeypatch.context() as patch:
        patch.setattr("kgeval.graph.sessions._terminate", lambda *_, **__: 0)
        with interrupted(begun(graph, ask)) as sent:
            ask(graph)
        assert time.monotonic() - sent[0] < 60  # of the ten minutes that the query has
    stop(graph._driver, graph.info.database)
    assert graph.read("RETURN 1 AS one") == [{"one": 1}]


def test_ctrl_c_ends_the_queries_of_all_sessions_of_an_audit(graph: Graph) -> None:
    asking: list[str] = []

    def endless() -> bool:
        asking.append(threading.current_thread().name)
        attempt(lambda: graph.read(ENDLESS, timeout=600))
        return False

    with interrupted(lambda: len(ours(graph)) == 2):
        run_tasks([Task(endless) for _ in range(9)], 2, ending=graph.stop)
    assert len(set(asking)) == 2 and len(asking) < 5  # the other thread may have begun one more before the interrupt came to it
    ended("kgeval-part")
    assert ours(graph) == []
    assert graph.read("RETURN 1 AS one") == [{"one": 1}]


ASKS: list[Callable[[Graph], Any]] = [
    lambda graph: graph.read("RETURN 1 AS one"), lambda graph: graph.read_lists("RETURN [1] AS one"),
    lambda graph: next(graph.stream("RETURN 1 AS one")), lambda graph: graph.ask_gds(lambda gds: gds.run_cypher("RETURN 1"), timeout=9),
    lambda graph: ReadingDriver(graph.driver, graph._renew, 9).execute_query("RETURN 1"),
    lambda graph: run_foreign(graph, "RETURN 1", timeout=9, rows=1), lambda graph: graph.write("RETURN 1 AS one"),
]


@pytest.mark.parametrize("ask", ASKS, ids=["read", "lists", "stream", "gds", "gds-managed", "foreign", "write"])
def test_a_part_of_work_that_is_over_asks_nothing_more(graph: Graph, ask: Callable[[Graph], Any]) -> None:
    over, inner = threading.Event(), threading.Event()
    with part_of_work(over):
        ask(graph)
        over.set()
        with part_of_work(inner), pytest.raises(QueryEnded, match="interrupted"):
            ask(graph)
        with pytest.raises(QueryEnded, match="interrupted"):
            ask(graph)
        assert graph.tidy("RETURN 1 AS one") == [{"one": 1}]  # what it has left on the server it may drop
    ask(graph)


def test_ctrl_c_ends_the_queries_of_two_pairs_at_a_time(graph: Graph) -> None:
    asking: list[int] = []

    def endless(number: int) -> None:
        asking.append(number)
        attempt(lambda: graph.read(ENDLESS, timeout=600))
        graph.read(ENDLESS, timeout=600)

    with interrupted(lambda: len(ours(graph)) == 2):
        list(two_at_a_time(graph, [partial(endless, number) for number in range(9)]))
    assert sorted(asking) == [0, 1] and ours(graph) == []


def test_a_stream_that_is_closed_before_its_end_leaves_no_query_behind_and_others_alone(
    graph: Graph, caplog: pytest.LogCaptureFixture,
) -> None:
    other = graph.stream(ROWS, timeout=600)
    next(other)
    started = time.monotonic()
    with closing(graph.stream(ROWS, timeout=600)) as rows:
        next(rows)
    assert time.monotonic() - started < 60  # to throw all its rows away would take the server hours
    assert len(ours(graph)) == 1 and next(other)
    other.close()
    assert ours(graph) == [] and graph.read("RETURN 1 AS one") == [{"one": 1}]
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == []  # a notebook would show them


@pytest.mark.parametrize("rows", [0, 1, 99, 100, 101, 999, 1000])
def test_a_result_of_any_length_is_read_up_to_so_many_rows(graph: Graph, rows: int) -> None:
    result = run_foreign(graph, f"UNWIND range(1, {rows}) AS x RETURN x, x * x AS y", timeout=60, rows=999)
    assert (len(result.rows), result.cut) == (min(rows, 999), rows > 999)
    assert result.rows == tuple((("int", x), ("int", x * x)) for x in range(1, min(rows, 999) + 1))
    others = graph.side_by_side(
        lambda many: run_foreign(graph, f"UNWIND range(1, {many}) AS x RETURN x", timeout=60, rows=500), [rows, 7, 3 * rows, 8],
    )
    assert [len(result.rows) for result in others] == [min(rows, 500), 7, min(3 * rows, 500), 8]



def test_a_query_that_others_wrote_carries_the_mark_too(graph: Graph) -> None:
    asked = "SHOW TRANSACTIONS YIELD metaData, currentQuery WHERE currentQuery STARTS WITH 'SHOW' RETURN metaData"
    (row,) = run_foreign(graph, asked, timeout=30, rows=10).rows
    assert MARK in dict(row[0][1])


def test_a_query_that_an_administrator_ends_is_no_time_out(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgeval.graph.sessions._stopped", [])  # no interrupt of a test before

    def end() -> None:
        running = wait_until(lambda: ours(graph))
        with graph._driver.session(database=graph.info.database) as session:
            session.run("TERMINATE TRANSACTIONS $ids", ids=running).consume()

    threading.Thread(target=end).start()
    with pytest.raises(QueryEnded, match="somebody ended the query"):
        graph.read(ENDLESS, timeout=600)


def test_a_projections_query_of_another_client_is_found_by_its_comment(graph: Graph) -> None:
    def runs() -> bool:
        with graph._driver.session(database=graph.info.database) as session:
            return any(row["currentQuery"].endswith(ENDLESS) for row in session.run("SHOW TRANSACTIONS YIELD currentQuery").data())

    def end() -> None:
        wait_until(runs)
        counts.append(graph.stop_signed("not_this"))
        counts.append(graph.stop_signed("this_g0"))

    counts: list[int] = []
    ending = threading.Thread(target=end)
    ending.start()
    with graph._driver.session(database=graph.info.database) as session, pytest.raises(Neo4jError, match="erminated"):
        session.run(signed(ENDLESS, "this_g0")).consume()
    ending.join()
    assert counts == [0, 1]


def projecting(address: Address, *steps: str) -> subprocess.Popen[str]:
    """A program of its own that has projected a graph, and has printed "ready" in one of the steps that it does then."""
    script = "\n".join([
        "import sys, time", "from kgeval.cli.interrupts import listen", "from kgeval.graph.connect import Address, open_graph",
        "from kgeval.graph.project import graph_name", "graph = open_graph(Address(sys.argv[1], 'neo4j', sys.argv[2]))",
        "graph.gds.graph.project.native(graph_name(), ['E'], ['R'])", *steps,
    ])
    process = subprocess.Popen([sys.executable, "-c", script, address.uri, address.password], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "ready"
    return process


@pytest.mark.long
def test_an_audit_that_is_killed_leaves_nothing_that_the_next_connection_does_not_clear(graph: Graph, address: Address) -> None:
    graph.write(RING)
    process = projecting(address, "print('ready', flush=True)", "time.sleep(600)")
    assert clear(graph) == []  # it still runs
    process.kill()
    process.communicate(timeout=LONGEST)
    assert any(f"_{process.pid}_" in info.graph_name for info in graph.gds.graph.list())
    assert len(clear(graph)) == 1
    assert not any(f"_{process.pid}_" in info.graph_name for info in graph.gds.graph.list())


def test_a_command_whose_time_is_over_before_it_has_cleaned_up_leaves_no_projection(graph: Graph, address: Address) -> None:
    graph.write(RING)
    process = projecting(address, "listen()", "try:\n    print('ready', flush=True)\n    time.sleep(600)", "finally:\n    time.sleep(600)")
    try:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=LONGEST) == 130
    finally:
        process.kill()
    assert not any(f"_{process.pid}_" in info.graph_name for info in graph.gds.graph.list())


def test_a_part_of_the_graph_gives_an_estimate_with_an_interval(graph: Graph) -> None:
    graph.write(PEOPLE)
    whole = run_check(graph, LAYOUT, "pronoun-entity")
    assert (whole.count, whole.total, whole.interval) == (200, 1000, None)
    held = []
    for seed in range(20):
        found = run_check(graph, LAYOUT, "pronoun-entity", part=PartialScan(0.2, seed))
        assert found.interval is not None and found.total is not None
        assert 180 <= found.total <= 220 and found.interval.sampled == found.total
        assert found.interval.population == round(found.total / 0.2)
        held.append(found.interval.low <= 0.2 <= found.interval.high)
    assert sum(held) >= 18  # 95 % intervals: 17 or fewer of 20 would be one case in a hundred
    again = [run_check(graph, LAYOUT, "pronoun-entity", part=PartialScan(0.2, 3)) for _ in range(2)]
    assert again[0].count == again[1].count and again[0].examples == again[1].examples


def test_checks_of_pairs_look_at_everything_whatever_the_share(graph: Graph) -> None:
    graph.write(PEOPLE)
    found = run_check(graph, LAYOUT, "duplicate-name", part=PartialScan(0.2))
    assert (found.count, found.interval) == (199, None)


def test_the_estimate_is_what_gds_says(graph: Graph) -> None:
    every = {"type": "*", "orientation": "UNDIRECTED"}
    said = graph.read(
        "CALL gds.graph.project.estimate('*', $r, {nodeCount: 1000, relationshipCount: 5000}) YIELD bytesMax RETURN bytesMax AS most",
        {"r": {"ALL": every, "SIMPLE": {**every, "aggregation": "SINGLE"}}},
    )
    small, large = estimate(graph, 1_000, 5_000), estimate(graph, 1_000_000, 5_000_000)
    assert small.steps[PROJECTION] == said[0]["most"]
    assert all(large.steps[step] > small.steps[step] for step in small.steps)
    assert large.peak == max(large.steps.values()) + large.steps[PROJECTION]


@pytest.fixture
def audited(graph: Graph, address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """Runs `kgeval audit` on a ring of 50 entities; its report."""
    graph.write(RING)
    monkeypatch.setenv("NEO4J_URI", address.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    monkeypatch.chdir(tmp_path)

    def go(*more: str) -> dict[str, Any]:
        assert kgeval(["audit", "--layout", "generic", "-q", "-o", "r.json", *more]) == 0
        found: dict[str, Any] = json.loads(Path("r.json").read_text(encoding="utf-8"))
        return found

    return go


@pytest.mark.long
def test_what_takes_more_memory_than_granted_is_skipped_with_the_reason(audited: Callable[..., dict[str, Any]]) -> None:
    report = audited("--memory-limit", "1k")
    reasons = {part["reason"] for part in report["structure_skipped"] if "components" in part["ids"]}
    assert len(reasons) == 1 and "--memory-limit 1 kB" in reasons.pop()
    skipped = {one["rule_id"]: one["reason"] for one in report["findings"] if one["status"] == "skipped"}
    assert "--memory-limit" in skipped["small-component"]
    assert "--memory-limit" not in str(audited("--memory-limit", "1g")["structure_skipped"])


def test_a_dry_run_says_what_an_audit_takes_and_runs_no_check(
    audited: Callable[..., dict[str, Any]], capsys: pytest.CaptureFixture[str],
) -> None:
    assert kgeval(["audit", "--layout", "generic", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "50 nodes, 50 relations (by the count store)" in said and "projection" in said and "pronoun-entity" in said
    assert not Path("r.json").exists()


@pytest.mark.both_lines
@pytest.mark.long
def test_a_large_database_is_announced_before_it_is_read(
    audited: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(workflow, "LARGE_NODES", 49)
    report = audited("--sample-share", "0.5")
    assert "a large database: 50 nodes, 50 relations" in capsys.readouterr().err
    assert "a large database" in report["notes"][0] and "looked at 0.5 of the things" in report["notes"][1]


@pytest.mark.parametrize(("more", "said"), [
    (("--sample-share", "0.5", "--write-ratchet", "b.json"), "--sample-share does not go with --write-ratchet"),
    (("--memory-limit", "lots"), "no amount of memory"), (("--dry-run", "a", "b"), "--dry-run looks at one graph"),
])
def test_flags_that_cannot_be_meant_are_refused(more: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert kgeval(["audit", *more]) == 2
    assert said in capsys.readouterr().err
