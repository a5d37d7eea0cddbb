"""Loads graphs of JSON lines, as ../shared/data/property-graphs has them, with the constraints of uniqueness that they declare."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from neo4j.spatial import WGS84Point
from neo4j.time import Date, DateTime, Duration, Time

from kgeval.graph.connect import Graph
from kgeval.graph.literals import cypher_name

PROPERTY_GRAPHS = Path(__file__).parents[2] / "shared" / "data" / "property-graphs"
READERS: dict[str, Any] = {
    "$date": Date.from_iso_format, "$datetime": DateTime.from_iso_format, "$time": Time.from_iso_format,
    "$duration": Duration.from_iso_format, "$point": WGS84Point,
}


def load_property_graph(graph: Graph, path: Path, *, constrain: bool = True) -> list[str]:
    """Writes the nodes and relations of a file into an empty database, and declares its constraints; the names of these. `constrain`:
    false leaves the constraints out."""
    nodes: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    relations: dict[str, list[dict[str, Any]]] = defaultdict(list)
    unique: list[dict[str, Any]] = []
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if "n" in row:
                nodes[tuple(row["labels"])].append({"n": row["n"], "p": read_value(row["p"])})
            elif "r" in row:
                relations[row["r"]].append({"a": row["from"], "b": row["to"], "p": read_value(row["p"])})
            elif "UNIQUENESS" in row.get("constraint", "") and len(row["of"]) == 1:
                unique.append(row)
    graph.schema_command("CREATE CONSTRAINT loading FOR (x:`_Loading`) REQUIRE x.`_n` IS UNIQUE")
    for labels, rows in nodes.items():
        named = ":".join(map(cypher_name, ("_Loading", *labels)))
        graph.write(f"UNWIND $rows AS row CREATE (x:{named}) SET x = row.p, x.`_n` = row.n", {"rows": rows})
    for type_, rows in relations.items():
        graph.write(
            "UNWIND $rows AS row MATCH (a:`_Loading` {`_n`: row.a}) MATCH (b:`_Loading` {`_n`: row.b}) "
            f"CREATE (a)-[r:{cypher_name(type_)}]->(b) SET r = row.p", {"rows": rows},
        )
    graph.schema_command("DROP CONSTRAINT loading")
    graph.write("MATCH (x:`_Loading`) REMOVE x:`_Loading`, x.`_n`")
    declared = unique if constrain else []
    names = [f"loaded_{at}" for at in range(len(declared))]
    for name, rule in zip(names, declared, strict=True):
        keys = ", ".join(f"x.{cypher_name(key)}" for key in rule["properties"])
        graph.schema_command(f"CREATE CONSTRAINT {name} FOR (x:{cypher_name(rule['of'][0])}) REQUIRE ({keys}) IS UNIQUE")
    return names


def read_value(value: Any) -> Any:
    """A property's value, or a map of them; {"$date": ...} and the like become Neo4j's."""
    if isinstance(value, dict):
        kind = next((key for key in value if key in READERS), None)
        return READERS[kind](value[kind]) if kind else {key: read_value(part) for key, part in value.items()}
    return [read_value(part) for part in value] if isinstance(value, list) else value
