"""Answers, scores and comparisons that are killed go on, and what is written is what a run that nobody killed writes, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from answer_world import script, spec
from killed_world import IN_FLIGHT, killed_and_whole

from kgeval.llm.fake import FakeProcess

ROWS = 150
ANSWERING = """
for r in requests():
    if "hello" in r:
        say(hello={"name": NAME, "parallel": 1})
        continue
    with open(mark, "a") as file:
        file.write(r["question_id"] + "\\n")
    time.sleep(0.02)
    if r["question_id"].endswith("7"):
        say(id=r["id"], error="no idea")
        continue
    say(id=r["id"], answer=NAME + " says " + r["question"], contexts=["one", "two"], latency_s=0.5)
"""


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def system(folder: Path, name: str) -> str:
    return f"{name}={spec(script(folder, ANSWERING.replace('NAME', repr(name)), name))}"


def answering(folder: Path, url: str) -> list[str]:
    questions = [{"id": f"q{n}", "question": f"Who built mill {n}?"} for n in range(ROWS)]
    return [
        "answer", write(folder / "q.jsonl", questions), "--system", system(folder, "mine"), "--processes", str(IN_FLIGHT),
        "--max-error-rate", "1",
    ]


def rows(folder: Path, name: str) -> str:
    return write(folder / f"{name}.jsonl", [
        {
            "id": f"q{n}", "question": f"Who built mill {n}?", "answer": f"{name} says that Ada built mill {n} in 18{n % 90 + 10}.",
            "reference": f"Ada built mill {n}.", "contexts": [f"Ada built mill {n}."], "system": name,
        } for n in range(ROWS)
    ])


def scoring(folder: Path, url: str) -> list[str]:
    return ["score", rows(folder, "a"), "--metrics", "faithfulness,token_f1", "--model", "m", "--base-url", url, "-j", str(IN_FLIGHT)]


def comparing(folder: Path, url: str) -> list[str]:
    questions = [{"id": f"q{n}", "question": f"Who built mill {n}?"} for n in range(0, ROWS, 5)]
    return [
        "compare", "--questions", write(folder / "q.jsonl", questions), "--system", system(folder, "a"), "--system", system(folder, "b"),
        "--model", "m", "--base-url", url, "-j", str(IN_FLIGHT), "--max-error-rate", "1", "--align", "none",
    ]


@pytest.mark.long
@pytest.mark.timeout(5400)
@pytest.mark.parametrize(("command", "again"), [(answering, ()), (scoring, ("--resume",)), (comparing, ())])
def test_a_run_that_is_killed_again_and_again_comes_to_the_same(
    command: Callable[[Path, str], list[str]], again: tuple[str, ...], tmp_path: Path,
) -> None:
    with FakeProcess("--delay", "0.03") as server:
        given = command(tmp_path, server.base_url)

        def made(name: str) -> bytes | None:
            output = tmp_path / f"{name}.jsonl"
            return output.read_bytes() if output.exists() else None

        def asked() -> int:
            """Calls of the model, and questions to the systems."""
            marks, calls = list(tmp_path.glob("*.mark")), server.stats().requests
            calls += sum(len(path.read_text().split()) for path in marks)
            for path in marks:
                path.unlink()
            server.reset()
            return calls

        killed_and_whole(
            lambda name: [*given, "-o", f"{name}.jsonl", "--journal", f"{name}.sqlite"], tmp_path, made, asked=asked, again=again,
        )
    assert not [path.name for path in tmp_path.iterdir() if "partial" in path.name]
