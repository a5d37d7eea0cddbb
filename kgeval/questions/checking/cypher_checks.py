"""What a question's own Cypher proves: that the graph gives one answer, the right one; or none, for a negative
question.

The Cypher comes from a file, so it is a stranger's: planned, judged and run as a read under limits (graph/guarded.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgeval.questions.checking.check_table import QuestionCheckOutcome, decided, is_negative, is_open, not_applicable
from kgeval.records import Question
from kgeval.text.signs import identity_key

if TYPE_CHECKING:
    from kgeval.graph.connect import Graph
    from kgeval.graph.foreign import Cell, QueryResult

MOST_ROWS = 1_000  # answers that are looked at: of a question with one answer a second is enough to fail
TIMEOUT = 30.0
SHOWN = 5


def proved_unique(question: Question, graph: Graph, timeout: float | None = None) -> QuestionCheckOutcome | None:
    """The check "unique" by the database; None where it can prove nothing: no Cypher, or it is no question with one
    answer.

    Raises: ConnectionLost where the server does not answer any more.
    """
    if question.cypher is None or is_negative(question) or is_open(question):
        return None
    table = _table("unique", question.cypher, graph, timeout)
    if isinstance(table, QuestionCheckOutcome):
        return table
    rows = list(dict.fromkeys(table.rows))
    if not rows:
        return decided("unique", False, "its Cypher returns nothing from this graph")
    right = {identity_key(text) for text in question.right_answers} - {""}
    wrong = [
        row for row in rows if (texts := _texts(row)) and right and not right & {identity_key(text) for text in texts}
    ]
    if len(rows) > 1 and (wrong or not right or table.cut):
        count = f"more than {MOST_ROWS:,}" if table.cut else f"{len(rows):,}"
        return decided("unique", False, f"its Cypher returns {count} answers: {_listed(rows)}")
    if wrong:
        return decided("unique", False, f"its Cypher returns another answer than the file: {_listed(wrong)}")
    return decided("unique", True, "proved by its Cypher in this graph")


def absent(question: Question, graph: Graph, timeout: float | None = None) -> QuestionCheckOutcome:
    """The check "absent": the Cypher of a negative question returns nothing. Raises: as proved_unique."""
    if not is_negative(question):
        return not_applicable("absent", "only negative questions are absent")
    if question.cypher is None:
        return not_applicable("absent", "the question has no Cypher")
    table = _table("absent", question.cypher, graph, timeout)
    if isinstance(table, QuestionCheckOutcome):
        return table
    if rows := [
        # a query that aggregates has a row also where it finds nothing: null, or an empty list
        row for row in table.rows if not all(kind == "null" or (kind == "list" and not part) for kind, part in row)
    ]:
        return decided("absent", False, f"its Cypher finds something: {_listed(rows)}")
    return decided("absent", True, "its Cypher finds nothing in this graph")


def _table(name: str, cypher: str, graph: Graph, timeout: float | None) -> QueryResult | QuestionCheckOutcome:
    from kgeval.graph.guarded import run_guarded

    ran = run_guarded(graph, cypher, timeout=timeout or TIMEOUT, rows=MOST_ROWS)
    if ran.table is None:
        return QuestionCheckOutcome(name, "unscored", f"its Cypher: {ran.refusal or ran.error}", "graph_error")
    return ran.table


def _texts(row: tuple[Cell, ...]) -> list[str]:
    """Texts and numbers of a row, also those in a list. Nodes are known by their ids only, which say nothing."""
    texts = []
    for kind, part in row:
        if kind == "list":
            texts += _texts(part)
        elif kind in ("text", "int", "float"):
            texts.append(str(part))
    return texts


def _listed(rows: list[tuple[Cell, ...]]) -> str:
    parts = [" ".join(_texts(row)) or "a node" for row in rows[:SHOWN]]
    return "; ".join(part[:60] for part in parts) + ("; ..." if len(rows) > SHOWN else "")
