"""The one report as one HTML file."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from kgeval.overview.bands import DIMENSIONS, PASS
from kgeval.records import OverviewReport
from kgeval.reports import overview_tables as tables
from kgeval.reports import page
from kgeval.reports.overview_parts import sections

FIRST = ("worse", "better", "noise", "few", "changed", "not_comparable")
REST = ("new", "gone", "same")


def render(report: OverviewReport) -> str:
    """The page. Holds the report as JSON in `<script id="report" type="application/json">`."""
    diff = report.diff
    context: dict[str, Any] = {
        "sections": sections(report), "dimensions": DIMENSIONS, "pass_at": PASS, "href": address,
        "pages": {one.file: one.page for one in report.sources if one.page},
        "cards": report.rubrics if len(report.rubrics) == 1 else [], "rubric": tables.rubric(report.rubrics),
        "rests": tables.rubric_figures(report.rubrics),
        "moved": tables.changes(diff, only=FIRST) if diff else None, "rest": tables.changes(diff, only=REST) if diff else None,
    }
    return page.render("whole.html.j2", report, context)


def address(path: str) -> str:
    """A path as a relative address: never one with a scheme of its own."""
    return path if path.startswith("./") and quote(path) == path else "./" + quote(path.replace("\\", "/"), errors="replace")
