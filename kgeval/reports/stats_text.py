"""Statistics on own scores and verdicts on a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kgeval.records import StatsReport
from kgeval.reports.console import more, notes, screen, table, text_of, title, where
from kgeval.reports.display import number, plural, visible
from kgeval.reports.markdown import escape, prose
from kgeval.reports.markdown import table as rows_of
from kgeval.reports.stats_parts import MOST, parts

_LONGEST = 80


def terminal(report: StatsReport, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()) -> str:
    """The result as text. `written`: the report files that exist now."""
    console, out = screen(width=width, colour=colour)
    console.print(_headline(report), style="dim", overflow="fold")
    for part in parts(report):
        title(console, visible(part.title, longest=160))
        if part.head:
            made = table(*part.head)
            for row in part.rows[:MOST]:
                made.add_row(*(visible(cell, longest=_LONGEST) if cell else "" for cell in row))
            console.print(made)
            more(console, len(part.rows) - MOST)
        for line in part.lines[:20]:
            console.print(visible(line, longest=400), overflow="fold")
    lacking = missing_lines(report)
    if lacking or report.notes:
        console.print()
    for line in lacking:
        console.print(visible(line, longest=300), overflow="fold")
    notes(console, report.notes, most=10)
    where(console, written, "All figures: add -o report.json or -o report.md")
    return text_of(out)


def markdown(report: StatsReport) -> str:
    """The result in Markdown."""
    found = [f"# {_TITLES[report.kind]}\n\n{prose(_headline(report))}"]
    for part in parts(report):
        rows = [tuple(escape(cell) if cell else "" for cell in row) for row in part.rows[:MOST]]
        left = [f"and {number(len(part.rows) - MOST)} more"] if len(part.rows) > MOST else []
        lines = [prose(line) for line in part.lines] + left
        found.append("\n\n".join([f"## {escape(part.title)}", *([rows_of(part.head, rows)] if part.head else []), *lines]))
    found += [prose(line) for line in missing_lines(report)] + [f"- {prose(note)}" for note in report.notes]
    return "\n\n".join(found) + "\n"


_TITLES = {
    "paired": "Paired comparison", "rank": "Order of systems", "judge": "The judge", "power": "Power",
    "correct": "Corrected by labels of people", "aa": "A/A check", "sequential": "Confidence sequence", "drift": "Judge drift",
}


def _headline(report: StatsReport) -> str:
    read = ", ".join(f"{visible(one.file, longest=60)} ({plural(one.rows, 'row')})" for one in report.inputs)
    return f"kgeval stats {report.kind}: {read or 'no file'}; seed {report.seed}, confidence {report.confidence:g}"


def missing_lines(report: StatsReport) -> list[str]:
    """Questions that some have and others lack: the first few by name."""
    return [
        f"{name}: {plural(len(gone), 'question')} lacking that others have: {', '.join(gone[:5])}{' ...' if len(gone) > 5 else ''}"
        for name, gone in report.missing.items()
    ]
