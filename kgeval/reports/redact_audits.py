"""Leaves users' texts out of diffs of audits and of graphs side by side: names in examples become short hashes."""

from __future__ import annotations

from kgeval.auditing.side_by_side import FAILED
from kgeval.records import AuditDiff, CheckCell, GraphsReport
from kgeval.reports.redact import Hasher, hashed_diff, hasher, redacted


def redacted_diff(made: AuditDiff) -> AuditDiff:
    """The diff with every example hashed, and messages of the server too: they may quote data. Names of graphs and types stay."""
    return hashed_diff(made, hasher(made))


def redacted_graphs(report: GraphsReport) -> GraphsReport:
    """The report with each of its audits redacted on its own; names of graphs stay. Why one could not be audited may quote data."""
    hashed = hasher(report)
    checks = [row.model_copy(update={"cells": [_cell(cell, hashed) for cell in row.cells]}) for row in report.checks]
    notes = [f"{note.split(FAILED)[0]}{FAILED} ({hashed(note)})" if FAILED in note else note for note in report.notes]
    return report.model_copy(update={"reports": [redacted(one) for one in report.reports], "checks": checks, "notes": notes})


def _cell(cell: CheckCell, hashed: Hasher) -> CheckCell:
    """The cell without the server's message."""
    quotes = cell.status == "error" and cell.reason
    return cell.model_copy(update={"reason": f"the query failed ({hashed(cell.reason or '')})"}) if quotes else cell
