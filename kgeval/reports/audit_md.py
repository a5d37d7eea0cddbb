"""The audit as Markdown, short enough for a pull request."""

from __future__ import annotations

from kgeval.format import number, percent, plural
from kgeval.overview import priorities
from kgeval.overview import structure as figures
from kgeval.records import AuditReport, Example, Finding
from kgeval.reports import reading
from kgeval.reports.audit_gates import gate_name, outcome, summary, value, waived_or_known, waiver_state
from kgeval.reports.listing import repair_line
from kgeval.reports.markdown import MOST_CHARACTERS, cell, code, elsewhere, escape, fitted, foot, notes, prose, table
from kgeval.reports.render.markdown import section_text
from kgeval.reports.usage import construction_line
from kgeval.reports.views.audit_diff import section

_EXAMPLES = 3
_MOST_ROWS = 20


def render(report: AuditReport) -> str:
    """The report in Markdown: verdict, what to mend first, key figures, groups, failed checks with examples, what was skipped."""
    against = section_text(section(report.diff)) if report.diff else ""
    head = (_head(report), _gates(report), against, _mend(report), _figures(report), _groups(report))
    blocks = (_failed(report), _repairs(report), _waivers(report), _unanswered(report), _built(report))
    return fitted(head, (part for part in blocks if part), (notes(report.notes), foot(report.run, report.layout.name)))


def _head(report: AuditReport) -> str:
    name = f": {code(report.graph)}" if report.graph else ""
    taken = "".join(f"\n\n{escape(line, longest=800)}" for line in reading.lines(report))
    return f"# Graph audit{name}\n\n**{escape(priorities.verdict(report), longest=500)}**{taken}"


def _mend(report: AuditReport) -> str:
    lines = [
        f"{at}. **{escape(f.title)}** ({f.severity}): {_amount(f)}{cell(priorities.touches(f, report))}. {escape(f.advice, longest=400)}"
        for at, f in enumerate(priorities.mend_first(report), 1)
    ]
    hint = f"\n\n{priorities.ORDERED}" if len(lines) > 1 else ""
    return "## What to mend first\n\n" + "\n".join(lines) + hint if lines else ""


def _amount(finding: Finding) -> str:
    share = cell(f" ({percent(finding.share)})") if finding.share is not None else ""
    return f"{number(finding.count or 0)} of {number(finding.total or 0)} {escape(finding.total_of)}{share}{waived_or_known(finding)}"


def _gates(report: AuditReport) -> str:
    """Gates that are not met first; the others too while the table stays short."""
    rows = sorted(report.gates, key=lambda row: (row.met is True, not row.decides))[:_MOST_ROWS]
    cells = [(code(gate_name(row)), prose(value(row)), outcome(row)) for row in rows]
    head = "\n".join(f"- {cell(line)}" for line in summary(report))
    shown = table(("Gate", "Value", "Outcome"), cells) if cells else ""
    return "\n\n".join(part for part in ("## Gates", head, shown) if part) if head else ""


def _waivers(report: AuditReport) -> str:
    rows = [
        (code(one.rule), code(one.match) if one.match is not None else "every hit", prose(one.reason), escape(waiver_state(one)))
        for one in report.waivers[:_MOST_ROWS]
    ]
    more_ = elsewhere(len(report.waivers) - len(rows))
    return "## Waivers\n\n" + table(("Check", "Match", "Reason", "Hits"), rows) + more_ if rows else ""


def _figures(report: AuditReport) -> str:
    found = figures.values(report, figures.KEY)
    rows = [(v.figure.title, escape(v.value) if v.value else f"not measurable here: {prose(v.reason)}") for v in found]
    return "## Key figures\n\n" + table(("Figure", "Value"), rows) if rows else ""


def _groups(report: AuditReport) -> str:
    rows = [
        (line.title, line.worst or "-", *(str(n) for n in (line.failed, line.passed, line.unfinished, line.skipped)))
        for line in priorities.group_lines(report)
    ]
    return "## Checks by group\n\n" + table(("Group", "Worst", "Failed", "Passed", "Unfinished", "Not measurable"), rows) if rows else ""


def _failed(report: AuditReport) -> str:
    """The table, as far as it leaves room for the rest of the report."""
    rows: list[tuple[str, str, str, str]] = []
    room, bad = MOST_CHARACTERS // 2, priorities.failed(report)
    for f in bad:
        row = (f.severity, f"{escape(f.title)} ({code(f.rule_id)})", _amount(f), "; ".join(_example(e) for e in f.examples[:_EXAMPLES]))
        room -= sum(map(len, row)) + 13
        if room < 0:
            break
        rows.append(row)
    return "## Findings\n\n" + table(("Severity", "Check", "Found", "Examples"), rows) + elsewhere(len(bad) - len(rows)) if rows else ""


def _repairs(report: AuditReport) -> str:
    """What can be done about each failed check by Cypher: the query's name, or why there is none."""
    rows = [(code(f.rule_id), prose(repair_line(f.repair))) for f in priorities.failed(report) if f.repair][:_MOST_ROWS]
    lead = "The HTML and JSON reports have the Cypher with the layout and the element ids of the hits. kgeval never runs it."
    return f"## Repairs\n\n{lead}\n\n" + table(("Check", "Repair"), rows) if rows else ""


def _example(example: Example) -> str:
    why = f" ({code(example.why)})" if example.why else ""
    return ", ".join(code(item.name, longest=60) for item in example.items[:4]) + why


def _unanswered(report: AuditReport) -> str:
    blocks = []
    for title, findings in (("Not measurable here", priorities.skipped(report)), ("Did not finish", priorities.unfinished(report))):
        lines = [f"- {prose(reason)}: {', '.join(code(f.rule_id) for f in of)}" for reason, of in priorities.reasons(findings)]
        if lines:
            blocks.append(f"## {title}\n\n{plural(len(findings), 'check')}, never counted as passed:\n\n" + "\n".join(lines))
    return "\n\n".join(blocks)


def _built(report: AuditReport) -> str:
    return f"## How the graph was built\n\n{prose(construction_line(report.construction))}" if report.construction else ""
