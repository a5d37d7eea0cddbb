"""Reports that an audit reads back from files: a baseline, the two sides of a diff, graphs side by side, and reports that join it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from kgeval.auditing.identity import called
from kgeval.errors import InputError, upgrade
from kgeval.format import first_lines
from kgeval.records import SCHEMA_VERSION, AccuracyReport, AuditReport, CompletenessReport, Finding
from kgeval.tables import read_json

FIX = "give the .json report of `kgeval audit -o report.json`"
JOINING_FIX = "give the .json report of `kgeval accuracy -o` or `kgeval completeness -o`"
_FAULTS = 5  # of one file that are told
_MARKS = ("layout", "findings", "run")  # an audit report has all of them
_OTHERS = {  # what other files of kgeval have, in words
    ("gold", "levels"): "a completeness report", ("design", "estimates"): "an accuracy report", ("before", "after"): "a diff of two audits",
    ("written", "rules"): "a ratchet file", ("metrics", "systems"): "a score report", ("question_id", "system"): "answers or scores",
}
_JOINING: dict[type[AccuracyReport] | type[CompletenessReport], tuple[str, ...]] = {
    AccuracyReport: ("kind", "design", "estimates"), CompletenessReport: ("gold", "levels"),
}
Model = TypeVar("Model", bound=BaseModel)


def validated(model: type[Model], value: object, where: str, *, what: str, fix: str) -> Model:
    """The record that a file's value is. `what`: the message without the place. Raises: InputError with the first faults, and how many."""
    try:
        return model.model_validate(value)
    except ValidationError as cause:
        errors = cause.errors(include_url=False, include_input=False)
        faults = [f"{where}: {'.'.join(map(str, error['loc'])) or 'report'}: {error['msg']}" for error in errors]
        raise InputError(f"{where}: {what}", fix=fix, faults=first_lines(faults, _FAULTS)) from cause


def read_audits(path: Path) -> list[AuditReport]:
    """The audit report of a file, or all of a file that holds several graphs (`{"reports": [...]}`).

    Raises: InputError: unreadable, not JSON, another kind of report, another schema version, broken fields (the first few, and how many).
    """
    if path.suffix.lower() in (".html", ".htm", ".md", ".xml", ".sarif", ".csv"):
        raise InputError(f"{path}: only the JSON form of a report can be read back", fix=FIX)
    value = read_json(path)
    if not isinstance(value, Mapping):
        raise InputError(f"{path}: is no report (not a JSON object)", fix=FIX)
    if not isinstance(value.get("reports"), list):
        return [_audit_report(value, str(path))]
    _check_version(value, str(path))
    if not value["reports"]:
        raise InputError(f"{path}: holds no report (`reports` is empty)", fix=FIX)
    return [_audit_report(report, f"{path}: reports.{index}") for index, report in enumerate(value["reports"])]


def _audit_report(value: object, where: str) -> AuditReport:
    keys = set(value) if isinstance(value, Mapping) else set()
    other = next((words for marks, words in _OTHERS.items() if keys.issuperset(marks)), None)
    if not isinstance(value, Mapping) or not keys.issuperset(_MARKS) or (other and "structure" not in keys):
        raise InputError(f"{where}: is {other or 'no report of kgeval'}, not an audit report", fix=FIX)
    _check_version(value, where)
    return validated(AuditReport, value, where, what="is no sound audit report", fix=FIX)


def _check_version(value: Mapping[str, Any], where: str) -> None:
    version = value.get("schema_version", SCHEMA_VERSION)
    if version != SCHEMA_VERSION:
        newer = str(version).isascii() and str(version)[:9].isdigit() and int(str(version)[:9]) > int(SCHEMA_VERSION)
        fix = upgrade() if newer else "make the report again with this kgeval"
        raise InputError(f"{where}: has schema version {version!r}; this kgeval reads {SCHEMA_VERSION!r}", fix=fix)


@dataclass(frozen=True)
class JoinedReport:
    """A report of `kgeval accuracy` or `kgeval completeness` whose findings join the audit's, and its file."""

    path: Path
    report: AccuracyReport | CompletenessReport


def read_joined(paths: Sequence[Path]) -> list[JoinedReport]:
    """The reports of the files, each recognised by what it holds.

    Raises: InputError with every fault of every file: unreadable, not JSON, no such report, another schema version, broken fields.
    """
    joined: list[JoinedReport] = []
    faults: list[str] = []
    for path in paths:
        try:
            joined.append(JoinedReport(path, _joining_report(read_json(path), path)))
        except InputError as error:
            faults += error.faults or (error.message,)
    twice = {path for path in paths if paths.count(path) > 1}
    faults += [f"{path}: is given twice; its findings would count twice" for path in sorted(twice)]
    if faults:
        raise InputError("--with: these reports cannot be used", fix=JOINING_FIX, faults=faults)
    return joined


def _joining_report(value: Any, path: Path) -> AccuracyReport | CompletenessReport:
    if not isinstance(value, dict):
        raise InputError(f"{path}: is no report (not a JSON object)")
    model = next((kind for kind, marks in _JOINING.items() if all(mark in value for mark in marks)), None)
    if model is None:
        what = "an audit report; audits do not join audits" if "structure" in value else "no accuracy or completeness report"
        raise InputError(f"{path}: is {what}")
    version = value.get("schema_version")
    if version != SCHEMA_VERSION:
        raise InputError(f"{path}: has schema version {version!r}; this kgeval reads {SCHEMA_VERSION!r}")
    return validated(model, value, str(path), what="is broken", fix=JOINING_FIX)


def joined_findings(joined: Sequence[JoinedReport]) -> list[Finding]:
    """The findings of all reports in their order. Where two reports bring the same check, each title names its file."""
    rules = [finding.rule_id for source in joined for finding in source.report.findings]
    return [
        finding if rules.count(finding.rule_id) == 1 else finding.model_copy(update={"title": f"{finding.title} ({source.path.name})"})
        for source in joined for finding in source.report.findings
    ]


def joined_warnings(joined: Sequence[JoinedReport], graph: str | None) -> list[str]:
    """What a reader should know: reports of another graph than the audited one, and reports without findings."""
    warnings = []
    for path, report in ((source.path, source.report) for source in joined):
        if report.graph != graph:
            warnings.append(f"{path} is about {called(report.graph)}, this audit about {called(graph)}")
        if not report.findings:
            warnings.append(f"{path} holds no findings")
    return warnings
