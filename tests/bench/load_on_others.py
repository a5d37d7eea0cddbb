"""What an audit does to others on the same server: the latency of small look-ups of another client, alone and while an audit
runs with each set of flags. Not a test.

    python tests/bench/load_on_others.py [--entities 20000] [--relations 100000] [--rounds 1] [--home FOLDER]

The other client asks for one node by its id, and how many neighbours it has, RATE times a second, however long the answers
take (a look-up that is late counts from when it was due). A round is, for each set of flags: alone for SECONDS, then one audit,
by `kgeval audit` as a process of its own. Printed by set: the median and the 95th percentile alone and beside an audit, and their
ratio (medians of the rounds), the look-ups, the seconds of an audit and the rounds. One audit runs first, so that the server
has planned its queries.
Client, server and audit share the processors of this machine, as they would not where the database is a machine of its own.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import neo4j
from big_graph import GRAPH, load, started_server

from kgeval.graph.connect import Address, driver_of
from kgeval.graph.server import stop

RATE = 50  # look-ups a second
SECONDS = 20.0
LOOK_UP = "MATCH (e) WHERE elementId(e) = $id RETURN e.name AS name, count { (e)--() } AS neighbours"
FLAGS: dict[str, list[str]] = {
    "defaults": [],
    "--concurrent-queries 1": ["--concurrent-queries", "1"],
    "--concurrent-queries 1 --pause 1": ["--concurrent-queries", "1", "--pause", "1"],
}


@dataclass(frozen=True)
class Round:
    """Seconds of each look-up before an audit and beside it, and of the audit."""

    alone: list[float]
    beside: list[float]
    seconds: float


class OtherClient:
    """Looks nodes up at its rate while the `with` block lasts. `latencies`: seconds of each look-up."""

    def __init__(self, driver: neo4j.Driver, ids: list[str]) -> None:
        self._driver, self._ids = driver, ids
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask, name="other-client")
        self.latencies: list[float] = []

    def __enter__(self) -> OtherClient:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _ask(self) -> None:
        due = time.perf_counter()
        with self._driver.session(default_access_mode=neo4j.READ_ACCESS) as session:
            while not self._over.is_set():
                due += 1 / RATE
                time.sleep(max(0.0, due - time.perf_counter()))
                session.run(LOOK_UP, id=random.choice(self._ids)).consume()
                self.latencies.append(time.perf_counter() - due)


def audit_once(home: Path, flags: list[str]) -> float:
    """Seconds of one audit. Raises: SystemExit where it fails."""
    command = [sys.executable, "-m", "kgeval", "audit", GRAPH, "--home", str(home), "--no-progress", "-q", *flags]
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="kgeval-bench-") as folder:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr[-2000:]}")
    return time.perf_counter() - begun


@contextmanager
def looking_up(address: Address) -> Iterator[tuple[neo4j.Driver, list[str]]]:
    """A driver of the other client's, and ids of some nodes."""
    with driver_of(address) as driver:
        rows, _, _ = driver.execute_query("MATCH (e:__Entity__) RETURN elementId(e) AS id LIMIT 5000")
        yield driver, [row["id"] for row in rows]


def percentile(values: list[float]) -> float:
    """The 95th."""
    return statistics.quantiles(values, n=20)[-1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, default=20_000)
    parser.add_argument("--relations", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--home", type=Path, help="folder of the server; its database is replaced")
    parser.add_argument("--keep", action="store_true", help="measure what --home holds, load nothing")
    chosen = parser.parse_args()
    rounds: defaultdict[str, list[Round]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="kgeval-bench-") as folder:
        home = (chosen.home or Path(folder) / "home").resolve()
        if not chosen.keep:
            for _ in load(home, chosen.entities, chosen.relations, seed=7, heap="2g"):
                pass
        try:
            with looking_up(started_server(home, "2g")) as (driver, ids):
                audit_once(home, [])
                print(f"{'':<36}{'median':>28}{'95th percentile':>30}{'look-ups':>10}{'audit':>8}{'rounds':>10}", flush=True)
                with OtherClient(driver, ids):
                    time.sleep(SECONDS / 4)
                for _ in range(chosen.rounds):
                    for name, flags in FLAGS.items():
                        with OtherClient(driver, ids) as alone:
                            time.sleep(SECONDS)
                        with OtherClient(driver, ids) as beside:
                            seconds = audit_once(home, flags)
                        rounds[name].append(Round(alone.latencies, beside.latencies, seconds))
                        show(name, rounds[name])
        finally:
            stop(home)
    return 0


def show(name: str, rounds: list[Round]) -> None:
    """One line: what the rounds so far say of a set of flags."""
    alone, beside = ([getattr(one, part) for one in rounds] for part in ("alone", "beside"))
    columns = []
    for measure in (statistics.median, percentile):
        ratio = statistics.median(measure(after) / measure(before) for before, after in zip(alone, beside, strict=True))
        before, after = (statistics.median(map(measure, several)) for several in (alone, beside))
        columns.append(f"{1000 * before:>8.2f} ->{1000 * after:>7.2f} ms {ratio:>6.2f}x")
    seconds = statistics.median(one.seconds for one in rounds)
    print(f"{name:<36}{'  '.join(columns)}{sum(map(len, beside)):>9,}{seconds:>8.1f} s{len(rounds):>8}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
