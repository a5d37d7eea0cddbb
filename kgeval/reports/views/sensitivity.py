"""Whether metrics tell right answers from wrong ones."""

from __future__ import annotations

from kgeval.format import figure, number, plural
from kgeval.records import Sensitivity, SensitivityReport
from kgeval.reports.document import Cell, Document, Section, Table
from kgeval.reports.usage import usage

_HEADS = ("metric", "reference", "answered", "wrong", "AUC ref", "AUC ans", "scored", "failed", "")
_MEANING = (
    "Medians under each condition. AUC: the chance that a reference (ref) or an answer (ans) scores better than an answer to another "
    "question; 1: told apart, 0.5: no difference."
)


def document(report: SensitivityReport) -> Document:
    """One table a system."""
    lead = [f"{plural(n, 'row')} left out: {why}." for why, n in report.left_out.items()]
    if report.reused:
        lead.append(f"{plural(report.reused, 'wrong answer')} had to be used again: too few answers are wrong there.")
    if not report.complete:
        lead.insert(0, "Not complete: the run was stopped; what is missing counts as failed.")
    systems = dict.fromkeys(one.system for one in report.results)
    sections = [
        Section("all systems" if system is None else system, [
            Table(_HEADS, [_row(one) for one in report.results if one.system == system], short=100),
        ]) for system in systems
    ]
    return Document(
        "Sensitivity of metrics", "metrics sensitivity", sections, about=f"{plural(report.rows, 'answer')}, seed {report.seed}", lead=lead,
        notes=report.notes, foot=[_MEANING, *usage(report.run)], more="Distributions and failures by cause: add -o report.json",
    )


def _row(one: Sensitivity) -> tuple[str | Cell, ...]:
    medians = {part.condition: part.spread.median for part in one.conditions}
    scored, asked = sum(part.n_scored for part in one.conditions), sum(part.n for part in one.conditions)
    failed = sum(sum(part.failures.values()) for part in one.conditions)
    return (
        Cell(one.metric, user=True), *(figure(medians.get(name)) for name in ("reference", "answered", "wrong")), figure(one.auc_reference),
        figure(one.auc_answered), f"{number(scored)} of {number(asked)}", number(failed),
        Cell("", range=(one.auc_answered, None, None)) if one.auc_answered is not None else "",
    )
