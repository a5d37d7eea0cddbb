"""What a scoring run says at its end: what failed, what is incomplete, which thresholds are missed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgeval.reports.display import beyond, percent

if TYPE_CHECKING:
    from kgeval.records import GateResult, ScoreReport


def failed_share(report: ScoreReport) -> float:
    """Scores that failed, among all that have a meaning: also where no model was to blame (a graph, an embedding)."""
    failed = sum(sum(s.overall.failures.values()) for s in report.summaries)
    return failed / max(1, sum(s.overall.n - s.overall.not_applicable for s in report.summaries))


def told_lines(report: ScoreReport, max_error_rate: float, kept: str) -> list[str]:
    """Messages for a run that is not complete (`kept`: what it leaves, and how to go on), and for gates that are missed or without an
    answer."""
    lines = []
    if not report.complete or failed_share(report) > max_error_rate:
        share = f"{percent(failed_share(report))} of the scores failed (the report has the causes)"
        lines.append(f"incomplete: {share}; {kept}")
    for gate in report.gates:
        name, sign = f"{gate.metric} of {gate.system}", ">=" if gate.least else "<="
        if gate.met is None:
            lines.append(f"gate not answered: {name}: {_why_not(report, gate)}")
        elif not gate.met:
            lines.append(f"gate missed: {name} is {beyond(gate.value or 0.0, gate.limit)}, wanted {sign} {gate.limit:g}")
    return lines


def _why_not(report: ScoreReport, gate: GateResult) -> str:
    """Why a gate has no answer."""
    found = [s.overall for s in report.summaries if (s.system, s.metric) == (gate.system, gate.metric)]
    if not found or found[0].n_scored == 0:
        return "it has no value"
    failed = sum(found[0].failures.values())
    return f"{failed} of its {found[0].n} questions failed, and could decide it" if failed else "answers are missing that could decide it"
