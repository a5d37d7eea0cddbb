"""Reports on agreement with people, and on metrics beside metrics: on a terminal, in Markdown and as one HTML file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from kgeval.records import AgreementReport, MatrixReport
from kgeval.reports import page
from kgeval.reports.agreement_view import Cell, Grid, grids, head, matrix_grids, matrix_head, verdict
from kgeval.reports.console import screen, table, text_of, title, where
from kgeval.reports.display import visible
from kgeval.reports.markdown import code, escape, prose
from kgeval.reports.markdown import table as rows_of

Either = AgreementReport | MatrixReport
MOST_COLUMNS = 8  # on a terminal


def _grids(report: Either) -> Iterable[Grid]:
    return grids(report) if isinstance(report, AgreementReport) else matrix_grids(report)


def _first(report: Either) -> str:
    return head(report) if isinstance(report, AgreementReport) else matrix_head(report)


def _verdict(report: Either) -> list[str]:
    return verdict(report) if isinstance(report, AgreementReport) else []


def _command(report: Either) -> str:
    return "annotate agreement" if isinstance(report, AgreementReport) else "metrics correlate"


def terminal(report: Either, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()) -> str:
    """The main tables as text. `written`: the report files that exist now."""
    console, out = screen(width=width, colour=colour)
    console.print(f"kgeval {_command(report)}: {_first(report)}", style="dim", overflow="fold")
    for line in _verdict(report):
        console.print(visible(line, longest=400), overflow="fold")
    for grid in _grids(report):
        if not grid.main or not grid.rows:
            continue
        title(console, visible(grid.title, longest=100))
        if len(grid.heads) > MOST_COLUMNS + 1:
            console.print(f"{len(grid.rows)} by {len(grid.heads) - 1}: too wide for a terminal, see the report.", style="dim")
            continue
        shown = grid.narrow or range(len(grid.heads))
        made = table(*(visible(grid.heads[at], longest=30).upper() if grid.heads[at] else "" for at in shown))
        for row in grid.rows:
            made.add_row(*(_short(row[at]) for at in shown))
        console.print(made)
        if grid.hint:
            console.print(visible(grid.hint, longest=400), style="dim", overflow="fold")
    for note in report.notes[:5]:
        console.print(f"note: {visible(note, longest=300)}", style="dim", overflow="fold")
    where(console, written, "All tables with intervals, by level and data set: add -o report.html")
    return text_of(out)


def _short(cell: Cell) -> str:
    text = visible(cell.text, longest=60) if cell.text else ""
    return f"{text} ({visible(cell.sub, longest=60)})" if cell.sub and text else text or visible(cell.sub, longest=60) if cell.sub else text


def markdown(report: Either) -> str:
    """All tables in Markdown."""
    name = "Agreement with people" if isinstance(report, AgreementReport) else "Metrics beside metrics"
    parts = [f"# {name}\n\n{escape(_first(report), longest=400)}", *(f"- {prose(line)}" for line in _verdict(report))]
    for grid in _grids(report):
        if grid.rows:
            rows = [(code(row[0].text), *(_marked(cell) for cell in row[1:])) for row in grid.rows]
            parts.append(f"## {escape(grid.title)}\n\n" + rows_of(tuple(escape(text) if text else "" for text in grid.heads), rows))
            parts += [prose(grid.hint)] if grid.hint else []
    parts += [f"- {prose(note)}" for note in report.notes]
    return "\n\n".join(parts) + "\n"


def _marked(cell: Cell) -> str:
    text = escape(cell.text, longest=120) if cell.text else ""
    return f"{text} ({escape(cell.sub, longest=160)})".strip() if cell.sub else text


def html(report: Either) -> str:
    """The page. Holds the report as JSON in `<script id="report" type="application/json">`."""
    first, *others = _verdict(report) or [_first(report)]
    context = {
        "first": _first(report), "verdict": first, "others": others, "grids": [grid for grid in _grids(report) if grid.rows],
        "kind_of_page": "agreement" if isinstance(report, AgreementReport) else "metrics beside metrics",
        "title_of_page": "Agreement with people" if isinstance(report, AgreementReport) else "Metrics beside metrics",
    }
    return page.render("agreement.html.j2", report, context)
