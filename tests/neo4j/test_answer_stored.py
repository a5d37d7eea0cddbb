"""`kgeval answer` with the built-in systems from end to end: the sample graph, questions from templates, answers, figures by hop."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kgeval
from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph
from kgeval.llm.fake import FakeServer, reads
from kgeval.records import AnswerReport, IndexRecord

SAMPLE = Path(kgeval.__file__).parent / "sample" / "graph.json"
SYSTEMS = ("--system", "vector", "--system", "graph", "--ablate", "graph:hops=1,2")
NAMES = ["vector", "graph", "graph@hops=2"]


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    with FakeServer(reads, dimensions=256) as running:
        yield running


@pytest.fixture(scope="module")
def cli(
    address: Address, connection: Graph, server: FakeServer, tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[..., int]]:
    """`kgeval answer` in a folder with questions about the sample graph, with a cache of its own."""
    connection.schema_command("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 20000 ROWS")
    folder = tmp_path_factory.mktemp("answer")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, value in {
            "NEO4J_URI": address.uri, "NEO4J_USERNAME": address.username, "NEO4J_PASSWORD": address.password, "OPENAI_API_KEY": "test-key",
        }.items():
            patch.setenv(name, value)
        assert run(["import", str(SAMPLE), "--graph", "velmouth"]) == 0
        made = ("--kind", "hop_1", "--kind", "hop_2", "--n", "3", "--template", "-o", "q.jsonl", "--no-progress")
        assert run(["questions", "generate", "--graph", "velmouth", *made]) == 0
        given = ("--embedding-model", "letters", "--embedding-url", server.base_url, "--cache-dir", str(folder / "cache"), "--no-progress")

        def command(*words: str) -> int:
            return run(["answer", "q.jsonl", "--graph", "velmouth", *given, *words])

        yield command


def lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def told(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The answers without their times."""
    return [{name: value for name, value in row.items() if name not in ("latency_s", "stages")} for row in rows]


@pytest.mark.long
def test_answers_index_records_and_path_coverage_by_system(cli: Callable[..., int], graph_ids: Callable[[list[str]], int]) -> None:
    assert cli(*SYSTEMS, "--extractive", "-o", "run/", "--index-record", "ix-{system}.json") == 0
    asked = [row["id"] for row in lines("q.jsonl")]
    for name in NAMES:
        rows = lines(f"run/{name}.jsonl")
        assert [(row["question_id"], row["system"], row.get("error")) for row in rows] == [(one, name, None) for one in asked]
        assert all(row["latency_s"] > 0 and row["calls"] == 0 and row["signature"] for row in rows)
        assert AnswerReport.model_validate_json(Path(f"run/{name}.run.json").read_text()).complete
        record = IndexRecord.model_validate_json(Path(f"ix-{name}.json").read_text())
        assert record.system == name and record.corpus.chunks > 0
    found = lines("run/graph@hops=2.jsonl")
    assert {row["variant"] for row in found} == {"hops=2"}
    nodes = sorted({one for row in found for one in row["retrieved_nodes"]})
    assert nodes and graph_ids(nodes) == len(nodes), "the ids are those of nodes that are there"
    files = [f"run/{name}.jsonl" for name in NAMES[1:]]
    assert run(["score", *files, "--questions", "q.jsonl", "--metrics", "path_coverage", "-o", "s.jsonl", "-q", "--no-progress"]) == 0
    by = {name: {row["question_id"]: row["value"] for row in lines("s.jsonl") if row["system"] == name} for name in NAMES[1:]}
    assert all(by["graph@hops=2"][one] >= by["graph"][one] for one in asked) and sum(by["graph@hops=2"].values()) > 0


@pytest.fixture
def graph_ids(connection: Graph) -> Callable[[list[str]], int]:
    def count(ids: list[str]) -> int:
        return int(connection.read("UNWIND $ids AS id MATCH (n) WHERE elementId(n) = id RETURN count(n) AS n", {"ids": ids})[0]["n"])

    return count


@pytest.mark.both_lines
@pytest.mark.long
def test_a_run_that_was_cut_goes_on_and_asks_only_what_lacks(cli: Callable[..., int], server: FakeServer) -> None:
    options = ("--system", "graph", "--extractive", "-o", "r.jsonl", "-q", "--journal", "j.sqlite")
    assert cli(*options) == 0
    whole = Path("r.jsonl").read_text(encoding="utf-8")
    Path("r.jsonl").unlink()
    with sqlite3.connect("j.sqlite") as journal:  # as if it had been killed before its last two answers
        journal.execute("DELETE FROM answers WHERE rowid IN (SELECT rowid FROM answers ORDER BY created DESC LIMIT 2)")
        journal.execute("UPDATE answer_runs SET finished = 0")
    journal.close()
    server.reset()
    assert cli(*options) == 0
    assert server.stats().requests == 1 + 2, "the model is looked at, two questions are embedded, and the index is not built again"
    after = lines("r.jsonl")
    assert told(after) == told([json.loads(line) for line in whole.splitlines()])
    before = [json.loads(line) for line in whole.splitlines()]
    assert sum(row in before for row in after) == len(before) - 2, "those that were there are as they were, with their seconds"


def test_a_reader_is_paid_once_and_keeps_the_seconds_of_the_real_call(
    cli: Callable[..., int], server: FakeServer, capsys: pytest.CaptureFixture[str],
) -> None:
    systems = ("--system", "closed-book", "--system", "vector", "--model", "m", "--base-url", server.base_url)
    assert cli(*systems, "--dry-run") == 0
    total = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("total"))
    server.reset()
    assert cli(*systems, "-o", "m.jsonl", "-q") == 0
    assert total.split()[1] == str(server.stats().by_path["/v1/chat/completions"]) == "12"
    assert cli(*systems, "-o", "again.jsonl", "-q") == 0
    assert server.stats().by_path["/v1/chat/completions"] == 12, "the second run is paid for by the journal"
    first, second = lines("m.jsonl"), lines("again.jsonl")
    assert told(first) == told(second)
    assert [row["stages"]["generate"] for row in first] == [row["stages"]["generate"] for row in second]


@pytest.mark.long  # without the model: tests/models/test_answer_cli.py
def test_a_pipe_that_closes_in_the_middle_ends_the_run_quietly(cli: Callable[..., int], tmp_path: Path) -> None:
    """With a real embedding model: a thread that is inside it when the interpreter ends would abort the process."""
    asked = [json.dumps({"id": f"q{at}", "question": f"Who designed the lighthouse number {at}?"}) for at in range(3_000)]
    (tmp_path / "many.jsonl").write_text("\n".join(asked), encoding="utf-8")
    command = ["answer", str(tmp_path / "many.jsonl"), "--graph", "velmouth", "--system", "vector", "--extractive", "-q", "--no-progress"]
    run = subprocess.Popen(
        [sys.executable, "-m", "kgeval", *command, "--cache-dir", str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    assert run.stdout is not None and run.stderr is not None
    assert json.loads(run.stdout.readline())["question_id"] == "q0"
    run.stdout.close()
    said = run.stderr.read()
    assert (run.wait(timeout=200), "terminate" in said, "Traceback" in said) == (0, False, False)
    run.stderr.close()
