"""Thresholds: those of the sources, and those that are set on this report's figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kgeval.auditing.gates import FAIL_ON
from kgeval.overview.findings import at_or_above
from kgeval.overview.sources import Source
from kgeval.records import (
    AccuracyReport,
    AuditGate,
    AuditReport,
    CheckReport,
    ComparisonReport,
    CompletenessReport,
    ContaminationReport,
    CoverageReport,
    OverviewFigure,
    OverviewFinding,
    OverviewGate,
    RunPlace,
    ScoreReport,
    Severity,
)
from kgeval.stats.thresholds import Threshold, passes


def gates_of(sources: Iterable[Source]) -> list[OverviewGate]:
    """The thresholds of all sources as they were answered there. Of a completeness and an accuracy report, and
    of an audit with --fail-on alone, only the exit code says that one was missed."""
    return [gate for source in sources for gate in _gates(source)]


def _gates(source: Source) -> list[OverviewGate]:
    record, file = source.record, str(source.file)
    if isinstance(record, ScoreReport | CoverageReport | CheckReport | ContaminationReport):
        return [
            OverviewGate(
                name=one.metric, of=one.system, place=source.place, limit=f"{'>=' if one.least else '<='} {one.limit:g}", value=one.value,
                met=one.met, source=file,
            )
            for one in record.gates
        ]
    if isinstance(record, ComparisonReport):
        return [
            OverviewGate(
                name=f"{one.figure} ({one.aspect})", of=f"{one.system_a} - {one.system_b}", place=source.place,
                limit=f"{'>=' if one.least else '<='} {one.limit:g}", value=one.value, met=one.met, source=file,
            )
            for one in record.gates
        ]
    if isinstance(record, AuditReport) and record.gates:
        return [gate_of(one, record.graph, source) for one in record.gates if one.decides]
    if isinstance(record, AuditReport | CompletenessReport | AccuracyReport) and record.run.exit_code == 1:
        return [OverviewGate(name=f"gate of kgeval {source.kind}", place=source.place, limit="its own", met=False, source=file)]
    return []


def gate_of(one: AuditGate, graph: str | None, source: Source | None = None) -> OverviewGate:
    """A gate of an audit."""
    place, file = (source.place, str(source.file)) if source is not None else (RunPlace(), None)
    return OverviewGate(name=one.id, of=graph, place=place, limit=one.limit, value=one.value, met=one.met, source=file)


def fail_on_gate(findings: Sequence[OverviewFinding], severity: Severity) -> OverviewGate:
    """The gate on failed checks of this severity or a worse one, over all graphs; unanswered where none was judged."""
    judged, hits = any(one.status in ("passed", "failed") for one in findings), len(at_or_above(findings, severity))
    limit = f"no check of severity {severity} or worse fails"
    return OverviewGate(name=FAIL_ON, limit=limit, value=hits if judged else None, met=not hits if judged else None)


def told_by_checks(gate: OverviewGate) -> bool:
    """Whether it is this report's own --fail-on with an answer: where each check is listed itself, it says nothing more."""
    return gate.name == FAIL_ON and gate.source is None and gate.met is not None


def thresholds_on(figures: Sequence[OverviewFigure], thresholds: Iterable[Threshold]) -> list[OverviewGate]:
    """One gate for each figure that a threshold names, over all systems and places, or those of its system; none there: unanswered."""
    found = []
    for one in thresholds:
        named = [figure for figure in figures if figure.name == one.name and one.of in (None, figure.of)]
        if not named:
            found.append(OverviewGate(name=one.name, of=one.of, limit=one.text))
        for figure in named:
            least = one.least(figure.better or "higher")
            limit = f"{'>=' if least else '<='} {one.limit:.15g}"
            met = None if figure.value is None else passes(figure.value, one.limit, least=least)
            found.append(OverviewGate(name=one.name, of=figure.of, place=figure.place, limit=limit, value=figure.value, met=met))
    return found
