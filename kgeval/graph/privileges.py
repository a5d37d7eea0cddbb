"""What of a database its user cannot see. Neo4j hides what it does not let a user read: counts, patterns and the catalogue then give a
smaller graph and say nothing of it. Users and roles are of the Enterprise edition and of Aura."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kgeval.format import first_of

OWN_PRIVILEGES = "SHOW USER PRIVILEGES YIELD access, action, resource, graph, segment RETURN access, action, resource, graph, segment"
FINDS, READS = frozenset(("match", "traverse", "graph_actions")), frozenset(("match", "read", "graph_actions"))
EVERY_GRAPH = frozenset(("*", "home", "default"))
MOST_NAMED = 5


def hidden_parts(privileges: Iterable[Mapping[str, Any]], database: str) -> list[str]:
    """What the rows of OWN_PRIVILEGES keep from a user of this database, in words; empty where all is seen. Without any row nothing is
    known, and nothing said."""
    rows = [
        {name: str(value or "") for name, value in row.items()} for row in privileges
        if str(row["action"]) in FINDS | READS and str(row["graph"]).casefold() in EVERY_GRAPH | {database.casefold()}
    ]
    if not rows:
        return []
    granted = [row for row in rows if row["access"] == "GRANTED"]
    denied = dict.fromkeys(_words(row) for row in rows if row["access"] == "DENIED")
    hidden = [f"denied: {first_of(list(denied), MOST_NAMED)}"] if denied else []
    for elements, kind in (("nodes", "NODE"), ("relations", "RELATIONSHIP")):
        own = [row for row in granted if row["segment"].startswith(f"{kind}(")]
        wide = [row for row in own if row["segment"] == f"{kind}(*)"]
        found = any(row["action"] in FINDS for row in wide)
        read = any(row["action"] in READS and row["resource"] in ("all_properties", "graph", "") for row in wide)
        if not (found and read):
            seen = dict.fromkeys(map(_words, own))
            hidden.append(f"of {elements} only: {first_of(list(seen), MOST_NAMED)}" if seen else f"no {elements}")
    return hidden


def _words(row: Mapping[str, str]) -> str:
    """`NODE(Payment)`, or `property(iban) of NODE(*)`."""
    resource = row["resource"]
    return f"{resource} of {row['segment']}" if resource.startswith("property(") else row["segment"]
