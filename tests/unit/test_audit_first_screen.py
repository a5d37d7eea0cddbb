"""What stands above an audit's findings is true of them: empty graphs, findings that come from loading, what was skipped, long comments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kgeval.auditing.structure import NO_TYPE
from kgeval.overview import priorities
from kgeval.records import AuditReport, Example, GraphRef
from kgeval.reports.render.markdown import MOST_CHARACTERS
from kgeval.reports.write import rendered

EXAMPLE = Path(__file__).parents[1] / "graphs" / "example-report.json"


@pytest.fixture
def report() -> AuditReport:
    return AuditReport.model_validate_json(EXAMPLE.read_text(encoding="utf-8"))


def with_structure(report: AuditReport, **figures: Any) -> AuditReport:
    return report.model_copy(update={"structure": {**report.structure, **figures}})


def test_an_empty_graph_with_findings_is_not_called_without_anything_to_check(report: AuditReport) -> None:
    first, *rest = priorities.outcome(with_structure(report, entities=0))
    assert "no entities" in first and any("errors can make answers wrong" in line for line in rest)
    nothing = report.model_copy(update={"findings": [f for f in report.findings if f.status == "passed"]})
    assert len(priorities.outcome(with_structure(nothing, entities=0))) == 1


def test_the_verdict_says_which_errors_may_come_from_loading_and_the_order_says_where_they_stand(report: AuditReport) -> None:
    untyped = with_structure(report, entities_by_type={NO_TYPE: 1284})
    assert "1 of them may come from how the graph was loaded" in priorities.outcome(untyped)[0]
    assert "are last" in priorities.order(untyped) and "are last" not in priorities.order(report)
    assert priorities.artefact(priorities.failed(untyped)[-1], untyped)


@pytest.mark.slow
def test_without_a_skipped_check_the_page_does_not_say_that_every_check_ran(report: AuditReport) -> None:
    unfinished = report.model_copy(update={"findings": [
        f.model_copy(update={"status": "error"}) if f.status == "skipped" else f for f in report.findings
    ]})
    for form in ("md", "html"):
        text = rendered(unfinished, form)  # type: ignore[arg-type]
        assert "No check was skipped. These figures were not measured" in text and "Every check could run" not in text


def test_a_long_table_leaves_room_for_the_sections_behind_it(report: AuditReport) -> None:
    name = "[@team_x](http://e.x)*_<b>_*|`" * 4
    long = [Example(items=[GraphRef(key="k", name=name, kind="entity")] * 4, why=name * 3)] * 3
    crowded = report.model_copy(update={"findings": [
        f.model_copy(update={"examples": long}) if f.status == "failed" else f for f in report.findings
    ]})
    text = rendered(crowded, "md")
    assert len(text) <= MOST_CHARACTERS
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        line for line in rendered(report, "md").splitlines() if line.startswith("## ")
    ]
    assert "more are in the HTML and JSON reports" in text and json.dumps(name) not in text
