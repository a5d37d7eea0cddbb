"""What an audit of a large graph costs: seconds of every check, the client's memory, the server's, and how it grows. Not a test.

    python tests/bench/scale.py [--sizes 100000,1000000,5000000] [--home FOLDER] [--timeout 120]

Sizes are relations; a graph has a fifth as many entities (big_graph.py). Each is loaded by Neo4j's import tool into a home of its own in a
temporary folder (or in --home, whose database is REPLACED), then audited by `kgeval audit` as a process of its own. Printed: seconds and
memory by size, seconds by check for the last size, and the exponent b of seconds = a * relations^b, fitted over the sizes.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from big_graph import GRAPH, load, started_server

from kgeval.graph.server import stop
from kgeval.graph.server.home import Home
from kgeval.graph.server.process import find

STEP = 0.05


@dataclass(frozen=True)
class Run:
    """One audit: seconds of the whole and of each check, the most memory (MB) of client and server, how each check ended."""

    relations: int
    seconds: float
    client: float
    server: float
    checks: dict[str, tuple[str, float]]


def audited(home: Path, relations: int, asked: argparse.Namespace) -> Run:
    """Audits the home's graph once, watching both processes."""
    server = find(Home(home))
    with tempfile.TemporaryDirectory(prefix="kgeval-bench-") as folder:
        report = Path(folder) / "report.json"
        command = [
            str(Path(sys.executable).with_name("kgeval")), "audit", GRAPH, "--home", str(home), "--timeout", str(asked.timeout), "-o",
            str(report), "--no-progress",
        ]
        started = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=folder) as process:
            client, heap = watched(process, server)
        seconds = time.perf_counter() - started
        found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    checks = {f["rule_id"]: (f["status"], f["seconds"] or 0.0) for f in found["findings"]}
    for skip in found["structure_skipped"]:
        print(f"skipped: {', '.join(skip['ids'][:4])}: {skip['reason']}")
    return Run(relations, seconds, client, heap, checks)


def watched(process: subprocess.Popen[bytes], server: psutil.Process | None) -> tuple[float, float]:
    """The most resident memory of client and server while the client runs, in MB."""
    client = psutil.Process(process.pid)
    most = [0.0, 0.0]
    while process.poll() is None:
        for at, one in enumerate((client, server)):
            with suppress(psutil.NoSuchProcess):
                most[at] = max(most[at], one.memory_info().rss / 1e6 if one else 0.0)
        time.sleep(STEP)
    return most[0], most[1]


def exponent(runs: list[Run]) -> float:
    """b of seconds = a * relations^b, by least squares on the logarithms."""
    xs, ys = [math.log(run.relations) for run in runs], [math.log(run.seconds) for run in runs]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


def measured(home: Path, relations: int, asked: argparse.Namespace) -> Run:
    """Loads a graph of that size, starts a server on it, audits: the server is cold."""
    if not asked.keep:
        for step, seconds in load(home, relations // 5, relations, seed=asked.seed, heap=asked.heap):
            print(f"{relations:>10,} relations: {step:<24}{seconds:8.1f} s", flush=True)
    started_server(home, asked.heap)
    try:
        return audited(home, relations, asked)
    finally:
        stop(home)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="100000,1000000,5000000", help="relations, separated by commas")
    parser.add_argument("--home", type=Path, help="folder of the server; its database is replaced")
    parser.add_argument("--keep", action="store_true", help="audit what --home holds, load nothing")
    parser.add_argument("--heap", default="6g")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds a check may take")
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    sizes = [int(size) for size in asked.sizes.split(",")]
    with tempfile.TemporaryDirectory(prefix="kgeval-bench-") as folder:
        home = (asked.home or Path(folder) / "home").resolve()
        runs = [measured(home, size, asked) for size in sizes]
    for rule_id, (status, seconds) in sorted(runs[-1].checks.items(), key=lambda item: -item[1][1]):
        print(f"  {rule_id:<28}{status:<12}{seconds:8.1f} s")
    for run in runs:
        slowest = max(run.checks.items(), key=lambda item: item[1][1])
        print(
            f"{run.relations:>10,} relations: {run.seconds:8.1f} s, client {run.client:5.0f} MB, server {run.server:6.0f} MB; "
            f"slowest check {slowest[0]} {slowest[1][1]:.1f} s"
        )
    if len(runs) > 1:
        print(f"seconds grow with relations to the power of {exponent(runs):.2f}")
    late = [name for run in runs for name, (status, _) in run.checks.items() if status in ("incomplete", "error")]
    print(f"checks that did not end: {', '.join(late) or 'none'}")
    return 1 if late else 0


if __name__ == "__main__":
    raise SystemExit(main())
