"""`kgeval audit` from the command line: reports, gates, exit codes, bad input. Never a traceback, never a write."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from report_page import Page
from waiting import wait_until

from kgeval.auditing import engine
from kgeval.cli.main import run
from kgeval.config import cache_folder
from kgeval.graph.connect import Address, Graph
from kgeval.graph.queries import all_queries, parse
from kgeval.tables.output import UNSAVED

ROOT = Path(__file__).resolve().parents[2]
SMALL = """
CREATE (d:Document:small {id: 'd', title: 'D'}), (c:Chunk:small {id: 'c', index: 0, text: 'Ada met Bob in Ulm.'})-[:FROM_DOCUMENT]->(d),
  (a:__Entity__:Person:small {id: 'a', name: 'Ada', name_key: 'ada', type: 'Person'})-[:FROM_CHUNK]->(c),
  (b:__Entity__:Person:small {id: 'b', name: 'Bob', name_key: 'bob', type: 'Person'})-[:FROM_CHUNK]->(c),
  (u:__Entity__:Place:small {id: 'u', name: 'Ulm', name_key: 'ulm', type: 'Place'})-[:FROM_CHUNK]->(c),
  (h:__Entity__:Person:small {id: 'h', name: 'He', name_key: 'he', type: 'Person'}),
  (a)-[:MET {predicate: 'met', chunk_ids: ['c']}]->(b), (a)-[:VISITED {predicate: 'visited', chunk_ids: ['c']}]->(u),
  (:__KgevalGraph__:small {name: 'small', status: 'ready'})
"""
HOSTILE = """
CREATE (a:__Entity__:h:$($label) {id: '1', name: '<script>alert(1)</script>', type: 'layout'})
  -[:`sample` {predicate: '$sample'}]->(b:__Entity__:h {id: '2', name: $long, type: "it's"})-[:$($label) {predicate: 'x'}]->(a),
  (:__Entity__:h {id: '3', name: null}), (:__Entity__:h {id: '4', name: ['not', 'a', 'text'], type: 7}),
  (:__KgevalGraph__:h {name: 'h', status: 'ready'})
"""
SLOW = """// isolated-entity: a check that takes for ever.
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
UNWIND range(1, 10000000000) AS i WITH i WHERE i < 0 RETURN count(i) AS count, 1 AS total, [] AS sample
"""
LABEL = "q`\"' \\u0060x\\u0060 ü `]->() //"


@pytest.fixture
def kgeval(address: Address, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Runs the command line on the test server; returns the exit code."""
    monkeypatch.setenv("NEO4J_URI", address.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    return lambda *arguments: run([str(a) for a in arguments])


def content(graph: Graph) -> list[dict[str, Any]]:
    return graph.read(
        "MATCH (n) RETURN count(n) AS n, sum(size(keys(n))) AS keys, sum(size(labels(n))) AS labels, sum(COUNT { (n)--() }) AS ends"
    )


def test_an_audit_writes_reports_and_nothing_else(
    graph: Graph, draw: Callable[[str], None], kgeval: Callable[..., int], tmp_path: Path,
) -> None:
    draw(SMALL)
    before = content(graph)
    assert kgeval("audit", "-q", "-o", tmp_path / "r.html", "-o", tmp_path / "r.json", "-o", tmp_path / "r.md") == 0
    assert content(graph) == before
    report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    jsonschema.validate(report, json.loads((ROOT / "schemas" / "audit-report.schema.json").read_text(encoding="utf-8")))
    assert report["structure"]["entities"] == 4
    assert report["structure"]["relations"] == 2
    found = {f["rule_id"]: f for f in report["findings"]}
    assert found["isolated-entity"]["count"] == 1
    assert found["pronoun-entity"]["examples"][0]["items"][0]["name"] == "He"
    assert found["pattern-violation"]["status"] == "skipped"
    assert re.search(r"\bHe\b", Page((tmp_path / "r.html").read_text(encoding="utf-8")).text)


@pytest.mark.long
def test_a_gate_fails_only_when_asked(draw: Callable[[str], None], kgeval: Callable[..., int], tmp_path: Path) -> None:
    draw(SMALL)
    assert kgeval("audit", "-q", "--no-structure") == 0
    assert kgeval("audit", "-q", "--no-structure", "--fail-on", "info") == 1
    assert kgeval("audit", "-q", "--no-structure", "--check", "isolated-entity", "--threshold", "isolated-entity<=0.5") == 0
    assert kgeval("audit", "-q", "--no-structure", "--check", "isolated-entity", "--threshold", "isolated-entity<=0.1") == 1


@pytest.mark.both_lines
@pytest.mark.long
def test_a_check_over_its_time_limit_is_incomplete_and_the_rest_goes_on(
    draw: Callable[[str], None], kgeval: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw(SMALL)
    slow, faults = parse(SLOW, Path("isolated-entity.cypher"))
    assert not faults
    monkeypatch.setattr(engine, "all_queries", lambda: {**all_queries(), "isolated-entity": slow})
    arguments = ("audit", "-q", "--no-structure", "--check", "isolated-entity,self-loop", "-o", tmp_path / "r.json")
    assert kgeval(*arguments, "--timeout", "3") == 3
    findings = {f["rule_id"]: f for f in json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["findings"]}
    assert findings["isolated-entity"]["status"] == "incomplete"
    assert findings["isolated-entity"]["count"] is None
    assert findings["self-loop"]["status"] == "passed"


@pytest.mark.parametrize(("arguments", "words"), [
    (["audit", "--check", "no-such-check"], "no such check"),
    (["audit", "--threshold", "isolated-entity<=5", "--threshold", "x<=0.1"], "no share"),
    (["audit", "--setting", "super-node.nonsense=1"], "no setting"),
    (["audit", "-o", "report.docx"], ".docx"),
    (["audit", "--layout", "no-such-layout"], "no-such-layout"),
    (["audit", "--config", "nowhere.toml"], "nowhere.toml"),
    (["audit", "--schema", "nowhere.json"], "nowhere.json"),
    (["checks", "show", "isolated"], "isolated-entity"),
    (["cypher", "show", "isolated"], "isolated-entity"),
])
def test_wrong_options_are_named_with_the_way_out(
    arguments: list[str], words: str, draw: Callable[[str], None], kgeval: Callable[..., int], capsys: pytest.CaptureFixture[str],
) -> None:
    draw(SMALL)
    assert kgeval(*arguments) == 2
    message = capsys.readouterr().err
    assert words in message
    assert "Traceback" not in message


def test_a_repair_is_shown_where_it_loses_nothing_and_refused_where_it_could(
    graph: Graph, draw: Callable[[str], None], kgeval: Callable[..., int], capsys: pytest.CaptureFixture[str],
) -> None:
    """`kgeval cypher show` offers what the report of the same graph offers."""
    draw(SMALL)
    assert kgeval("cypher", "show", "merge-entities") == 0
    shown = capsys.readouterr().out
    dry, _, writes = shown.partition("// The repair, which writes:")
    assert "DETACH DELETE copy" in writes and ":param unique => []" in dry and "// choose: :param groups" in dry
    assert "// What it would do to the graph, counted (dry-merge-entities; it reads):" in dry and "DELETE" not in dry
    assert kgeval("cypher", "show", "dry-merge-entities") == 0
    assert "DELETE" not in capsys.readouterr().out
    graph.write("MATCH (n) DETACH DELETE n")
    draw("CREATE (:Product {name: 'Tea', sku: 1})-[:SOLD_AT]->(:Shop {name: 'Pier'})<-[:SOLD_AT]-(:Product {name: 'Tea', sku: 2})")
    for name, why in (("merge-entities", "two things may bear one name"), ("delete-parallel-relations", "may be a second event")):
        assert kgeval("cypher", "show", name) == 2
        shown = capsys.readouterr()
        assert f"{name}: No repair offered for this kind of graph: nothing shows that a writer" in shown.err and why in shown.err
        assert kgeval("cypher", "show", f"dry-{name}") == 2 and "No repair offered" in capsys.readouterr().err
        assert shown.out == "" and "--offline" in shown.err
    assert kgeval("cypher", "show", "rename-relation") == 0


def test_an_empty_database_is_said_to_be_empty(graph: Graph, kgeval: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert kgeval("audit") == 2
    assert "empty" in capsys.readouterr().err


def test_hostile_labels_names_and_types_are_only_data(graph: Graph, kgeval: Callable[..., int], tmp_path: Path) -> None:
    graph.write(HOSTILE, {"long": "x" * 100_000, "label": LABEL})
    before = content(graph)
    assert kgeval("audit", "-q", "--layout", "kgeval", "-o", tmp_path / "r.json", "-o", tmp_path / "r.html", "-o", tmp_path / "r.md") == 0
    assert content(graph) == before
    report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert [f["rule_id"] for f in report["findings"] if f["status"] in ("error", "incomplete")] == []
    assert "<script>alert(1)" not in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.long
def test_interrupting_ends_with_130_and_leaves_no_projection(graph: Graph, address: Address) -> None:
    graph.write("UNWIND range(1, 6000) AS i CREATE (:__Entity__:big {id: 'n' + i, name: 'N' + i, type: 'T'})")
    graph.write("MATCH (a:big) WITH collect(a) AS all UNWIND range(1, 20000) AS i "
                "WITH all[i % 6000] AS a, all[(i * 7919) % 6000] AS b CREATE (a)-[:R {predicate: 'r'}]->(b)")
    def projections() -> set[str]:
        return {info.graph_name for info in graph.gds.graph.list() if info.graph_name.startswith("kgeval_")}

    before = projections()
    environment = {**os.environ, "NEO4J_URI": address.uri, "NEO4J_PASSWORD": address.password}
    command = [sys.executable, "-m", "kgeval", "audit", "--layout", "kgeval", "--set", "scope_label=big"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: projections() - before)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=200)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert projections() <= before


def test_a_closed_pipe_is_no_error() -> None:
    done = subprocess.run(
        f"{sys.executable} -m kgeval checks list | head -1; exit ${{PIPESTATUS[0]}}", shell=True, executable="/bin/bash",
        capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0
    assert done.stderr == ""


def test_a_full_device_gives_a_message_and_no_traceback() -> None:
    device = Path("/dev/full")
    if not device.exists():
        pytest.skip("this system has no /dev/full")
    with device.open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "kgeval", "checks", "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )
    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.both_lines
@pytest.mark.long
def test_every_shipped_reading_query_runs_with_its_own_example_values(graph: Graph, draw: Callable[[str], None]) -> None:
    from kgeval.cli.cypher import defaults
    from kgeval.graph.layouts import bind, load_profile

    draw(SMALL)
    layout = bind(graph, load_profile("kgeval").layout, None).model_dump()
    failed = []
    for query in all_queries().values():
        if query.mode == "write" or "graph_name" in {p.name for p in query.params}:
            continue
        if query.folder == "session" and query.needs:  # what only a database beside a session has: tests/neo4j/test_session_algorithms.py
            continue
        values = {**defaults(query), "sample": 5}
        params = {"layout": layout}
        for p in query.params:
            params[p.name] = values[p.name] if p.name in values else graph.read(f"RETURN {p.example} AS v")[0]["v"]
        rows = graph.read(query, params)
        got = set(rows[0]) if rows else set(query.columns)
        if got != set(query.columns) and not ("RETURN *" in query.text and got >= set(query.columns)):
            failed.append((query.name, got, query.columns))
    assert not failed


@pytest.mark.long
def test_an_audit_that_cannot_be_written_or_printed_is_kept_and_the_others_are_written(
    draw: Callable[..., None], kgeval: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    draw(SMALL)
    (tmp_path / "report.html").symlink_to("/dev/full")
    outputs = ("-o", tmp_path / "report.html", "-o", tmp_path / "report.json")
    with Path("/dev/full").open("w") as full, monkeypatch.context() as patch:
        patch.setattr("sys.stdout", full)
        assert kgeval("audit", "--graph", "small", "--no-progress", *outputs) == 2
    report, summary = sorted((cache_folder() / UNSAVED).iterdir())
    told = capsys.readouterr().err
    for what, where in ((tmp_path / "report.html", report), ("standard output", summary)):
        assert f"{what}: cannot be written: No space left on device; it is kept whole in {where}" in told
    assert "Graph audit: small" in Page(report.read_text(encoding="utf-8")).text
    assert summary.read_text(encoding="utf-8").startswith("kgeval audit: small")
    assert json.loads((tmp_path / "report.json").read_text())["graph"] == "small"
    assert kgeval("audit", "--graph", "small", "-o", tmp_path / "report.json" / "report.html") == 2
    assert "report.json is no folder" in capsys.readouterr().err
