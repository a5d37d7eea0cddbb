"""The one report on a terminal: the verdict, what to mend first, the rubric, the change against the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kgeval.format import visible
from kgeval.records import OverviewReport
from kgeval.reports import overview_tables as tables
from kgeval.reports.console import more, notes, screen, table, text_of, title, where
from kgeval.reports.overview_tables import Table

MOST = 10
MOST_ROWS = 15


def terminal(report: OverviewReport, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()) -> str:
    """The text. `written`: the report files that exist now."""
    console, out = screen(width=width, colour=colour)
    console.print(f"kgeval report: {visible(report.title or 'report over a run', longest=160)}", style="dim", overflow="fold")
    for line in report.verdict:
        console.print(visible(line, longest=800), overflow="fold")
    title(console, "What to mend first")
    for at, one in enumerate(report.priorities[:MOST], start=1):
        place = f" ({visible(one.where, longest=120)})" if one.where else ""
        console.print(f"{at}. [{one.severity}] {visible(one.title)}: {visible(one.evidence, longest=300)}{place}", overflow="fold")
        console.print(f"   {visible(one.advice, longest=400)}", style="dim", overflow="fold")
    more(console, len(report.priorities) - MOST)
    moved = tables.changes(report.diff, only=("worse", "better", "noise", "few")) if report.diff else None
    for one_table in (tables.rubric(report.rubrics), moved, *tables.costs(report.cost)):
        if one_table is not None:
            title(console, one_table.title)
            _print(console, one_table)
    notes(console, [*report.not_measured, *report.notes])
    where(console, written, "All figures: add -o report.html")
    return text_of(out)


def _print(console: object, one: Table) -> None:
    made = table(*one.head)
    for row in one.rows[:MOST_ROWS]:
        made.add_row(*(visible(cell, longest=80) if cell else "" for cell in row))
    console.print(made)  # type: ignore[attr-defined]
    more(console, len(one.rows) - MOST_ROWS)  # type: ignore[arg-type]
