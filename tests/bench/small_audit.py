"""What an audit of a small graph costs, cold and warm, against what nobody can avoid. Not a test.

    python tests/bench/small_audit.py [--entities 250] [--relations 1000] [--repeats 5] [--report html] [--home FOLDER]

Loads a graph of 1,000 relations into an embedded server of its own (big_graph.py) and measures in turns, each in a process of its own:

    cold   `kgeval audit` with the server stopped, against `kgeval server start` alone; not the first start of all: with Java's classes
           archived (kgeval.graph.server.classes)
    warm   `kgeval audit` on the running server, against the shortest program that counts the nodes with Neo4j's driver

Each with its summary on the terminal alone, and with a report written besides.

Of each the seconds, and the processor seconds of the client and of the server: on a machine with other work only those can be compared.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
from big_graph import GRAPH, load

from kgeval.config import cache_folder
from kgeval.graph.server import status, stop

COUNT = """\
import sys, neo4j
uri, password_file = sys.argv[1:]
with neo4j.GraphDatabase.driver(uri, auth=("neo4j", open(password_file).read().strip())) as driver:
    print(driver.execute_query("MATCH (n) RETURN count(n) AS nodes").records[0]["nodes"])
"""


@dataclass(frozen=True)
class Cost:
    """Of one process, and of the server meanwhile, in seconds."""

    wall: float
    client: float
    server: float


def server_seconds(home: Path) -> float:
    """The processor time that the home's server has taken since its start; 0 if it does not run."""
    pid = status(home).pid
    times = psutil.Process(pid).cpu_times() if pid else None
    return times.user + times.system if times else 0.0


def run(home: Path, *command: str) -> Cost:
    """Runs a program of Python to its end. Raises: SystemExit where it fails; an audit may miss a gate, but none is asked for."""
    server, client, begun = server_seconds(home), os.times(), time.perf_counter()
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    wall, ended = time.perf_counter() - begun, os.times()
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr[-2000:]}")
    used = ended.children_user + ended.children_system - client.children_user - client.children_system
    return Cost(wall, used, server_seconds(home) - server)


def show(label: str, costs: list[Cost]) -> float:
    """One line: medians and the range of the seconds. The median of all processor seconds."""
    wall, client, server = ([getattr(cost, name) for cost in costs] for name in ("wall", "client", "server"))
    middle = statistics.median
    print(
        f"{label:<28}{middle(wall):7.2f} s ({min(wall):.2f} to {max(wall):.2f})   processor: client {middle(client):6.2f} s, "
        f"server {middle(server):6.2f} s", flush=True,
    )
    return middle([cost.client + cost.server for cost in costs])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("entities", 250), ("relations", 1_000), ("repeats", 5), ("seed", 7)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--report", default="html", help="form of the report that each audit writes")
    parser.add_argument("--home", type=Path, help="folder of the server; its database is replaced")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kgeval-bench-") as folder:
        home = (chosen.home or Path(folder) / "home").resolve()
        for step, seconds in load(home, chosen.entities, chosen.relations, seed=chosen.seed, heap="1g"):
            print(f"{step:<28}{seconds:7.1f} s", flush=True)
        audit = ("-m", "kgeval", "audit", "--graph", GRAPH, "--home", str(home))
        report = (*audit, "-o", str(Path(folder) / f"report.{chosen.report}"))
        try:
            run(home, *report)  # what a first stop leaves for later starts is part of both cold figures
            stop(home, keep_classes=True)
            while any((cache_folder() / "classes").glob("*.making")):
                time.sleep(0.5)
            starts, cold, written = [], [], []
            for _ in range(max(1, chosen.repeats // 2)):
                start = ("-m", "kgeval", "server", "start", "--home", str(home))
                for command, costs in ((start, starts), (audit, cold), (report, written)):
                    stop(home)
                    costs.append(run(home, *command))
            least, warm, warm_written = [], [], []
            run(home, *report)  # the server compiles what runs often as it runs
            count = ("-c", COUNT, str(status(home).uri), status(home).password_file)
            for _ in range(chosen.repeats):
                for command, costs in ((count, least), (audit, warm), (report, warm_written)):
                    costs.append(run(home, *command))
            alone, first = show("kgeval server start, cold", starts), show("kgeval audit, cold", cold)
            show(f"  with a report, {chosen.report}", written)
            counted, again = show("counting nodes, warm", least), show("kgeval audit, warm", warm)
            show(f"  with a report, {chosen.report}", warm_written)
            print(f"processor seconds: cold audit {first / alone:.1f} times the start, warm audit {again / counted:.1f} times the count")
        finally:
            stop(home)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
