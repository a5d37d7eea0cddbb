"""Thresholds: those of the sources, and those that are set on this report's figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kgeval.auditing.gates import FAIL_ON
from kgeval.overview.findings import at_or_above
from kgeval.overview.sources import Source
from kgeval.records import Gate, OverviewFigure, OverviewFinding, OverviewGate, Severity
from kgeval.records.graph import GraphReport
from kgeval.stats.thresholds import Threshold


def gates_of(sources: Iterable[Source]) -> list[OverviewGate]:
    """The thresholds of all sources as they were answered there."""
    gates: list[OverviewGate] = []
    for source in sources:
        record, where = source.record, {"place": source.place, "source": str(source.file)}
        graph = record.graph if isinstance(record, GraphReport) else None
        gates += [gate_of(gate, graph, **where) for gate in getattr(record, "gates", ()) if gate.decides]
    return gates


def gate_of(gate: Gate, graph: str | None, **where: Any) -> OverviewGate:
    """A gate of a report as one of several reports' gates. `graph`: what it is of where it names nothing itself."""
    return OverviewGate(**{**gate.model_dump(), "of": gate.of or graph, **where})


def fail_on_gate(findings: Sequence[OverviewFinding], severity: Severity) -> OverviewGate:
    """The gate on failed checks of this severity or a worse one, over all graphs; unanswered where none was judged."""
    judged, hits = any(finding.status in ("passed", "failed") for finding in findings), len(at_or_above(findings, severity))
    limit = f"no check of severity {severity} or worse fails"
    return OverviewGate(name=FAIL_ON, limit=limit, value=hits if judged else None, met=not hits if judged else None)


def told_by_checks(gate: OverviewGate) -> bool:
    """Whether it is this report's own --fail-on with an answer: where each check is listed itself, it says nothing more."""
    return gate.name == FAIL_ON and gate.source is None and gate.met is not None


def thresholds_on(figures: Sequence[OverviewFigure], thresholds: Iterable[Threshold]) -> list[OverviewGate]:
    """One gate for each figure that a threshold names, over all systems and places, or those of its system; none there: unanswered."""
    gates = []
    for threshold in thresholds:
        named = [figure for figure in figures if figure.name == threshold.name and threshold.of in (None, figure.of)]
        if not named:
            gates.append(gate_of(threshold.gate(None, None, reason="no report has such a figure"), None))
        for figure in named:
            resolved = threshold.resolved(figure.better or "higher")
            met = None if figure.value is None else resolved.met(figure.value)
            reason = "it has no value" if met is None else None
            gates.append(gate_of(resolved.gate(figure.value, met, of=figure.of, reason=reason), None, place=figure.place))
    return gates
