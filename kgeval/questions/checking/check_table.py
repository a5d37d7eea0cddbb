"""The checks of questions, what each needs, and which questions none of them means anything for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from kgeval.errors import UsageError
from kgeval.records import Question, QuestionCheck

Need = Literal["model", "graph"]
Status = Literal["passed", "failed", "not_applicable", "unscored"]
NEGATIVE = ("negative", "out_of_context")
OPEN = ("contextual_summarize", "creative_generation", "summary")  # no single right answer is meant
OPEN_WITHOUT_ANSWER = ("node", "edge", "subgraph")  # the levels of [Z]: asked for a discussion, unless a right answer is given


@dataclass(frozen=True)
class CheckSpec:
    """A check. `needs`: what it cannot do without. `also`: what it uses where it is there, at least one of them; none
    where `alone`."""

    name: str
    about: str
    needs: frozenset[Need] = frozenset()
    also: frozenset[Need] = frozenset()
    alone: bool = False


CHECKS: dict[str, CheckSpec] = {check.name: check for check in (
    CheckSpec("answerable", "a model gives the right answer from the evidence alone", frozenset({"model"})),
    CheckSpec("closed_book", "a model without any text does not give the right answer", frozenset({"model"})),
    CheckSpec("unique", "the question's Cypher or path leads to one right answer in the graph, whatever its words", frozenset({"graph"})),
    CheckSpec("unique_wording", "the question's words ask for one thing and the evidence gives one answer, as a model reads them",
          also=frozenset({"model", "graph"})),
    CheckSpec("not_in_one_passage", "no single passage of the evidence answers a question of several hops",
          also=frozenset({"model"}), alone=True),
    CheckSpec("leak", "the question does not say its answer"),
    CheckSpec("duplicate", "no earlier question of the file asks the same"),
    CheckSpec("no_shortcut", "no shorter way joins the ends of the question's path in the graph", frozenset({"graph"})),
    CheckSpec("absent", "the Cypher of a negative question finds nothing in the graph", frozenset({"graph"})),
)}
# what is true of a question that passes, so that a share of 100 % is good for each of them
PASSES = {
    "answerable": "by its evidence", "closed_book": "not known by heart", "unique": "by its path",
    "unique_wording": "by its words", "not_in_one_passage": "needs several", "leak": "does not say its answer",
    "duplicate": "asked once", "no_shortcut": "no shorter way", "absent": "not in the graph",
}


@dataclass(frozen=True)
class QuestionCheckOutcome:
    """What a check said of one question. `cause`: of what is unscored, for counting; `reason`: why, for people."""

    name: str
    status: Status
    reason: str = ""
    cause: str | None = None

    @property
    def record(self) -> QuestionCheck:
        """As it stands in the question's record."""
        passed = {"passed": True, "failed": False}.get(self.status)
        return QuestionCheck(name=self.name, passed=passed, reason=self.reason)


def not_applicable(name: str, reason: str) -> QuestionCheckOutcome:
    """The check means nothing for the question."""
    return QuestionCheckOutcome(name, "not_applicable", reason)


def decided(name: str, passed: bool, reason: str = "") -> QuestionCheckOutcome:
    """The check came to a result."""
    return QuestionCheckOutcome(name, "passed" if passed else "failed", reason)


def is_negative(question: Question) -> bool:
    """Whether the right answer is that the texts do not tell."""
    return question.level in NEGATIVE


def is_multi_hop(question: Question) -> bool:
    """Whether the question is said to need several relations, or has evidence for several."""
    relations = len(question.path.relations) if question.path is not None else 0
    return max(question.hops or 0, question.triples_needed or 0, relations, len(question.evidence_ids)) > 1


def is_open(question: Question) -> bool:
    """Whether many answers are right on purpose: a summary, a tale, a discussion."""
    return question.level in OPEN or (question.level in OPEN_WITHOUT_ANSWER and not question.right_answers)


def chosen_checks(names: Iterable[str], *, model: bool, graph: bool) -> tuple[str, ...]:
    """The checks to run, in the table's order. None named: all that can be done with what is there.

    Raises: UsageError for unknown names, and for named checks whose model or graph is not there.
    """
    named = set(names)
    if unknown := sorted(named - CHECKS.keys()):
        raise UsageError(f"--check: there is no check {', '.join(unknown)}", fix=f"choose from: {', '.join(CHECKS)}")
    there = frozenset(need for need, given in (("model", model), ("graph", graph)) if given)
    lacking = [name for name, check in CHECKS.items() if name in named and not _possible(check, there)]
    if lacking:
        what = " or ".join(
            dict.fromkeys(need for name in lacking for need in sorted(CHECKS[name].needs or CHECKS[name].also)),
        )
        raise UsageError(
            f"--check: {', '.join(lacking)} cannot be done without a {what}",
            fix="name a model with --model (and leave out --no-model), or a graph with --graph NAME; or leave these checks out",
        )
    return tuple(name for name, check in CHECKS.items() if (name in named if named else _possible(check, there)))


def _possible(check: CheckSpec, there: frozenset[str]) -> bool:
    return check.needs <= there and (check.alone or not check.also or bool(check.also & there))
