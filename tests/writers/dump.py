"""A database as JSON Lines that are the same in every run: ids numbered, random UUIDs and the times of the run replaced, vectors rounded.

First line: what wrote it. Then the index and constraint statements, the nodes, the relations.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
MOMENT = re.compile(r"\b2\d{3}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?")
THEN = datetime(2026, 1, 1, tzinfo=UTC)
RUN_NUMBERS = {"communityIds"}  # numbers of communities: made anew in every run
ROUNDS = 4
SLACK = 60.0
SCHEMA = """
SHOW INDEXES YIELD name, type, owningConstraint, createStatement WHERE type <> 'LOOKUP' AND owningConstraint IS NULL
RETURN name, createStatement AS statement
"""
CONSTRAINTS = "SHOW CONSTRAINTS YIELD name, createStatement RETURN name, createStatement AS statement"


class Run:
    """The time of one writer's run: moments in it are replaced by one fixed moment."""

    def __init__(self, start: float, end: float) -> None:
        self.start, self.end = start - SLACK, end + SLACK

    def has(self, seconds: float) -> bool:
        return self.start <= seconds <= self.end

    def fixed(self, value: Any) -> Any:
        """A property value as JSON, without what differs between runs (UUIDs are left to `numbered`)."""
        if isinstance(value, list):
            return [self.fixed(one) for one in value]
        if hasattr(value, "to_native") and hasattr(value, "iso_format"):
            return {"$datetime": self._moment(value.to_native().isoformat())}
        if isinstance(value, float) and not self.has(value):
            return round(value, 6)
        if isinstance(value, int | float) and not isinstance(value, bool) and self.has(value):
            return type(value)(THEN.timestamp())
        return MOMENT.sub(lambda found: self._moment(found[0]), value) if isinstance(value, str) else value

    def _moment(self, text: str) -> str:
        plain = re.sub(r"(\.\d{6})\d+", r"\1", text).replace("Z", "+00:00")
        moment = datetime.fromisoformat(plain)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return THEN.isoformat().replace("+00:00", "Z") if self.has(moment.timestamp()) else text


def dump(driver: Any, run: Run, head: dict[str, Any], file: Path) -> None:
    """Writes all that is in the database. Nodes come by content, then by what they are joined to: not by when they were written."""
    nodes = {
        row["id"]: {"labels": sorted(row["labels"]), "properties": _properties(row["properties"], run)}
        for row in _rows(driver, "MATCH (n) RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS properties")
    }
    relations = [
        {"type": row["type"], "from": row["start"], "to": row["end"], "properties": _properties(row["properties"], run)}
        for row in _rows(
            driver,
            "MATCH (a)-[r]->(b) RETURN type(r) AS type, elementId(a) AS start, elementId(b) AS end, properties(r) AS properties",
        )
    ]
    order = {node: at for at, node in enumerate(_ordered(nodes, relations), start=1)}
    listed = [{"id": at, **nodes[node]} for node, at in order.items()]
    joined = [{**one, "from": order[one["from"]], "to": order[one["to"]]} for one in relations]
    joined.sort(key=lambda one: (one["from"], one["to"], one["type"], _masked(one["properties"])))
    schema = [row["statement"] for query in (CONSTRAINTS, SCHEMA) for row in sorted(_rows(driver, query), key=lambda row: row["statement"])]
    lines = [{**head, "nodes": len(listed), "relations": len(joined)}, *({"schema": one} for one in schema), *listed, *joined]
    file.write_text(_numbered("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines)), encoding="utf-8")


def _rows(driver: Any, query: str) -> list[Any]:
    return list(driver.execute_query(query).records)


def _properties(properties: dict[str, Any], run: Run) -> dict[str, Any]:
    fixed = {key: run.fixed(properties[key]) for key in sorted(properties)}
    return {key: [0] * len(value) if key in RUN_NUMBERS else value for key, value in fixed.items()}


def _masked(value: Any) -> str:
    return UUID.sub("#", json.dumps(value, ensure_ascii=False, sort_keys=True))


def _ordered(nodes: dict[str, Any], relations: Iterable[dict[str, Any]]) -> list[str]:
    """The nodes by content; equal ones by their surroundings, looked at a step further in each round."""
    colour = {node: _masked([one["labels"], one["properties"]]) for node, one in nodes.items()}
    first = dict(colour)
    around: dict[str, list[tuple[str, str, str]]] = {node: [] for node in nodes}
    for one in relations:
        around[one["from"]].append((">" + one["type"], _masked(one["properties"]), one["to"]))
        around[one["to"]].append(("<" + one["type"], _masked(one["properties"]), one["from"]))
    for _ in range(ROUNDS):
        colour = {
            node: _hash([colour[node], *sorted(f"{kind} {properties} {colour[other]}" for kind, properties, other in near)])
            for node, near in around.items()
        }
    return sorted(nodes, key=lambda node: (first[node], colour[node]))


def _hash(parts: list[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _numbered(text: str) -> str:
    """UUIDs replaced by numbered ones, in the order in which they stand in the text."""
    known: dict[str, str] = {}
    return UUID.sub(lambda found: known.setdefault(found[0], f"00000000-0000-4000-8000-{len(known) + 1:012d}"), text)
