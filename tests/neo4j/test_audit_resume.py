"""An audit that is killed, loses its server or runs out of time goes on with --resume, and says what one says that nobody disturbed."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from bolt_proxy import BoltProxy, Weather
from test_audit_cli import SLOW
from waiting import wait_until

import kgeval
from kgeval.auditing import engine
from kgeval.auditing.kept import CLOCK
from kgeval.auditing.rulebook import load_rules
from kgeval.cli.main import run
from kgeval.errors import ConfigError
from kgeval.graph import retries
from kgeval.graph.connect import Address, Graph
from kgeval.graph.queries import all_queries, parse

PICTURE = """UNWIND range(1, 400) AS i CREATE (:Person {name: 'Name ' + (i % 390), born: 1900 + i % 390 % 9, i: i})
WITH count(*) AS n MATCH (a:Person), (b:Person {i: 1 + a.i * 7 % 400}) CREATE (a)-[:KNOWS {since: a.i}]->(b)"""


@pytest.fixture
def proxy(address: Address, draw: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> Iterator[BoltProxy]:
    """A proxy before a server that holds a small graph."""
    draw(PICTURE)
    server = urlsplit(address.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    with BoltProxy(server.hostname or "", server.port or 0) as proxy:
        yield proxy


def audited(proxy: BoltProxy, **options: Any) -> kgeval.AuditResult:
    return kgeval.audit(proxy.uri, **options)


def said(result: Any) -> Any:
    """All that a report says of the graph, the times apart."""
    report = json.loads(result if isinstance(result, str) else result.report.model_dump_json())
    for finding in report["findings"]:
        del finding["seconds"]
    notes = [note for note in report["notes"] if not note.startswith("resumed: ")]
    return {**{name: value for name, value in report.items() if name not in ("run", "resumed")}, "notes": notes}


def kept_checks() -> int:
    """How many answers the journal holds."""
    path = Path(os.environ["KGEVAL_CACHE_DIR"]) / "journal.sqlite"
    if not path.exists():
        return 0
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as journal:
        try:
            return int(journal.execute("SELECT count(*) FROM checks").fetchone()[0])
        except sqlite3.OperationalError:  # not made yet
            return 0


@pytest.mark.parametrize("sent", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.long)])
def test_an_audit_that_is_killed_goes_on_and_says_what_a_whole_one_says(sent: signal.Signals, proxy: BoltProxy, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kgeval", "audit", "--uri", proxy.uri, "--concurrent-queries", "1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        assert wait_until(lambda: kept_checks() >= 5)
        process.send_signal(sent)
    kept = kept_checks()
    assert run(["audit", "--uri", proxy.uri, "--resume", "-q", "-o", str(tmp_path / "report.json")]) == 0
    report = json.loads((tmp_path / "report.json").read_text())
    taken = report["resumed"]
    assert len(taken["checks"]) + len(taken["figures"]) >= 5
    assert any(note.startswith(f"resumed: {len(taken['checks'])} checks and ") for note in report["notes"])
    whole = audited(proxy)
    assert whole.report.resumed is None and said((tmp_path / "report.json").read_text()) == said(whole)
    assert kept_checks() > kept


@pytest.mark.long
def test_an_audit_whose_server_is_lost_goes_on_when_it_is_back(
    proxy: BoltProxy, graph: Graph, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", logger="kgeval")
    monkeypatch.setattr(retries, "AWAY", 0.3)
    proxy.expect(None)
    whole = audited(proxy)
    trips = proxy.trips
    run(["cache", "clear", "--yes"])
    proxy.expect(Weather("restart", at=trips // 2, seconds=3600))
    lost = audited(proxy, concurrent_queries=1)
    assert lost.exit_code == 3 and "the same call with resume asks for the rest" in caplog.text
    open_ones = {finding.rule_id for finding in lost.findings if finding.status == "error"}
    proxy.come_back()
    proxy.expect(None)
    resumed = audited(proxy, resume=True)
    assert said(resumed) == said(whole) and resumed.report.resumed is not None
    assert open_ones and not open_ones & set(resumed.report.resumed.checks), "what had no answer is asked"
    assert graph.read("CALL gds.graph.list() YIELD graphName RETURN graphName") == [], "nor does what the first could not drop stay"
    proxy.expect(None)
    assert said(audited(proxy, resume=True)) == said(whole) and proxy.trips < trips / 2, "what is kept is not"


def test_a_check_that_ran_out_of_time_is_asked_again_with_more_of_it(proxy: BoltProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"checks": "isolated-entity,self-loop", "no_structure": True}
    whole = audited(proxy, **options, timeout=60)
    run(["cache", "clear", "--yes"])
    slow, _ = parse(SLOW, Path("isolated-entity.cypher"))
    with monkeypatch.context() as patch:
        patch.setattr(engine, "all_queries", lambda: {**all_queries(), "isolated-entity": slow})
        late = audited(proxy, **options, timeout=3)
    assert {finding.rule_id: finding.status for finding in late.findings} == {"isolated-entity": "incomplete", "self-loop": "passed"}
    resumed = audited(proxy, **options, timeout=60, resume=True)
    assert resumed.report.resumed is not None and resumed.report.resumed.checks == ["self-loop"]
    assert said(resumed) == said(whole)


def test_on_a_server_that_marks_no_transaction_counts_and_nodes_tell_a_change(
    proxy: BoltProxy, graph: Graph, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
) -> None:
    marked = Graph.read_marked
    monkeypatch.setattr(Graph, "read_marked", lambda self, query: (marked(self, query)[0], None))
    options = {"checks": "isolated-entity,duplicate-name", "no_structure": True, "resume": True}
    first = audited(proxy, **options)
    again = audited(proxy, **options)
    assert again.report.resumed is not None and len(again.report.resumed.checks) == 2 and said(again) == said(first)
    assert any("the server does not tell its last transaction" in note for note in again.report.notes)
    graph.write("CREATE (:Person {name: 'Alone', i: 401})")
    changed = audited(proxy, **options)
    assert changed.report.resumed is None and "its counts by label and type" in caplog.text
    alone = [next(one.count for one in result.findings if one.rule_id == "isolated-entity") for result in (first, changed)]
    assert alone == [0, 1]


def test_a_graph_that_was_mended_is_audited_anew(proxy: BoltProxy, graph: Graph, caplog: pytest.LogCaptureFixture) -> None:
    first = audited(proxy, checks="duplicate-name,isolated-entity")
    graph.write("MATCH (n:Person {i: 399}) SET n.name = 'Somebody else'")  # no count changes
    resumed = audited(proxy, checks="duplicate-name,isolated-entity", resume=True)
    assert "the database has changed since" in caplog.text and "its last transaction" in caplog.text
    assert resumed.report.resumed is None
    counts = [next(finding.count for finding in result.findings if finding.rule_id == "duplicate-name") for result in (first, resumed)]
    assert counts == [10, 9], "of 400 people ten share a name and a year with another one; one of them has another name now"
    assert audited(proxy, checks="duplicate-name,isolated-entity", resume=True).report.resumed is not None


def test_a_graph_that_changes_while_an_audit_goes_on_is_not_mixed_with_what_it_was(
    proxy: BoltProxy, graph: Graph, caplog: pytest.LogCaptureFixture,
) -> None:
    audited(proxy, checks="isolated-entity", no_structure=True)

    def change(data: bytes) -> bool:
        if b"$slice" in data:  # what duplicate-name reads
            graph.write("MERGE (:Person {name: 'Alone', i: 401})")
        return False

    proxy.expect(change)
    resumed = audited(proxy, checks="isolated-entity,duplicate-name", no_structure=True, resume=True)
    proxy.expect(None)
    assert "the database was changed meanwhile" in caplog.text and resumed.report.resumed is None
    assert said(resumed) == said(audited(proxy, checks="isolated-entity,duplicate-name", no_structure=True))


@pytest.mark.parametrize(("written", "told"), [
    ("MERGE (:Person {name: 'Alone', i: 401})", "400 nodes and 400 relations at its beginning, 401 and 400 at its end"),
    ("MATCH (n:Person {i: 399}) SET n.name = 'Somebody else'", "as many nodes and relations as before"),
])
def test_a_report_says_that_somebody_wrote_meanwhile(written: str, told: str, proxy: BoltProxy, graph: Graph) -> None:
    def change(data: bytes) -> bool:
        if b"$slice" in data:  # what duplicate-name reads
            graph.write(written)
        return False

    options: dict[str, Any] = {"checks": "isolated-entity,duplicate-name", "no_structure": True}
    assert not any("wrote to the database" in note for note in audited(proxy, **options).report.notes)
    proxy.expect(change)
    notes = audited(proxy, **options).report.notes
    assert [note for note in notes if "wrote to the database" in note] == [
        f"somebody wrote to the database during the audit: {told}; figures and totals of this report may be of different moments",
    ]


def test_only_what_an_answer_depends_on_has_it_asked_again(proxy: BoltProxy) -> None:
    def taken(**options: Any) -> list[str]:
        checks = "small-component,low-fill-property,duplicate-name"
        resumed = audited(proxy, checks=checks, no_structure=True, resume=True, **options).report.resumed
        return [] if resumed is None else resumed.checks

    assert taken() == []
    assert taken() == ["duplicate-name", "low-fill-property", "small-component"]
    gated = {"thresholds": "duplicate-name<=0.9", "timeout": 90, "examples": 3}
    assert taken(**gated) == ["duplicate-name", "low-fill-property", "small-component"], "gates and limits change no answer"
    assert taken(settings={"low-fill-property.min_entities": 5}) == ["duplicate-name", "small-component"]
    assert taken(layout_keys={"name_keys": "i"}) == []


def test_an_audit_needs_no_journal_and_to_go_on_it_does(
    proxy: BoltProxy, tmp_path: Path, caplog: pytest.LogCaptureFixture,
) -> None:
    (tmp_path / "cache").write_text("a file")
    options = {"checks": "isolated-entity", "no_structure": True, "cache_dir": tmp_path / "cache"}
    assert audited(proxy, **options).findings[0].status == "passed"
    assert "finished checks are not kept" in caplog.text and str(tmp_path) in caplog.text
    with pytest.raises(ConfigError, match="cache"):
        audited(proxy, **options, resume=True)


def test_checks_whose_answer_depends_on_the_clock_are_known() -> None:
    assert [name for name in load_rules() if CLOCK.search(all_queries()[name].text)] == ["expired-relation"]
