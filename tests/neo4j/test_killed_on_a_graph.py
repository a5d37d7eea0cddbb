"""Questions and graphs whose making is killed go on, and come to what a run that nobody killed makes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from interrupt_world import PEOPLE, RELATIONS
from killed_world import IN_FLIGHT, killed_and_whole

from kgeval.graph.connect import Address, Graph
from kgeval.llm.fake import Chat, FakeServer

pytestmark = [pytest.mark.long, pytest.mark.timeout(5400)]


@pytest.fixture
def folder(graph: Graph, address: Address, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name, value in {
        "NEO4J_URI": address.uri, "NEO4J_USERNAME": address.username, "NEO4J_PASSWORD": address.password, "OPENAI_API_KEY": "x",
    }.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def requests(server: FakeServer) -> int:
    """How many since the last look."""
    number = server.stats().requests
    server.reset()
    return number


def model(server: FakeServer, name: str) -> list[str]:
    return ["--model", "m", "--base-url", server.base_url, "-j", str(IN_FLIGHT), "--journal", f"{name}.sqlite"]


def test_questions(graph: Graph, folder: Path) -> None:
    graph.write(PEOPLE, {"size": 300})
    graph.write(RELATIONS)
    with FakeServer(delay=0.03) as server:

        def made(name: str) -> bytes | None:
            output = folder / f"{name}.jsonl"
            return output.read_bytes() if output.exists() else None

        killed_and_whole(
            lambda name: [
                "questions", "generate", "--graph", "big", "--kind", "hops=10,node=60", "--no-embeddings", "--allow-fewer", "-o",
                f"{name}.jsonl", *model(server, name),
            ], folder, made, asked=lambda: requests(server),
        )


def test_what_questions_cost_is_told_however_often_their_making_is_killed(graph: Graph, folder: Path) -> None:
    graph.write(PEOPLE, {"size": 60})
    graph.write(RELATIONS)
    served: list[Chat] = []
    dying: list[subprocess.Popen[bytes]] = []

    def dies(chat: Chat) -> None:
        """Kills whoever asks at its third request, which was served."""
        served.append(chat)
        if dying and len(served) % 3 == 0:
            dying.pop().kill()

    with FakeServer(dies) as server:
        words = [
            "-m", "kgeval", "questions", "generate", "--graph", "big", "--kind", "node=6", "--no-embeddings", "--allow-fewer",
            "-o", "q.jsonl", "--no-progress", *model(server, "q"), "-j", "1",
        ]
        for _ in range(2):
            process = subprocess.Popen([sys.executable, *words], cwd=folder)
            dying.append(process)
            assert process.wait(120) == -signal.SIGKILL
        before = len(served)
        assert subprocess.run([sys.executable, *words], cwd=folder, check=False).returncode == 0
    uses = json.loads((folder / "q.run.json").read_text())["run"]["model_use"]
    assert sum(use["earlier_calls"] for use in uses) == before == 6
    assert sum(use["calls"] for use in uses) == len(served) - before > 0


def test_a_build(graph: Graph, folder: Path) -> None:
    people = [f"Person{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(121)]
    texts = folder / "texts"
    texts.mkdir()
    for number, (a, b) in enumerate(pairwise(people)):
        (texts / f"{number:03}.txt").write_text(f"{a} knows {b}.")

    def reads(chat: Chat) -> Any:
        """A model that knows every "X knows Y" of the text."""
        (a, b), = re.findall(r"(\w+) knows (\w+)", json.loads(re.search(r'<data name="text">\n(.*)\n</data>', chat.text)[1]))  # type: ignore[index]
        about = {"type": "Person", "description": "Somebody of the text.", "aliases": []}
        return {
            "entities": [{"number": at, "name": name, **about} for at, name in enumerate((a, b))],
            "relations": [{"source": 0, "target": 1, "predicate": "knows", "description": ""}],
        }

    def made(name: str) -> Any:
        if [row["s"] for row in graph.read("MATCH (g:__KgevalGraph__) RETURN g.status AS s")] != ["ready"]:
            return None
        return graph.read("""
            MATCH (n:people) OPTIONAL MATCH (n)-[r]->(m) WITH n, r, m ORDER BY n.id, type(r), m.id
            RETURN count(DISTINCT n) AS nodes, count(r) AS relations, collect([n.id, n.name, type(r), r.weight, m.id]) AS all""")

    with FakeServer(reads, delay=0.03) as server:
        killed_and_whole(
            lambda name: ["build", "texts", "--graph", "people", "--transaction-rows", "50", *model(server, name)], folder, made,
            asked=lambda: requests(server), clean=lambda: graph.write("MATCH (n) DETACH DELETE n"),
        )
