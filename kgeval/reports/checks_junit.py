"""An audit as JUnit XML: one testcase a check. Holds names of checks and counts; of the graph's contents only the names
of hits that a ratchet does not know."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement

from kgeval.auditing.gates import RATCHET
from kgeval.auditing.gates.rows import decides
from kgeval.auditing.rulebook import load_rules
from kgeval.format import first_of, number, percent, visible
from kgeval.overview.findings import listed, taken_out
from kgeval.overview.wording import place_of
from kgeval.records import SEVERITIES, AuditReport, OverviewFinding, Severity
from kgeval.reports.junit import add_case, add_gate, add_outcome, written, xml_text

MOST_NAMES = 5  # new hits of a check


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
            failure = add_gate(suite, "gates", row)
            if failure is not None and row.name == RATCHET:
                failure.text = "\n".join([failure.text or "", *(xml_text(line, longest=600) for line in _new_hits(report))])
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


def _new_hits(report: AuditReport) -> Iterator[str]:
    """The first new hits of each check that fails the ratchet, a line a check, as far as the report lists them."""
    limit: Severity = next((one for one in SEVERITIES if one == report.run.arguments.get("fail_on")), "info")
    for finding in report.findings:
        if finding.status != "failed" or finding.rule_id not in load_rules() or not decides(finding.severity, limit):
            continue
        new = [example for example in finding.examples if example.waived is None and not example.known]
        names = [" | ".join(visible(item.name or item.key, longest=60) for item in example.items) for example in new]
        if names:
            yield f"{finding.rule_id}: {first_of(names, MOST_NAMES, '; ')}"
