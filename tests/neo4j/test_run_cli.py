"""`kgeval run` from the outside, on a real server: a stage fails, is mended, and only what is left is done."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import kgeval
from kgeval.graph.connect import Address, Graph

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
        [sys.executable, "-m", "kgeval", "run", *words], capture_output=True, text=True, encoding="utf-8", check=False, timeout=300,
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
