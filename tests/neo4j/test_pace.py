"""A pause between queries, as a proxy in front of a real server sees it."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from bolt_proxy import BoltProxy

from kgeval.auditing.engine import run_check
from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph
from kgeval.graph.failures import QueryEnded
from kgeval.graph.pace import SLICE
from kgeval.graph.sessions import TIDYING, part_of_work
from kgeval.records import Layout

PAUSE = 0.2
AUDIT = ("audit", "-q", "-o", "report.json", "--concurrent-queries", "1", "--no-structure", "--check", "self-loop,small-component")
LAYOUT = Layout(name="test", entity_labels=["E"], name_keys=["name"], relation_types=["R"], relations_join_entities_only=True)
PICTURE = "UNWIND range(1, 12) AS i CREATE (a:E {name: 'Name ' + i}) WITH collect(a) AS all UNWIND range(0, 10) AS i " \
    "WITH all[i] AS a, all[i + 1] AS b CREATE (a)-[:R]->(b)"


@pytest.fixture
def proxy(graph: Graph, address: Address, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[BoltProxy]:
    """In front of a small graph; the environment names it, and kgeval.toml is not there."""
    graph.write(PICTURE)
    server = urlsplit(address.uri)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    proxy = BoltProxy(server.hostname or "", server.port or 0)
    with proxy:
        monkeypatch.setenv("NEO4J_URI", proxy.uri)
        yield proxy


def gaps_of(proxy: BoltProxy, *command: str) -> list[float]:
    """Seconds between the beginnings of messages with queries; each carries kgeval's mark, a login does not. What
    cleans up does not pause: it may come after an interrupt."""
    begun: list[float] = []

    def note(data: bytes) -> bool:
        if b"tx_metadata" in data and TIDYING.encode() not in data:
            begun.append(time.monotonic())
        return False

    proxy.expect(note)
    assert run(list(command)) == 0
    proxy.expect(None)
    return [after - before for before, after in itertools.pairwise(begun)]


@pytest.mark.long
def test_an_audit_pauses_between_all_its_messages_and_finds_the_same(proxy: BoltProxy) -> None:
    def found() -> object:
        report = json.loads(Path("report.json").read_text(encoding="utf-8"))
        return {finding["rule_id"]: (finding["status"], finding["count"]) for finding in report["findings"]}

    quick = gaps_of(proxy, *AUDIT)
    expected = found()
    slow = gaps_of(proxy, *AUDIT, "--pause", str(PAUSE))
    assert len(slow) == len(quick) > 5
    assert min(slow) >= PAUSE > min(quick)
    assert found() == expected
    Path("kgeval.toml").write_text(f"[graph]\npause = {PAUSE}\n", encoding="utf-8")
    assert min(gaps_of(proxy, "layout", "detect")) >= PAUSE
    assert min(gaps_of(proxy, "layout", "detect", "--pause", "0")) < PAUSE, "the flag goes before the file"


@pytest.mark.long
def test_a_pause_is_no_time_of_a_check(graph: Graph) -> None:
    graph.write(PICTURE)
    graph.pace.seconds = 0.25
    try:
        begun = time.monotonic()
        finding = run_check(graph, LAYOUT, "small-component", timeout=60)
        assert finding.status in ("passed", "failed", "skipped")
        assert finding.seconds is not None
        assert finding.seconds < (time.monotonic() - begun) / 2
    finally:
        graph.pace.seconds = 0.0


def test_a_pause_ends_with_the_work_that_it_belongs_to(graph: Graph) -> None:
    over, ended = threading.Event(), []

    def part() -> None:
        with part_of_work(over), pytest.raises(QueryEnded):
            for _ in range(2):
                graph.read("RETURN 1")
        ended.append(time.monotonic())

    graph.pace.seconds = 60.0
    try:
        thread = threading.Thread(target=part)
        thread.start()
        time.sleep(SLICE)
        over.set()
        asked = time.monotonic()
        thread.join(10)
        assert ended
        assert ended[0] - asked < 5 * SLICE
    finally:
        graph.pace.seconds = 0.0


@pytest.mark.parametrize("seconds", ["-1", "nan", "4000", "soon"])
def test_a_pause_that_is_none_is_refused(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "--pause", seconds]) == 2
    assert "pause" in capsys.readouterr().err
