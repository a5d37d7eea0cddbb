"""Every kind of report in every form, whole and redacted, from records that stay as they are."""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from pathlib import Path

import pytest
from report_page import Page

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "goldens"))
from golden import EXPECTED, INPUTS, PLACES, ROOT, changes, check, check_names, fixed, page

from kgeval.records import AuditReport, Classification, ComparisonReport, CrossedReport, ProfileReport, QuestionStats, SimulationReport
from kgeval.reports.kinds import KINDS, Form
from kgeval.reports.page import Report
from kgeval.reports.write import Screen, rendered

FORMS: dict[Form, str] = {"text": "txt", "md": "md", "html": "html.txt", "json": "json", "csv": "csv", "xml": "xml", "sarif": "sarif"}


def _records() -> dict[str, tuple[type[Report], Path]]:
    """Name of a golden -> kind and file of its record."""
    found = {}
    for kind in KINDS:
        folder = re.sub(r"(?<!^)([A-Z])", r"-\1", kind.__name__).lower()
        for path in sorted((PLACES["examples"] / folder / "valid").glob("*.json")):
            found[f"{folder}-{path.stem}"] = (kind, path)
    found["audit-report-full"] = (AuditReport, ROOT / "tests" / "graphs" / "example-report.json")
    found["comparison-report-full"] = (ComparisonReport, INPUTS / "comparison-three-systems.json")
    return found


RECORDS = _records()
LEFT_OUT = {("audit-report-full", "json"), ("comparison-report-full", "json"), ("comparison-report-full", "html")}  # too long to read
OPEN = {CrossedReport, SimulationReport, QuestionStats, Classification, ProfileReport}  # counts; names of levels, kinds, systems, files
CASES = [(name, form) for name, (kind, _) in RECORDS.items() for form in KINDS[kind].forms if (name, form) not in LEFT_OUT]


@cache
def record_of(name: str) -> Report:
    kind, path = RECORDS[name]
    return kind.model_validate_json(path.read_text(encoding="utf-8"))


def golden_of(name: str, form: Form, redacted: bool = False) -> str:
    return f"{name}{'.redacted' if redacted else ''}.{FORMS[form]}"


def readable(text: str, form: Form) -> str:
    return fixed(page(text) if form == "html" else text)


def held(page: str, record: Report) -> str:
    """What the page holds as data."""
    own, form = (json.loads(text) for text in (Page(page).report, rendered(record, "json")))
    return f"\ndata: the JSON form, other fields: {', '.join(key for key in form if own.get(key) != form[key]) or 'none'}"


def test_every_kind_of_report_has_a_record() -> None:
    assert {kind for kind, _ in RECORDS.values()} == set(KINDS)


def test_every_golden_of_a_report_has_a_case() -> None:
    names = [golden_of(name, form) for name, form in CASES]
    names += [golden_of(name, form, True) for name, form in CASES if RECORDS[name][0] not in OPEN]
    check_names("reports", names)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "form"), CASES)
def test_report(name: str, form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    if form != "html":
        for drawing in ("plots._drawn", "pictures._svg"):
            monkeypatch.setattr(f"kgeval.reports.{drawing}", lambda *_: pytest.fail("drawn where nobody sees it"))
    record = record_of(name)
    whole = rendered(record, form, screen=Screen(100, False))
    check(EXPECTED / "reports" / golden_of(name, form), readable(whole, form) + (held(whole, record) if form == "html" else ""))
    bare = rendered(record, form, redact=True, screen=Screen(100, False))
    if type(record) in OPEN:
        assert bare == whole
    else:  # what redaction changes of it
        check(EXPECTED / "reports" / golden_of(name, form, True), changes(readable(whole, form), readable(bare, form)))
