"""Loads a dump of tests/writers/dumps into a test server: nodes, relations, and on request the writer's indexes and constraints."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from kgeval.graph.connect import Graph

DUMPS = Path(__file__).parent / "dumps"
NODES = "UNWIND $rows AS row CREATE (n:$(row.labels)) SET n = row.properties RETURN row.id AS id, elementId(n) AS node"
RELATIONS = """
UNWIND $rows AS row
MATCH (a), (b) WHERE elementId(a) = row.start AND elementId(b) = row.end
CREATE (a)-[r:$(row.type)]->(b) SET r = row.properties
"""
OWN = "SHOW {kind} YIELD name, type WHERE type <> 'LOOKUP' RETURN name"


def names() -> list[str]:
    """The dumps that are there."""
    return sorted(file.stem for file in DUMPS.glob("*.jsonl"))


@cache
def lines(name: str) -> tuple[dict[str, Any], ...]:
    """A dump's lines; the first says what wrote it."""
    text = (DUMPS / f"{name}.jsonl").read_text(encoding="utf-8")
    return tuple(json.loads(line) for line in text.splitlines())


def load(graph: Graph, *dumps: str) -> None:
    """Adds the nodes and relations of dumps to the database."""
    for name in dumps:
        rows = [{**row, "properties": {key: _value(value) for key, value in row["properties"].items()}} for row in _content(name)]
        nodes = [row for row in rows if "labels" in row]
        made = {row["id"]: row["node"] for row in graph.write(NODES, {"rows": nodes})}
        joined = [{**row, "start": made[row["from"]], "end": made[row["to"]]} for row in rows if "type" in row]
        graph.write(RELATIONS, {"rows": joined})


@contextmanager
def schema(graph: Graph, name: str) -> Iterator[None]:
    """With the writer's own indexes and constraints; what is there at the end is dropped."""
    try:
        for line in lines(name):
            if "schema" in line:
                graph.schema_command(line["schema"])
        graph.schema_command("CALL db.awaitIndexes(60)")
        yield
    finally:
        for kind in ("CONSTRAINT", "INDEX"):
            for row in graph.read(OWN.format(kind=kind)):
                graph.schema_command(f"DROP {kind} `{row['name']}` IF EXISTS")


def _content(name: str) -> list[dict[str, Any]]:
    return [line for line in lines(name) if "properties" in line]


def _value(value: Any) -> Any:
    return datetime.fromisoformat(value["$datetime"]) if isinstance(value, dict) else value
