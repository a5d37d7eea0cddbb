"""kill -9 at random moments: the same command goes on, and what it writes is what a run that nobody killed writes, byte for byte.

KGEVAL_KILLS: how often each command is killed (100 before a release).
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from answer_world import script, spec

from kgeval.llm.fake import FakeProcess

KILLS = int(os.environ.get("KGEVAL_KILLS", "6"))
ROWS = 150
IN_FLIGHT = 4
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
@pytest.mark.parametrize(("command", "again"), [(answering, ()), (scoring, ("--resume",)), (comparing, ())])
def test_a_run_that_is_killed_again_and_again_comes_to_the_same(
    command: Callable[[Path, str], list[str]], again: tuple[str, ...], tmp_path: Path,
) -> None:
    rng, seconds = random.Random(KILLS), 0.0
    written, asked, sent = dict[str, bytes](), dict[str, dict[str, Counter[str]]](), dict[str, int]()
    with FakeProcess("--delay", "0.03") as server:
        words = [*command(tmp_path, server.base_url), "--no-progress"]
        for name, kills in (("whole", 0), ("killed", KILLS)):
            given = [*words, "-o", f"{name}.jsonl", "--journal", f"{name}.sqlite"]
            began = time.monotonic()
            for kill in range(kills + 1):
                process = started([*given, *again] if kill else given, tmp_path)
                try:
                    error = process.communicate(timeout=rng.uniform(0.3, seconds) if kill < kills else 300)[1].decode()
                except subprocess.TimeoutExpired:
                    assert kill < kills
                    process.kill()
                    process.communicate()
                    continue
                assert process.returncode in (0, 3), error
                break
            seconds = 0.7 * (time.monotonic() - began)
            sent[name] = server.stats().requests
            server.reset()
            written[name] = (tmp_path / f"{name}.jsonl").read_bytes()
            asked[name] = {path.name: Counter(path.read_text().split()) for path in tmp_path.glob("*.mark")}
            for path in tmp_path.glob("*.mark"):
                path.unlink()
    assert written["killed"] == written["whole"] and written["whole"]
    assert sent["killed"] <= sent["whole"] + KILLS * IN_FLIGHT, "nothing but what was in flight is paid again"
    for mark, counts in asked["whole"].items():
        assert asked["killed"][mark].keys() == counts.keys()
        assert asked["killed"][mark].total() <= counts.total() + KILLS * IN_FLIGHT
    assert not [path.name for path in tmp_path.iterdir() if "partial" in path.name]


def started(words: list[str], folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "kgeval", *words], cwd=folder, env=dict(os.environ), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )
