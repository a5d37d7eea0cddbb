"""Audit reports read back from files: a baseline, the two sides of a diff, graphs side by side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kgeval.errors import InputError
from kgeval.files import read_json
from kgeval.records import SCHEMA_VERSION, AuditReport

FIX = "give the .json report of `kgeval audit -o report.json`"
_FAULTS = 5
_MARKS = ("layout", "findings", "run")  # an audit report has all of them
_OTHERS = {  # what other files of kgeval have, in words
    ("gold", "levels"): "a completeness report", ("design", "estimates"): "an accuracy report", ("before", "after"): "a diff of two audits",
    ("written", "rules"): "a ratchet file", ("metrics", "systems"): "a score report", ("question_id", "system"): "answers or scores",
}


def read_audits(path: Path) -> list[AuditReport]:
    """The audit report of a file, or all of a file that holds several graphs (`{"reports": [...]}`). Reports of an older kgeval are read:
    what they do not have is null or empty.

    Raises: InputError: unreadable, not JSON, another kind of report, another schema version, broken fields (the first few, and how many).
    """
    if path.suffix.lower() in (".html", ".htm", ".md", ".xml", ".sarif", ".csv"):
        raise InputError(f"{path}: only the JSON form of a report can be read back", fix=FIX)
    value = read_json(path)
    if not isinstance(value, Mapping):
        raise InputError(f"{path}: is no report (not a JSON object)", fix=FIX)
    if not isinstance(value.get("reports"), list):
        return [_report(value, str(path))]
    _check_version(value, str(path))
    if not value["reports"]:
        raise InputError(f"{path}: holds no report (`reports` is empty)", fix=FIX)
    return [_report(one, f"{path}: reports.{at}") for at, one in enumerate(value["reports"])]


def _report(value: object, where: str) -> AuditReport:
    has = set(value) if isinstance(value, Mapping) else set()
    other = next((words for marks, words in _OTHERS.items() if has.issuperset(marks)), None)
    if not isinstance(value, Mapping) or not has.issuperset(_MARKS) or (other and "structure" not in has):
        raise InputError(f"{where}: is {other or 'no report of kgeval'}, not an audit report", fix=FIX)
    _check_version(value, where)
    try:
        return AuditReport.model_validate(value)
    except ValidationError as cause:
        errors = cause.errors(include_url=False, include_input=False)
        faults = [f"{where}: {'.'.join(map(str, one['loc'])) or 'report'}: {one['msg']}" for one in errors[:_FAULTS]]
        more = [f"{where}: and {len(errors) - _FAULTS} faults more"] if len(errors) > _FAULTS else []
        raise InputError(f"{where}: is no sound audit report", fix=FIX, faults=[*faults, *more]) from cause


def _check_version(value: Mapping[str, Any], where: str) -> None:
    version = value.get("schema_version", SCHEMA_VERSION)
    if version != SCHEMA_VERSION:
        newer = str(version).isascii() and str(version)[:9].isdigit() and int(str(version)[:9]) > int(SCHEMA_VERSION)
        fix = "install a newer kgeval" if newer else "make the report again with this kgeval"
        raise InputError(f"{where}: has schema version {version!r}; this kgeval reads {SCHEMA_VERSION!r}", fix=fix)
