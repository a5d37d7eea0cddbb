"""A diff of two audits as one HTML file, and as a section of an audit's page."""

from __future__ import annotations

from typing import Any

from kgeval.auditing.diff import parts_of
from kgeval.records import AuditDiff
from kgeval.reports import page
from kgeval.reports.audit_diff import HINT, gate_line, heading, run_of, tables, verdict


def render(made: AuditDiff) -> str:
    """The page. Holds the diff as JSON in `<script id="report" type="application/json">`."""
    return page.render("audit_diff.html.j2", made.model_copy(update={"run": run_of(made)}), context(made))


def context(made: AuditDiff) -> dict[str, Any]:
    """What the templates of the page and of the section take."""
    parts = [
        {"heading": heading(part), "verdict": verdict(part), "notes": part.notes, "tables": list(tables(part))} for part in parts_of(made)
    ]
    return {"diff_heading": heading(made), "verdict_line": verdict(made), "gate_line": gate_line(made), "parts": parts, "hint": HINT}
