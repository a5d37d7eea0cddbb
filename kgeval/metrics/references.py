"""Several right answers: what is found out about each of them, and the value by the one that is best for the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kgeval.metrics.definition import Metric, MetricValue, Subject
from kgeval.metrics.facts import Cosines, RowFacts

# What is found out about one right answer. All else is the same whichever is meant, or is asked with all of them in view. Which
# claims an answer lacks depends on which right answer is meant, so each is measured by itself and the best counts.
BY_REFERENCE = frozenset({
    "claims:reference", "answer_claims@reference", "reference_claims@answer", "reference_claims@contexts", "points", "points@answer",
    "triples:reference", "pairs:factual_correctness", "matching:factual_correctness", "communities:factual_correctness",
    "relations:factual_correctness",
})
_COMPARED_WITH_IT = frozenset({"triples:answer"})
_SIMILAR = "similarity:reference"


def by_reference(subject: Subject) -> frozenset[str]:
    """Those of BY_REFERENCE that differ from one right answer to the next: points that the question gives do not."""
    has_points = any(text.strip() for text in subject.row.question.points)
    return BY_REFERENCE - {"points", "points@answer"} if has_points else BY_REFERENCE


def others(subject: Subject, wanted: frozenset[str]) -> list[Subject]:
    """The subject with each further right answer in place of all; none where nothing wanted is about a right answer. Made once."""
    right = subject.row.question.right_answers
    if not subject.others and len(right) > 1 and not by_reference(subject).isdisjoint(wanted):
        row = subject.row
        subject.others = [
            Subject(
                row.model_copy(update={"question": row.question.model_copy(update={"reference": text, "references": []})}), RowFacts(),
                subject.run_settings, subject.trial, other=True,
            ) for text in right[1:]
        ]
    return subject.others


def facts_for(subject: Subject, wanted: frozenset[str]) -> frozenset[str]:
    """Of the facts that a row's metrics read, those to be found out about this subject."""
    return wanted & (by_reference(subject) | _COMPARED_WITH_IT) if subject.other else wanted


def completed(subject: Subject) -> list[Subject]:
    """A subject for each right answer, with all facts of it and all that do not depend on it; none where there are no others."""
    shared = subject.facts
    cosines = shared.cosines.get(_SIMILAR)
    subjects = []
    for number, other in enumerate([subject, *subject.others] if subject.others else []):
        own = other.facts
        near = {} if cosines is None else {_SIMILAR: Cosines(cosines.values[number : number + 1], cosines.failure)}
        facts = replace(
            shared, texts={**shared.texts, **own.texts}, checks={**shared.checks, **own.checks}, cosines={**shared.cosines, **near},
            triples={**shared.triples, **own.triples}, pairs={**shared.pairs, **own.pairs},
        )
        subjects.append(replace(other, facts=facts))
    return subjects


def value_of(metric: Metric, subject: Subject, each: Sequence[Subject]) -> MetricValue:
    """The metric's value; where it is about a right answer and `each` has several, the best of them, with its number as `reference`.

    Unscored where one right answer has no value through our failure and no other has the best value that there is.
    """
    if not each or by_reference(subject).isdisjoint(metric.asks):
        return metric.value(subject)
    values = [metric.value(each_subject) for each_subject in each]
    if values[0].detail.get("empty_answer"):
        return values[0]
    sign, top = (-1, 0.0) if metric.better == "lower" else (1, 1.0)
    scored_numbers = [number for number, value in enumerate(values) if value.value is not None]
    best = max(scored_numbers, key=lambda number: sign * (values[number].value or 0.0), default=None)
    failed = next((value for value in values if value.status == "unscored"), None)
    # the one that failed might have been better, unless no value can be
    if failed is not None and (best is None or values[best].value != top):
        return failed
    return values[0] if best is None else replace(values[best], detail={**values[best].detail, "reference": best + 1})


def numbered(fact: str, reference: object) -> str:
    """The name under which verdicts of a fact are kept: those about a further right answer have its number."""
    return f"{fact}#{reference}" if fact in BY_REFERENCE and isinstance(reference, int) and reference > 1 else fact
