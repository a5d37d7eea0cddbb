"""What each source says of itself: its verdict in its own words, and why it is not complete."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from kgeval.format import number, percent, plural, visible
from kgeval.overview import group_verdict, priorities, score_verdict
from kgeval.overview.sources import Source
from kgeval.records import (
    AnswerReport,
    AuditReport,
    CheckReport,
    ComparisonReport,
    CoverageReport,
    GenerationReport,
    IndexRecord,
    OverviewSource,
    ScoreReport,
    SourceKind,
)
from kgeval.reports.usage import usage_line
from kgeval.reports.views import accuracy, agreement, completeness, contamination, crossed, load, pairs

MOST = 6


def summary_of(source: Source) -> OverviewSource:
    """The source as this report lists it."""
    record, run = source.record, source.record.run
    reason = unfinished(record)
    maker = _SAYS.get(source.kind)
    return OverviewSource(
        kind=source.kind, place=source.place, file=str(source.file), page=None if source.page is None else str(source.page),
        sha256=source.sha256, kgeval=run.kgeval, started=run.started, seed=run.seed, complete=reason is None, reason=reason,
        says=[line for line in maker(record) if line][:MOST] if maker else [],
    )


def unfinished(record: Any) -> str | None:
    """Why a report is not complete; null if it is."""
    if not getattr(record, "complete", True):
        return "it was stopped before its end"
    if isinstance(record, AuditReport) and (open_ends := priorities.unfinished(record)):
        return f"{plural(len(open_ends), 'check')} did not finish: {', '.join(one.rule_id for one in open_ends[:5])}"
    if isinstance(record, ComparisonReport) and any(one.because for one in record.outcomes):
        return None  # it came to its end, and its first sentence says that nothing is decided
    code = record.run.exit_code
    return {3: "its run ended incomplete (exit code 3)", 130: "its run was interrupted"}.get(code)


def _build(report: IndexRecord) -> list[str]:
    entities, relations = ("unknown number of" if count is None else number(count) for count in (report.entities, report.relations))
    texts = f"from {plural(report.corpus.documents, 'document')} ({number(report.corpus.tokens)} tokens)"
    failed = ", ".join(f"{visible(cause, longest=60)} {number(n)}" for cause, n in report.failures.items())
    return [
        f"{visible(report.system)}: {entities} entities, {relations} relations {texts} in {number(round(report.seconds, 1))} s.",
        usage_line(report.run) + "." if report.run.model_use else "", f"Failed: {failed}." if failed else "",
    ]


def _questions(report: GenerationReport) -> list[str]:
    kinds = ", ".join(f"{one.kind} {number(one.made)} of {number(one.asked)}" for one in report.kinds[:8])
    return [f"{number(report.made)} of {plural(report.asked, 'question')} made: {kinds}."]


def _check(report: CheckReport) -> list[str]:
    return [
        f"{visible(Path(one.file).name)}: {plural(one.n, 'question')}; " + (", ".join(
            f"{figure.check} {percent(figure.share)}" for figure in one.figures if figure.share is not None
        ) or "no check has an answer") + "."
        for one in report.sets
    ]


def _coverage(report: CoverageReport) -> list[str]:
    return [
        f"{visible(Path(one.file).name)}: of the graph's " + (", ".join(
            f"{figure.facet} {percent(figure.share)}" for figure in one.figures if figure.share is not None
        ) or "facets none") + " is touched by questions."
        for one in report.sets
    ]


def _answers(report: AnswerReport) -> list[str]:
    return [
        f"{visible(one.system)}: {plural(one.answers, 'answer')}"
        + (f", {number(lost)} of them errors or empty" if (lost := one.empty + sum(one.errors.values())) else "")
        + (f", median {one.latency_s:.3g} s" if one.latency_s is not None else "") + "."
        for one in report.systems
    ]


def _scores(report: ScoreReport) -> list[str]:
    tables = score_verdict.ScoreTables.of(report)
    return [*score_verdict.verdict(tables), *group_verdict.short_lines(tables)]


_SAYS: dict[SourceKind, Callable[[Any], list[str]]] = {
    "build": _build, "audit": lambda report: [priorities.verdict(report)], "completeness": lambda report: [completeness.verdict(report)],
    "accuracy": lambda report: [accuracy.verdict(report)], "questions": _questions, "check": _check, "coverage": _coverage,
    "answers": _answers, "scores": _scores, "contamination": contamination.lead, "matrix": crossed.lead, "agreement": agreement.verdict,
    "comparison": lambda report: pairs.verdict(pairs.view_of(report)), "load": load.lead,
}
