"""Leaves users' texts out of a comparison: questions, their ids, answers and reasons; names of systems, data sets and all figures stay."""

from __future__ import annotations

from kgeval.records import ComparisonReport, Drill, DrillCall
from kgeval.report.redact import Hasher, hasher


def redacted_comparison(report: ComparisonReport) -> ComparisonReport:
    """The report with texts and ids of questions as short hashes; the same text has the same hash everywhere in it."""
    hashed = hasher(report)
    return report.model_copy(update={
        "drill": [_drill(one, hashed) for one in report.drill],
        "missing": {system: [hashed(question) for question in questions] for system, questions in report.missing.items()},
    })


def _drill(one: Drill, hashed: Hasher) -> Drill:
    texts = {name: None if (text := getattr(one, name)) is None else hashed(text) for name in ("question", "answer_a", "answer_b")}
    return one.model_copy(update={**texts, "question_id": hashed(one.question_id), "calls": [_call(call, hashed) for call in one.calls]})


def _call(call: DrillCall, hashed: Hasher) -> DrillCall:
    reasons = {aspect: (_hash(a, hashed), _hash(b, hashed)) for aspect, (a, b) in call.reasons.items()}
    return call.model_copy(update={"reasons": reasons})


def _hash(text: str, hashed: Hasher) -> str:
    return hashed(text) if text else ""
