"""What a system's own Cypher does: planned, run as a read under limits, and its result held against that of the gold query."""

from __future__ import annotations

from kgeval.graph.connect import Graph
from kgeval.graph.foreign import Table
from kgeval.graph.guard import ends_ordered
from kgeval.graph.guarded import Ran, run_guarded
from kgeval.llm.calls import Failure
from kgeval.metrics.definition import Settings
from kgeval.metrics.facts import CypherRun
from kgeval.metrics.stored.compare import TooManyWaysError, compare
from kgeval.records import Row

MOST_ROWS = 10_000


def cypher_run(row: Row, graph: Graph, settings: Settings) -> CypherRun | None:
    """The fact "cypher"; null where the answer has no Cypher.

    Valid: the server plans it as a read and runs it within the time limit without an error. A query that kgeval will not run
    (graph/guard.py) is a failure, and so is a gold query that does not run or gives more than MOST_ROWS rows.
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


def _run(text: str, graph: Graph, settings: Settings) -> Ran:
    return run_guarded(graph, text, timeout=settings.query_timeout, rows=MOST_ROWS)
