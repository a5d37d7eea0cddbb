"""A diff of two audits as JUnit XML: one testcase a check. Holds names of checks and counts, and nothing of the graph's contents."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from kgeval.auditing.diff import parts_of, silent, unanswered_at, unpaired, worse_at
from kgeval.records import AuditDiff, FindingChange, Severity
from kgeval.reports.junit import add_case, add_outcome, written, xml_text
from kgeval.reports.views.audit_diff import WORDS, amount, heading, run_of


def render(made: AuditDiff) -> str:
    """One testsuite a graph. Failure: became worse or newly fails, of the severity of --fail-on-worse or above (warning, where that was not
    given). Error: the gate has no answer for it, nor for a graph that only one file holds. Skipped: no answer on one side or both."""
    limit: Severity = made.fail_on_worse or "warning"
    root = Element("testsuites", {"name": "kgeval audit diff", "time": f"{max(0.0, run_of(made).seconds):.3f}"})
    for part in parts_of(made):
        suite = SubElement(root, "testsuite", {"name": xml_text(heading(part))})
        bad, lost = ({id(one) for one in found} for found in (worse_at(part, limit), unanswered_at(part, limit)))
        for one in part.findings:
            if one.label is None:
                _case(suite, one, failed=id(one) in bad, lost=made.fail_on_worse is not None and id(one) in lost)
    if alone := unpaired(made) if made.fail_on_worse is None else silent(made, limit):
        _unpaired(SubElement(root, "testsuite", {"name": "graphs"}), alone, lost=made.fail_on_worse is not None)
    return written(root, run_of(made))


def _unpaired(suite: Element, alone: list[str], *, lost: bool) -> None:
    """A testcase a graph that only one file holds. `lost`: a gate asks for it."""
    for text in alone:
        add_outcome(add_case(suite, "graphs", text), "error" if lost else "skipped", "unpaired", "there is nothing to compare it with")


def _case(suite: Element, one: FindingChange, *, failed: bool, lost: bool) -> None:
    case = add_case(suite, one.group, one.rule_id)
    told = f"{WORDS[one.verdict]}: {amount(one, now=False)} before, {amount(one, now=True)} now"
    if lost:
        add_outcome(case, "error", one.verdict, told)
    elif failed:
        add_outcome(case, "failure", one.severity, f"{one.title}: {told}")
    elif one.count_before is None or one.count_after is None:
        SubElement(case, "skipped", {"message": xml_text(told)})
    else:
        SubElement(case, "system-out").text = xml_text(told)
