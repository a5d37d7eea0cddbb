"""Leaves users' texts out of a comparison: questions, their ids, answers and reasons, and messages of servers and systems, which may
quote them. Names of systems and data sets, notes in our own words, and all figures stay."""

from __future__ import annotations

import re

from kgeval.records import ComparisonReport, Drift, Drill, DrillCall, PairResult
from kgeval.reports.redact import Hasher, hasher

OTHER = "another cause"
_CAUSE = re.compile(r"[a-z0-9_]{1,20}([ -][a-z0-9_]{1,20}){0,3}")
_MESSAGES = (
    re.compile(r"^(nothing more was asked: )(.+)()$", re.DOTALL),
    re.compile(r"^([a-z0-9_ -]{1,40}: )(.+)(: [^:]+ is not asked any more)$", re.DOTALL),
)


def redacted_comparison(report: ComparisonReport) -> ComparisonReport:
    """The report with texts and ids of questions as short hashes; the same text has the same hash everywhere in it."""
    hashed = hasher(report)
    return report.model_copy(update={
        "drill": [_drill(one, hashed) for one in report.drill],
        "notes": [redacted_note(note, hashed) for note in report.notes],
        "pairs": [plain_causes(one) for one in report.pairs],
        "contrast": {name: [plain_causes(one) for one in pairs] for name, pairs in report.contrast.items()},
        "drift": None if report.drift is None else redacted_drift(report.drift, hashed),
        "missing": {system: [hashed(question) for question in questions] for system, questions in report.missing.items()},
    })


def redacted_note(note: str, hashed: Hasher) -> str:
    """A note without the message of a server: all other notes are our own words, names of systems and files, and numbers."""
    found = next((match for pattern in _MESSAGES if (match := pattern.match(note))), None)
    return note if found is None else found[1] + hashed(found[2]) + found[3]


def redacted_drift(one: Drift, hashed: Hasher) -> Drift:
    """Ids of anchors as hashes; no marks, from which a guessed text could be confirmed. Such a report is no baseline any more."""
    outcomes = {hashed(anchor): said for anchor, said in one.outcomes.items()}
    return one.model_copy(update={"outcomes": outcomes, "marks": {}, "failures": _plain(one.failures)})


def plain_causes(one: PairResult) -> PairResult:
    """The result without causes of failures that may be somebody's text."""
    return one.model_copy(update={"failures": _plain(one.failures)}) if one.failures else one


def _plain(failures: dict[str, int]) -> dict[str, int]:
    """Causes in a few plain words; what files of others give as a cause may be any text."""
    found: dict[str, int] = {}
    for cause, count in failures.items():
        kept = cause if _CAUSE.fullmatch(cause) else OTHER
        found[kept] = found.get(kept, 0) + count
    return found


def _drill(one: Drill, hashed: Hasher) -> Drill:
    texts = {name: None if (text := getattr(one, name)) is None else hashed(text) for name in ("question", "answer_a", "answer_b")}
    return one.model_copy(update={**texts, "question_id": hashed(one.question_id), "calls": [_call(call, hashed) for call in one.calls]})


def _call(call: DrillCall, hashed: Hasher) -> DrillCall:
    reasons = {aspect: (_hash(a, hashed), _hash(b, hashed)) for aspect, (a, b) in call.reasons.items()}
    return call.model_copy(update={"reasons": reasons})


def _hash(text: str, hashed: Hasher) -> str:
    return hashed(text) if text else ""
