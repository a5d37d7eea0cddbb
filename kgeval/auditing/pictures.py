"""What lies around the first example of a finding, for a picture of it. Reads only, and never so much that an audit would feel it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from kgeval.auditing.attempts import attempt
from kgeval.auditing.graph_reader import GraphReader
from kgeval.graph.connect import Graph
from kgeval.records import DrawnNode, DrawnRelation, Finding, Layout, Picture

MOST_FINDINGS = 10
MOST_NODES = 25
MOST_GIVEN = 12  # things of an example that are drawn: as relations they bring twice as many nodes
LOOKED_AT = 1_000  # relations of one node
JOINED = ("accuracy", "completeness")
TIMEOUT = 10.0  # seconds a picture; an audit's own limit where that is less


def pictures(graph: Graph, layout: Layout, findings: Iterable[Finding], *, timeout: float) -> dict[int, Picture]:
    """The pictures of the first MOST_FINDINGS of these findings, by the finding's `id()`: a rule may have findings of several reports.

    Left out are findings whose example names nothing that has neighbours (a type, an index), and those of reports that were joined: by now
    their element ids may be those of other things. What cannot be read is left out too: a picture is no figure. After a query that ran into
    its time limit nothing more is asked.
    """
    reader = GraphReader(graph, layout, min(timeout, TIMEOUT))
    found: dict[int, Picture] = {}
    given = {id(finding): things for finding in list(findings)[:MOST_FINDINGS] if (things := _things(finding))}
    with graph.remembering():
        reader.ahead([("neighbourhood", _around(things)) for things in given.values()])
        for name, things in given.items():
            result = attempt(partial(neighbourhood, reader, things))
            if result.value is not None:
                found[name] = result.value
            if result.failure is not None and (result.failure.lost or result.failure.status == "incomplete"):
                break
    return found


def neighbourhood(reader: GraphReader, element_ids: list[str]) -> Picture | None:
    """The nodes and relations of these ids, marked, with what lies around them; None where none of them is there any more.

    Raises: QueryError, QueryTimeout, ConnectionLost.
    """
    (row,) = reader.rows("neighbourhood", **_around(element_ids))
    if not row["nodes"]:
        return None
    place = {node["element_id"]: at for at, node in enumerate(row["nodes"])}
    return Picture(
        nodes=[
            DrawnNode(**{name: node[name] for name in ("element_id", "name", "type", "kind")}, mark="hit" if node["hit"] else None)
            for node in row["nodes"]
        ],
        relations=[
            DrawnRelation(
                element_id=one["element_id"], start=place[one["start"]], end=place[one["end"]], type=one["type"],
                mark="hit" if one["hit"] else None,
            )
            for one in row["relations"]
        ],
        more=row["more"], at_least=row["at_least"], directed=not reader.layout.relations_undirected,
    )


def _around(element_ids: list[str]) -> dict[str, Any]:
    return {"ids": element_ids[:MOST_GIVEN], "most": MOST_NODES, "looked_at": LOOKED_AT}


def _things(finding: Finding) -> list[str]:
    """The element ids of the first example that is neither waived nor known, else of the first."""
    if finding.group in JOINED or not finding.examples:
        return []
    example = next((one for one in finding.examples if one.waived is None and not one.known), finding.examples[0])
    return [item.element_id for item in example.items if item.element_id]
