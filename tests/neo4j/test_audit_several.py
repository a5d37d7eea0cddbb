"""`kgeval audit G1 G2` and `--baseline` on real graphs: two in one database, told apart by their labels."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph
from kgeval.records import AuditReport, GraphsReport

TWO = """
CREATE (a:__Entity__:Person:left {id: 'a', name: 'Ada', name_key: 'ada', type: 'Person'}),
  (b:__Entity__:Person:left {id: 'b', name: 'Bob', name_key: 'bob', type: 'Person'}), (a)-[:MET {predicate: 'met'}]->(b),
  (:__Entity__:Place:left {id: 'u', name: 'Ulm', name_key: 'ulm', type: 'Place'}),
  (c:__Entity__:Person:right {id: 'c', name: 'Cid', name_key: 'cid', type: 'Person'}),
  (d:__Entity__:Place:right {id: 'd', name: 'Rom', name_key: 'rom', type: 'Place'}), (c)-[:MET {predicate: 'met'}]->(d),
  (a)-[:FROM_CHUNK]->(:Chunk:left {id: 'l', text: 'Ada met Bob.'}), (c)-[:FROM_CHUNK]->(:Chunk:right {id: 'r', text: 'Cid met Rom.'}),
  (:__KgevalGraph__:left {name: 'left', status: 'ready'}), (:__KgevalGraph__:right {name: 'right', status: 'ready'})
"""
CHECKS = ("--check", "isolated-entity,pronoun-entity", "--examples", "0", "--no-progress")


@pytest.fixture
def kgeval(address: Address, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Runs the command line on the test server; returns the exit code."""
    monkeypatch.setenv("NEO4J_URI", address.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    return lambda *arguments: run([str(a) for a in arguments])


@pytest.mark.long
def test_graphs_of_one_database_stand_beside_each_other_with_one_corpus(
    draw: Callable[[str], None], kgeval: Callable[..., int], tmp_path: Path,
) -> None:
    draw(TWO)
    (tmp_path / "corpus.txt").write_text("ship " * 500, encoding="utf-8")
    assert kgeval("audit", "left", "right", *CHECKS, "-q", "--corpus", tmp_path / "corpus.txt", "-o", tmp_path / "g.json") == 0
    made = GraphsReport.model_validate_json((tmp_path / "g.json").read_text(encoding="utf-8"))
    rows = {row.id: row.values for row in made.figures}
    assert made.names == ["left", "right"]
    assert (rows["entities"], rows["relations"], rows["isolated"]) == ([3, 2], [1, 1], [1, 0])
    assert rows["tokens"][0] == rows["tokens"][1]
    assert rows["entities_per_1k_tokens"] == [n * 1000 / (rows["tokens"][0] or 1) for n in (3, 2)]
    assert [[cell.count for cell in row.cells] for row in made.checks if row.rule_id == "isolated-entity"] == [[1, 0]]
    alone = (*CHECKS, "-q", "-o", tmp_path / "left.json")
    assert kgeval("audit", "left", *alone) == 0
    left = AuditReport.model_validate_json((tmp_path / "left.json").read_text(encoding="utf-8"))
    assert left.graph == "left" and left.structure["isolated"] == 1
    assert kgeval("audit", "right", tmp_path / "left.json", *CHECKS, "-q", "--fail-on", "info") == 1, "the worst of all"


def test_every_wrong_name_is_told_with_the_known_ones_before_an_audit_runs(
    draw: Callable[[str], None], kgeval: Callable[..., int], capsys: pytest.CaptureFixture[str],
) -> None:
    draw(TWO)
    assert kgeval("audit", "left", "lef", "righd", "-q") == 2
    told = capsys.readouterr().err
    assert "'lef'" in told and "'righd'" in told and "'right' (2 entities)" in told
    assert "auditing" not in told


@pytest.mark.both_lines
@pytest.mark.long
def test_a_baseline_tells_what_became_worse_by_type_and_by_name_after_a_rebuild(
    graph: Graph, draw: Callable[[str], None], kgeval: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    draw(TWO)
    first = ("audit", "--graph", "left", *CHECKS, "-q")
    assert kgeval(*first, "-o", tmp_path / "a.json") == 0
    assert kgeval(*first, "--baseline", tmp_path / "a.json", "--fail-on-worse", "info", "-o", tmp_path / "same.json") == 0
    assert {one["verdict"] for one in changes(tmp_path / "same.json")} == {"same"}
    graph.write("MATCH (n) DETACH DELETE n")  # other element ids from here on
    draw(TWO.replace("(a)-[:MET {predicate: 'met'}]->(b)", "(:__Entity__:left:Person {id: 'e', name: 'He', type: 'Person'})"))
    capsys.readouterr()
    assert kgeval(*first, "--baseline", tmp_path / "a.json", "--fail-on-worse", "info", "-o", tmp_path / "b.json") == 1
    told = capsys.readouterr().err
    assert re.search(r"worse than before: isolated-entity \(1 hit \([\d.]+ %\) before, 4 hits \([\d.]+ %\) now\)", told)
    found = {(one["rule_id"], one["label"]): one for one in changes(tmp_path / "b.json")}
    assert found["isolated-entity", "Place"]["verdict"] == "same"
    assert (found["isolated-entity", "Person"]["share_before"], found["isolated-entity", "Person"]["share_after"]) == (0.0, 1.0)
    appeared = found["isolated-entity", None]["appeared"]
    assert sorted(one["items"][0]["name"] for one in appeared) == ["Ada", "Bob", "He"] and not found["isolated-entity", None]["vanished"]
    assert kgeval("audit", "diff", tmp_path / "a.json", tmp_path / "b.json", "-q", "--fail-on-worse", "warning") == 1


def changes(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["diff"]["findings"]
    return found


def test_a_baseline_of_another_graph_is_compared_with_a_warning_and_a_missing_one_is_no_pass(
    draw: Callable[[str], None], kgeval: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    draw(TWO)
    assert kgeval("audit", "right", *CHECKS, "-q", "--no-structure", "-o", tmp_path / "right.json") == 0
    assert kgeval("audit", "left", *CHECKS, "-q", "--no-structure", "--baseline", tmp_path / "right.json") == 0
    assert "is an audit of graph right, this one of graph left" in capsys.readouterr().err
    gate = ("--baseline", tmp_path / "right.json", "--fail-on-worse", "error")
    assert kgeval("audit", "left", "right", *CHECKS, "-q", "--no-structure", *gate) == 3
    assert "holds no audit of graph left" in capsys.readouterr().err
