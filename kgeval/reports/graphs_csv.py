"""Several graphs side by side as CSV, a row a figure or a check, a column a graph; for spreadsheets and programs."""

from __future__ import annotations

from kgeval.records import GraphsReport
from kgeval.reports.tabled import Table, in_csv


def render(report: GraphsReport) -> str:
    """Columns: kind (figure, or count, total, share, suppressed, known, status of a check), id, then the graphs. Null is an empty cell."""
    rows = [("figure", row.id, *map(_text, row.values)) for row in report.figures]
    for check in report.checks:
        for kind in ("count", "total", "share", "suppressed", "known", "status"):
            rows.append((kind, check.rule_id, *(_text(getattr(cell, kind)) for cell in check.cells)))
    return in_csv([Table("", ("kind", "id", *report.names), tuple(rows), frozenset({0, 1}))])


def _text(value: float | str | None) -> str:
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
