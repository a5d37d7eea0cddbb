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
    LoadReport,
    MatrixReport,
    OverviewReport,
    ProfileReport,
    QuestionStats,
    ScoreReport,
    SensitivityReport,
    SimulationReport,
    StatsReport,
)
from kgeval.reports.page import Report

Form = Literal["text", "json", "md", "html", "xml", "csv", "sarif"]
Function = tuple[str, str]  # module below kgeval, function: imported when it is needed
DOCUMENTS: tuple[Form, ...] = ("text", "md", "html")  # made of what a view gives
ENDINGS: dict[str, Form] = {".html": "html", ".json": "json", ".md": "md", ".xml": "xml", ".csv": "csv", ".sarif": "sarif"}


@dataclass(frozen=True)
class Kind:
    """A kind of report. `words`: what it is called in messages; `forms`: how each is made."""

    words: str
    forms: Mapping[Form, Function]


def _document(view: str, function: str = "document", *, room: str = "reports.views", **more: Function) -> dict[Form, Function]:
    """The forms of a kind that has a view: terminal, Markdown and HTML come from its document. `more`: modules of reports."""
    forms: dict[str, Function] = dict.fromkeys(DOCUMENTS, (f"{room}.{view}", function))
    forms |= {form: (f"reports.{module}", name) for form, (module, name) in {**more, "json": ("json_", "render")}.items()}
    return forms  # type: ignore[return-value]


KINDS: dict[type[Report], Kind] = {
    AuditReport: Kind(
        "a graph audit",
        _document("audit", xml=("junit", "audit"), sarif=("sarif", "of_audit"), csv=("csv_", "audit")),
    ),
    AuditDiff: Kind(
        "a diff of two audits",
        _document("audit_diff", xml=("junit", "audit_diff")),
    ),
    GraphsReport: Kind(
        "a table of graphs side by side",
        _document("graphs", csv=("csv_", "graphs")),
    ),
    OverviewReport: Kind(
        "a report over a run",
        _document("overview", xml=("junit", "overview"), sarif=("sarif", "of_overview")),
    ),
    ProfileReport: Kind("a graph profile", _document("view", room="profiling")),
    CompletenessReport: Kind("a completeness report", _document("completeness")),
    AccuracyReport: Kind("an accuracy report", _document("accuracy")),
    ScoreReport: Kind(
        "a score report",
        _document("scores", xml=("junit", "scores"), csv=("csv_", "scores")),
    ),
    CrossedReport: Kind("a matrix of runs", _document("crossed")),
    LoadReport: Kind("a report on systems under load", _document("load")),
    SimulationReport: Kind("a proof by simulation", _document("simulation")),
    ComparisonReport: Kind(
        "a comparison",
        _document("comparison", xml=("junit", "comparison"), csv=("csv_", "comparison")),
    ),
    SensitivityReport: Kind("a sensitivity report", _document("sensitivity")),
    StatsReport: Kind("a statistics report", _document("stats")),
    QuestionStats: Kind("a report on question files", _document("question_stats")),
    CheckReport: Kind("a report on checks of questions", _document("question_checks")),
    CoverageReport: Kind("a report on what questions cover", _document("question_coverage")),
    ContaminationReport: Kind("a report on contamination", _document("contamination")),
    AgreementReport: Kind("a report on agreement with people", _document("agreement", "agreement")),
    MatrixReport: Kind("a matrix of metrics", _document("agreement", "matrix")),
    Classification: Kind("a report on the levels of questions", _document("classification")),
}
