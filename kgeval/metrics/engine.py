"""Rows -> facts -> scores. Memory stays flat: rows come lazily, go through in windows, and leave in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from pydantic import JsonValue

from kgeval.llm.asker import Asker
from kgeval.metrics.definition import Metric, MetricSettings, Subject, not_applicable, reason_of
from kgeval.metrics.facts import ItemVerdicts, RowFacts
from kgeval.metrics.references import completed, numbered, value_of
from kgeval.metrics.select import Selection, lacking
from kgeval.records import Row, Score, Verdict
from kgeval.tables.answers import stopped

if TYPE_CHECKING:
    from kgeval.graph.connect import Graph
    from kgeval.llm.embed import Embedder
    from kgeval.llm.session import Models
    from kgeval.records import Layout

WINDOW = 512  # rows whose texts are embedded, and whose pairs are matched, in one go
MOST_TEXT = 500  # characters of an item's text in its verdict


@dataclass(frozen=True)
class Tools:
    """What facts are found out with; None: not there, and no metric of the run may need it. `layout`: of the stored graph, where one
    was named; GDS alone needs none. `layout_settings`: what of it the user sets. `signatures`: metric -> signature."""

    models: Models | None = None
    embedder: Embedder | None = None
    graph: Graph | None = None
    layout: Layout | None = None
    layout_settings: Mapping[str, JsonValue] = field(default_factory=dict)
    signatures: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RowResult:
    """One row done: its scores in the order of the metrics, and the verdicts that they rest on. `lacking`: why some of those are
    missing, though the scores may stand without them."""

    row: Row
    scores: tuple[Score, ...]
    verdicts: tuple[Verdict, ...]
    lacking: str | None = None


def score(rows: Iterable[Row], selection: Selection, tools: Tools, settings: MetricSettings, *, trials: int = 1, total: int | None = None,
          skip: Callable[[Row, int], bool] | None = None) -> Iterator[RowResult]:
    """One result a row and trial, in the order of the rows. `total`: rows times trials, for the progress. `skip`: rows and trials
    that are left out, because an earlier run has them.

    Raises: ModelError (wrong key, unknown model), IncompleteError (journal), ConnectionLost and QueryError where the graph cannot be
    asked at all. What fails for one row is an unscored value with its cause.
    """
    subjects = (
        Subject(row, RowFacts(), settings, trial) for row in rows for trial in range(trials) if skip is None or not skip(row, trial)
    )
    size = WINDOW if tools.embedder is not None else 1  # nothing to do for many at a time: a row leaves, and is kept, as it is done
    for window in _windows(_asked(subjects, selection, tools, total), size):
        _batch_facts(window, selection, tools)
        for subject in window:
            yield result(subject, selection, tools)


def _windows(subjects: Iterator[Subject], size: int) -> Iterator[list[Subject]]:
    while window := list(islice(subjects, size)):
        yield window


def _asked(subjects: Iterable[Subject], selection: Selection, tools: Tools, total: int | None) -> Iterator[Subject]:
    """The subjects with all facts that are found out row by row: on the session's threads where a model is asked, some side by side where
    only a graph is."""
    from kgeval.llm.asker import Live

    asker = Live(tools.models) if tools.models is not None else None
    work: Callable[[Subject], Subject] = partial(row_facts, selection=selection, tools=tools, asker=asker)
    if tools.models is not None:
        return tools.models.map(work, subjects, total=total)
    return tools.graph.side_by_side(work, subjects) if tools.graph is not None else map(work, subjects)


def row_facts(subject: Subject, *, selection: Selection, tools: Tools, asker: Asker | None) -> Subject:
    """The subject, its facts filled in. In a dry run (asker.dry) what is not in the journal is counted instead."""
    facts = selection.facts_of(subject.row)
    if asker is not None:
        from kgeval.metrics.judge.gather import ask_criteria, ask_facts
        from kgeval.metrics.kg.triples import ask_triples

        ask_facts(subject, facts, asker)
        ask_criteria(subject, selection.criteria_of(subject.row), asker)
        ask_triples(subject, facts, asker, tools)
    if tools.graph is not None and tools.layout is not None:
        from kgeval.metrics.stored.gather import stored_facts

        stored_facts(subject, facts, tools.graph, tools.layout, asker)
    return subject


def _batch_facts(window: Sequence[Subject], selection: Selection, tools: Tools) -> None:
    """Facts that are cheaper for many rows at a time: embeddings, and the graphs of pairs."""
    if tools.embedder is not None:
        from kgeval.metrics.cosines import add_cosines

        add_cosines(window, selection, tools.embedder)
    if tools.graph is not None and tools.embedder is not None:
        from kgeval.metrics.kg.batch import add_pairs

        add_pairs(window, selection, tools.graph, tools.embedder, tools.layout)


def result(subject: Subject, selection: Selection, tools: Tools) -> RowResult:
    """The scores of a subject whose facts are there."""
    metrics = selection.of(subject.row)
    each = completed(subject)
    scores = tuple(_score(metric, subject, each, tools.signatures.get(metric.name, metric.name)) for metric in metrics)
    return RowResult(subject.row, scores, verdicts_of(subject), missing_verdicts(subject))


def _score(metric: Metric, subject: Subject, each: Sequence[Subject], signature: str) -> Score:
    row = subject.row
    missing = lacking(metric, row)
    value = not_applicable(missing) if missing else value_of(metric, subject, each)
    reason = reason_of(value.cause, value.reason) if value.cause else value.reason
    # an aspect is averaged over the same rows as the value: the 0 of an empty answer counts in both
    empty_aspects = dict.fromkeys(metric.aspects, 0.0) if value.status == "scored" and value.detail.get("empty_answer") else {}
    return Score(
        question_id=row.question.id, system=row.answer.system, metric=metric.name, value=value.value, status=value.status, reason=reason,
        detail={**empty_aspects, **value.detail}, signature=signature, trial=subject.repetition,
    )


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


def missing_verdicts(subject: Subject) -> str | None:
    """Why verdicts of this row are missing, in a cause and words; None where all are there. Its scores may stand without them (an empty
    answer has no recall, whatever the reference claims)."""
    failures = [failure for _, checked in _checks(subject) if (failure := checked.unscored) is not None]
    reasons = [reason_of(failure.cause, failure.detail) for failure in failures]
    return next((reason for reason in reasons if stopped(reason)), reasons[0] if reasons else None)


def _checks(subject: Subject) -> Iterator[tuple[str, ItemVerdicts]]:
    for reference, variant in enumerate((subject, *subject.others), start=1):
        yield from ((numbered(name, reference), checked) for name, checked in variant.facts.checks.items())
    if subject.facts.grounded is not None:
        yield "grounding", subject.facts.grounded.checked
