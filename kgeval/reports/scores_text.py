"""Scores on a terminal. Wide tables are split by columns, so that a line is never longer than the screen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.format import plural, visible
from kgeval.records import ScoreReport
from kgeval.reports.console import more, notes, screen, table, text_of, title, where
from kgeval.reports.scores_grids import Cell, Grid, Section
from kgeval.reports.scores_md import markdown
from kgeval.reports.scores_sections import sections
from kgeval.reports.scores_view import View, is_reading, verdict, view_of, word
from kgeval.reports.scores_worst import worst_line, worst_rows
from kgeval.reports.usage import usage_line

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["markdown", "terminal"]

_LABEL = 30
_HEAD = 20
_NARROW = 12
_EXPLAINED = ("scores",)
_LEFT_OUT = ("systems",)
_MOST = {"scores": 40, "types": 10, "leaderboard": 12, "gates": 12, "groups": 16}
_OTHERS = 8
_TABLES = 4  # of one section
_BLOCKS = 3  # of columns of one table


def terminal(report: ScoreReport, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()) -> str:
    """The summary as text: the verdict, then the main tables, each cut after some rows. `written`: the report files that exist now."""
    console, out = screen(width=width, colour=colour)
    view = view_of(report)
    answers = sum(one.answers for one in report.systems)
    sizes = (plural(len(view.systems), "system"), plural(answers, "answer"), plural(len(view.metrics), "metric"))
    console.print(f"kgeval score: {', '.join(sizes)}", style="dim", overflow="fold")
    for at, line in enumerate(verdict(view)):
        console.print(line, style="" if at else "bold", overflow="fold")
    for section in sections(view):
        _section(console, section)
    _worst(console, view)
    _rest(console, report)
    where(console, written, "Distributions, definitions, all groups and worst rows: add -o report.html")
    return text_of(out)


def _section(console: Console, section: Section) -> None:
    shown = [grid for grid in section.grids if grid.main]
    if section.id == "types" and not shown:
        title(console, section.title.upper())
        console.print(f"{plural(len(section.grids), 'table')} of many metrics: in the report files", style="dim", overflow="fold")
    if not shown or section.id in _LEFT_OUT:
        return
    title(console, section.title.upper())
    if section.id in _EXPLAINED:
        console.print(section.hint, style="dim")
    for grid in shown[:_TABLES]:
        if grid.title:
            console.print(word(grid.title, longest=90), overflow="fold")
        _grid(console, grid, _MOST.get(section.id, _OTHERS))
    more(console, len(shown) - _TABLES, "table")


def _grid(console: Console, grid: Grid, most: int) -> None:
    lines = [_line(grid, label, cells, share=bool(grid.over)) for label, cells in grid.rows[:most]]
    heads = [*(_folded(head, grid) for head in grid.heads), grid.over]
    blocks = list(_columns(grid, heads, lines, console.width))
    if grid.over and blocks[-1] == [len(heads) - 1]:  # no room beside the others: below each figure then
        lines = [_line(grid, label, cells, share=False) for label, cells in grid.rows[:most]]
        blocks = blocks[:-1]
    for columns in blocks[:_BLOCKS]:
        made = table(heads[0], *(heads[at] for at in columns))
        made.columns[0].max_width = min(_LABEL, console.width // 2)
        for column, at in zip(made.columns[1:], columns, strict=True):
            column.justify = "left" if at <= grid.words else "right"
        for line in lines:
            made.add_row(line[0], *(line[at] for at in columns))
        console.print(made)
    more(console, sum(map(len, blocks[_BLOCKS:])), "column")
    more(console, len(grid.rows) - most)


def _line(grid: Grid, label: str, cells: Sequence[Cell], *, share: bool) -> list[str]:
    """A row as texts. With `share`, what all its cells are over stands at the end, where that is the same for all."""
    subs = {cell.sub for cell in cells if cell.text != "-" or cell.sub}
    shared = subs.pop() if share and len(subs) == 1 and not grid.bare else ""
    texts = []
    for cell in cells:
        text = visible(cell.text, longest=120) + (" *" if cell.best else "")
        texts.append(text if grid.bare or shared or not cell.sub else f"{text}\n{cell.sub}")
    return [word(label), *texts, *([shared] if grid.over else [])]


def _folded(head: str, grid: Grid) -> str:
    """A head of a column of numbers in lines, parted at blanks and underscores where it can be."""
    most = _NARROW if grid.bare or len(grid.heads) > 6 else _HEAD
    lines = [""]
    for part in re.findall(r"[^ _]+[ _]?|[ _]", word(head)):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > most:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.strip()[at : at + 2 * most] for line in lines for at in range(0, max(1, len(line.strip())), 2 * most))


def _columns(grid: Grid, heads: Sequence[str], lines: Sequence[Sequence[str]], width: int) -> Iterable[list[int]]:
    """The columns in groups that fit beside the labels. A table with words keeps together: its cells fold."""
    everything = list(range(1, len(heads) if grid.over else len(heads) - 1))
    if grid.words or not everything:
        yield everything
        return
    label = min(_LABEL, width // 2, _wide([heads[0], *(line[0] for line in lines)])) + 2
    group: list[int] = []
    used = label
    for at in everything:
        wide = _wide([heads[at], *(line[at] for line in lines)]) + 2
        if group and used + wide > width:
            yield group
            group, used = [], label
        group.append(at)
        used += wide
    yield group


def _wide(texts: Sequence[str]) -> int:
    return max(len(line) for text in texts for line in text.split("\n"))


def _worst(console: Console, view: View) -> None:
    rows = worst_rows(view, most=3)
    if rows:
        title(console, "WORST ROWS")
        for row in rows:
            console.print(worst_line(row), overflow="fold")
        more(console, len(view.report.worst) - len(rows))


def _rest(console: Console, report: ScoreReport) -> None:
    console.print()
    notes(console, [note for note in report.notes if not is_reading(note)])  # those are said before the run
    if report.run.model_use:
        console.print(usage_line(report.run), style="dim", overflow="fold")
    elif report.run.models:
        console.print("models: " + ", ".join(f"{word(one.name)} ({one.role})" for one in report.run.models), style="dim", overflow="fold")
    seed = "" if report.run.seed is None else f", seed {report.run.seed}"
    signed = "; the report files have the metrics' signatures" if report.metrics else ""
    console.print(f"kgeval {word(report.run.kgeval)}{seed}, {report.run.seconds:.1f} s{signed}", style="dim", overflow="fold")
