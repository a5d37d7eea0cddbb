"""The levels that questions got."""

from __future__ import annotations

from kgeval.format import figure, joined, number, percent, plural
from kgeval.records import Classification
from kgeval.reports.document import Cell, Document, Section, Table
from kgeval.reports.usage import usage_line


def document(report: Classification) -> Document:
    """Shares by level, and where the file had another level. Questions that got none are counted among the failures."""
    levels = [
        (Cell(level, user=True), number(round(share * report.labelled)), percent(share), Cell("", bar=share))
        for level, share in report.levels.items()
    ]
    changed = [
        (Cell(change.before, user=True), Cell(change.level, user=True), number(change.n))
        for change in report.changes if change.before is not None and change.level is not None and change.before != change.level
    ]
    sections = [
        Section("Shares by level", [Table(("level", "questions", "share", ""), levels)] if levels else []),
        Section("Another level than the file had", [
            Table(("before", "now", "questions"), changed, words=frozenset({0, 1}), short=20, long=20),
        ] if changed else []),
    ]
    return Document(
        "Levels of questions", "questions classify", sections, name=report.file, lead=lead(report), notes=report.notes,
        foot=[usage_line(report.run)], more="The same by kind: -f json",
    )


def lead(report: Classification) -> list[str]:
    """How many got a level, why others did not, and how far that is what the file had."""
    lines = [f"{number(report.labelled)} of {plural(report.n, 'question')} got a level."]
    if report.failures:
        causes = [f"{cause} ({number(n)})" for cause, n in sorted(report.failures.items(), key=lambda item: -item[1])]
        lines.append(f"Without one: {joined(causes)}.")
    if report.agreement is not None:
        kappa = "" if report.kappa is None else f", Cohen's kappa {figure(report.kappa, digits=2)}"
        had = plural(report.compared, "question")
        lines.append(f"{had} had one of the levels before: {percent(report.agreement)} got the same{kappa}.")
    return lines if report.complete else [*lines, "Not complete: the run was stopped; the same command goes on where it ended."]
