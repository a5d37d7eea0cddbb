"""Which report a JSON object is: each record has fields of its own, so that no file needs a mark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from kgeval.config import explain
from kgeval.errors import InputError, upgrade
from kgeval.format import first_lines
from kgeval.records import (
    SCHEMA_VERSION,
    AccuracyReport,
    AgreementReport,
    AnswerReport,
    AuditDiff,
    AuditReport,
    CheckReport,
    Classification,
    ComparisonReport,
    CompletenessReport,
    ContaminationReport,
    CoverageReport,
    CrossedReport,
    GenerationReport,
    GraphsReport,
    IndexRecord,
    LoadReport,
    MatrixReport,
    OverviewReport,
    PipelineRun,
    QuestionStats,
    Ratchet,
    ScoreReport,
    SensitivityReport,
    SimulationReport,
    SourceKind,
    StatsReport,
)

Reported = (
    IndexRecord | AuditReport | CompletenessReport | AccuracyReport | GenerationReport | QuestionStats | Classification | CheckReport
    | CoverageReport | AnswerReport | ScoreReport | SensitivityReport | ContaminationReport | ComparisonReport | CrossedReport
    | AgreementReport | MatrixReport | StatsReport | SimulationReport | LoadReport
)
KINDS: dict[SourceKind, type[Reported]] = {
    "build": IndexRecord, "audit": AuditReport, "completeness": CompletenessReport, "accuracy": AccuracyReport,
    "questions": GenerationReport, "question-stats": QuestionStats, "classification": Classification, "check": CheckReport,
    "coverage": CoverageReport, "answers": AnswerReport, "scores": ScoreReport, "sensitivity": SensitivityReport,
    "contamination": ContaminationReport, "comparison": ComparisonReport, "matrix": CrossedReport, "agreement": AgreementReport,
    "metric-matrix": MatrixReport, "stats": StatsReport, "simulation": SimulationReport, "load": LoadReport,
}
TITLES: dict[SourceKind, str] = {
    "build": "Construction of the graph", "audit": "Audit", "completeness": "Completeness", "accuracy": "Accuracy of the graph",
    "questions": "Questions made", "question-stats": "Make-up of the questions", "classification": "Levels of questions",
    "check": "Checks of questions", "coverage": "Coverage by questions", "answers": "Answers", "scores": "Scores",
    "sensitivity": "Sensitivity of metrics", "contamination": "Contamination", "comparison": "Comparison", "matrix": "Matrix of runs",
    "agreement": "Agreement with people", "metric-matrix": "Metrics against metrics", "stats": "Statistics", "simulation": "Simulation",
    "load": "Throughput under load",
}
ELSEWHERE: dict[type[Any], str] = {  # what is known and no part of this report, and where it is shown
    AuditDiff: "a diff of two audits: kgeval audit diff BEFORE.json AFTER.json shows it; give the later audit, and --baseline the earlier",
    GraphsReport: "several graphs side by side: kgeval audit shows it (give it in place of graph names); give the audit of one graph",
    Ratchet: "a file of accepted hits: kgeval audit --ratchet takes it",
}
_ALIKE = 0.5  # share of fields in common from which an object is taken for a record; below, it is something else
_FAULTS = 5


def kind_of(value: Any) -> SourceKind | type[Any] | None:
    """What the object is, by its fields alone: the record that it has all needed fields of, and most in common with; null: none."""
    if not isinstance(value, Mapping):
        return None
    others: tuple[type[Any], ...] = (PipelineRun, OverviewReport, *ELSEWHERE)
    marks: dict[Any, type[Any]] = {**KINDS, **{record: record for record in others}}
    found = [(_alike(record, value), str(kind), kind) for kind, record in marks.items()]
    likeness, _, kind = max(found, key=lambda one: one[:2])
    return kind if likeness >= _ALIKE else None


def _alike(record: type[Any], value: Mapping[str, Any]) -> float:
    fields = set(record.model_fields)
    needed = {name for name, field in record.model_fields.items() if field.is_required()}
    return len(fields & set(value)) / len(fields | set(value)) if needed & set(value) == needed else 0.0


def validated(record: type[Any], value: Mapping[str, Any], name: str) -> Any:
    """The object as its record. Raises: InputError for another schema version, with the way out, and for broken fields, all of them."""
    version = value.get("schema_version", SCHEMA_VERSION)
    if version != SCHEMA_VERSION:
        raise InputError(f"{name}: has schema version {version!r}; this kgeval reads {SCHEMA_VERSION!r}: {_way_out(version)}")
    try:
        return record.model_validate(value)
    except ValidationError as cause:
        raise InputError(f"{name}: is broken", faults=first_lines([f"{name}: {line}" for line in explain(cause)], _FAULTS)) from cause


def _way_out(version: object) -> str:
    newer = str(version).isdigit() and int(str(version)) > int(SCHEMA_VERSION)
    return upgrade() if newer else "make the report again with this kgeval"
