"""An audit as JUnit XML: one testcase a check. Holds names of checks and counts, and nothing of the graph's contents."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from kgeval.format import number, percent
from kgeval.overview.findings import listed, taken_out
from kgeval.overview.wording import place_of
from kgeval.records import SEVERITIES, AuditGate, AuditReport, OverviewFinding, Severity
from kgeval.reports.junit import add_case, add_outcome, written, xml_text


def render(report: AuditReport) -> str:
    """One testsuite a group of checks. Failure: failed with the severity of --fail-on or a worse one (warning, where that was not given);
    a milder one passes and says so. Error: timed out or refused. Skipped: cannot be answered here, or all hits are waived or known. Gates
    stand in a suite of their own. How many hits are waived or known is a property of the case."""
    root = Element("testsuites", {"name": "kgeval audit", "time": f"{max(0.0, report.run.seconds):.3f}"})
    given = report.run.arguments.get("fail_on")
    limit: Severity = next((one for one in SEVERITIES if one == given), "warning")
    findings = [listed(one, report.graph, "") for one in report.findings]
    if report.gates:
        suite = SubElement(root, "testsuite", {"name": "gates"})
        for row in report.gates:
            _gate(suite, row)
    for group in dict.fromkeys(one.group for one in findings):
        suite = SubElement(root, "testsuite", {"name": group})
        for one in findings:
            if one.group == group:
                check(suite, one, limit)
    return written(root, report.run)


def check(suite: Element, one: OverviewFinding, limit: Severity) -> None:
    """One check as a testcase."""
    case = add_case(suite, one.group, " ".join(part for part in (one.rule_id, place_of(one.place, one.graph)) if part))
    share = f" ({percent(one.share)})" if one.share is not None else ""
    amount = f"{number(one.count or 0)} of {number(one.total or 0)} {one.total_of}{share}" + "".join(f", {part}" for part in taken_out(one))
    if one.suppressed or one.known:
        properties = SubElement(case, "properties")
        for name, value in (("suppressed", one.suppressed), ("known", one.known)):
            SubElement(properties, "property", {"name": name, "value": str(value)})
    if one.status == "skipped":
        SubElement(case, "skipped", {"message": "cannot be answered here"})
    elif one.status in ("incomplete", "error"):
        add_outcome(case, "error", one.status, "the check timed out" if one.status == "incomplete" else "the query failed")
    elif one.status == "failed" and SEVERITIES.index(one.severity) <= SEVERITIES.index(limit):
        add_outcome(case, "failure", one.severity, f"{one.title}: {amount}")
    elif one.count and one.count == one.suppressed + one.known:
        SubElement(case, "skipped", {"message": xml_text(f"nothing but what is waived or known: {amount}")})
    else:
        SubElement(case, "system-out").text = xml_text(f"{one.status} ({one.severity}): {amount}")


def _gate(suite: Element, row: AuditGate) -> None:
    """One limit of the user's as a testcase; one that does not decide passes and says what it came to."""
    case = add_case(suite, "gates", " ".join(part for part in (row.id, row.severity, row.limit) if part))
    value = "no value" if row.value is None else number(row.value)
    if row.met is None and row.decides:
        add_outcome(case, "error", "unanswered", row.reason or "there is no value")
    elif row.met is False and row.decides:
        add_outcome(case, "failure", "missed", f"{value} is beyond {row.limit}")
    else:
        SubElement(case, "system-out").text = xml_text(f"{'not met, reported only: ' if not row.met else ''}{value}")
