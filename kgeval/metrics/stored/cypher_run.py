"""What a system's own Cypher does: planned, run as a read under limits, and its result held against that of the gold query."""

from __future__ import annotations

from dataclasses import dataclass

from kgeval.errors import QueryError, first_line
from kgeval.graph.connect import ConnectionLost, Graph, QueryTimeout
from kgeval.graph.foreign import Plan, Table, Unreadable, explain, run_foreign
from kgeval.llm.calls import Failure
from kgeval.llm.characters import whole
from kgeval.metrics.definition import Settings
from kgeval.metrics.facts import CypherRun
from kgeval.metrics.stored.compare import TooManyWaysError, compare
from kgeval.metrics.stored.guard import ends_ordered, invalid, refused, too_early
from kgeval.records import Row

MOST_ROWS = 10_000


@dataclass(frozen=True)
class _Ran:
    """What came of a query: a result, or why it is no valid query (`error`), or why nothing is known of it (`refusal`): it was not
    run, or its result cannot be read."""

    table: Table | None = None
    error: str | None = None
    refusal: str | None = None


def cypher_run(row: Row, graph: Graph, settings: Settings) -> CypherRun | None:
    """The fact "cypher"; null where the answer has no Cypher.

    Valid: the server plans it as a read and runs it within the time limit without an error. A query that kgeval will not run
    (guard.refused) is a failure, and so is a gold query that does not run or gives more than MOST_ROWS rows.
    Raises: ConnectionLost where the server does not answer any more.
    """
    if row.answer.cypher is None:
        return None
    mine = _run(row.answer.cypher, graph, settings)
    if mine.refusal is not None:
        return CypherRun(failure=Failure("graph_error", mine.refusal))
    valid = mine.table is not None
    if row.question.cypher is None:
        return CypherRun(valid=valid, error=mine.error)
    gold = _run(row.question.cypher, graph, settings)
    if gold.table is None or gold.table.cut:
        why = gold.refusal or gold.error or f"it gives more than {MOST_ROWS} rows, or too much in them"
        return CypherRun(valid=valid, error=mine.error, gold_failure=Failure("graph_error", f"the gold query: {why}"))
    if mine.table is None:
        return CypherRun(valid=False, matches=False, error=mine.error, gold_rows=len(gold.table.rows))
    return _compared(mine.table, gold.table, ordered=settings.ordered and ends_ordered(row.question.cypher))


def _compared(mine: Table, gold: Table, *, ordered: bool) -> CypherRun:
    """Both ran. A result that was cut has more rows than any gold result, so it cannot match."""
    rows, gold_rows = len(mine.rows), len(gold.rows)
    try:
        found = compare(mine, gold, ordered=ordered)
    except TooManyWaysError:
        failure = Failure("graph_error", "too many columns look alike to compare the results")
        return CypherRun(valid=True, rows=rows, gold_rows=gold_rows, gold_failure=failure)
    matches = found.matches and not mine.cut
    return CypherRun(valid=True, matches=matches, extra_columns=found.extra_columns, rows=rows, gold_rows=gold_rows)


def _run(text: str, graph: Graph, settings: Settings) -> _Ran:
    """Plans a query, and runs it if it may be run."""
    text = whole(text)
    if early := too_early(text):
        return _Ran(error=early)
    try:
        plan = explain(graph, text, timeout=settings.query_timeout)
        stopped = _stopped(plan, text, graph)
        if stopped is not None:
            return stopped
        return _Ran(run_foreign(graph, text, timeout=settings.query_timeout, rows=MOST_ROWS))
    except ConnectionLost:
        if not _answers(graph):
            raise
        return _Ran(error="the server gave no answer to it and closed the connection")
    except Unreadable as cause:
        return _Ran(refusal=cause.message)
    except QueryTimeout:
        return _Ran(error=f"stopped at the time limit of {settings.query_timeout:g} s")
    except QueryError as cause:
        return _Ran(error=first_line(QueryError(cause.message)))


def _answers(graph: Graph) -> bool:
    """Whether the server is still there: a query can cost it a connection (a lost stack) without ending it."""
    try:
        return bool(graph.read("RETURN 1 AS one", timeout=10.0))
    except QueryError:
        return False


def _stopped(plan: Plan, text: str, graph: Graph) -> _Ran | None:
    error = invalid(plan)
    if error is not None:
        return _Ran(error=error)
    refusal = refused(plan, text, graph.info.database)
    return _Ran(refusal=f"not run: {refusal}") if refusal is not None else None
