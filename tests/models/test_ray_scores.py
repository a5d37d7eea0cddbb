"""Scores by several workers, on this machine and on a local Ray: the same bytes as one process gives, and nothing lost on the way."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from scripted_judge import Judge
from shard_world import score, summary, write_world
from waiting import HoldingModel, wait_until

from kgeval.llm.fake import FakeServer


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(Judge()) as running:
        yield running


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: FakeServer) -> list[str]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-only-in-memory")
    return [*write_world(tmp_path, 12), "--model", "m", "--base-url", server.base_url, "--journal", str(tmp_path / "journal.sqlite")]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shards one after the other in this process, where processes are not the point."""
    from kgeval.cli.main import code_of
    from kgeval.cli.worker import work
    from kgeval.workflows.workers import EndedWorker, Worker

    def run_here(shards: Sequence[Worker], **_: object) -> Iterator[EndedWorker]:
        return (EndedWorker(shard.name, code_of(partial(work, json.loads(json.dumps(shard.given))))) for shard in shards)

    monkeypatch.setattr("kgeval.workflows.workers.run_local", run_here)


def same_as_whole(code: int) -> None:
    assert code == 0
    for ending in ("jsonl", "verdicts.jsonl"):
        assert Path(f"spread.{ending}").read_bytes() == Path(f"whole.{ending}").read_bytes()
    assert summary(Path("spread.json")) == summary(Path("whole.json"))
    assert not Path("spread.parts").exists()


def folders() -> set[str]:
    """Where a Ray of ours keeps its logs while it runs."""
    return {path.name for path in Path("/tmp").glob("kgeval-ray-*")}


@pytest.mark.long
def test_a_local_ray_with_two_workers_gives_the_bytes_of_one_process(
    tmp_path: Path, world: list[str], server: FakeServer, monkeypatch: pytest.MonkeyPatch,
) -> None:
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed: pip install ray")
    assert score(*world, "-o", "whole.jsonl", "-o", "whole.json") == 0
    asked = server.stats().requests
    Path("journal.sqlite").unlink()
    server.reset()
    before, there, logged, remove = dict(os.environ), folders(), list[bytes](), shutil.rmtree

    def look_and_remove(path: str, **more: Any) -> None:
        if Path(path).name.startswith("kgeval-ray-"):  # Ray removes folders of its own too
            assert Path(path).stat().st_mode & 0o077 == 0
            logged.extend(file.read_bytes() for file in Path(path).rglob("*") if file.is_file())
        remove(path, **more)

    monkeypatch.setattr(shutil, "rmtree", look_and_remove)
    same_as_whole(score(*world, "--executor", "ray", "--workers", "2", "--shards", "3", "-o", "spread.jsonl", "-o", "spread.json"))
    assert dict(os.environ) == before, "what Ray is told by variables is gone with it"
    assert folders() == there, "and its folder too"
    assert logged and not any(b"sk-only-in-memory" in text for text in logged)
    for path in (one for one in tmp_path.rglob("*") if one.is_file()):
        assert b"sk-only-in-memory" not in path.read_bytes(), path
    assert server.stats().repeated_successes == 0
    assert server.stats().requests == asked, "the workers share the journal"


@pytest.mark.long
def test_processes_of_this_machine_give_the_bytes_of_one(world: list[str], server: FakeServer) -> None:
    assert score(*world, "-o", "whole.jsonl", "-o", "whole.json") == 0
    asked = server.stats().requests
    Path("journal.sqlite").unlink()
    server.reset()
    same_as_whole(score(*world, "--executor", "local", "--workers", "2", "-o", "spread.jsonl", "-o", "spread.json"))
    assert server.stats().requests == asked
    assert server.stats().repeated_successes == 0


@pytest.mark.long
@pytest.mark.usefixtures("here")
def test_the_budget_of_a_run_is_not_multiplied_by_its_workers(world: list[str], server: FakeServer) -> None:
    assert score(*world, "--executor", "local", "--workers", "2", "--max-calls", "9", "-o", "spread.jsonl") == 3
    assert server.stats().requests <= 9
    assert Path("spread.parts").is_dir(), "the parts of a run that is not complete stay"
    assert score(*world, "-o", "whole.jsonl") == 0
    assert score(*world, "--executor", "local", "--workers", "2", "--retry-errors", "-o", "spread.jsonl") == 0
    assert Path("spread.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()
    assert Path("spread.verdicts.jsonl").read_bytes() == Path("whole.verdicts.jsonl").read_bytes()
    assert server.stats().repeated_successes == 0
    assert not Path("spread.parts").exists()


@pytest.mark.long
def test_what_a_worker_says_reaches_the_user(world: list[str], server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.stop()
    assert score(*world, "--executor", "local", "--workers", "1", "-o", "spread.jsonl") == 2
    said = capsys.readouterr().err
    assert "ended with exit code 2" in said and "cannot be reached" in said


def test_without_ray_one_error_says_the_way_out(
    world: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "ray" else find(name, *more))
    assert score(*world, "--executor", "ray") == 2
    said = capsys.readouterr().err
    assert "Ray, which is not installed" in said and "pip install 'kgeval-toolkit[ray]'" in said


@pytest.mark.parametrize(("more", "said"), [
    (("--workers", "2"), "--workers: for --executor only"),
    (("--executor", "local", "--shard", "1/2"), "--executor and --shard exclude each other"),
    (("--executor", "local", "--ray-address", "x"), "--ray-address is for --executor ray"),
])
def test_options_that_do_not_fit_are_refused(
    world: list[str], more: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str],
) -> None:
    assert score(*world, *more) == 2
    assert said in capsys.readouterr().err


@pytest.mark.long  # a minute
def test_an_interrupted_run_stops_its_workers_and_goes_on_with_resume(
    tmp_path: Path, world: list[str], request: pytest.FixtureRequest,
) -> None:
    holding = HoldingModel(10, Judge())
    with FakeServer(holding) as slow:
        at = world.index("--base-url") + 1
        command = [*world[:at], slow.base_url, *world[at + 1 :], "-j", "2", "--executor", "local", "-o", "spread.jsonl", "--no-progress"]
        process = subprocess.Popen(
            [sys.executable, "-m", "kgeval", "score", *command], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        )
        wait_until(lambda: holding.waiting == 2 * 2)  # two shards with -j 2
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=200)
        assert process.returncode == 130
        holding.release()
        request.getfixturevalue("here")
        assert score(*command[:-1], "--resume") == 0
        assert slow.stats().repeated_successes <= 4, "what had arrived and was not yet in the journal is asked again"
        assert score(*command[: command.index("--executor")], "-o", "whole.jsonl") == 0
    assert Path("spread.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()
