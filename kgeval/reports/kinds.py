"""Which kinds of reports there are: what each is called and its forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kgeval.records import (
    AccuracyReport,
    AgreementReport,
    AuditDiff,
    AuditReport,
    CheckReport,
    Classification,
    ComparisonReport,
    CompletenessReport,
    ContaminationReport,
    CoverageReport,
    CrossedReport,
    GraphsReport,
    MatrixReport,
    OverviewReport,
    QuestionStats,
    ScoreReport,
    SensitivityReport,
    SimulationReport,
    StatsReport,
)
from kgeval.reports.page import Report

Form = Literal["text", "json", "md", "html", "xml", "csv", "sarif"]
Function = tuple[str, str]  # module below kgeval.reports, function: imported when it is needed
ENDINGS: dict[str, Form] = {".html": "html", ".json": "json", ".md": "md", ".xml": "xml", ".csv": "csv", ".sarif": "sarif"}


@dataclass(frozen=True)
class Kind:
    """A kind of report. `words`: what it is called in messages; `forms`: how each is made."""

    words: str
    forms: Mapping[Form, Function]


def _forms(text: Function, md: Function, **more: Function) -> dict[Form, Function]:
    forms: dict[str, Function] = {"text": text, "md": md, **more, "json": ("json_", "render")}
    return forms  # type: ignore[return-value]


KINDS: dict[type[Report], Kind] = {
    AuditReport: Kind(
        "a graph audit",
        _forms(("terminal", "render"), ("audit_md", "render"),
            html=("html", "render"), xml=("checks_junit", "render"), sarif=("sarif", "of_audit"),
            csv=("audit_csv", "render"),
        ),
    ),
    AuditDiff: Kind(
        "a diff of two audits",
        _forms(("audit_diff_text", "terminal"), ("audit_diff_text", "markdown"),
            html=("audit_diff_html", "render"), xml=("audit_diff_junit", "render"),
        ),
    ),
    GraphsReport: Kind(
        "a table of graphs side by side",
        _forms(("graphs_text", "terminal"), ("graphs_text", "markdown"), html=("graphs_html", "render"), csv=("graphs_csv", "render")),
    ),
    OverviewReport: Kind(
        "a report over a run",
        _forms(("overview.text", "terminal"), ("overview.markdown", "render"),
            html=("overview.html", "render"), xml=("overview.junit", "render"), sarif=("sarif", "of_overview"),
        ),
    ),
    CompletenessReport: Kind(
        "a completeness report",
        _forms(("completeness_text", "terminal"), ("completeness_text", "markdown"), html=("completeness_html", "render")),
    ),
    AccuracyReport: Kind(
        "an accuracy report",
        _forms(("accuracy_text", "terminal"), ("accuracy_text", "markdown"), html=("accuracy_html", "render")),
    ),
    ScoreReport: Kind(
        "a score report",
        _forms(("scores_text", "terminal"), ("scores_md", "markdown"), html=("scores_html", "render"), xml=("junit", "render")),
    ),
    CrossedReport: Kind(
        "a matrix of runs",
        _forms(("crossed_text", "terminal"), ("crossed_text", "markdown"), html=("crossed_html", "render")),
    ),
    SimulationReport: Kind("a proof by simulation", _forms(("simulation", "terminal"), ("simulation", "markdown"))),
    ComparisonReport: Kind(
        "a comparison",
        _forms(("comparison_text", "terminal"), ("comparison_md", "markdown"),
            html=("comparison_html", "render"), xml=("comparison_junit", "render"), csv=("comparison_csv", "render"),
        ),
    ),
    SensitivityReport: Kind(
        "a sensitivity report",
        _forms(("sensitivity_text", "terminal"), ("sensitivity_text", "markdown")),
    ),
    StatsReport: Kind(
        "a statistics report",
        _forms(("stats_text", "terminal"), ("stats_text", "markdown")),
    ),
    QuestionStats: Kind("a report on question files", _forms(("question_stats", "terminal"), ("question_stats", "markdown"))),
    CheckReport: Kind(
        "a report on checks of questions",
        _forms(("question_checks", "terminal"), ("question_checks", "markdown")),
    ),
    CoverageReport: Kind(
        "a report on what questions cover",
        _forms(("question_coverage", "terminal"), ("question_coverage", "markdown")),
    ),
    ContaminationReport: Kind(
        "a report on contamination",
        _forms(("contamination", "terminal"), ("contamination", "markdown")),
    ),
    AgreementReport: Kind(
        "a report on agreement with people",
        _forms(("agreement", "terminal"), ("agreement", "markdown"), html=("agreement", "html")),
    ),
    MatrixReport: Kind(
        "a matrix of metrics",
        _forms(("agreement", "terminal"), ("agreement", "markdown"), html=("agreement", "html")),
    ),
    Classification: Kind("a report on the levels of questions", _forms(("classification", "terminal"), ("classification", "markdown"))),
}
