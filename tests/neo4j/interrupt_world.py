"""Commands to interrupt: a graph, answers and a model for each, and what is measured when a signal meets one of them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SECONDS = 3.0  # how long a command may take to end
STUCK = 20.0  # how long one that does not end is watched
KILLED = -signal.SIGINT  # before Python listens, and when all is written, the signal ends the process itself; shells call that 130 too
STARTING = "Could not import runpy module", "Failed to import the site module"  # Python's own words, before it has come to kgeval
PEOPLE = """
UNWIND range(1, $size) AS i
CREATE (e:__Entity__:big {id: 'n' + i, name: 'Person ' + i, name_key: 'person ' + i, type: 'Person', description: 'The one called ' + i})
CREATE (c:Chunk:big {id: 'c' + i, index: i, text: 'Person ' + i + ' knows many others.'})
CREATE (e)-[:FROM_CHUNK]->(c)
"""
RELATIONS = """
MATCH (e:__Entity__:big) WITH collect(e) AS many
UNWIND range(1, 2 * size(many)) AS i WITH many[i % size(many)] AS a, many[(i * 7919) % size(many)] AS b, i WHERE a <> b
CREATE (a)-[:KNOWS {predicate: 'knows', chunk_ids: ['c' + i]}]->(b)
"""


@dataclass(frozen=True)
class Interrupted:
    """What a signal did: after how many seconds it was sent, how many later the process ended, with which code and messages.
    `second`: seconds after a second signal, where one was needed or sent."""

    command: str
    sent: float
    seconds: float
    code: int
    said: str
    second: float | None = None

    @property
    def fault(self) -> str:
        """What is wrong with how it ended; empty where nothing is."""
        if self.seconds > SECONDS:
            return f"took {self.seconds:.1f} s"
        if self.code == 1 and any(words in self.said for words in STARTING):
            return ""
        if self.code not in (130, KILLED):
            return f"ended with {self.code}"
        return "a traceback" if re.search(r"Traceback|Exception ignored", self.said) and self.code == 130 else ""

    def __str__(self) -> str:
        return f"{self.command} at {self.sent:.3f} s: {self.seconds:.2f} s, {self.code} {self.fault}: {self.said[-1500:]}"


def leaving(pid: int) -> bool:
    """Whether a process has ended for itself, and only the kernel is at work on it (PF_EXITING of /proc/PID/stat; Linux)."""
    try:
        flags = int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[6])
    except (OSError, ValueError, IndexError):
        return False
    return bool(flags & 0x4)


def interrupted(
    name: str, words: Sequence[str], after: float, folder: Path, environment: Mapping[str, str], *, twice: bool = False,
) -> Interrupted | None:
    """Starts `python -m kgeval words`, sends SIGINT after so many seconds, and waits for the end. `twice`: once more a quarter of a
    second later. None where the command had ended before."""
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(
            [sys.executable, "-m", "kgeval", *words], cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=messages, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        try:
            process.wait(after)
            return None
        except subprocess.TimeoutExpired:
            pass
        sent, second = time.monotonic(), None
        process.send_signal(signal.SIGINT)
        if leaving(process.pid):  # the signal came too late: the kernel was taking the process apart
            process.wait(STUCK)
            return None
        if twice:
            time.sleep(0.25)
            second = time.monotonic()
            process.send_signal(signal.SIGINT)
        try:
            process.wait(STUCK)
        except subprocess.TimeoutExpired:
            second = time.monotonic()
            process.send_signal(signal.SIGINT)
            try:
                process.wait(STUCK)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        end = time.monotonic()
        messages.seek(0)
        said = messages.read().decode(errors="replace")
    return Interrupted(name, after, end - sent, process.returncode, said, None if second is None else end - second)


def commands(folder: Path, base_url: str) -> dict[str, list[str]]:
    """The commands by name. Each writes into the folder, and begins anew each time: journals and caches of their own are named by `{n}`."""
    model = ["--model", "m", "--base-url", base_url, "--journal", "{n}.sqlite", "--no-progress"]
    questions = [
        {"id": f"q{i}", "question": f"Whom does Person {i} know?", "answer": f"Person {i + 1}", "level": "node"} for i in range(20)
    ]
    (folder / "q.jsonl").write_text("".join(json.dumps(one) + "\n" for one in questions))
    for name in ("a", "b"):
        rows = [
            {"question_id": one["id"], "system": name, "answer": f"{name}: {one['answer']}, who knows others.", "contexts": ["They know."]}
            for one in questions
        ]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {
        "audit": ["audit", "--graph", "big", "-q", "-o", "r{n}.json"],
        "generate": [
            "questions", "generate", "--graph", "big", "--kind", "hops=2,node=10", "--no-embeddings",
            "-o", "q{n}.jsonl", *model,
        ],
        "score": [
            "score", "a.jsonl", "b.jsonl", "--questions", "q.jsonl", "--metrics", "faithfulness,factual_correctness,context_relevance",
            "-q", "-o", "s{n}.jsonl", *model,
        ],
        "answer": ["answer", "q.jsonl", "--system", "graph", "--system", "closed-book", "--graph", "big", "-o", "out{n}/", *model,
                   "--embedding-url", base_url, "--embedding-model", "fake", "--cache-dir", "cache{n}"],
        "compare": ["compare", "a.jsonl", "b.jsonl", "--questions", "q.jsonl", "-q", "--verdicts", "v{n}.jsonl", *model],
    }
