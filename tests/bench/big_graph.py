"""A large graph that looks like an extracted one, in kgeval's own layout, loaded by Neo4j's import tool into a home of its own.

    python tests/bench/big_graph.py HOME [--entities 1000000] [--relations 5000000] [--seed 7] [--loops 0]

Names are 1 to 4 words of a vocabulary with a power law; some come again, exactly or in another form (case, plural, legal form, initials).
20 types, 30 relation names, one chunk for 20 entities with a text that has most of their names, provenance for 2 of 5 entities and
relations, descriptions for half of the entities, aliases for a few. Ends of relations are drawn with weight 1 / (rank + 10)^0.75.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from kgeval.graph.connect import Address, open_graph
from kgeval.graph.server import ensure_started, stop
from kgeval.graph.server.faults import NotReadyError
from kgeval.graph.server.home import Home
from kgeval.graph.server.jars import ensure_jars
from kgeval.graph.server.process import java_command

GRAPH = "bench"
TYPES = [
    "Person", "Organization", "Place", "Event", "Work", "Concept", "Product", "Species", "Gene", "Drug", "Disease", "Law", "Award", "Ship",
    "Battle", "River", "School", "Team", "Language", "Material",
]
VERBS = [
    "works at", "born in", "part of", "located in", "wrote", "knows", "owns", "causes", "treats", "member of", "founded", "won", "lives in",
    "married to", "child of", "made of", "sails on", "fought at", "flows into", "studied at", "plays for", "speaks", "regulates",
    "binds to", "inhibits", "follows", "cites", "sold to", "named after", "leads",
]
STARTS = ["b", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "z", "st", "tr", "br"]
SYLLABLES = [start + end for start in STARTS for end in ["a", "e", "i", "o", "u", "ar", "en", "il", "or", "un"]]
LEGAL = ["Inc", "Ltd", "GmbH", "Corp"]


def vocabulary(size: int, rng: np.random.Generator) -> list[str]:
    """Distinct made-up words of 2 to 4 syllables, with a capital letter."""
    words: dict[str, None] = {}
    while len(words) < size:
        for row in rng.integers(0, len(SYLLABLES), (size, 4)).tolist():
            words["".join(SYLLABLES[at] for at in row[: 2 + row[0] % 3]).capitalize()] = None
    return list(words)[:size]


def names(count: int, rng: np.random.Generator) -> list[str]:
    """Names of 1 to 4 words; about 3 of 100 are another form of an earlier name, and 1 of 100 an earlier name again."""
    words = vocabulary(max(2_000, count // 12), rng)
    ranks = 1 / (np.arange(len(words)) + 20) ** 0.9
    drawn = rng.choice(len(words), size=(count, 5), p=ranks / ranks.sum())
    lengths = rng.choice([1, 2, 3, 4], size=count, p=[0.15, 0.45, 0.3, 0.1])
    luck = rng.random(count)
    earlier = rng.integers(0, np.maximum(np.arange(count), 1))
    out: list[str] = []
    seen: set[str] = set()
    for at in range(count):
        if luck[at] < 0.04 and at > 10:
            out.append(out[earlier[at]] if luck[at] < 0.01 else other_form(out[earlier[at]], at))
            continue
        row = [words[i] for i in drawn[at].tolist()]
        name = " ".join(row[: lengths[at]])
        if name in seen:  # an extractor merges equal names; most that meet are told apart by one word more
            name = " ".join(row)
        seen.add(name)
        out.append(name)
    return out


def other_form(name: str, turn: int) -> str:
    """The name as another text writes it."""
    first, _, rest = name.partition(" ")
    short = f"{first[0]}. {rest}" if rest else f"the {name}"
    forms = [name.upper(), f"{name}s", f"{name} {LEGAL[turn % 4]}", short, name.replace(" ", "-")]
    return forms[turn % len(forms)]


def ends(entities: int, relations: int, rng: np.random.Generator, *, loops: int) -> np.ndarray[Any, Any]:
    """(relations, 2): source and target of each; `loops` of them are self-loops. Entities are numbered in the order in which the relations
    name them first, as a writer that reads texts meets them; those without a relation come last."""
    weights = 1 / (np.arange(entities) + 10) ** 0.75
    found = rng.choice(entities, size=(relations, 2), p=weights / weights.sum())
    same = found[:, 0] == found[:, 1]
    found[same, 1] = (found[same, 1] + 1) % entities
    found[:loops, 1] = found[:loops, 0]
    met, first = np.unique(found, return_index=True)
    number = np.full(entities, -1, dtype=np.int64)
    number[met[np.argsort(first)]] = np.arange(len(met))
    number[number < 0] = np.arange(len(met), entities)
    return number[found]


def write(folder: Path, entities: int, relations: int, *, seed: int, loops: int) -> tuple[list[Path], list[Path]]:
    """The CSV files of nodes and of relations."""
    rng = np.random.default_rng(seed)
    called = names(entities, rng)
    chunks = max(1, entities // 20)
    first = np.arange(entities) * chunks // entities  # entities are numbered as the texts name them
    nodes = [_entities(folder, called, rng), _chunks(folder, called, first, chunks, rng), _mark(folder, entities + chunks)]
    links = [_relations(folder, ends(entities, relations, rng, loops=loops), first, rng), _mentions(folder, entities, first, chunks, rng)]
    return nodes, links


def _save(path: Path, columns: dict[str, Any]) -> Path:
    pyarrow.csv.write_csv(pa.table(columns), path)
    return path


def _entities(folder: Path, called: list[str], rng: np.random.Generator) -> Path:
    n = len(called)
    kinds = rng.choice(len(TYPES), size=n, p=_zipf(len(TYPES)))
    told, known = rng.random(n) < 0.5, rng.random(n) < 0.02
    return _save(folder / "entities.csv", {
        ":ID": [f"e{at}" for at in range(n)], "id": [f"e{at}" for at in range(n)], "name": called,
        "name_key": [name.casefold() for name in called], "type": [TYPES[kind] for kind in kinds],
        "description": [f"{name} is told of there." if tell else None for name, tell in zip(called, told, strict=True)],
        "aliases:string[]": [name.split(" ")[-1] + " " + name[:1] if tell else None for name, tell in zip(called, known, strict=True)],
        "mentions:long": np.ones(n, dtype=np.int64), ":LABEL": pa.array([f"__Entity__;{GRAPH}"] * n),
    })


def _chunks(folder: Path, called: list[str], first: np.ndarray[Any, Any], chunks: int, rng: np.random.Generator) -> Path:
    spoken: list[list[str]] = [[] for _ in range(chunks)]
    said = rng.random(len(called)) < 0.95
    for name, at, say in zip(called, first.tolist(), said.tolist(), strict=True):
        if say:
            spoken[at].append(name)
    texts = ["Here it is said that " + " met and then also wrote of ".join(some) + ", as was told before." for some in spoken]
    ids = [f"c{at}" for at in range(chunks)]
    labels = pa.array([f"Chunk;{GRAPH}"] * chunks)
    return _save(folder / "chunks.csv", {":ID": ids, "id": ids, "text": texts, "index:long": np.arange(chunks), ":LABEL": labels})


def _mark(folder: Path, nodes: int) -> Path:
    return _save(folder / "mark.csv", {
        ":ID": ["mark"], "name": [GRAPH], "status": ["ready"], "source": ["big_graph.py"], "format": ["triples"], "nodes:long": [nodes],
        ":LABEL": ["__KgevalGraph__"],
    })


def _relations(folder: Path, both: np.ndarray[Any, Any], first: np.ndarray[Any, Any], rng: np.random.Generator) -> Path:
    """Two of five relations say where they come from: four of five of these the chunk that names their source, the others any chunk."""
    m, chunks = len(both), int(first[-1]) + 1
    kinds = rng.choice(len(VERBS), size=m, p=_zipf(len(VERBS)))
    sources = np.where(rng.random(m) < 0.8, first[both[:, 0]], rng.integers(0, chunks, m))
    proved = rng.random(m) < 0.4
    named = pa.compute.binary_join_element_wise(pa.array(["c"] * m), pa.array(sources).cast(pa.string()), "")
    node = pa.array(["e"] * m)
    return _save(folder / "relations.csv", {
        ":START_ID": pa.compute.binary_join_element_wise(node, pa.array(both[:, 0]).cast(pa.string()), ""),
        ":END_ID": pa.compute.binary_join_element_wise(node, pa.array(both[:, 1]).cast(pa.string()), ""),
        ":TYPE": pa.array([verb.upper().replace(" ", "_") for verb in VERBS]).take(pa.array(kinds)),
        "predicate": pa.array(VERBS).take(pa.array(kinds)),
        "chunk_ids:string[]": pa.compute.if_else(pa.array(proved), named, pa.scalar(None, pa.string())),
    })


def _mentions(folder: Path, entities: int, first: np.ndarray[Any, Any], chunks: int, rng: np.random.Generator) -> Path:
    told = np.flatnonzero(rng.random(entities) < 0.4)
    more = told[rng.random(len(told)) < 0.3]
    start = np.concatenate([told, more])
    end = np.concatenate([first[told], rng.integers(0, chunks, len(more))])
    return _save(folder / "mentions.csv", {
        ":START_ID": [f"e{at}" for at in start.tolist()], ":END_ID": [f"c{at}" for at in end.tolist()],
        ":TYPE": pa.array(["FROM_CHUNK"] * len(start)),
    })


def _zipf(n: int) -> np.ndarray[Any, Any]:
    weights = 1 / (np.arange(n) + 3)
    return weights / weights.sum()


def load(home: Path, entities: int, relations: int, *, seed: int = 7, loops: int = 0, heap: str = "6g") -> Iterator[tuple[str, float]]:
    """Fills the home's database anew; its server is stopped before and after. Yields (step, seconds)."""
    started = time.perf_counter()
    if not Home(home).password_file.exists():
        started_server(home, heap)  # makes the home and fetches what is needed
    stop(home)
    yield "preparing the home", time.perf_counter() - started
    with tempfile.TemporaryDirectory(prefix="kgeval-bench-", dir=home.parent) as folder:
        started = time.perf_counter()
        nodes, links = write(Path(folder), entities, relations, seed=seed, loops=loops)
        yield "writing the CSV files", time.perf_counter() - started
        started = time.perf_counter()
        _import(home, nodes, links)
        yield "Neo4j's import tool", time.perf_counter() - started
    started = time.perf_counter()
    with open_graph(started_server(home, heap)) as graph:
        graph.schema_command("CREATE INDEX bench_name_key IF NOT EXISTS FOR (e:__Entity__) ON (e.name_key)")
        graph.schema_command("CALL db.awaitIndexes(600)")
    stop(home)
    yield "index", time.perf_counter() - started


def started_server(home: Path, heap: str) -> Address:
    """A running server; a busy machine may take longer than one start waits."""
    for _ in range(4):
        try:
            return ensure_started(home=home, heap=heap, say=lambda _: None)
        except NotReadyError:
            continue
    return ensure_started(home=home, heap=heap, say=lambda _: None)


def _import(home: Path, nodes: list[Path], links: list[Path]) -> None:
    line = Home(home).claim(None)
    jars = ensure_jars(line, source=None, say=lambda _: None)
    given = [*(f"--nodes={path}" for path in nodes), *(f"--relationships={path}" for path in links)]
    command = [
        *java_command(home, jars, "2g", more="-Dapp.name=neo4j\n"), "org.neo4j.cli.AdminTool", "database", "import", "full", *given,
        "--overwrite-destination", "neo4j",
    ]
    told = subprocess.run(
        command, env={**os.environ, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")}, capture_output=True, text=True, check=False,
        cwd=home,
    )
    if told.returncode:
        raise SystemExit(told.stdout[-3000:] + told.stderr[-3000:])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", type=Path, help="folder of the server; its database is replaced")
    for name, default in (("entities", 1_000_000), ("relations", 5_000_000), ("seed", 7), ("loops", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    for step, seconds in load(asked.home.resolve(), asked.entities, asked.relations, seed=asked.seed, loops=asked.loops):
        print(f"{step:<30}{seconds:8.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
