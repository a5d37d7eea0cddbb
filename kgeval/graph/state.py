"""Whether a database is what it was: its last transaction, the counts of its count store, and a few of its nodes. Reads no more."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from typing import Any

from kgeval.graph.connect import Graph
from kgeval.graph.layouts.catalogue import read_stored_counts
from kgeval.graph.queries import all_queries

MARK = "RETURN 1 AS one"  # any reading query tells the last transaction that it sees
WORDS = {"transaction": "its last transaction", "counts": "its counts by label and type", "sample": "some of its nodes"}


@dataclass(frozen=True)
class GraphState:
    """The state of a database at one moment. `database`: which it is; `transaction`, `counts`, `sample` as 16 hex digits. `transaction`:
    None where the server does not mark it: then a change that leaves the counts and the nodes of the sample as they were is not seen.
    `nodes`, `relations`: how many there are in the whole database."""

    database: str
    transaction: str | None
    counts: str
    sample: str
    nodes: int | None = None  # None in states that an earlier version wrote
    relations: int | None = None

    def text(self) -> str:
        """As JSON, for `read_text`."""
        return json.dumps([getattr(self, field.name) for field in fields(self)])

    def differences(self, before: GraphState) -> list[str]:
        """What is not as it was, in words; empty for one state."""
        return [words for name, words in WORDS.items() if getattr(self, name) != getattr(before, name)]


def read_text(text: str) -> GraphState:
    """The state that `GraphState.text` wrote."""
    return GraphState(*json.loads(text))


def read_state(graph: Graph) -> GraphState:
    """The state of the graph's database: one message, and none for counts that this block of `Graph.remembering` has asked for.

    Raises: QueryError, ConnectionLost.
    """
    (row,), mark = graph.read_marked(all_queries()["graph-state"])
    with graph.remembering():
        held = graph.read(all_queries()["layout-tokens"])[0]
        counts = read_stored_counts(graph)
    totals = [held["nodes"], held["relations"]]
    where = "embedded" if graph.info.embedded else graph.info.uri  # the embedded one gets another port whenever it is started
    nodes = [[element_id, sorted(labels), degree, _sorted(properties)] for element_id, labels, degree, properties in row["nodes"]]
    return GraphState(
        database=_digest([where, graph.info.database, row["database"]]), transaction=None if mark is None else _digest(mark),
        counts=_digest([totals, counts and {name: _sorted(rows) for name, rows in counts.items()}]),
        sample=_digest(_sorted(nodes)), nodes=held["nodes"], relations=held["relations"],
    )


def read_change(graph: Graph, before: GraphState) -> GraphState | None:
    """The state of the graph's database now, where what was read of it last is not of the state that was `before`. No message where the
    last read says that nothing was written.

    Raises: QueryError, ConnectionLost.
    """
    if before.transaction is not None and before.transaction == _digest(graph.last_mark or graph.read_marked(MARK)[1]):
        return None
    now = read_state(graph)
    return now if now.differences(before) else None


def _sorted(rows: Any) -> list[str]:
    """The rows in an order of their own: a server gives them in any."""
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
