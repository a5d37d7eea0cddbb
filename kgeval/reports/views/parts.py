"""Parts that the documents of several kinds share."""

from __future__ import annotations

from collections.abc import Sequence

from kgeval.format import number, visible
from kgeval.records import AccuracyReport, AuditReport, CompletenessReport, Finding
from kgeval.reports.document import Cell, Section, Table, Tone


def server_of(report: AuditReport | CompletenessReport | AccuracyReport) -> str:
    """`Neo4j 5.26 at bolt://...`, or nothing."""
    server = report.run.server
    return f"Neo4j {server.neo4j} at {visible(server.uri, longest=60)}" if server else ""


def findings_section(findings: Sequence[Finding]) -> Section:
    """What joins an audit of the same graph."""
    rows = []
    for one in findings:
        tone: Tone = one.severity if one.status == "failed" else "passed" if one.status == "passed" else "open"
        amount = "" if one.count is None else f"{number(one.count)} of {number(one.total or 0)} {one.total_of}"
        state = one.severity if one.status == "failed" else one.status
        rows.append((Cell(state, tone=tone), Cell(one.title, note=one.rule_id), amount, " ".join(filter(None, [one.advice, one.reason]))))
    hint = "These join the audit report with kgeval audit --with this report's JSON."
    table = [Table(("", "Check", "Found", "What to do"), rows, words=frozenset(range(4)))] if rows else []
    return Section("Findings for the audit", table, hint=hint, id="findings", forms="page")
