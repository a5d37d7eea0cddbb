"""Finds out, by asking, the facts that metrics read: each thing once for all metrics.

A row's calls, at most: claims of the answer; claims of the reference; points; verdicts once a source (reference, contexts, answer,
gold statements), whatever kinds of statements are checked against it; ratings of contexts; a rating of them joined; questions; the
answer as a whole; citations. What a run does not need is not asked.
"""

from __future__ import annotations

from collections.abc import Iterable

from kgeval.config import Criterion
from kgeval.llm.asker import Asker
from kgeval.metrics.definition import Subject
from kgeval.metrics.judge.checks import SOURCES, checked, source_of
from kgeval.metrics.judge.cited import citation_checks, needs_claims
from kgeval.metrics.judge.desk import Desk, Listed
from kgeval.metrics.judge.lists import ITEM_KINDS, ItemKind, listed, questions
from kgeval.metrics.judge.ratings import binary, graded, joined, ratings
from kgeval.metrics.references import others, wanted_of

MADE: dict[str, ItemKind] = {"claims:answer": "answer_claims", "claims:reference": "reference_claims", "points": "points"}
CITED = ("citations", "citations:claims")


def ask_facts(subject: Subject, wanted: frozenset[str], asker: Asker) -> None:
    """Fills in `subject.facts` what is wanted and a model answers; other names are passed over. What could not be had is a fact
    with its failure. In a dry run everything that is not in the journal fails, and is counted by the asker. Of several right answers
    the first is meant; what is about a right answer is asked for each other one too, in `subject.others`.

    Raises: what the asker raises (ModelError, IncompleteError): what ends a run.
    """
    for one in (subject, *others(subject, wanted)):
        _ask_facts(one, wanted_of(one, wanted), asker)


def ask_criteria(subject: Subject, criteria: Iterable[Criterion], asker: Asker) -> None:
    """Fills in the grade by each criterion of the user's own: one item, `criterion:NAME`. Raises: as ask_facts."""
    desk = Desk(subject, asker)
    for criterion in criteria:
        subject.facts.checks[f"criterion:{criterion.name}"] = graded(desk, criterion)


def _ask_facts(subject: Subject, wanted: frozenset[str], asker: Asker) -> None:
    desk, facts = Desk(subject, asker), subject.facts
    lists = {kind: listed(desk, kind) for kind in ITEM_KINDS if _needed(kind, wanted, subject)}
    for name in SOURCES:
        kinds: dict[str, Listed] = {kind: lists[kind] for kind in ITEM_KINDS if f"{kind}@{name}" in wanted}
        if kinds:
            verdicts = checked(desk, source_of(desk, name), kinds)
            facts.checks |= {f"{kind}@{name}": verdicts[kind] for kind in kinds}
    _ask_the_rest(desk, wanted, lists)


def _ask_the_rest(desk: Desk, wanted: frozenset[str], lists: dict[ItemKind, Listed]) -> None:
    facts = desk.subject.facts
    for name, ask in (("ratings", ratings), ("rating:joined", joined), ("binary", binary)):
        if name in wanted:
            facts.checks[name] = ask(desk)
    if "questions" in wanted:
        facts.texts["questions"] = questions(desk)
    if wanted.intersection(CITED):
        facts.checks |= citation_checks(desk, lists.get("answer_claims"), coverage="citations:claims" in wanted)


def _needed(kind: ItemKind, wanted: frozenset[str], subject: Subject) -> bool:
    """Whether a list of statements is wanted itself, or for its verdicts."""
    if any(MADE.get(name) == kind or name in {f"{kind}@{source}" for source in SOURCES} for name in wanted):
        return True
    return kind == "answer_claims" and ("citations:claims" in wanted or ("citations" in wanted and needs_claims(subject.row)))
