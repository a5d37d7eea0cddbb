"""`kgeval questions sample` from the outside: what is printed and written, and with which exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph
from kgeval.records import RunManifest, Structure

CHAIN = """UNWIND range(0, 9) AS i CREATE (:__Entity__ {name: 'n' + i, name_key: 'n' + i, type: 'T', i: i})
    WITH count(i) AS made MATCH (a:__Entity__), (b:__Entity__) WHERE b.i = a.i + 1 CREATE (a)-[:NEXT {predicate: 'next'}]->(b)"""


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: Address, draw: Callable[[str], None]) -> None:
    """No settings of the machine; the suite's server; a row of ten entities."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEO4J_URI", address.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    draw(CHAIN)


def sample(*arguments: str) -> int:
    return run(["questions", "sample", "--layout", "kgeval", *arguments])


def test_what_was_drawn_is_printed_and_written_with_its_manifest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sample("--structure", "path", "--hops", "2", "-n", "3", "--seed", "5", "-o", "out/paths.jsonl") == 0
    told = capsys.readouterr()
    assert len(told.out.splitlines()) == 3
    assert all(": next: n" in line and "[3 nodes, 2 relations, 0 passages]" in line for line in told.out.splitlines())
    records = [Structure.model_validate_json(line) for line in (tmp_path / "out/paths.jsonl").read_text().splitlines()]
    assert [(one.number, one.seed, one.kind, len(one.relations)) for one in records] == [(at, 5, "path", 2) for at in range(3)]
    manifest = RunManifest.model_validate_json((tmp_path / "out/paths.run.json").read_text())
    assert (manifest.command, manifest.seed, manifest.exit_code) == ("questions sample", 5, 0)
    assert "relations-at" in manifest.query_hashes


def test_the_records_go_to_stdout_when_asked_and_are_the_same_each_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert sample("--structure", "subgraph", "--min-relations", "4", "-n", "2", "-o", "-") == 0
    first = capsys.readouterr().out
    assert [len(json.loads(line)["relations"]) for line in first.splitlines()] == [4, 4]
    assert sample("--structure", "subgraph", "--min-relations", "4", "-n", "2", "-o", "-") == 0
    assert capsys.readouterr().out == first


def test_a_graph_that_gives_fewer_says_what_it_can_give(capsys: pytest.CaptureFixture[str]) -> None:
    assert sample("--structure", "subgraph", "-n", "5") == 3
    told = capsys.readouterr()
    assert told.out == ""
    assert "0 of 5 drawn: the graph can give 0: its largest component has 9 relations, 50 are asked for" in told.err
    assert sample("--structure", "path", "--hops", "9", "-n", "5") == 3
    assert "1 of 5 drawn: the graph can give 1: it has 1 path of 9 relations" in capsys.readouterr().err


@pytest.mark.parametrize(("arguments", "words"), [
    (["-o", "out.csv"], "structures are written as .jsonl"),
    (["--structure", "node", "--min-documents", "2"], "documents: not for node"),
    (["--structure", "community", "--stratify", "type"], "communities are not stratified"),
    (["--stratify", "document"], "no entity comes from a document"),
])
def test_what_cannot_be_done_is_refused_and_nothing_is_written(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    assert sample(*arguments) == 2
    assert words in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.both_lines
@pytest.mark.long
def test_a_closed_pipe_is_no_error(graph: Graph) -> None:
    del graph
    command = f"{sys.executable} -m kgeval questions sample --layout kgeval -n 10 | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("Traceback"), len(done.stdout.splitlines())) == (0, 0, 1)


@pytest.mark.both_lines
@pytest.mark.long
def test_the_file_is_written_also_where_nobody_reads_what_is_printed(tmp_path: Path) -> None:
    command = f"{sys.executable} -m kgeval questions sample --layout kgeval -n 10 -o all.jsonl | true"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stderr
    assert len((tmp_path / "all.jsonl").read_text().splitlines()) == 10
    assert (tmp_path / "all.run.json").exists()
