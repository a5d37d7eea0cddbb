"""Several graphs side by side on a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from kgeval.records import GraphsReport
from kgeval.reports import markdown as md
from kgeval.reports.console import notes, screen, text_of, where
from kgeval.reports.display import plural, visible
from kgeval.reports.graphs import SHORT, lacking, lead, tables
from kgeval.reports.tabled import Table, in_markdown, on_terminal

_COLUMN = 20  # characters that a graph's column takes on a terminal at least
_ROWS = 20
_COMMENT = 60


def terminal(report: GraphsReport, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()) -> str:
    """The tables as text, in parts of as many graphs as the width holds. `written`: the report files that exist now."""
    console, out = screen(width=width, colour=colour)
    console.print(f"kgeval audit: {plural(len(report.names), 'graph')} side by side", style="dim")
    for line in lead(report):
        console.print(visible(line, longest=400), overflow="fold")
    fitting = max(1, (max(60, width) - 40) // _COLUMN)
    for one in tables(report):
        if one.title in SHORT:
            for part in narrowed(one, fitting):
                on_terminal(console, part, most=_ROWS)
    console.print()
    if line := lacking(report):
        console.print(line, style="dim", overflow="fold")
    console.print("A check: share and count of hits, * failed. –: not measured there.", style="dim")
    notes(console, report.notes, longest=500)
    where(console, written, "All tables and plots: add -o graphs.html")
    return text_of(out)


def narrowed(one: Table, fitting: int) -> Iterator[Table]:
    """The table in parts of so many graphs."""
    fixed = len(one.words)
    graphs = len(one.head) - fixed
    for start in range(0, graphs, fitting):
        cut = slice(fixed + start, fixed + start + fitting)
        title = one.title if graphs <= fitting else f"{one.title} ({start // fitting + 1} of {-(-graphs // fitting)})"
        rows = tuple((*row[:fixed], *row[cut]) for row in one.rows)
        yield Table(title, (*one.head[:fixed], *one.head[cut]), rows, one.words, one.hint)


def markdown(report: GraphsReport) -> str:
    """The tables in Markdown, short enough for a pull request."""
    first = ["# Graphs side by side", "\n".join(f"- {md.prose(line)}" for line in lead(report)), md.notes(report.notes)]
    if line := lacking(report):
        first.append(md.escape(line, longest=600))
    last = [f"kgeval {md.escape(report.run.kgeval)}, {md.escape(report.run.started)}"]
    return md.fitted(first, (in_markdown(one, most=_COMMENT) for one in tables(report)), last)
