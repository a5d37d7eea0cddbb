"""Runs a stranger's Cypher once the guard lets it: planned, judged, then run as a read under limits."""

from __future__ import annotations

from dataclasses import dataclass

from kgeval.errors import QueryError, first_line
from kgeval.graph.connect import Graph
from kgeval.graph.failures import BreaksConnection, ConnectionLost, QueryTimeout, Unreadable
from kgeval.graph.foreign import QueryPlan, QueryResult, explain, run_foreign
from kgeval.graph.guard import invalid, refused, too_early
from kgeval.llm.characters import whole


@dataclass(frozen=True)
class Ran:
    """What came of a query: a result, or why it is no valid query (`error`), or why nothing is known of it (`refusal`): it was not
    run, or its result cannot be read."""

    table: QueryResult | None = None
    error: str | None = None
    refusal: str | None = None


def run_guarded(graph: Graph, text: str, *, timeout: float, rows: int) -> Ran:
    """Plans a query, and runs it if it may be run: at most `timeout` seconds, at most `rows` rows.

    Raises: ConnectionLost where the server does not answer any more.
    """
    text = whole(text)
    if early := too_early(text):
        return Ran(error=early)
    try:
        plan = explain(graph, text, timeout=timeout)
        stopped = _stopped(plan, text, graph)
        if stopped is not None:
            return stopped
        return Ran(run_foreign(graph, text, timeout=timeout, rows=rows))
    except ConnectionLost:
        raise
    except BreaksConnection:  # each time that it was asked: planning it can cost the server its stack
        return Ran(error="the server gave no answer to it and closed the connection")
    except Unreadable as cause:
        return Ran(refusal=cause.message)
    except QueryTimeout:
        return Ran(error=f"stopped at the time limit of {timeout:g} s")
    except QueryError as cause:
        # without its way out, which is meant for who runs kgeval and not for who wrote the query
        return Ran(error=first_line(QueryError(cause.message)))


def _stopped(plan: QueryPlan, text: str, graph: Graph) -> Ran | None:
    error = invalid(plan)
    if error is not None:
        return Ran(error=error)
    refusal = refused(plan, text, graph.info.database)
    return Ran(refusal=f"not run: {refusal}") if refusal is not None else None
