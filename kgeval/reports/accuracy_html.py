"""Accuracy as one HTML file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kgeval.records import AccuracyReport, Estimate
from kgeval.reports import accuracy as view
from kgeval.reports import page
from kgeval.reports.display import interval, number, percent, visible
from kgeval.reports.measures import causes, who


@dataclass(frozen=True)
class Line:
    """An estimate as the page shows it: texts, and the numbers that place its interval on the line from 0 to 1."""

    of: str
    labelled_by_words: str
    share: str
    interval: str
    n: int
    n_scored: int
    clusters: str
    bounds: str
    method: str
    causes: str
    value: float | None
    low: float | None
    high: float | None


def render(report: AccuracyReport) -> str:
    """The page. Holds the report as JSON in `<script id="report" type="application/json">`."""
    from kgeval.reports.plots import calibration

    bins = [one for one in report.calibration if one.n]
    points = [(one.confidence, one.accuracy, one.n) for one in bins if one.confidence is not None and one.accuracy is not None]
    context: dict[str, Any] = {
        "verdict": view.verdict(report), "piles": view.piles(report), "disputed": view.disputed(report),
        "estimates": [_line(one) for one in report.estimates], "by_type": [_line(one) for one in report.by_type],
        "by_document": [_line(one) for one in report.by_document], "by_class": [_line(one) for one in report.by_class],
        "unscored": view.unscored_line(report), "flags": view.flag_line(report), "notes": report.notes,
        "duplicates": view.agreement_rows(report.duplicates), "agreement": view.agreement_rows(report.agreement),
        "design": view.design_lines(report), "strata": [(visible(key), number(n)) for key, n in sorted(report.design.strata.items())],
        "needed": [(width, number(n)) for width, n in view.needed_lines(report)],
        "titles": {
            "by_type": view.split_title("By type", report.by_type), "by_document": view.split_title("By document", report.by_document),
            "by_class": view.split_title("By failure class", report.by_class),
        },
        "calibration": bins, "calibration_plot": page.raw(calibration(points, name="calibration")),
    }
    return page.render("accuracy.html.j2", report, context)


def _line(one: Estimate) -> Line:
    return Line(
        one.of, who(one), "–" if one.value is None else percent(one.value), interval(one.low, one.high), one.n, one.n_scored,
        "" if one.clusters is None else number(one.clusters), view.bounds(one), one.method, causes(one.failures),
        one.value, one.low, one.high,
    )
