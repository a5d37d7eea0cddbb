"""The checks of one question, and of all questions of a file: in order, several at a time, memory flat."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kgeval.llm.asker import Asker, Later, Live, digest
from kgeval.questions.checking.check_table import CHECKS, QuestionCheckOutcome, decided, not_applicable
from kgeval.questions.checking.cypher_checks import absent, proved_unique
from kgeval.questions.checking.leak import leak
from kgeval.questions.checking.model_checks import (
    GUESSED_ANSWER,
    JUDGE,
    answerable,
    closed_book,
    not_in_one_passage,
    unique_wording,
)
from kgeval.questions.checking.path_checks import PathChecks
from kgeval.records import Question

if TYPE_CHECKING:
    from kgeval.graph.connect import Graph
    from kgeval.llm.session import Models

ALONE = tuple(name for name in CHECKS if name != "duplicate")  # of a single question nothing can be a duplicate
MOST_SHOWN = 12_000  # tokens: kinds of questions rest on no more evidence
_PROMPTS = (
    ("answerable", "check-answerable"), ("closed_book", "check-closed-book"), ("unique_wording", "check-unique"),
    ("not_in_one_passage", "check-answerable"),
)


@dataclass(frozen=True)
class CheckContext:
    """What a question is checked with. `checks`: names of the table. `earlier`: id of a question -> (id of the earlier
    one that asks the same, how near). `paths`: id -> what was proved of its path (path_checks.py). `timeout`: seconds
    of a query. `lacking`: only the checks that a question does not carry yet."""

    checks: Collection[str] = ALONE
    asker: Asker | None = None
    graph: Graph | None = None
    timeout: float | None = None
    earlier: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    paths: Mapping[str, PathChecks] = field(default_factory=dict)
    lacking: bool = False


def checked(question: Question, context: CheckContext) -> list[QuestionCheckOutcome]:
    """What each wanted check says of a question, in the table's order, with the causes of what is unscored: a check that needs a model or a
    graph that is not given is left out. `passed` None: it does not apply, or its call failed; `reason` says which. Raises: as Asker.ask."""
    done = {check.name for check in question.checks} if context.lacking else ()
    outcomes = (_outcome(name, question, context) for name in CHECKS if name in context.checks and name not in done)
    return [outcome for outcome in outcomes if outcome is not None]


def check_questions(
    questions: Iterable[Question], context: CheckContext, models: Models | None = None,
) -> Iterator[tuple[Question, list[QuestionCheckOutcome]]]:
    """Each question with its checks, in order and lazily. With `models`: on its threads, several at a time; it is then
    also asked.

    A failed call leaves its check unscored. Raises: what ends a run (ModelError, ConnectionLost).
    """
    if models is None:
        ask = context.graph.side_by_side if context.graph is not None else map
        yield from ask(lambda question: (question, checked(question, context)), questions)
        return
    live = replace(context, asker=context.asker or Live(models))
    yield from models.map(lambda question: (question, checked(question, live)), questions)


def with_checks(question: Question, outcomes: Iterable[QuestionCheckOutcome]) -> Question:
    """The question with these checks in the place of earlier ones of the same names. What came to no result (it does
    not apply, a call failed) replaces nothing that did: what a question's maker decided stays."""
    before = {check.name for check in question.checks if check.passed is not None}
    records = [outcome.record for outcome in outcomes]
    new = {check.name: check for check in records if check.passed is not None or check.name not in before}
    unchanged = [check for check in question.checks if check.name not in new]
    return question.model_copy(update={"checks": [*unchanged, *new.values()]})


def count_unknown(asker: Asker, kind: str, n: int) -> None:
    """Dry run: counts the calls that `n` questions of a kind may lead to which are not there yet: at most all, at least
    none."""
    for number in range(n):
        for name, prompt in _PROMPTS:
            key = digest(kind, number, name)
            asker.later(Later(name, prompt, key, (1, MOST_SHOWN), certain=False))
            if name != "unique_wording":
                asker.later(Later(f"{name}-judge", JUDGE, key, (1, GUESSED_ANSWER * 4), certain=False))


def _outcome(name: str, question: Question, context: CheckContext) -> QuestionCheckOutcome | None:
    """One check; None where what it needs is not there."""
    asker, graph, proved = context.asker, context.graph, context.paths.get(question.id)
    if name == "leak":
        return leak(question)
    if name == "duplicate":
        twin = context.earlier.get(question.id)
        return decided(name, twin is None, "" if twin is None else f"{twin[1]} as {twin[0]}")
    if name == "not_in_one_passage":
        return not_in_one_passage(question, asker)
    if name == "unique_wording":
        return unique_wording(question, asker) if asker is not None or graph is not None else None
    if name in ("answerable", "closed_book"):
        check = answerable if name == "answerable" else closed_book
        return check(question, asker) if asker is not None else None
    if graph is None:
        return None
    if name == "absent":
        return absent(question, graph, context.timeout)
    if name == "no_shortcut":
        return proved.no_shortcut if proved is not None else not_applicable(name, "the question has no path that is a chain")
    by_graph = proved_unique(question, graph, context.timeout) or (proved.unique if proved is not None else None)
    return by_graph or not_applicable(
        name, "nothing proves it: the question has no Cypher, and no path that is in this graph",
    )
