"""A document on a terminal: plain text, or with colours."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from kgeval.format import number, plural, visible
from kgeval.reports.document import (
    Block,
    Cards,
    Cell,
    Code,
    Details,
    Document,
    Items,
    Raw,
    Table,
    Text,
    Tone,
    as_cell,
    first,
    sections_of,
    shown,
    text_columns,
    with_note,
)

if TYPE_CHECKING:
    from rich.console import Console

COLOURS: dict[Tone, str] = {"error": "bold red", "warning": "yellow", "info": "cyan", "passed": "green", "open": "magenta"}
LONGEST = 900  # characters of a sentence
NAME = 40  # characters that the names of rows take where a table is parted by columns
HEAD = 12  # characters of a line of a head, where a table does not fit otherwise
WORDS = 44  # characters that a column of words is given at least before a table is parted


def render(doc: Document, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()) -> str:
    """The document's short form. `colour`: with escape codes. `written`: the report files that exist now; the last line says where."""
    console, out = screen(width=width, colour=colour)
    about = ", ".join(part for part in (doc.name and visible(doc.name, longest=80), doc.about, doc.server) if part)
    _say(console, f"kgeval {doc.command}" + (f": {about}" if about else ""), "dim")
    for at, line in enumerate(doc.lead):
        _say(console, line, "" if at else COLOURS.get(doc.tone, "bold"))
    for section in sections_of(doc, "text"):
        title(console, visible(section.title, longest=160) if section.title else "")
        show_blocks(console, section.blocks)
        if section.hint:
            _say(console, section.hint, "dim")
    if doc.notes or doc.foot:
        console.print()
    notes(console, doc.notes, most=8, longest=500)
    for line in doc.foot:
        _say(console, line, "dim")
    console.print()
    if written:
        console.print("Report: " + ", ".join(visible(str(path), longest=300) for path in written), overflow="fold")
    else:
        console.print(doc.more, style="dim")
    return text_of(out)


def _say(console: Console, text: str, style: str = "", longest: int = LONGEST) -> None:
    from rich.text import Text as Line

    console.print(Line(visible(text, longest=longest)), style=style, overflow="fold")


def show_blocks(console: Console, blocks: Iterable[Block]) -> None:
    """Those of the blocks that a terminal shows."""
    for block in shown(blocks, "text"):
        match block:
            case Text():
                _say(console, block.text, {"hint": "dim", "lead": "bold", "plain": ""}[block.style])
            case Items():
                items, left = first(block.items, block.short)
                if block.title and items:
                    _say(console, block.title)
                for at, cell in enumerate(map(as_cell, items), start=1):
                    line = (f"{at}. " if block.ordered else "") + _text(cell, block.longest or 300)
                    _say(console, line, COLOURS.get(cell.tone, ""), max(LONGEST, len(line)))
                more(console, left)
            case Table():
                _table(console, block)
            case Cards():
                _cards(console, block)
            case Code():
                if block.title:
                    title(console, visible(block.title, longest=160))
                console.print(block.text, overflow="ignore", no_wrap=True, crop=False)  # to be copied
            case Details():
                _say(console, block.title, "bold")
                show_blocks(console, block.blocks)
            case Raw():
                show_blocks(console, block.text)


def _cards(console: Console, block: Cards) -> None:
    """Three figures side by side, read down the columns."""
    from rich.table import Table as Grid
    from rich.text import Text as Line

    cells = [(visible(card.title, longest=40), card.value or "not measured") for card in block.cards]
    grid = Grid.grid(padding=(0, 2, 0, 0))
    for at in range(6):
        grid.add_column(justify="right" if at % 2 else "left", overflow="fold")
    rows = -(-len(cells) // 3)
    for at in range(rows):
        grid.add_row(*(Line(text) for pair in cells[at::rows] for text in pair))
    console.print(grid)


def _table(console: Console, block: Table) -> None:
    from rich.table import Table as Grid
    from rich.text import Text as Line

    rows, left = first(block.rows, block.short)
    if not rows:
        return
    if block.title:
        _say(console, block.title)

    def laid_out(*, low: bool) -> tuple[list[str], list[list[str]], list[list[int]]]:
        """Heads, rows and the parts of columns. `low`: narrower: heads of figures in several lines, notes below what they are of."""
        heads = [visible(name, longest=40) if name else "" for name in block.head]
        heads = [
            fill(name, HEAD, break_long_words=False, break_on_hyphens=False) if low and at not in block.words else name
            for at, name in enumerate(heads)
        ]
        texts = [[_text(as_cell(cell), 120, below=low and at not in block.words) for at, cell in enumerate(row)] for row in rows]
        return heads, texts, list(_fitting(heads, texts, block.words, text_columns(block.head, rows), console.width))

    heads, texts, parts = laid_out(low=False)
    if len(parts) > 1:
        heads, texts, parts = min((heads, texts, parts), laid_out(low=True), key=lambda given: len(given[2]))
    for columns in parts:
        grid = Grid(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="bold")
        for at in columns:
            grid.add_column(heads[at], justify="left" if at in block.words else "right", overflow="fold")
        for row in texts:
            grid.add_row(*(Line(row[at]) for at in columns))
        console.print(grid)
    more(console, left)
    if block.hint:
        _say(console, block.hint, "dim")


def _text(cell: Cell, longest: int, *, below: bool = False) -> str:
    """`below`: the note in a line of its own."""
    text = visible(cell.text, longest=longest) if cell.text or cell.user else ""
    text = ", ".join(filter(None, [text, *(_text(other, longest) for other in cell.more)])) + (" *" if cell.best else "")
    note = visible(cell.note, longest=longest) if cell.note else ""
    return f"{text}\n{note}" if below and text and note else with_note(text, note)


def _fitting(
    heads: Sequence[str], rows: Sequence[Sequence[str]], words: frozenset[int], columns: Sequence[int], width: int,
) -> Iterator[list[int]]:
    """The columns, in as many parts as the width asks for; each part begins with the names of the rows. A column of words folds."""
    def wide(at: int) -> int:
        longest = max(len(line) for text in (heads[at], *(row[at] for row in rows)) for line in text.split("\n")) + 2
        return min(longest, WORDS) if at in words else longest

    names = [at for place, at in enumerate(columns) if place == at and all(before in words for before in range(at + 1))][:4]
    names = names if len(names) < len(columns) else names[:1]
    taken = sum(min(NAME, wide(at)) for at in names)
    part, used = list(names), taken
    for at in columns[len(names):]:
        if len(part) > len(names) and used + wide(at) > width:
            yield part
            part, used = list(names), taken
        part.append(at)
        used += wide(at)
    yield part


def screen(*, width: int, colour: bool) -> tuple[Console, io.StringIO]:
    """A console of at least 60 characters, and where its text goes."""
    from rich.console import Console

    out = io.StringIO()
    console = Console(
        file=out, width=max(60, width), force_terminal=colour, no_color=not colour, color_system="standard" if colour else None,
        highlight=False, markup=False, emoji=False, legacy_windows=False, soft_wrap=False, _environ={},
    )
    return console, out


def text_of(out: io.StringIO) -> str:
    """What was printed, without blanks at the ends of lines."""
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def title(console: Console, text: str) -> None:
    """A blank line and a heading, where there is one."""
    console.print()
    if text:
        console.print(text, style="bold")


def more(console: Console, left: int, noun: str = "") -> None:
    """`and 12 more`, or `and 12 notes more`, below a list that was cut; nothing where nothing is left."""
    if left > 0:
        console.print(f"and {plural(left, noun) if noun else number(left)} more", style="dim")


def notes(console: Console, given: Sequence[str], *, most: int = 5, longest: int = 300) -> None:
    """The first notes, a line each."""
    for note in given[:most]:
        console.print(f"note: {visible(note, longest=longest)}", style="dim", overflow="fold")
    more(console, len(given) - most, "note")

