"""The audit on one screen: what to mend first, key figures, groups, what was not measurable. Plain text, or with colours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.format import number, percent, plural, visible
from kgeval.overview import priorities
from kgeval.overview import structure as figures
from kgeval.records import AuditReport, Finding
from kgeval.reports import reading
from kgeval.reports.audit_gates import gate_name, outcome, summary, value, waived_or_known
from kgeval.reports.console import grid, head, screen, text_of, title, where
from kgeval.reports.listing import repair_line
from kgeval.reports.usage import construction_line

if TYPE_CHECKING:
    from rich.console import Console

_COLOURS = {"error": "bold red", "warning": "yellow", "info": "cyan"}
_MENDED = 3
_MISSED = 5


def render(report: AuditReport, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()) -> str:
    """The summary as text of at most about 40 lines. `colour`: with escape codes, for a terminal; else plain, for a pipe.

    `written`: the report files that exist now; the last line says where they are.
    """
    console, out = screen(width=width, colour=colour)
    head(console, "audit", report.graph, report)
    for line in reading.lines(report):
        console.print(line, style="yellow", overflow="fold")
    console.print(priorities.verdict(report), style="bold")
    _against(console, report)
    _gates(console, report)
    _mend(console, report)
    _figures(console, report)
    _groups(console, report)
    _unanswered(console, report)
    _built(console, report)
    where(console, written, "All findings with examples and Cypher: add -o report.html")
    return text_of(out)


def _against(console: Console, report: AuditReport) -> None:
    """What changed since the baseline, where there is one."""
    if report.diff:
        from kgeval.reports.render.terminal import show_section
        from kgeval.reports.views.audit_diff import section

        show_section(console, section(report.diff))


def _gates(console: Console, report: AuditReport) -> None:
    from rich.text import Text

    lines = summary(report)
    if not lines:
        return
    title(console, "GATES")
    for row in [row for row in report.gates if row.met is not True][:_MISSED]:
        style = "bold red" if row.decides else "yellow"
        console.print(Text(f"{outcome(row)}: {visible(gate_name(row), longest=100)} ({visible(value(row), longest=80)})", style=style))
    for line in lines:
        console.print(Text(line))


def _mend(console: Console, report: AuditReport) -> None:
    from rich.text import Text

    bad = priorities.failed(report)
    if not bad:
        return
    title(console, "MEND FIRST (by severity, then by share of all entities, relations or chunks)")
    table = grid()
    for finding in bad[:_MENDED]:
        name, advice = visible(finding.title, longest=60), visible(finding.advice, longest=180)
        amount = _amount(finding) + priorities.touches(finding, report)
        body = Text.assemble((f"{name}: ", "bold"), amount, f"\n{advice}" if finding.advice else "")
        if finding.repair:
            body.append(f"\n{visible(repair_line(finding.repair), longest=180)}", style="dim")
        table.add_row(Text(finding.severity, style=_COLOURS[finding.severity]), body)
    console.print(table)
    if rest := bad[_MENDED : _MENDED + 4]:
        more = f" and {len(bad) - _MENDED - len(rest)} more" if len(bad) > _MENDED + len(rest) else ""
        console.print("then: " + ", ".join(f"{f.rule_id} ({number(f.count or 0)})" for f in rest) + more, style="dim")


def _amount(finding: Finding) -> str:
    share = f" ({percent(finding.share)})" if finding.share is not None else ""
    return f"{number(finding.count or 0)} of {number(finding.total or 0)} {finding.total_of}{share}{waived_or_known(finding)}"


def _figures(console: Console, report: AuditReport) -> None:
    found = figures.values(report, figures.KEY)
    if not found:
        return
    title(console, "KEY FIGURES")
    table = grid(columns=6)
    cells = [(f"{value.figure.title}", value.value or "not measurable") for value in found]
    cells += [("", "")] * (-len(cells) % 3)
    rows = len(cells) // 3
    for at in range(rows):
        table.add_row(*(text for column in range(3) for text in cells[at + column * rows]))
    console.print(table)


def _groups(console: Console, report: AuditReport) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    lines = priorities.group_lines(report)
    if not lines:
        return
    console.print()
    table = Table(box=box.SIMPLE_HEAD if console.is_terminal else None, padding=(0, 2, 0, 0), show_edge=False, header_style="bold")
    table.add_column("CHECKS BY GROUP")
    table.add_column("worst")
    for heading in ("failed", "passed", "unfinished", "not measurable"):
        table.add_column(heading, justify="right")
    for line in lines:
        worst = Text(line.worst or "-", style=_COLOURS.get(line.worst or "", "dim"))
        numbers = (line.failed, line.passed, line.unfinished, line.skipped)
        table.add_row(line.title, worst, *(number(n) if n else "-" for n in numbers))
    console.print(table)


def _unanswered(console: Console, report: AuditReport) -> None:
    for findings, word in ((priorities.skipped(report), "not measurable here"), (priorities.unfinished(report), "did not finish")):
        if findings:
            why = [f"{visible(reason, longest=60)} ({len(of)})" for reason, of in priorities.reasons(findings)]
            more = f"; {plural(len(why) - 3, 'more reason')}" if len(why) > 3 else ""
            console.print()
            console.print(f"{plural(len(findings), 'check')} {word}: {'; '.join(why[:3])}{more}")


def _built(console: Console, report: AuditReport) -> None:
    if report.construction:
        console.print()
        console.print(construction_line(report.construction))
