"""What all HTML reports share: one file, no network, readable with scripts off, light and dark, narrow and wide."""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval import format as display
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
    ModelRef,
    OverviewReport,
    ProfileReport,
    QuestionStats,
    Record,
    ScoreReport,
    SensitivityReport,
    SimulationReport,
    StatsReport,
)
from kgeval.reports import document, json_, measures
from kgeval.reports.usage import usage_line

if TYPE_CHECKING:
    from jinja2 import Environment

Report = (
    AuditReport | CompletenessReport | AccuracyReport | ScoreReport | SensitivityReport | QuestionStats | Classification | CheckReport
    | CoverageReport | ContaminationReport | ComparisonReport | CrossedReport | AgreementReport | MatrixReport | StatsReport
    | SimulationReport | LoadReport
    | OverviewReport | ProfileReport | AuditDiff | GraphsReport
)
TEMPLATES = Path(__file__).parent / "templates"
TOP = 20
MOST_ROWS = 500


def render(template: str, report: Report, context: Mapping[str, Any]) -> str:
    """The page of a template. Holds the report as JSON in `<script id="report" type="application/gzip">`."""
    css, js = ((TEMPLATES / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    page = _environment().get_template(template)
    fixed = {
        "csp": _policy(css, js), "css": raw(css), "js": raw(js), "data": raw(embedded(report)), "report": report,
        "usage": usage_line(report.run) if report.run and report.run.model_use else "",
    }
    return page.render(**{**fixed, **context}) + "\n"


def embedded(report: Record) -> str:
    """The report's JSON, compressed (gzip) and as base64: a page that shows a report need not hold all of its texts a second time."""
    # mtime=0: the same report makes the same bytes
    return base64.b64encode(gzip.compress(json_.render(report, indent=None).encode(), mtime=0)).decode()


def raw(text: str) -> Any:
    """Text of our own making that goes into the page unescaped."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - our own style, script and drawings, and the base64 of embedded()


def _policy(css: str, js: str) -> str:
    """Nothing is loaded and nothing runs but the page's own style and script, named by their hashes."""
    return (
        f"default-src 'none'; style-src '{_sha256(css)}'; script-src '{_sha256(js)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _sha256(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

    page = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        autoescape=select_autoescape(enabled_extensions=(), default=True, default_for_string=True),
    )
    page.filters.update(
        visible=display.visible, number=display.number, money=display.money, pairs=filled_pairs, causes=measures.causes,
        model_rows=_model_rows,
    )
    page.globals.update(
        top=TOP, most_rows=MOST_ROWS, has_width=display.has_width, cell=document.as_cell, first=document.first,
        shown=document.shown, svg=raw,
    )
    return page


def load() -> None:
    """Reads the templates of most pages and loads what draws on them: a second, if a task has time before it writes one."""
    import matplotlib.backends.backend_svg
    import matplotlib.figure  # noqa: F401

    for name in ("document.html.j2", "blocks.html.j2"):
        _environment().get_template(name)


def filled_pairs(table: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Filled entries of a map as short texts, lists joined."""
    for key, value in table.items():
        if value not in (None, [], "", False, {}):
            yield key, ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _model_rows(models: Iterable[ModelRef]) -> Iterable[tuple[str, str]]:
    for model in models:
        parameters = ", ".join(f"{key} = {value}" for key, value in sorted(model.parameters.items()))
        yield model.role, " ".join(part for part in (model.name, f"at {model.base_url}" if model.base_url else "", parameters) if part)
