"""`kgeval run` from the outside, on a real server: a stage fails, is fixed, and only what is left is done."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import kgeval
from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph
from kgeval.workflows.pipeline.ledger import read_ledger

SAMPLE = Path(kgeval.__file__).parent / "sample"
SYSTEM = """
import json, sys
for line in sys.stdin:
    ask = json.loads(line)
    said = {"hello": {"name": "mine", "version": "1"}} if "hello" in ask else {"id": ask["id"], "answer": "Velmouth", "contexts": []}
    print(json.dumps(said), flush=True)
"""
CONFIG = f"""
[source]
files = [{json.dumps(str(SAMPLE / "graph.json"))}]
[graph]
name = "harbour"
[questions]
kinds = ["hops=2"]
[[systems]]
name = "mine"
spec = "command:{sys.executable} mine.py"
[run]
folder = "läufe hier"
skip = ["audit", "check", "coverage", "report"]
[run.options.questions]
template = true
allow_fewer = true
"""


@pytest.fixture
def here(graph: Graph, address: Address, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with a configuration, and the suite's server, emptied, by environment."""
    for key, value in {
        "NEO4J_URI": address.uri, "NEO4J_USERNAME": address.username, "NEO4J_PASSWORD": address.password,
    }.items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kgeval.toml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "mine.py").write_text("raise SystemExit(3)", encoding="utf-8")
    return tmp_path


def kgeval_run(*words: str) -> tuple[int, dict[str, str], str]:
    """Exit code; stage -> what came of it; everything that was said."""
    done = subprocess.run(
        [sys.executable, "-m", "kgeval", "run", "kgeval.toml", *words], capture_output=True, text=True, encoding="utf-8",
        check=False, timeout=300,
    )
    lines = [line.partition("] ")[2].partition(": ") for line in done.stdout.splitlines() if line.startswith("[")]
    return done.returncode, {name: what.split(" in ")[0].split(" (")[0] for name, _, what in lines}, done.stdout + done.stderr


@pytest.mark.long
def test_a_run_does_again_only_what_failed_or_changed(here: Path, graph: Graph) -> None:
    code, told, said = kgeval_run()
    assert (code, told) == (2, {"import": "done", "questions": "done", "answers": "failed"}), said
    (here / "mine.py").write_text(SYSTEM, encoding="utf-8")
    code, told, said = kgeval_run()
    assert (code, told) == (0, {"import": "up to date", "questions": "up to date", "answers": "done"}), said
    assert "Velmouth" in (here / "läufe hier" / "answers.jsonl").read_text(encoding="utf-8")
    graph.write("MATCH (n:harbour) WITH n LIMIT 1 DETACH DELETE n")
    code, _, said = kgeval_run("--list")
    assert code == 0 and said.count("would run") == 3, said


ALL = f"""
[source]
files = [{json.dumps(str(SAMPLE / "graph.json"))}]
[graph]
name = "harbour"
[gold]
file = "gold.json"
[questions]
kinds = ["hops=2"]
[run]
folder = "out"
[run.options.audit]
check = ["isolated-entity", "duplicate-name"]
threshold = ["isolated-entity<=0.9"]
examples = 2
[run.options.completeness]
levels = "exact,normalised"
[run.options.questions]
template = true
allow_fewer = true
[run.options.check]
check = "leak,unique"
no_embeddings = true
[run.options.coverage]
examples = 3
"""


@pytest.mark.long
def test_a_stage_is_what_its_line_gives_by_hand(here: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report of each stage, manifest and all, is that of the command that is printed for it."""
    entities = [{"name": "Velmouth", "type": "Place"}, {"name": "Nowhere", "type": "Place"}]
    (here / "gold.json").write_text(json.dumps({"entities": entities, "triples": []}), encoding="utf-8")
    (here / "kgeval.toml").write_text(ALL, encoding="utf-8")
    assert run(["run", "kgeval.toml"]) == 0
    stages = {stage.kind: stage for stage in read_ledger(here / "out" / "run.json").stages}
    assert {stage.state for stage in stages.values()} == {"done"}, stages
    assert set(stages) == {"import", "audit", "completeness", "questions", "check", "coverage", "report"}
    (here / "out").rename(here / "first")
    (here / "out").mkdir()
    for name in ("run.json", "questions.jsonl"):
        (here / "out" / name).write_bytes((here / "first" / name).read_bytes())
    for kind in ("audit", "completeness", "questions", "check", "coverage"):
        assert run(shlex.split(stages[kind].command)[1:]) == 0, stages[kind].command
        name = "questions.run.json" if kind == "questions" else f"{kind}.json"
        assert plain(here / "out" / name) == plain(here / "first" / name), kind
    assert (here / "out" / "questions.jsonl").read_bytes() == (here / "first" / "questions.jsonl").read_bytes()


def plain(path: Path) -> Any:
    """A report without what differs from run to run: times, and the last digits of sums that threads of the server add up."""
    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: without(one) for name, one in value.items() if name not in ("seconds", "started", "milliseconds", "modified")}
        if isinstance(value, list):
            return [without(one) for one in value]
        return round(value, 9) if isinstance(value, float) else value

    return without(json.loads(path.read_text(encoding="utf-8")))
