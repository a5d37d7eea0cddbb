"""The verdicts of a row as records, each once however many metrics read it."""

from __future__ import annotations

from collections.abc import Iterator

from kgeval.files.partial import stopped
from kgeval.metrics.definition import Subject, reason_of
from kgeval.metrics.facts import ItemVerdicts
from kgeval.metrics.references import numbered
from kgeval.records import Verdict

MOST_TEXT = 500


def verdicts_of(subject: Subject) -> tuple[Verdict, ...]:
    """One record a statement and source, in the order in which they were asked. `metric` is the name of the check
    (answer_claims@contexts, ratings, binary, citations, ...; `#2` and so on: about the second right answer), `item` counts within it.
    Texts above 500 characters are cut."""
    return tuple(
        Verdict(
            question_id=subject.row.question.id, metric=name, system=subject.row.answer.system, item=item.number,
            text=item.text if len(item.text) <= MOST_TEXT else item.text[:MOST_TEXT] + "\u2026", label=item.label,
            reason=reason_of(item.failure.cause, item.failure.detail) if item.failure else item.reason or None,
            sources=list(item.sources), call=item.call, trial=subject.repetition,
        )
        for name, checked in _checks(subject) for item in checked.items
    )


def lacking(subject: Subject) -> str | None:
    """Why verdicts of this row are missing, in a cause and words; None where all are there. Its scores may stand without them (an empty
    answer has no recall, whatever the reference claims)."""
    failures = [failure for _, checked in _checks(subject) if (failure := checked.unscored) is not None]
    reasons = [reason_of(failure.cause, failure.detail) for failure in failures]
    return next((reason for reason in reasons if stopped(reason)), reasons[0] if reasons else None)


def _checks(subject: Subject) -> Iterator[tuple[str, ItemVerdicts]]:
    for reference, one in enumerate((subject, *subject.others), start=1):
        yield from ((numbered(name, reference), checked) for name, checked in one.facts.checks.items())
    if subject.facts.grounded is not None:
        yield "grounding", subject.facts.grounded.checked
