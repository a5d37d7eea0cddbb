"""Findings of other reports that join the audit's: contradicted facts and missing gold, from `kgeval accuracy` and `completeness`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kgeval.auditing.identity import called
from kgeval.errors import InputError
from kgeval.files import read_json
from kgeval.records import SCHEMA_VERSION, AccuracyReport, CompletenessReport, Finding

FIX = "give the .json report of `kgeval accuracy -o` or `kgeval completeness -o`"
_MARKS: dict[type[AccuracyReport] | type[CompletenessReport], tuple[str, ...]] = {
    AccuracyReport: ("kind", "design", "estimates"), CompletenessReport: ("gold", "levels"),
}
_FAULTS = 5


@dataclass(frozen=True)
class Joined:
    """One report that joins: its file, and the report."""

    path: Path
    report: AccuracyReport | CompletenessReport


def read_joined(paths: Sequence[Path]) -> list[Joined]:
    """The reports of the files, each recognised by what it holds.

    Raises: InputError with every fault of every file: unreadable, not JSON, no such report, another schema version, broken fields.
    """
    joined: list[Joined] = []
    faults: list[str] = []
    for path in paths:
        try:
            joined.append(Joined(path, _report(read_json(path), path)))
        except InputError as error:
            faults += error.faults or (error.message,)
    twice = {path for path in paths if paths.count(path) > 1}
    faults += [f"{path}: is given twice; its findings would count twice" for path in sorted(twice)]
    if faults:
        raise InputError("--with: these reports cannot be used", fix=FIX, faults=faults)
    return joined


def findings_of(joined: Sequence[Joined]) -> list[Finding]:
    """The findings of all reports in their order. Where two reports bring the same check, each title names its file."""
    rules = [finding.rule_id for one in joined for finding in one.report.findings]
    return [
        finding if rules.count(finding.rule_id) == 1 else finding.model_copy(update={"title": f"{finding.title} ({one.path.name})"})
        for one in joined for finding in one.report.findings
    ]


def warnings(joined: Sequence[Joined], graph: str | None) -> list[str]:
    """What a reader should know: reports of another graph than the audited one, and reports without findings."""
    found = []
    for path, report in ((one.path, one.report) for one in joined):
        if report.graph != graph:
            found.append(f"{path} is about {called(report.graph)}, this audit about {called(graph)}")
        if not report.findings:
            found.append(f"{path} holds no findings")
    return found


def _report(value: Any, path: Path) -> AccuracyReport | CompletenessReport:
    """The record that the value is. Raises: InputError."""
    if not isinstance(value, dict):
        raise InputError(f"{path}: is no report (not a JSON object)")
    record = next((kind for kind, marks in _MARKS.items() if all(mark in value for mark in marks)), None)
    if record is None:
        what = "an audit report; audits do not join audits" if "structure" in value else "no accuracy or completeness report"
        raise InputError(f"{path}: is {what}")
    version = value.get("schema_version")
    if version != SCHEMA_VERSION:
        raise InputError(f"{path}: has schema version {version!r}; this kgeval reads {SCHEMA_VERSION!r}")
    try:
        return record.model_validate(value)
    except ValidationError as cause:
        errors = cause.errors(include_url=False, include_input=False)
        shown = [f"{path}: {'.'.join(map(str, e['loc'])) or 'report'}: {e['msg']}" for e in errors[:_FAULTS]]
        more = [f"{path}: and {len(errors) - _FAULTS} faults more"] if len(errors) > _FAULTS else []
        raise InputError(f"{path}: is broken", faults=[*shown, *more]) from cause
