"""`kgeval.run` with models over HTTP: a system answers, a judge scores and compares; one budget; each stage is what its line gives."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kgeval
from kgeval.cli.main import run
from kgeval.llm.fake import FakeServer

CONFIG = """
[questions]
file = "q.jsonl"
[[systems]]
name = "closed"
spec = "closed-book"
[answers]
files = ["other.jsonl"]
[metrics]
names = ["lexical", "binary_accuracy"]
[model.reader]
name = "reader-1"
[model.judge]
name = "judge-1"
[compare]
trials = 1
repeats = 1
[run]
folder = "out"
[run.options.check]
no_embeddings = true
[run.options.contamination]
closed_book = "closed"
[run.options.compare]
no_force = true
align = "none"
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeServer]:
    """A fake model, and a folder with questions, answers and a configuration."""
    monkeypatch.chdir(tmp_path)
    mill = [{"text": "A mill."}]
    rows = [{"id": f"q{n}", "question": f"Who built mill {n}?", "reference": f"Ann Lee {n}", "evidence": mill} for n in range(3)]
    given = [{"question_id": row["id"], "answer": row["reference"]} for row in rows]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "other.jsonl").write_text("".join(json.dumps(row) + "\n" for row in given), encoding="utf-8")
    (tmp_path / "kgeval.toml").write_text(CONFIG, encoding="utf-8")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with FakeServer() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.base_url)
        yield running


@pytest.mark.long
def test_every_stage_that_asks_models_is_what_its_line_gives_by_hand(server: FakeServer) -> None:
    ran = kgeval.run(journal="j.sqlite")
    assert [(stage.kind, stage.state) for stage in ran.stages] == [
        ("check", "done"), ("answers", "done"), ("scores", "done"), ("contamination", "done"),
        ("compare", "incomplete"), ("report", "incomplete"),  # so few questions decide nothing
    ], ran
    assert sum(stage.calls or 0 for stage in ran.stages) == server.stats().requests > 0
    asked = server.stats().requests
    Path("out").rename("first")
    Path("out").mkdir()
    for stage in ran.stages[:-1]:
        assert run(shlex.split(stage.command)[1:]) == (3 if stage.kind == "compare" else 0), stage.command
    for name in ("check.json", "scores.json", "contamination.json", "compare.json"):
        assert plain(Path("out", name)) == plain(Path("first", name)), name
    assert server.stats().requests == asked, "all replies are in the journal"


@pytest.mark.long
def test_the_budget_is_the_runs_and_more_of_it_goes_on(server: FakeServer) -> None:
    Path("kgeval.toml").write_text(f"{CONFIG}[limits]\ncalls = 5\n", encoding="utf-8")
    short = kgeval.run(journal="j.sqlite")
    assert short.exit_code == 3 and server.stats().requests == 5
    assert [stage.state for stage in short.stages].count("incomplete") > 1
    Path("kgeval.toml").write_text(CONFIG, encoding="utf-8")
    whole = kgeval.run(journal="j.sqlite")
    assert [stage.kind for stage in whole.stages if stage.state != "done"] == ["compare", "report"], whole


def plain(path: Path) -> Any:
    """A report without times, and without what was asked: the second time all replies are in the journal."""
    left_out = ("seconds", "started", "model_use")

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: without(one) for name, one in value.items() if name not in left_out}
        return [without(one) for one in value] if isinstance(value, list) else value

    return without(json.loads(path.read_text(encoding="utf-8")))
