"""Known answers on real indexes; skipped aloud where the data are not beside the checkout (or in KGEVAL_TEST_DATA)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from kgeval.graph.connect import Graph
from kgeval.graph.load.detect import load
from kgeval.graph.load.state import ImportTarget
from kgeval.graph.load.writer import WriteOptions, write
from kgeval.text.names import normalise

DATA = Path(os.environ.get("KGEVAL_TEST_DATA") or Path(__file__).parents[3] / "shared" / "data")

pytestmark = pytest.mark.long


def folder(name: str) -> Path:
    if not (DATA / name).is_dir():
        pytest.skip(f"no data in {DATA / name}")
    return DATA / name


def bring(graph: Graph, path: Path) -> None:
    loaded = load(path)
    assert not loaded.faults
    write(graph, loaded, ImportTarget("g", "f", loaded.format, path.name, "0"), WriteOptions(normalise))


def count(graph: Graph, pattern: str) -> int:
    number: int = graph.read(f"MATCH {pattern} RETURN count(*) AS n")[0]["n"]
    return number


def test_the_graphrag_fixture_has_561_entities_and_84_relations_at_32_dangling_ends(graph: Graph) -> None:
    bring(graph, folder("msgraphrag-fixture"))
    assert count(graph, "(e:__Entity__)") == 561
    assert count(graph, "(e:__Entity__ {dangling: true})") == 32
    assert count(graph, "(:__Entity__)-[r]->(:__Entity__)") == 978
    assert count(graph, "(a:__Entity__)-[r]->(b:__Entity__) WHERE a.dangling OR b.dangling") == 84
    assert count(graph, "(c:Chunk)-[:FROM_DOCUMENT]->(:Document {title: 'a-christmas-carol.txt'}) WHERE c.text IS NOT NULL") == 42
    assert count(graph, "(:Chunk)-[:NEXT_CHUNK]->(:Chunk)") == 41


def test_lightrag_stores_of_eight_novels_give_3673_entities_and_the_books_of_each(graph: Graph) -> None:
    path = folder("graphrag-bench-novel") / "lightrag"
    bring(graph, path)
    assert count(graph, "(e:__Entity__) WHERE e.dangling IS NULL") == 3673
    assert count(graph, "(e:__Entity__ {dangling: true})") == 2
    assert count(graph, "(:__Entity__)-[r]->(:__Entity__)") == 3116
    wanted: dict[str, set[str]] = {}
    for document, row in json.loads((path / "kv_store_full_entities.json").read_text()).items():
        for name in row["entity_names"]:
            wanted.setdefault(name, set()).add(document)
    books = "MATCH (e:__Entity__)-[:FROM_CHUNK]->()-[:FROM_DOCUMENT]->(d) RETURN e.name AS name, collect(DISTINCT d.id) AS documents"
    rows = graph.read(books)
    found = {row["name"]: set(row["documents"]) for row in rows}
    assert all(documents <= found[name] for name, documents in wanted.items())
    assert sum(found[name] == documents for name, documents in wanted.items()) == 3665  # eight have chunks in a book more
