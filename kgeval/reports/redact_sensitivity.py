"""Leaves users' texts out of a sensitivity report: only its notes can quote some."""

from __future__ import annotations

from kgeval.records import SensitivityReport
from kgeval.reports.redact import hasher


def redacted_sensitivity(report: SensitivityReport) -> SensitivityReport:
    """The report with its notes hashed. Names of systems and metrics and all figures stay."""
    hashed = hasher(report)
    return report.model_copy(update={"notes": [hashed(note) for note in report.notes]})
