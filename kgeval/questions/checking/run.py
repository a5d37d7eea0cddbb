"""The checks of one question, and of all questions of a file: in order, several at a time, memory flat."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kgeval.llm.asker import Asker, Later, Live, digest
from kgeval.questions.checking import asked, proved
from kgeval.questions.checking.leak import leak
from kgeval.questions.checking.paths import PathChecks, path_checks
from kgeval.questions.checking.table import CHECKS, Checked, decided, not_applicable
from kgeval.records import Question, QuestionCheck

if TYPE_CHECKING:
    from kgeval.graph.connect import Graph
    from kgeval.llm.session import Models
    from kgeval.records import Layout

ALONE = tuple(name for name in CHECKS if name != "duplicate")
MOST_SHOWN = 12_000  # tokens: kinds of questions rest on no more evidence
_ASKED = (
    ("answerable", "check-answerable"), ("closed_book", "check-closed-book"), ("unique_wording", "check-unique"),
    ("not_in_one_passage", "check-answerable"),
)


@dataclass(frozen=True)
class CheckDesk:
    """What a question is checked with. `checks`: names of the table. `earlier`: id of a question -> (id of the earlier one that asks
    the same, how near). `paths`: id -> what was proved of its path (paths.py). `timeout`: seconds of a query. `lacking`: only the checks
    that a question does not carry yet."""

    checks: Collection[str] = ALONE
    asker: Asker | None = None
    graph: Graph | None = None
    timeout: float | None = None
    earlier: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    paths: Mapping[str, PathChecks] = field(default_factory=dict)
    lacking: bool = False


def check_question(
    question: Question, asker: Asker | None = None, *, checks: Collection[str] = ALONE, graph: Graph | None = None,
    layout: Layout | None = None, timeout: float | None = None,
) -> list[QuestionCheck]:
    """What each check says of a question, in the table's order: a check that needs a model or a graph that is not given is left out.

    `layout`: paths are proved too. `passed` null: it does not apply, or its call failed; `reason` says which. Raises: as Asker.ask and
    path_checks.
    """
    paths = path_checks([question], graph, layout, timeout=timeout) if graph is not None and layout is not None else {}
    desk = CheckDesk([name for name in checks if name != "duplicate"], asker, graph, timeout, paths=paths)
    return [one.record for one in checked(question, desk)]


def checked(question: Question, desk: CheckDesk) -> list[Checked]:
    """As check_question, with the causes of what is unscored, and the check "duplicate" where it is wanted."""
    done = {one.name for one in question.checks} if desk.lacking else ()
    found = (_one(name, question, desk) for name in CHECKS if name in desk.checks and name not in done)
    return [one for one in found if one is not None]


def check_questions(
    questions: Iterable[Question], desk: CheckDesk, models: Models | None = None,
) -> Iterator[tuple[Question, list[Checked]]]:
    """Each question with its checks, in order and lazily. With `models`: on its threads, several at a time; it is then also asked.

    A failed call leaves its check unscored. Raises: what ends a run (ModelError, ConnectionLost).
    """
    if models is None:
        yield from ((question, checked(question, desk)) for question in questions)
        return
    live = replace(desk, asker=desk.asker or Live(models))
    yield from models.map(lambda question: (question, checked(question, live)), questions)


def with_checks(question: Question, found: Iterable[Checked]) -> Question:
    """The question with these checks in the place of earlier ones of the same names. What came to no result (it does not apply, a call
    failed) replaces nothing that did: what a question's maker decided stays."""
    before = {one.name for one in question.checks if one.passed is not None}
    new = [one.record for one in found if one.record.passed is not None or one.name not in before]
    names = {one.name for one in new}
    return question.model_copy(update={"checks": [*(one for one in question.checks if one.name not in names), *new]})


def count_unknown(asker: Asker, kind: str, n: int) -> None:
    """Dry run: counts the calls that `n` questions of a kind may lead to which are not there yet: at most all, at least none."""
    for number in range(n):
        for name, prompt in _ASKED:
            key = digest(kind, number, name)
            asker.later(Later(name, prompt, key, (1, MOST_SHOWN), certain=False))
            if name != "unique_wording":
                asker.later(Later(f"{name}-judge", asked.JUDGE, key, (1, asked.GUESSED_ANSWER * 4), certain=False))


def _one(name: str, question: Question, desk: CheckDesk) -> Checked | None:
    if name == "duplicate":
        return _duplicate(question, desk)
    if name == "unique":
        return _unique(question, desk)
    if name == "unique_wording":
        return asked.unique_wording(question, desk.asker) if desk.asker is not None or desk.graph is not None else None
    if name == "not_in_one_passage":
        return asked.not_in_one_passage(question, desk.asker)
    if name == "absent":
        return proved.absent(question, desk.graph, desk.timeout) if desk.graph is not None else None
    if name == "no_shortcut":
        return _no_shortcut(question, desk)
    if name == "leak":
        return leak(question)
    ask: Callable[[Question, Asker], Checked] = {"answerable": asked.answerable, "closed_book": asked.closed_book}[name]
    return ask(question, desk.asker) if desk.asker is not None else None


def _unique(question: Question, desk: CheckDesk) -> Checked | None:
    """By the question's Cypher, else by its path."""
    if desk.graph is None:
        return None
    by_graph = proved.proved_unique(question, desk.graph, desk.timeout)
    if by_graph is None and question.id in desk.paths:
        by_graph = desk.paths[question.id].unique
    return by_graph or not_applicable("unique", "nothing proves it: the question has no Cypher, and no path that is in this graph")


def _no_shortcut(question: Question, desk: CheckDesk) -> Checked | None:
    if desk.graph is None:
        return None
    known = desk.paths.get(question.id)
    return known.no_shortcut if known is not None else not_applicable("no_shortcut", "the question has no path that is a chain")


def _duplicate(question: Question, desk: CheckDesk) -> Checked:
    twin = desk.earlier.get(question.id)
    return decided("duplicate", twin is None, "" if twin is None else f"{twin[1]} as {twin[0]}")
