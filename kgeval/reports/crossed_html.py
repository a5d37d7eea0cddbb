"""A matrix of runs as one HTML file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kgeval.records import CrossedReport
from kgeval.reports import page
from kgeval.reports.crossed import ALL, MEAN, MEANING, change_tables, lead, metric_tables, value_tables
from kgeval.reports.plots_crossed import Curve, curves

MOST_PLOTS = 60


@dataclass(frozen=True)
class Plot:
    """A plot with what it shows in words, and the names of its curves by their numbers."""

    title: str
    svg: Any
    names: tuple[str, ...]


def render(report: CrossedReport) -> str:
    """The page. Holds the report as JSON in `<script id="report" type="application/json">`."""
    context: dict[str, Any] = {
        "lead": lead(report), "meaning": MEANING,
        "all": list(metric_tables(report)), "values": list(value_tables(report)), "changes": list(change_tables(report)),
        "plots": list(_plots(report)), "notes": report.notes,
    }
    return page.render("crossed.html.j2", report, context)


def _plots(report: CrossedReport) -> Iterator[Plot]:
    """Every metric against the share of the corpus, by data set and as their mean."""
    if len(report.shares) < 2:
        return
    scopes: list[str | None] = [*report.datasets, *([None] if len(report.datasets) != 1 else [])]
    drawn = 0
    for metric in report.metrics:
        for scope in scopes:
            found = list(_curves(report, metric, scope))
            svg = curves(found, x="share of the corpus", y="mean", name=f"curve-{drawn}") if drawn < MOST_PLOTS else ""
            if svg:
                drawn += 1
                yield Plot(f"{metric}: {scope or (MEAN if report.datasets else ALL)}", page.raw(svg), tuple(one.name for one in found))


def _curves(report: CrossedReport, metric: str, dataset: str | None) -> Iterator[Curve]:
    cells = [one for one in report.cells if one.metric == metric and one.place.dataset == dataset and one.place.share is not None]
    lines = dict.fromkeys((one.system, one.place.variant, one.place.reader) for one in cells)
    for number, line in enumerate(lines, start=1):
        mine = [one for one in cells if (one.system, one.place.variant, one.place.reader) == line]
        mine.sort(key=lambda one: one.place.share or 0)
        points = tuple((one.place.share or 0.0, one.mean, one.low, one.high) for one in mine if one.mean is not None)
        yield Curve(number, ", ".join(part for part in line if part), points)
