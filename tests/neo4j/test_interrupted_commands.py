"""A hundred random moments at which Ctrl-C meets audit, questions generate, score, answer and compare: each ends within three seconds."""

from __future__ import annotations

import itertools
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from interrupt_world import PEOPLE, RELATIONS, Interrupted, commands, interrupted
from waiting import HoldingModel, wait_until

from kgeval.graph.connect import Address, Graph
from kgeval.graph.project import clear
from kgeval.llm.fake import FakeServer
from kgeval.tables import read_json

MOMENTS = int(os.environ.get("KGEVAL_TEST_MOMENTS", "100"))
ENTITIES = 4_000

pytestmark = [pytest.mark.long, pytest.mark.timeout(5400)]


def test_ctrl_c_at_any_moment_ends_a_command_and_leaves_nothing_behind(
    graph: Graph, address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph.write(PEOPLE, {"size": ENTITIES})
    graph.write(RELATIONS)
    own = tmp_path / "tmp"
    own.mkdir()
    for name, value in {
        "NEO4J_URI": address.uri, "NEO4J_USERNAME": address.username, "NEO4J_PASSWORD": address.password, "OPENAI_API_KEY": "x",
        "TMPDIR": str(own),
    }.items():
        monkeypatch.setenv(name, value)
    seed = random.randrange(10**6)
    chance, numbers, ended = random.Random(seed), itertools.count(), list[Interrupted]()
    with FakeServer(delay=0.05) as server:
        asked = commands(tmp_path, server.base_url)

        def words(name: str) -> list[str]:
            number = str(next(numbers))
            return [word.replace("{n}", number) for word in asked[name]]

        lasts = {name: seconds(words(name), tmp_path) for name in asked}
        for name in itertools.cycle(asked):
            twice = len(ended) % 4 == 3
            one = interrupted(name, words(name), chance.uniform(0, lasts[name]), tmp_path, {}, twice=twice)
            if one is not None:
                ended.append(one)
            if len(ended) == MOMENTS:
                break
    faults = [str(one) for one in ended if one.fault or (one.second is not None and one.second > 1)]
    assert not faults, f"seed {seed}, {lasts}: {len(faults)} of {MOMENTS}\n" + "\n".join(faults)
    for journal in tmp_path.glob("*.sqlite"):
        with sqlite3.connect(journal) as file:
            assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    for written in [*tmp_path.glob("*.json"), *tmp_path.glob("out*/*.json")]:
        read_json(written)
    assert not list(own.glob("kgeval-*")) and not list(tmp_path.rglob("*.kgeval-part"))
    clear(graph)
    assert not [info for info in graph.gds.graph.list() if info.graph_name.startswith("kgeval_")]


def seconds(words: list[str], folder: Path) -> float:
    """How long the command takes by itself."""
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "kgeval", *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1, 3), done.stderr
    return time.monotonic() - begun


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_job_that_is_stopped_deletes_the_rows_of_users_and_says_how_to_go_on(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = tmp_path / "tmp"
    own.mkdir()
    monkeypatch.setenv("TMPDIR", str(own))
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    holding = HoldingModel(10)
    with FakeServer(holding) as server:
        words = commands(tmp_path, server.base_url)["score"]
        process = subprocess.Popen([sys.executable, "-m", "kgeval", *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: holding.waiting > 1)
        assert list(own.iterdir())
        process.send_signal(number)
        _, said = process.communicate(timeout=200)
    assert process.returncode == 130 and "goes on with --resume" in said and not list(own.iterdir())
