"""Shares of statements with a label: the form of most metrics that rest on verdicts."""

from __future__ import annotations

from kgeval.metrics.definition import MetricValue, Subject, not_applicable, scored, unscored
from kgeval.metrics.facts import ItemVerdicts, Label
from kgeval.metrics.judge.context import answer_text
from kgeval.metrics.judge.ratings import outside

NO_CLAIM = "the answer makes no claim"
NO_REFERENCE_CLAIM = "the reference makes no claim"
LABELS: tuple[Label, ...] = ("supported", "contradicted", "not_stated")


def is_empty(subject: Subject) -> bool:
    """True if there is no answer: nothing but blanks, or an error."""
    return not answer_text(subject.row)


def zero_for_empty() -> MetricValue:
    """What correctness metrics say of an empty answer."""
    return scored(0.0, empty_answer=True)


def says_nothing(subject: Subject, reason: str = NO_CLAIM) -> MetricValue:
    """What metrics say of an answer that gives them nothing to look at: not applicable, and missing wherever systems are compared or held
    to a threshold. A question that the texts do not answer is answered rightly so."""
    if is_empty(subject):
        return not_applicable(reason, empty_answer=True)
    return not_applicable(reason) if outside(subject.row.question) else not_applicable(reason, says_nothing=True)


def no_context_text(subject: Subject) -> bool:
    """True if contexts are known by their ids alone, so that nothing can be checked against them."""
    return bool(subject.row.answer.contexts) and not subject.row.answer.context_texts


def tally(checked: ItemVerdicts, what: str) -> dict[str, int]:
    """Counts by label. `what` names the number of all statements, those without a verdict included; these are `unjudged`."""
    counts = {what: len(checked.items)} | {label: checked.count(label) for label in LABELS}
    unjudged = len(checked.items) - checked.judged
    return counts | ({"unjudged": unjudged} if unjudged else {})


def share(checked: ItemVerdicts, label: Label, *, what: str, none: MetricValue) -> MetricValue:
    """Statements with the label / all statements that were given. `none`: the value where there is no statement. Unscored if one
    statement has no verdict."""
    # the denominator is the list that the judge was given, never what came back: evaluators that divide by the returned verdicts
    # call an answer with 2 claims and 1 verdict perfect
    if (failure := checked.unscored) is not None:
        return unscored(failure, **tally(checked, what))
    if not checked.items:
        return none
    return scored(checked.count(label) / len(checked.items), **tally(checked, what))


def against_contexts(subject: Subject, fact: str, label: Label, *, what: str, none: MetricValue) -> MetricValue:
    """A share of statements checked against the retrieved contexts. Without statements, or without a text of a context, it has no
    meaning; where nothing was retrieved nothing is supported."""
    if no_context_text(subject):
        return not_applicable("the contexts have no text")
    return share(subject.facts.checks[fact], label, what=what, none=none)
