"""A matrix of runs on a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from kgeval.records import CrossedReport
from kgeval.reports.console import notes, screen, table, text_of, title, where
from kgeval.reports.crossed import MEANING, change_tables, lead, metric_tables, narrowed, value_tables
from kgeval.reports.display import visible
from kgeval.reports.markdown import escape, prose
from kgeval.reports.markdown import table as rows_of

MOST = 12  # tables on a terminal
COLUMNS = 3  # of figures


def terminal(report: CrossedReport, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()) -> str:
    """The tables as text. `written`: the report files that exist now."""
    console, out = screen(width=width, colour=colour)
    for line in lead(report):
        console.print(visible(line, longest=400), overflow="fold")
    whole = chain(metric_tables(report), change_tables(report), value_tables(report) if len(report.metrics) == 1 else ())
    shown = [part for one in whole for part in narrowed(one, COLUMNS)]
    for one in shown[:MOST]:
        title(console, visible(one.title))
        made = table(*(visible(name) for name in one.head))
        for row in one.rows:
            made.add_row(*(visible(cell) for cell in row))
        console.print(made)
    console.print()
    if len(shown) > MOST:
        console.print(f"{len(shown) - MOST} more tables are in the report", style="dim")
    console.print(MEANING, style="dim", overflow="fold")
    notes(console, report.notes)
    where(console, written, "All tables and plots: add -o matrix.html")
    return text_of(out)


def markdown(report: CrossedReport) -> str:
    """All tables in Markdown."""
    parts = ["# Matrix of runs", *(prose(line) for line in lead(report))]
    for one in chain(metric_tables(report), change_tables(report), value_tables(report)):
        rows = [tuple(escape(visible(cell)) for cell in row) for row in one.rows]
        parts.append(f"## {escape(visible(one.title))}\n\n" + rows_of(tuple(escape(visible(name)) for name in one.head), rows))
    parts += [MEANING, *(f"- {prose(note)}" for note in report.notes)]
    return "\n\n".join(parts) + "\n"
