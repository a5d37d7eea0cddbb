"""Tables of texts, the same in every form: on a terminal, in Markdown, in CSV; templates/tabled.html.j2 has them in HTML."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgeval.files.sheets import formula_safe
from kgeval.reports import markdown as md
from kgeval.reports.console import more, title
from kgeval.reports.display import number, visible

if TYPE_CHECKING:
    from rich.console import Console



@dataclass(frozen=True)
class Table:
    """A table of texts. `words`: the columns that hold words, by their place; the others are figures."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: frozenset[int] = frozenset({0})
    hint: str = ""


def on_terminal(console: Console, one: Table, *, most: int) -> None:
    """Heading and at most `most` rows."""
    from rich.table import Table as Grid
    from rich.text import Text

    title(console, visible(one.title))
    grid = Grid(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="bold")
    for at, name in enumerate(one.head):
        grid.add_column(visible(name, longest=40), justify="left" if at in one.words else "right", overflow="fold")
    for row in one.rows[:most]:
        grid.add_row(*(Text(shown(cell, longest=120)) for cell in row))
    console.print(grid)
    more(console, len(one.rows) - most)


def in_markdown(one: Table, *, most: int) -> str:
    """Heading and at most `most` rows."""
    head = tuple(md.escape(shown(name, longest=60)) for name in one.head)
    rows = [tuple(md.prose(shown(cell)) if cell else "" for cell in row) for row in one.rows[:most]]
    return f"## {md.escape(one.title)}\n\n" + md.table(head, rows) + md.elsewhere(len(one.rows) - most)


def in_csv(tables: Iterable[Table]) -> str:
    """The tables below each other under the head of the first. Null is an empty cell; no text is taken for a formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for at, one in enumerate(tables):
        if at == 0:
            writer.writerow([_safe(name) for name in one.head])
        writer.writerows([[_safe(cell) if place in one.words else cell for place, cell in enumerate(row)] for row in one.rows])
    return out.getvalue()


def shown(text: str, *, longest: int = 200) -> str:
    """The text with hidden characters written out; an empty cell stays empty."""
    return visible(text, longest=longest) if text else ""


def cut(names: list[str], most: int) -> str:
    """The first names, and how many more there are."""
    left = f" and {number(len(names) - most)} more" if len(names) > most else ""
    return ", ".join(names[:most]) + left


def _safe(text: str) -> str:
    """A spreadsheet must not take a name for a formula, nor a terminal for its own codes."""
    return formula_safe(shown(text, longest=1000))
