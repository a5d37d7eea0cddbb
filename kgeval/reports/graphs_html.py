"""Several graphs side by side as one HTML file: tables, and one plot a figure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kgeval.records import GraphsReport
from kgeval.reports import page
from kgeval.reports.graphs import COMPARED, figure_of, lacking, lead, tables, unanswered, value_of
from kgeval.reports.plots_graphs import bars


@dataclass(frozen=True)
class Plot:
    """One figure of all graphs: what it is, what it means, and its bars."""

    title: str
    what: str
    svg: Any


def render(report: GraphsReport) -> str:
    """The page. Holds all reports as JSON in `<script id="report" type="application/json">`."""
    context: dict[str, Any] = {
        "lead": lead(report), "lacking": lacking(report), "tables": list(tables(report)), "plots": list(_plots(report)),
        "reasons": [(row.rule_id, why) for row in report.checks if (why := unanswered(row, report.names))],
    }
    return page.render("graphs.html.j2", report, context)


def _plots(report: GraphsReport) -> Iterator[Plot]:
    rows = {row.id: row for row in report.figures}
    for row in (rows[name] for name in COMPARED if name in rows):
        figure = figure_of(row)
        percents = figure.unit == "share"
        values = [None if value is None else 100 * value if percents else value for value in row.values]
        svg = bars(values, y="%" if percents else "", name=f"bars-{row.id}", texts=[value_of(row, value) for value in row.values])
        if svg:
            yield Plot(figure.title, figure.what, page.raw(svg))
