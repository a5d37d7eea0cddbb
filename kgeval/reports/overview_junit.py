"""The one report as JUnit XML: gates, failed checks, stages and sources. Holds names and figures, and no text of the users'."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree.ElementTree import Element, SubElement

from kgeval.overview.gates import told_by_checks
from kgeval.overview.wording import place_of
from kgeval.records import OverviewReport
from kgeval.reports.checks_junit import check
from kgeval.reports.junit import add_case, add_gate, add_outcome, written, xml_text

NOT_DONE = ("failed", "not_run", "interrupted", "incomplete", "running")


def render(report: OverviewReport) -> str:
    """Suites: reports (error: not complete), stages (error: not done), gates (failure: missed, error: unanswered) and, with --fail-on, the
    checks (failure: failed with that severity or a worse one)."""
    root = Element("testsuites", {"name": "kgeval report", "time": f"{max(0.0, report.run.seconds):.3f}"})
    for name, fill in (("reports", _reports), ("stages", _stages), ("gates", _gates), ("checks", _checks)):
        _suite(root, name, fill, report)
    return written(root, report.run)


def _suite(root: Element, name: str, fill: Callable[[Element, OverviewReport], None], report: OverviewReport) -> None:
    """A suite, left out where it is empty."""
    suite = Element("testsuite", {"name": name})
    fill(suite, report)
    if len(suite):
        root.append(suite)


def _reports(suite: Element, report: OverviewReport) -> None:
    for one in report.sources:
        case = add_case(suite, "reports", " ".join(part for part in (one.kind, place_of(one.place), one.sha256[:8]) if part))
        if not one.complete:
            add_outcome(case, "error", "incomplete", one.reason or "not complete")


def _stages(suite: Element, report: OverviewReport) -> None:
    for one in report.stages:
        case = add_case(suite, "stages", one.id)
        if one.state in NOT_DONE:
            add_outcome(case, "error", one.state, one.reason or one.state.replace("_", " "))
        else:
            SubElement(case, "system-out").text = xml_text(one.reason or one.state)


def _gates(suite: Element, report: OverviewReport) -> None:
    for one in (gate for gate in report.gates if not told_by_checks(gate)):
        add_gate(suite, f"gates {place_of(one.place, one.of)}".strip(), one)


def _checks(suite: Element, report: OverviewReport) -> None:
    if report.fail_on is not None:
        for one in report.findings:
            check(suite, one, report.fail_on)
