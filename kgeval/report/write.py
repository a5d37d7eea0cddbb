"""Reports in every form: the ending of a file's name or `--format` chooses it, and a file is either whole or not there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal

from kgeval.errors import InputError, UsageError
from kgeval.files import write_text
from kgeval.records import (
    AccuracyReport,
    AuditReport,
    CheckReport,
    Classification,
    CompletenessReport,
    ContaminationReport,
    CoverageReport,
    QuestionStats,
    ScoreReport,
    SensitivityReport,
)
from kgeval.report.display import joined
from kgeval.report.page import Report

Form = Literal["text", "json", "md", "html", "xml"]

ENDINGS: dict[str, Form] = {".html": "html", ".json": "json", ".md": "md", ".xml": "xml"}
_JSON = ("json_", "render")
_RENDERERS: dict[type[Report], dict[Form, tuple[str, str]]] = {
    AuditReport: {"text": ("terminal", "render"), "md": ("markdown", "render"), "html": ("html", "render"), "json": _JSON},
    CompletenessReport: {
        "text": ("completeness_text", "terminal"), "md": ("completeness_text", "markdown"), "html": ("completeness_html", "render"),
        "json": _JSON,
    },
    AccuracyReport: {
        "text": ("accuracy_text", "terminal"), "md": ("accuracy_text", "markdown"), "html": ("accuracy_html", "render"), "json": _JSON,
    },
    ScoreReport: {
        "text": ("scores_text", "terminal"), "md": ("scores_md", "markdown"), "html": ("scores_html", "render"), "json": _JSON,
        "xml": ("junit", "render"),
    },
    SensitivityReport: {"text": ("sensitivity_text", "terminal"), "md": ("sensitivity_text", "markdown"), "json": _JSON},
    QuestionStats: {"text": ("question_stats", "terminal"), "md": ("question_stats", "markdown"), "json": _JSON},
    CheckReport: {"text": ("question_checks", "terminal"), "md": ("question_checks", "markdown"), "json": _JSON},
    CoverageReport: {"text": ("question_coverage", "terminal"), "md": ("question_coverage", "markdown"), "json": _JSON},
    ContaminationReport: {"text": ("contamination", "terminal"), "md": ("contamination", "markdown"), "json": _JSON},
    Classification: {"text": ("classification", "terminal"), "md": ("classification", "markdown"), "json": _JSON},
}
_KINDS: dict[type[Report], str] = {
    AuditReport: "a graph audit", CompletenessReport: "a completeness report", AccuracyReport: "an accuracy report",
    ScoreReport: "a score report", SensitivityReport: "a sensitivity report",
    CheckReport: "a report on checks of questions", CoverageReport: "a report on what questions cover",
    ContaminationReport: "a report on contamination",
    QuestionStats: "a report on question files", Classification: "a report on the levels of questions",
}


@dataclass(frozen=True)
class Screen:
    """Where a text summary is shown: width in characters, with escape codes or plain, and the report files that exist now."""

    width: int = 100
    colour: bool = False
    written: Sequence[Path] = ()


def rendered(report: Report, form: Form, *, redact: bool = False, screen: Screen | None = None) -> str:
    """The report in one form, as a text that ends with a newline. `redact` leaves users' texts out. `screen`: for form text.

    Raises: UsageError for a form that this kind of report does not have.
    """
    forms = _RENDERERS[type(report)]
    if form not in forms:
        raise UsageError(f"{_KINDS[type(report)]} has no form '{form}'", fix=f"choose one of: {', '.join(forms)}")
    shown = cleared(report) if redact else report
    module, name = forms[form]
    render = getattr(import_module(f"kgeval.report.{module}"), name)
    screen = screen or Screen()
    shape = {"width": screen.width, "colour": screen.colour, "written": screen.written} if form == "text" else {}
    text: str = render(shown, **shape)
    return text


def write_report(report: Report, path: Path, *, redact: bool = False) -> None:
    """Writes the report to `path`: .html, .json or .md, scores also .xml. Folders are made; an existing file is replaced in one step.

    Permissions: 0644 for an audit, a redacted report and JUnit's figures; the others quote the users' texts: 0600.
    Raises: UsageError for another ending, or where the file cannot be written.
    """
    check_outputs([path], type(report))
    form = ENDINGS[path.suffix.lower()]
    private = not isinstance(report, AuditReport) and not redact and form != "xml"
    _replace(path, rendered(report, form, redact=redact), mode=0o600 if private else 0o644)


def check_outputs(paths: Iterable[Path], kind: type[Report] = AuditReport) -> None:
    """Tells before a long run whether the files can be written at all. `kind`: the class of the report to be written.

    Raises: UsageError naming every bad path, and the endings that this kind of report has.
    """
    known = [ending for ending, form in ENDINGS.items() if form in _RENDERERS[kind]]
    faults = [f"{path}: {_foreign(path.suffix, kind)}" for path in paths if path.suffix.lower() not in known]
    faults += [f"{path}: {why}" for path in paths if (why := blocked(path))]
    if faults:
        raise UsageError("; ".join(faults), fix=f"give the path of a file that ends with one of: {', '.join(known)}")


def _foreign(ending: str, kind: type[Report]) -> str:
    form = ENDINGS.get(ending.lower())
    if form is None:
        return f"unknown ending '{ending}'"
    others = [name for other, name in _KINDS.items() if form in _RENDERERS[other]]
    return f"{_KINDS[kind]} has no form '{ending}', only {joined(others)} {'has' if len(others) == 1 else 'have'} it"


def blocked(path: Path) -> str:
    """Why no file can be made there; "" if it can, as far as can be seen."""
    try:
        if path.is_dir():
            return "is a folder"
        folder = next(parent for parent in path.resolve().parents if parent.exists())
        if not folder.is_dir():
            return f"{folder} is no folder"
    except OSError as cause:  # a name that is too long
        return _why(cause)
    return "" if os.access(folder, os.W_OK | os.X_OK) else f"nothing can be written to {folder}"


def cleared(report: Report) -> Report:
    """The report without the users' texts."""
    if isinstance(report, AuditReport):
        from kgeval.report.redact import redacted

        return redacted(report)
    if isinstance(report, CompletenessReport):
        from kgeval.report.redact_more import redacted_completeness

        return redacted_completeness(report)
    if isinstance(report, ScoreReport):
        from kgeval.report.redact_scores import redacted_scores

        return redacted_scores(report)
    if isinstance(report, SensitivityReport):
        from kgeval.report.redact_sensitivity import redacted_sensitivity

        return redacted_sensitivity(report)
    if isinstance(report, CheckReport):
        from kgeval.report.question_checks import redacted_checks

        return redacted_checks(report)
    if isinstance(report, ContaminationReport):
        from kgeval.report.contamination import redacted_contamination

        return redacted_contamination(report)
    if isinstance(report, CoverageReport):
        from kgeval.report.question_coverage import redacted_coverage

        return redacted_coverage(report)
    if isinstance(report, QuestionStats | Classification):
        return report  # counts and names of levels, kinds and files only
    from kgeval.report.redact_more import redacted_accuracy

    return redacted_accuracy(report)


def _replace(path: Path, text: str, *, mode: int) -> None:
    target = path.resolve()  # a link keeps pointing to the file
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_text(target, text.encode("utf-8", "replace").decode(), mode=mode)
    except (OSError, InputError) as cause:
        raise UsageError(f"{path}: cannot be written ({_why(cause)})", fix="give another path with -o") from cause


def _why(cause: OSError | InputError) -> str:
    system = cause.__cause__ if isinstance(cause, InputError) else cause
    return str(getattr(system, "strerror", None) or cause)
