"""Leaves users' texts out of a score report: questions, answers, references, reasons, documents and notes become short hashes."""

from __future__ import annotations

from kgeval.records import GroupSummary, ScoreReport, WorstRow
from kgeval.reports.redact import Hasher, hasher
from kgeval.reports.scores_view import is_reading


def redacted_scores(report: ScoreReport) -> ScoreReport:
    """The report without the texts of its worst rows, names of documents, and notes that may quote them.

    Ids of questions, names of files, systems, metrics, kinds and datasets, and all figures stay.
    """
    hashed = hasher(report)
    return report.model_copy(update={
        "worst": [_worst(row, hashed) for row in report.worst], "groups": [_group(one, hashed) for one in report.groups],
        "notes": [note if is_reading(note) else hashed(note) for note in report.notes],
    })


def _worst(row: WorstRow, hashed: Hasher) -> WorstRow:
    return row.model_copy(update={
        "question": hashed(row.question) if row.question else "", "answer": hashed(row.answer) if row.answer else "",
        "reference": None if row.reference is None else hashed(row.reference), "reasons": [hashed(reason) for reason in row.reasons],
    })


def _group(one: GroupSummary, hashed: Hasher) -> GroupSummary:
    return one.model_copy(update={"value": hashed(one.value)}) if one.by == "document" else one
