"""Rows of the graph, read many at a time: a row over Bolt costs the client ten times what is in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

from kgeval.auditing.check import Check
from kgeval.graph.connect import Row
from kgeval.graph.queries import all_queries

ENTITIES = 1_000  # a row
RELATIONS_OF = 200  # entities whose relations make up a row
COLUMNS = {
    "entity-slices": ("element_id", "key", "name", "type", "aliases"),
    "entity-source-slices": ("element_id", "key", "name", "type", "aliases", "chunks", "ids"),
    "relation-source-slices": ("element_id", "relations"),
}


def rows(check: Check, name: str, *, slice: int = ENTITIES, **params: Any) -> Iterator[Row]:
    """The rows of one of those queries as dicts, one by one, in flat memory. Raises: QueryError, QueryTimeout."""
    columns = COLUMNS[name]
    for many in lists(check, name, slice=slice, **params):
        for values in many:
            yield dict(zip(columns, values, strict=True))


def lists(check: Check, name: str, *, slice: int = ENTITIES, **params: Any) -> Iterator[list[list[Any]]]:
    """As `rows`, some at a time and as lists in the order of `COLUMNS`: for millions of relations a dict each is too much."""
    query = all_queries()[name]
    pool = {"layout": check.layout.model_dump(), **check.part.params(), "slice": slice, **params}
    with closing(check.graph.stream(query, {p.name: pool[p.name] for p in query.params}, timeout=check.timeout)) as found:
        for row in found:
            yield row["rows"]
