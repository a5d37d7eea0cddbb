"""What an audit of a large graph costs, in readings of the same graph: its seconds over those of reading all entities (name, type) and all
relations (both ends) once over Bolt, in the same run. Also memory, processor time, seconds of every check, and how it grows. Not a test.

    python tests/bench/scale.py [--sizes 100000,1000000,5000000] [--runs 3] [--home FOLDER] [--timeout 120] [--to 250000000]

Sizes are relations; a graph has a fifth as many entities (big_graph.py). Each is loaded by Neo4j's import tool into a home of its own in a
temporary folder (or in --home, whose database is REPLACED). Then each run reads the graph once and audits it by `kgeval audit`, as a
process of its own. Printed: the median of the runs' ratios with the least and the greatest, seconds, processor time and memory by size; and
for each check, the whole audit and one reading the median seconds at each size, the exponent b of seconds = a * relations^b, fitted over
the sizes, and with --to what that says of a graph of so many relations: from the largest size on, with an exponent of 1 at least, for less
only shows that the server was still warming up. A check of less than half a second at the largest size has no exponent.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import linear_regression, median
from typing import Any

import psutil
from big_graph import GRAPH, load, started_server

from kgeval.graph.connect import Address, open_graph
from kgeval.graph.server import stop
from kgeval.graph.server.home import Home
from kgeval.graph.server.process import find

STEP = 0.05
LEAST = 0.5  # seconds of a check from which on a law can be seen


READING = (
    "MATCH (e:__Entity__) RETURN elementId(e) AS id, e.name AS name, e.type AS type",
    "MATCH (a:__Entity__)-[r]->(b:__Entity__) RETURN elementId(a) AS source, type(r) AS type, elementId(b) AS target",
)


@dataclass(frozen=True)
class Run:
    """One reading and one audit: seconds on the clock and of the processors (client and server together), the most memory (MB) of client
    and server in the audit, seconds of each check, how each ended."""

    relations: int
    reading: float
    reading_work: float
    seconds: float
    work: float
    client: float
    server: float
    checks: dict[str, tuple[str, float]]

    @property
    def readings(self) -> float:
        return self.seconds / self.reading


def work_of(*processes: psutil.Process) -> float:
    """Seconds of the processors that these have taken."""
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def read_once(address: Address, server: psutil.Process) -> tuple[float, float]:
    """Reads the graph once. Seconds on the clock, and of the processors."""
    own = psutil.Process()
    with open_graph(address) as graph:
        started, before = time.perf_counter(), work_of(own, server)
        for query in READING:
            for _ in graph.stream(query):
                pass
        return time.perf_counter() - started, work_of(own, server) - before


def audited(address: Address, home: Path, relations: int, asked: argparse.Namespace) -> Run:
    """Reads and audits the home's graph once, watching both processes."""
    server = find(Home(home))
    if server is None:
        raise SystemExit(f"no server runs on {home}")
    reading, reading_work = read_once(address, server)
    with tempfile.TemporaryDirectory(prefix="kgeval-bench-") as folder:
        report = Path(folder) / "report.json"
        command = [
            sys.executable, "-m", "kgeval", "audit", GRAPH, "--home", str(home), "--timeout", str(asked.timeout), "-o", str(report),
            "--no-progress", *asked.flag,
        ]
        started, before = time.perf_counter(), work_of(server)
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=folder) as process:
            client, heap, own = watched(process, server)
        seconds, work = time.perf_counter() - started, own + work_of(server) - before
        found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    checks = {f["rule_id"]: (f["status"], f["seconds"] or 0.0) for f in found["findings"]}
    for skip in found["structure_skipped"]:
        print(f"skipped: {', '.join(skip['ids'][:4])}: {skip['reason']}")
    run = Run(relations, reading, reading_work, seconds, work, client, heap, checks)
    print(f"{relations:>10,} relations: reading {reading:7.1f} s, audit {seconds:7.1f} s, {run.readings:.2f} readings", flush=True)
    return run


def watched(process: subprocess.Popen[bytes], server: psutil.Process) -> tuple[float, float, float]:
    """The most resident memory of client and server while the client runs, in MB, and the client's seconds of the processors."""
    client = psutil.Process(process.pid)
    most, work = [0.0, 0.0], 0.0
    while process.poll() is None:
        with suppress(psutil.Error):
            most = [max(known, one.memory_info().rss / 1e6) for known, one in zip(most, (client, server), strict=True)]
            work = work_of(client)
        time.sleep(STEP)
    return most[0], most[1], work


def exponent(seconds: dict[int, float]) -> float:
    """b of seconds = a * size^b, by least squares on the logarithms; 1 where there is one size, or the largest takes less than LEAST."""
    known = {size: value for size, value in seconds.items() if value > 0}
    if len(known) < 2 or seconds[max(seconds)] < LEAST:
        return 1.0
    xs, ys = [math.log(size) for size in known], [math.log(value) for value in known.values()]
    return linear_regression(xs, ys).slope


def growth(sizes: dict[int, list[Run]], to: int | None) -> Iterator[str]:
    """A line for each check, the dearest first, then the audit and the reading."""
    rows = {
        name: {size: median(run.checks[name][1] for run in runs) for size, runs in sizes.items()}
        for name in next(iter(sizes.values()))[0].checks
    }
    rows = dict(sorted(rows.items(), key=lambda row: -row[1][max(sizes)]))
    rows["the audit"] = {size: median(run.seconds for run in runs) for size, runs in sizes.items()}
    rows["one reading"] = {size: median(run.reading for run in runs) for size, runs in sizes.items()}
    yield f"{'seconds at':<28}" + "".join(f"{size:>13,}" for size in sizes) + f"{'exponent':>10}" + (f"{to:>15,}" if to else "")
    for name, seconds in rows.items():
        b, largest = exponent(seconds), max(seconds)
        line = f"{name:<28}" + "".join(f"{value:13.1f}" for value in seconds.values()) + f"{b:10.2f}"
        yield line + (f"{seconds[largest] * (to / largest) ** max(b, 1.0):15,.0f}" if to else "")


def measured(home: Path, relations: int, asked: argparse.Namespace) -> list[Run]:
    """Loads a graph of that size, starts a server on it, reads and audits: the first time the server is cold."""
    if not asked.keep:
        for step, seconds in load(home, relations // 5, relations, seed=asked.seed, heap=asked.heap):
            print(f"{relations:>10,} relations: {step:<24}{seconds:8.1f} s", flush=True)
    address = started_server(home, asked.heap)
    try:
        return [audited(address, home, relations, asked) for _ in range(asked.runs)]
    finally:
        stop(home)


def told(size: int, runs: list[Run]) -> str:
    """A size in a line: medians, and how far the ratio spreads."""
    ratios = sorted(run.readings for run in runs)
    of = {name: median(getattr(run, name) for run in runs) for name in ("reading", "reading_work", "seconds", "work")}
    return (
        f"{size:>10,} relations: {median(ratios):.2f} readings ({ratios[0]:.2f} to {ratios[-1]:.2f} in {len(runs)} runs); audit "
        f"{of['seconds']:.1f} s, reading {of['reading']:.1f} s; processors {of['work']:.1f} s and {of['reading_work']:.1f} s; client "
        f"{max(run.client for run in runs):.0f} MB, server {max(run.server for run in runs):.0f} MB"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="100000,1000000,5000000", help="relations, separated by commas")
    parser.add_argument("--home", type=Path, help="folder of the server; its database is replaced")
    parser.add_argument("--keep", action="store_true", help="audit what --home holds, load nothing")
    parser.add_argument("--heap", default="6g")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds a check may take")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--runs", type=int, default=3, help="readings and audits of each size")
    parser.add_argument("--to", type=int, help="a size to say the seconds of that nobody measured")
    parser.add_argument("--flag", action="append", default=[], metavar="FLAG", help="a flag for kgeval audit, as --flag=--no-structure")
    asked = parser.parse_args()
    sizes = [int(size) for size in asked.sizes.split(",")]
    with tempfile.TemporaryDirectory(prefix="kgeval-bench-") as folder:
        home = (asked.home or Path(folder) / "home").resolve()
        sizes_run = {size: measured(home, size, asked) for size in sizes}
    for size, runs in sizes_run.items():
        print(told(size, runs))
    for line in growth(sizes_run, asked.to):
        print(line)
    every = [check for runs in sizes_run.values() for run in runs for check in run.checks.items()]
    late = sorted({name for name, (status, _) in every if status in ("incomplete", "error")})
    print(f"checks that did not end: {', '.join(late) or 'none'}")
    return 1 if late else 0


if __name__ == "__main__":
    raise SystemExit(main())
