"""How long `kgeval import --bulk` takes, from tables to a readable server. Not a test.

    python tests/bench/bulk_speed.py [--entities 1000000] [--relations 5000000] [--seed 7] [--csv] [--ordinary 20000] [--home FOLDER]

Writes a power-law graph as Parquet (or CSV) tables, imports it into a home of its own, prints the seconds of each step, the peak
memory of the client, the seconds that Neo4j's tool alone takes for the plainest files of that size (the yardstick of this machine: all
relations of one type; and once more with the graph's thirty types, which the tool links one by one), all also as processor seconds (on a
machine with other work only those can be compared), and the rate against the ordinary import of a smaller graph (`--ordinary` entities,
five times the relations).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Thread

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
from big_graph import VERBS, ends

from kgeval.graph.connect import open_graph
from kgeval.graph.load.bulk import tool
from kgeval.graph.load.bulk.sheets import SheetFiles
from kgeval.graph.load.naming import upper_snake
from kgeval.graph.server import ensure_started, status, stop
from kgeval.graph.server.home import Home
from kgeval.graph.server.jars import ensure_jars

BATCH = 1_000_000


def tables(folder: Path, entities: int, relations: int, seed: int, *, as_csv: bool) -> None:
    """Writes nodes and relations."""
    folder.mkdir(parents=True)
    at = np.arange(entities)
    nodes = pa.table({"id": texts("e", at), "name": texts("Entity ", at), "type": texts("Type", at % 20)})
    rng = np.random.default_rng(seed)
    both = ends(entities, relations, rng, loops=0)
    words = pa.array(VERBS).take(pa.array(rng.integers(0, len(VERBS), relations)))
    facts = pa.table({"source": texts("e", both[:, 0]), "target": texts("e", both[:, 1]), "predicate": words})
    for name, table in (("nodes", nodes), ("relations", facts)):
        if as_csv:
            pcsv.write_csv(table, folder / f"{name}.csv")
        else:
            pq.write_table(table, folder / f"{name}.parquet", row_group_size=BATCH)


def texts(before: str, numbers: np.ndarray) -> pa.Array:  # type: ignore[type-arg]
    return pc.binary_join_element_wise(pa.scalar(before), pa.array(numbers).cast(pa.string()), "")


def used() -> float:
    """The processor seconds of the processes that this one started and that have ended; an embedded server is nobody's child."""
    times = os.times()
    return times.children_user + times.children_system


def timed(folder: Path, home: Path, *more: str) -> float:
    """Imports in a process of its own, whose steps go to the screen with the second in which they began, and its peak memory."""
    begun, before = time.perf_counter(), used()
    command = [sys.executable, "-m", "kgeval", "import", str(folder), "--graph", "bench", "--home", str(home), *more]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        peak: list[int] = [0]
        Thread(target=watch, args=(process.pid, peak), daemon=True).start()
        for line in process.stdout or ():
            print(f"{time.perf_counter() - begun:8.1f} s  {line.rstrip()}", flush=True)
    if process.returncode:
        raise SystemExit(process.returncode)
    wall, pid = time.perf_counter() - begun, status(home).pid
    server = sum(psutil.Process(pid).cpu_times()[:2]) if pid else 0.0
    print(f"client's own peak memory: {peak[0] >> 20} MB; processor seconds: client and tool {used() - before:.1f}, server {server:.1f}")
    return wall


def watch(pid: int, peak: list[int]) -> None:
    """Keeps the largest resident size of one process, its children not counted."""
    with contextlib.suppress(psutil.Error):
        while True:
            peak[0] = max(peak[0], psutil.Process(pid).memory_info().rss)
            time.sleep(0.05)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--entities", type=int, default=1_000_000)
    parser.add_argument("--relations", type=int, default=5_000_000)
    parser.add_argument("--ordinary", type=int, default=20_000, help="entities of the ordinary import; 0 leaves it out")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--csv", action="store_true")
    parser.add_argument("--heap", default="1g")
    parser.add_argument("--home", type=Path, help="a new home that is kept; its server is stopped")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kgeval-bench-") as folder:
        root, home = Path(folder), chosen.home or Path(folder) / "home"
        tables(root / "large", chosen.entities, chosen.relations, chosen.seed, as_csv=chosen.csv)
        try:
            bulk = timed(root / "large", home, "--bulk", "--heap", chosen.heap)
            begun = time.perf_counter()
            with open_graph(ensure_started(home, say=print)) as graph:
                print(graph.read("MATCH (e:__Entity__ {name_key: 'entity 1'})-[r]-() RETURN count(r) AS relations_of_entity_1"))
            print(f"read after {time.perf_counter() - begun:.1f} s; {chosen.relations / bulk:,.0f} relations a second in all")
        finally:
            stop(home)
        for typed, what in ((False, "plainest files"), (True, "plainest files, relation types as they are")):
            alone = plain(root / f"plain-{typed}", home, chosen, typed=typed)
            print(f"Neo4j's tool alone, {what}: {alone:.1f} s; the bulk import takes {bulk / alone:.2f} times as long")
        if chosen.ordinary:
            try:
                ordinary(root, chosen, bulk)
            finally:
                stop(root / "other")


def plain(folder: Path, home: Path, chosen: argparse.Namespace, *, typed: bool) -> float:
    """Seconds of the tool for numbers and names of entities and for relations of one type (`typed`: of the graph's types), from CSV to
    store, without a server."""
    (folder / "csv").mkdir(parents=True)
    at, rng = np.arange(chosen.entities), np.random.default_rng(chosen.seed)
    both = ends(chosen.entities, chosen.relations, rng, loops=0)
    pcsv.write_csv(pa.table({":ID": at, "name": texts("Entity ", at)}), folder / "csv" / "nodes.csv")
    columns = {":START_ID": both[:, 0], ":END_ID": both[:, 1]}
    if typed:
        columns[":TYPE"] = pa.array([upper_snake(verb) for verb in VERBS]).take(pa.array(rng.integers(0, len(VERBS), chosen.relations)))
    pcsv.write_csv(pa.table(columns), folder / "csv" / "relations.csv")
    jars = ensure_jars(Home(home).claim(None), source=None, say=print)
    nodes, relations = SheetFiles(("nodes.csv",), None, "Entity"), SheetFiles(("relations.csv",), None, None if typed else "RELATED")
    begun, before = time.perf_counter(), used()
    tool.import_store(folder / "csv", [nodes], [relations], folder / "store", jars, longest=100, heap=chosen.heap)
    print(f"Neo4j's tool alone: {used() - before:.1f} processor seconds")
    return time.perf_counter() - begun


def ordinary(root: Path, chosen: argparse.Namespace, bulk: float) -> None:
    """The same through the running server, smaller; its start is not counted."""
    small = chosen.ordinary
    tables(root / "small", small, small * 5, chosen.seed, as_csv=chosen.csv)
    ensure_started(root / "other", say=print, heap=chosen.heap)
    slow = timed(root / "small", root / "other")
    ratio = (chosen.relations / bulk) / (small * 5 / slow)
    print(f"ordinary import: {small * 5:,} relations in {slow:.1f} s; bulk loads {ratio:.1f} times as many a second")


if __name__ == "__main__":
    main()
