"""The parts of a terminal summary that all reports share. Plain text, or with colours where a terminal asks for them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.format import number, plural, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


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
    """A blank line and a heading."""
    console.print()
    console.print(text, style="bold")


def table(*columns: str) -> Table:
    """A table with a head and no lines: the first column to the left, the others are numbers."""
    from rich.table import Table

    made = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="bold")
    for at, column in enumerate(columns):
        made.add_column(column, justify="right" if at else "left", overflow="fold")
    return made


def more(console: Console, left: int, noun: str = "") -> None:
    """`and 12 more`, or `and 12 notes more`, below a list that was cut; nothing where nothing is left."""
    if left > 0:
        console.print(f"and {plural(left, noun) if noun else number(left)} more", style="dim")


def notes(console: Console, given: Sequence[str], *, most: int = 5, longest: int = 300) -> None:
    """The first notes, a line each."""
    for note in given[:most]:
        console.print(f"note: {visible(note, longest=longest)}", style="dim", overflow="fold")
    more(console, len(given) - most, "note")


def where(console: Console, written: Sequence[Path], otherwise: str) -> None:
    """The last line: the report files that exist now, or how to get one."""
    console.print()
    if written:
        console.print("Report: " + ", ".join(visible(str(path), longest=300) for path in written), overflow="fold")
    else:
        console.print(otherwise, style="dim")
