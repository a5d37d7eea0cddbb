"""Scores as one HTML file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kgeval.format import figure, joined, number, plural, visible
from kgeval.records import CostSummary, MetricInfo, ScoreReport
from kgeval.reports import page
from kgeval.reports.measures import causes
from kgeval.reports.scores_sections import sections
from kgeval.reports.scores_view import View, between, scored, verdict, view_of, word
from kgeval.reports.scores_worst import worst_rows

MOST_WORST = 100
_AMOUNTS = (("total_tokens", "tokens per answer"), ("latency_s", "seconds per answer"), ("cost", "US dollars per answer"))


@dataclass(frozen=True)
class Line:
    """A system by one metric: its mean in words, the numbers that place it, and the drawing of its values."""

    system: str
    text: str
    interval: str
    over: str
    causes: str
    bounds: str
    quartiles: str
    mean: float | None
    low: float | None
    high: float | None
    drawing: Any


@dataclass(frozen=True)
class Figure:
    """A metric with its systems. `at`: its number, for anchors."""

    at: int
    metric: str
    info: MetricInfo | None
    parameters: str
    lines: list[Line]


def render(report: ScoreReport) -> str:
    """The page. Holds the report as JSON in `<script id="report" type="application/gzip">`."""
    view = view_of(report)
    first, *others = verdict(view)
    figures = [_figure(view, at, metric) for at, metric in enumerate(view.metrics, 1)]
    gates = [(title, kind, sum(gate.met is met for gate in report.gates)) for title, kind, met in _GATES]
    context: dict[str, Any] = {
        "heading": _heading(view), "sizes": _sizes(view), "verdict": first, "others": others, "gates": gates,
        "sections": sections(view), "figures": figures, "soft": _soft,
        "metrics": {one.metric: (f"metric-{one.at}", one.info.definition if one.info else one.metric) for one in figures},
        "planes": _planes(view), "key": [(at, system) for at, system in enumerate(view.systems, 1)],
        "worst": worst_rows(view, most=MOST_WORST), "figure": figure, "headline": view.headline,
    }
    return page.render("scores.html.j2", report, context)


_GATES: tuple[tuple[str, str, bool | None], ...] = (
    ("missed", "error", False), ("unanswered", "open", None), ("met", "passed", True),
)


def _soft(text: str, longest: int) -> Any:
    """A name, escaped, that may be parted after an underscore."""
    from markupsafe import escape

    return page.raw(str(escape(visible(text, longest=longest))).replace("_", "_<wbr/>"))


def _heading(view: View) -> str:
    names = [word(system) for system in view.systems]
    return joined(names) if 0 < len(names) <= 4 else plural(len(names), "system")


def _sizes(view: View) -> str:
    answers = sum(one.answers for one in view.report.systems)
    judges = [word(one.name) for one in view.report.run.models if one.role == "judge"]
    return ", ".join([plural(answers, "answer"), plural(len(view.metrics), "metric"), *(f"judge {name}" for name in judges)])


def _figure(view: View, at: int, metric: str) -> Figure:
    info = view.info.get(metric)
    parameters = json.dumps(info.parameters, ensure_ascii=False, sort_keys=True) if info and info.parameters else ""
    return Figure(at, metric, info, parameters, list(_lines(view, metric)))


def _lines(view: View, metric: str) -> Iterable[Line]:
    from kgeval.reports.plots_scores import distribution

    for system in view.systems:
        found = view.summaries.get((system, metric))
        if found is not None:
            mean, spread = found.overall, found.spread
            quartiles = (spread.q25, spread.median, spread.q75)
            yield Line(
                system, figure(mean.mean), between(mean.low, mean.high), scored(mean), causes(mean.failures),
                between(mean.bound_low, mean.bound_high) if mean.failures else "",
                " / ".join(map(figure, quartiles)) if any(one is not None for one in quartiles) else "",
                _drawn(mean.mean), _drawn(mean.low), _drawn(mean.high), page.raw(distribution(spread, mean)),
            )


def _drawn(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _planes(view: View) -> list[tuple[str, Any, list[tuple[int, str, str, str]]]]:
    """Quality against tokens, seconds and dollars: title, drawing, and the numbers behind it."""
    from kgeval.reports.plots_scores import plane

    made = []
    for field, title in _AMOUNTS:
        points = list(_points(view, field))
        drawing = plane([point for point, _ in points], amount=title, quality="mean score", name=f"plane-{field}")
        if drawing:
            rows = [(point.number, system, number(_short(point.amount)), figure(point.mean)) for point, system in points]
            made.append((title, page.raw(drawing), rows))
    return made


def _points(view: View, field: str) -> Iterable[tuple[Any, str]]:
    from kgeval.reports.plots_scores import Point

    costs = {one.system: one for one in view.report.costs}
    for at, system in enumerate(view.systems, 1):
        mean = view.mean(system, view.headline) if view.headline else None
        amount = _amount(costs[system], field) if system in costs else None
        if mean is not None and mean.mean is not None and amount is not None:
            yield Point(at, amount, mean.mean, mean.low, mean.high), system


def _amount(cost: CostSummary, field: str) -> float | None:
    if field == "latency_s" and cost.latency_s is not None and cost.latency_s.mean is not None:
        return cost.latency_s.mean
    return cost.means.get(field)


def _short(value: float) -> float:
    return round(value, 2) if value >= 1 else value
