"""How fast kgeval writes a graph into Neo4j, against neo4j-graphrag's own writer on the same graph. Not a test.

    python tests/bench/writer_speed.py [--entities 5000] [--relations 20000] [--repeats 3] [--seed 7]

Five writers take turns on one embedded server (a home of its own, wiped between runs): the importer's (`kgeval import`), the
builder's (`kgeval build`), what no writer can be faster than over Bolt (UNWIND with the nodes' ids held, a query a relation type, nothing
else), and neo4j-graphrag's `Neo4jWriter` with its default batches of 1,000 rows and with 10,000, which runs in an environment of its own.
Only the writing is timed: no start of Python, no making of objects. The server's processor seconds stand beside each run's seconds: on a
machine with other work only those can be compared. The best and the median of the runs, relations a second and ratios are printed; all
must leave the same numbers of entities and relations, or the exit code is 1. Neo4j's import tool comes last: it writes the same graph as a
new store, without a server, which is what the store itself can bear.

`Neo4jWriter` needs APOC, which kgeval does not: the jar is fetched for this bench only, checked by its SHA-256.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import neo4j
import numpy as np
import psutil
import pyarrow as pa
import pyarrow.csv as pcsv
from bulk_speed import texts, used
from neo4j_server import wipe

from kgeval.graph.connect import Address, Graph, open_graph
from kgeval.graph.load import sync
from kgeval.graph.load.built import BuildTarget, Derived, EntityRow, RelationRow
from kgeval.graph.load.bulk import tool
from kgeval.graph.load.bulk.sheets import SEPARATOR, SheetFiles
from kgeval.graph.load.model import Entity, Loaded, Relation
from kgeval.graph.load.state import ImportTarget
from kgeval.graph.load.writer import WriteOptions, write
from kgeval.graph.server import process
from kgeval.graph.server.home import Home
from kgeval.graph.server.jars import ensure_jars
from kgeval.graph.server.lines import Jar, load_line
from kgeval.text.names import normalise

PEER = "neo4j-graphrag==1.22.0"
APOC = Jar("org.neo4j.procedure:apoc-core:5.26.0:core", 2962533, "9d0c07576f9bcbbb895118240ad674fb8b16ea2157abc183a7338acafa385db8")
DESCRIPTION = "what the texts say of it, in a sentence or two of the usual length, number {}"
THEIRS = """\
import asyncio, json, sys, time
from pathlib import Path
import neo4j
from neo4j_graphrag.components.kg_writer import Neo4jWriter
from neo4j_graphrag.components.types import Neo4jGraph, Neo4jNode, Neo4jRelationship

uri, password_file, data, batch = sys.argv[1:]
found = json.loads(Path(data).read_text())
graph = Neo4jGraph(nodes=[Neo4jNode(**node) for node in found["nodes"]],
                   relationships=[Neo4jRelationship(**relation) for relation in found["relationships"]])
auth = ("neo4j", Path(password_file).read_text().strip())
with neo4j.GraphDatabase.driver(uri, auth=auth, notifications_min_severity="OFF") as driver:
    writer = Neo4jWriter(driver, batch_size=int(batch))
    started = time.perf_counter()
    result = asyncio.run(writer.run(graph))
    seconds = time.perf_counter() - started
print(json.dumps({"seconds": seconds, "status": result.status, "about": str(result.metadata)[:300]}))
"""


@dataclass(frozen=True)
class Sample:
    """A graph to write: type of each entity; (source, target, type) of each relation, no triple twice."""

    types: list[str]
    relations: list[tuple[int, int, str]]


def sample(entities: int, relations: int, seed: int) -> Sample:
    """A power-law graph with 20 entity types and 10 relation types."""
    rng = np.random.default_rng(seed)
    weights = 1 / (np.arange(entities) + 10) ** 0.75
    found: dict[tuple[int, int, str], None] = {}
    while len(found) < relations:
        ends = rng.choice(entities, size=(relations, 2), p=weights / weights.sum())
        for (a, b), kind in zip(ends.tolist(), rng.integers(0, 10, relations).tolist(), strict=True):
            if a != b and len(found) < relations:
                found[(a, b, f"REL_{kind}")] = None
    return Sample([f"Type{at % 20}" for at in range(entities)], list(found))


@contextmanager
def server(folder: Path) -> Iterator[tuple[Address, Path, psutil.Process]]:
    """An embedded Neo4j with APOC beside GDS; its address, the file of its password, and the process."""
    plain = load_line("5.26")
    line = replace(plain, jars=(*plain.jars, APOC), plugin_groups=(*plain.plugin_groups, APOC.group))
    home = Home(folder / "home")
    home.create()
    home.claim(None)
    jars = ensure_jars(line, source=None, say=lambda text: print(text, file=sys.stderr))
    home.prepare(line, jars)
    port = process.free_port()
    process.launch(home, line, jars, port=port, heap="2g")
    running = process.find(home)
    if running is None:
        raise process.why_ended(home)
    try:
        process.wait_ready(home, running, port=port, seconds=120)
        yield Address(process.uri(port), "neo4j", home.password(), source="the bench's server"), home.password_file, running
    finally:
        process.end(running)


def environment(folder: Path) -> Path:
    """The Python of a fresh environment with neo4j-graphrag in it, and the driver version that kgeval uses here."""
    python = folder / "peer" / "bin" / "python"
    wanted = [PEER, f"neo4j=={neo4j.__version__}"]
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if uv:
        make = [uv, "venv", "-q", "--python", sys.executable, str(folder / "peer")]
        install = [uv, "pip", "install", "-q", "--python", str(python)]
    else:
        make, install = [sys.executable, "-m", "venv", str(folder / "peer")], [str(python), "-m", "pip", "install", "-q"]
    subprocess.run(make, check=True)
    subprocess.run([*install, *wanted], check=True)
    return python


def start_anew(graph: Graph) -> None:
    """Deletes nodes, relations, indexes and constraints."""
    wipe(graph)
    for row in graph.read("SHOW CONSTRAINTS YIELD name"):
        graph.schema_command(f"DROP CONSTRAINT `{row['name']}`")
    for row in graph.read("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name"):
        graph.schema_command(f"DROP INDEX `{row['name']}`")


def with_importer(graph: Graph, drawn: Sample) -> float:
    """Seconds of the importer's writer, from nothing to a graph that is marked as ready, its index of names asked for."""
    entities = [Entity(f"e{at}", f"entity {at}", kind, DESCRIPTION.format(at)) for at, kind in enumerate(drawn.types)]
    relations = [Relation(a, b, kind, DESCRIPTION.format(at), 1.0) for at, (a, b, kind) in enumerate(drawn.relations)]
    loaded = Loaded("triples", [], [], [], entities, relations, {}, len(relations), [], [], [])
    started = time.perf_counter()
    write(graph, loaded, ImportTarget("bench", "f", "triples", "bench", "0"), WriteOptions(normalise))
    return time.perf_counter() - started


def with_builder(graph: Graph, drawn: Sample) -> float:
    """Seconds of the builder's writer: it also reads what is there and works out the difference."""
    entities = [
        EntityRow(f"e{at}", f"entity {at}", f"entity {at}", kind, DESCRIPTION.format(at), (), 1, {}) for at, kind in enumerate(drawn.types)
    ]
    relations = [
        RelationRow(f"e{a}", f"e{b}", kind, DESCRIPTION.format(at), 1.0, ()) for at, (a, b, kind) in enumerate(drawn.relations)
    ]
    place, wanted = BuildTarget(graph, "bench"), Derived(entities, relations, [])
    started = time.perf_counter()
    sync.write_changes(place, sync.derived_changes(place, wanted))
    sync.finish_schema(place)
    return time.perf_counter() - started


def with_least(graph: Graph, drawn: Sample) -> float:
    """Seconds of the plainest Cypher: nodes, then relations of one type after the other between nodes by their internal ids. No index,
    no mark, no keys of names."""
    started = time.perf_counter()
    rows = [
        {"id": f"e{at}", "name": f"entity {at}", "type": kind, "description": DESCRIPTION.format(at)} for at, kind in enumerate(drawn.types)
    ]
    nodes = "UNWIND $rows AS row CREATE (n:__Entity__) SET n = row RETURN id(n) AS id"
    ids = [row["id"] for part in batched(rows) for row in graph.write(nodes, {"rows": part})]
    by_type: dict[str, list[list[Any]]] = {}
    for at, (a, b, kind) in enumerate(drawn.relations):
        by_type.setdefault(kind, []).append([ids[a], ids[b], {"predicate": kind, "description": DESCRIPTION.format(at), "weight": 1.0}])
    for kind, relations in by_type.items():
        create = f"CREATE (a)-[r:{kind}]->(b) SET r = row[2]"
        query = f"UNWIND $rows AS row MATCH (a) WHERE id(a) = row[0] MATCH (b) WHERE id(b) = row[1] {create}"
        for part in batched(relations):
            graph.write(query, {"rows": part})
    return time.perf_counter() - started


def batched(rows: list[Any], most: int = 10_000) -> list[list[Any]]:
    return [rows[start : start + most] for start in range(0, len(rows), most)]


def peer(python: Path, data: Path, address: Address, password_file: Path, *, batch: int) -> float:
    """Seconds of neo4j-graphrag's writer, by its own clock. Raises: SystemExit where it fails."""
    command = [str(python), str(data.with_name("theirs.py")), address.uri, str(password_file), str(data), str(batch)]
    result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    if result["status"] != "SUCCESS":
        raise SystemExit(f"neo4j-graphrag's writer failed: {result['about']}")
    return float(result["seconds"])


def for_peer(folder: Path, drawn: Sample) -> Path:
    """The graph in the shape that neo4j-graphrag takes, and the program that writes it."""
    nodes = [
        {"id": f"e{at}", "label": kind, "properties": {"id": f"e{at}", "name": f"entity {at}", "description": DESCRIPTION.format(at)}}
        for at, kind in enumerate(drawn.types)
    ]
    relations = [
        {"start_node_id": f"e{a}", "end_node_id": f"e{b}", "type": kind,
         "properties": {"predicate": kind, "description": DESCRIPTION.format(at), "weight": 1.0}}
        for at, (a, b, kind) in enumerate(drawn.relations)
    ]
    data = folder / "graph.json"
    data.write_text(json.dumps({"nodes": nodes, "relationships": relations}), encoding="utf-8")
    data.with_name("theirs.py").write_text(THEIRS, encoding="utf-8")
    return data


def processor(process: psutil.Process) -> float:
    """The processor seconds that a process has used."""
    return float(sum(process.cpu_times()[:2]))


def compare(writers: dict[str, Callable[[], float]], graph: Graph, drawn: Sample, repeats: int, java: psutil.Process) -> int:
    """Lets the writers take turns, prints what they took; 1 where a graph is not complete, else 0."""
    seconds: dict[str, list[float]] = {name: [] for name in writers}
    processed: dict[str, list[float]] = {name: [] for name in writers}
    expected = (len(drawn.types), len(drawn.relations))
    wrong = 0
    for _ in range(repeats):
        for name, work in writers.items():
            start_anew(graph)
            before = processor(java)
            seconds[name].append(work())
            processed[name].append(processor(java) - before)
            server_seconds, load = processed[name][-1], psutil.getloadavg()[0]
            print(f"{name:<38}{seconds[name][-1]:8.2f} s, server {server_seconds:6.2f} processor s, load {load:.1f}", flush=True)
            row: dict[str, Any] = graph.read(
                "MATCH (e:__Entity__) WITH count(e) AS e MATCH (:__Entity__)-[r]->(:__Entity__) RETURN e, count(r) AS r"
            )[0]
            if (row["e"], row["r"]) != expected:
                print(f"{name}: {row['e']} entities and {row['r']} relations instead of {expected}")
                wrong = 1
    for label, choose in (("best", min), ("median", statistics.median)):
        chosen = {name: choose(times) for name, times in seconds.items()}
        theirs = min(value for name, value in chosen.items() if name.startswith("neo4j-graphrag"))
        print(f"{label} of {repeats}:")
        for name, value in chosen.items():
            rate = len(drawn.relations) / value
            server_seconds = choose(processed[name])
            print(f"  {name:<36}{value:8.2f} s  {rate:9,.0f} relations/s  {theirs / value:6.1f} times the peer's better one; "
                  f"server {server_seconds:6.2f} processor s")
    return wrong


def with_tool(folder: Path, drawn: Sample) -> None:
    """Prints what Neo4j's import tool takes for the same nodes and relations, start of Java counted."""
    (folder / "tool").mkdir()
    kinds = pa.array([f"__Entity__{SEPARATOR}{kind}" for kind in drawn.types])
    at = np.arange(len(drawn.types))
    nodes = {":ID": at, ":LABEL": kinds, "id": texts("e", at), "name": texts("entity ", at), "description": described(len(at))}
    start, end, types = zip(*drawn.relations, strict=True)
    relations = {":START_ID": start, ":END_ID": end, ":TYPE": types, "predicate": types, "description": described(len(types))}
    for name, columns in (("nodes", nodes), ("relations", relations | {"weight:double": np.ones(len(types))})):
        pcsv.write_csv(pa.table(columns), folder / "tool" / f"{name}.csv")
    jars = ensure_jars(load_line("5.26"), source=None, say=print)
    begun, before = time.perf_counter(), used()
    tool.import_store(
        folder / "tool", [SheetFiles(("nodes.csv",), None, None)], [SheetFiles(("relations.csv",), None, None)], folder / "store", jars,
        longest=300, heap="1g",
    )
    wall = time.perf_counter() - begun
    print(f"Neo4j's import tool, a new store: {wall:.2f} s, {used() - before:.2f} processor s, {len(types) / wall:,.0f} relations/s")


def described(count: int) -> pa.Array:
    return pa.array([DESCRIPTION.format(at) for at in range(count)])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--entities", type=int, default=5_000)
    parser.add_argument("--relations", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=7)
    chosen = parser.parse_args()
    drawn = sample(chosen.entities, chosen.relations, chosen.seed)
    print(f"{chosen.entities:,} entities, {chosen.relations:,} relations; peer: {PEER}, driver {neo4j.__version__}", flush=True)
    with tempfile.TemporaryDirectory(prefix="kgeval-bench-") as name:
        folder = Path(name)
        python, data = environment(folder), for_peer(folder, drawn)
        with server(folder) as (address, password_file, java), open_graph(address) as graph:
            with_importer(graph, sample(500, 2_000, chosen.seed))  # warms the server
            wrong = compare({
                "kgeval import": lambda: with_importer(graph, drawn),
                "kgeval build": lambda: with_builder(graph, drawn),
                "plain UNWIND, ids held": lambda: with_least(graph, drawn),
                "neo4j-graphrag, batches of 1,000": lambda: peer(python, data, address, password_file, batch=1_000),
                "neo4j-graphrag, batches of 10,000": lambda: peer(python, data, address, password_file, batch=10_000),
            }, graph, drawn, chosen.repeats, java)
        with_tool(folder, drawn)
        return wrong


if __name__ == "__main__":
    raise SystemExit(main())
