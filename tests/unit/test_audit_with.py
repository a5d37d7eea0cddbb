"""Findings of accuracy and completeness reports join the audit's; broken files are refused, all at once and in plain words."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from report_page import Page, unpacked

from kgeval.auditing.report_files import JoinedReport, joined_findings, joined_warnings, read_joined
from kgeval.errors import InputError
from kgeval.records import AccuracyReport, AuditReport, CompletenessReport, Construction
from kgeval.reports.write import rendered

ROOT = Path(__file__).parents[2]
ACCURACY = ROOT / "schemas" / "examples" / "accuracy-report" / "valid" / "harbour.json"
COMPLETENESS = ROOT / "schemas" / "examples" / "completeness-report" / "valid" / "harbour.json"
AUDIT = ROOT / "tests" / "graphs" / "example-report.json"


@pytest.fixture(scope="module")
def audit() -> AuditReport:
    return AuditReport.model_validate_json(AUDIT.read_text(encoding="utf-8"))


def joined(audit: AuditReport, *paths: Path) -> AuditReport:
    return audit.model_copy(update={"findings": [*audit.findings, *joined_findings(read_joined(paths))]})


def test_a_report_is_recognised_by_what_it_holds() -> None:
    first, second = read_joined([ACCURACY, COMPLETENESS])
    assert isinstance(first.report, AccuracyReport) and isinstance(second.report, CompletenessReport)
    assert [(f.rule_id, f.group) for f in joined_findings([first, second])] == [
        ("contradicted-relation", "accuracy"), ("missing-gold-entity", "completeness"),
    ]


@pytest.mark.slow
def test_a_contradicted_relation_stands_in_the_audit_with_its_passage_in_every_form(audit: AuditReport) -> None:
    both = joined(audit, ACCURACY, COMPLETENESS)
    page = Page(rendered(both, "html"))
    for part in ("Accuracy", "Completeness", "North Light -[OWNS]-> Packet Line", "The Packet Line, which owns the North Light"):
        assert part in page.text
    assert {"finding-contradicted-relation", "finding-missing-gold-entity"} <= set(page.values("id"))
    text = " ".join(rendered(both, "text").split())
    assert "Accuracy 1 error" in text and "Completeness 1 warning" in text
    assert "The Packet Line, which owns the North Light" in rendered(both, "md")
    assert AuditReport.model_validate_json(rendered(both, "json")) == both


@pytest.mark.slow
def test_two_reports_with_the_same_check_stand_side_by_side(audit: AuditReport, tmp_path: Path) -> None:
    other = tmp_path / "entities.json"
    other.write_text(ACCURACY.read_text(encoding="utf-8"), encoding="utf-8")
    page = Page(rendered(joined(audit, ACCURACY, other), "html"))
    ids = page.values("id")
    assert len(ids) == len(set(ids)) and {"finding-contradicted-relation", "finding-contradicted-relation-2"} <= set(ids)
    assert "passages contradict (harbour.json)" in page.text and "passages contradict (entities.json)" in page.text


@pytest.mark.long
def test_redaction_of_the_audit_reaches_what_joined(audit: AuditReport) -> None:
    for form in ("html", "md", "json", "text"):
        shown = unpacked(rendered(joined(audit, ACCURACY), form, redact=True))  # type: ignore[arg-type]
        assert "Packet Line" not in shown, form


def test_every_fault_of_every_file_comes_at_once(tmp_path: Path) -> None:
    value = json.loads(ACCURACY.read_text(encoding="utf-8"))
    texts = {
        "broken.json": "{", "list.json": "[]", "other.json": '{"a": 1}', "audit.json": AUDIT.read_text(encoding="utf-8"),
        "old.json": json.dumps({**value, "schema_version": "0"}), "unversioned.json": json.dumps({**value, "schema_version": None}),
        "fields.json": json.dumps({**value, "kind": "songs", "extra": 1}),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_joined([*(tmp_path / name for name in texts), tmp_path / "absent.json", ACCURACY, ACCURACY])
    told = "\n".join(caught.value.faults).replace(f"{tmp_path}/", "")
    for part in (
        "broken.json:1: not JSON", "list.json: is no report", "other.json: is no accuracy or completeness report",
        "audit.json: is an audit report", "old.json: has schema version '0'; this kgeval reads '1'",
        "unversioned.json: has schema version None", "fields.json: kind: ", "fields.json: extra: ", "absent.json",
        "harbour.json: is given twice",
    ):
        assert part in told, part
    assert "songs" not in told, "what a file holds is not repeated"


def test_reports_of_another_graph_or_without_findings_are_said() -> None:
    (one,) = read_joined([ACCURACY])
    assert joined_warnings([one], "harbour") == []
    assert joined_warnings([one], None) == [f"{ACCURACY} is about graph harbour, this audit about the whole database"]
    bare = JoinedReport(ACCURACY, one.report.model_copy(update={"findings": []}))
    assert joined_warnings([bare], "harbour") == [f"{ACCURACY} holds no findings"]


@pytest.mark.long
def test_what_building_took_stands_in_every_form(audit: AuditReport) -> None:
    built = Construction(
        system="kgeval build (model with reader-1)", seconds=12.34, documents=3, chunks=61, tokens=31_000, calls=61, input_tokens=81_000,
        output_tokens=9_100, cost=0.0213,
    )
    line = (
        "Built by kgeval build (model with reader-1) in 12.3 s from 3 documents (61 chunks and 31,000 tokens): "
        "61 model calls, 81,000 tokens in, 9,100 out, $0.0213."
    )
    one = audit.model_copy(update={"construction": built})
    for form in ("text", "md", "html"):
        text = rendered(one, form)  # type: ignore[arg-type]
        shown = re.sub(r"&#(\d+);", lambda m: chr(int(m[1])), " ".join((Page(text).text if form == "html" else text).split()))
        assert line in shown, form
    free = built.model_copy(update={"calls": 0, "input_tokens": 0, "cost": 0.0})
    assert "no model was asked" in rendered(audit.model_copy(update={"construction": free}), "text")
    unknown = built.model_copy(update={"cost": None})
    assert "price not known" in " ".join(rendered(audit.model_copy(update={"construction": unknown}), "text").split())
