"""A diff of two audits on a terminal and in Markdown; both as a section of an audit's report too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.auditing.diff import parts_of
from kgeval.records import AuditDiff
from kgeval.reports import markdown as md
from kgeval.reports.audit_diff import HINT, gate_line, heading, tables, verdict
from kgeval.reports.console import notes, screen, text_of, title, where
from kgeval.reports.display import visible
from kgeval.reports.tabled import in_markdown, on_terminal

if TYPE_CHECKING:
    from rich.console import Console

_ROWS = 12  # of a table on a terminal
_SECTION = 6  # of a table in the summary of an audit
_COMMENT = 30  # of a table in Markdown


def terminal(made: AuditDiff, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()) -> str:
    """The tables as text. `written`: the report files that exist now."""
    console, out = screen(width=width, colour=colour)
    files = f"{visible(made.before, longest=100)}, then {visible(made.after, longest=100)}"
    console.print(f"kgeval audit diff: {visible(heading(made), longest=80)} ({files})", style="dim", overflow="fold")
    console.print(verdict(made), style="bold", overflow="fold")
    if line := gate_line(made):
        console.print(line, overflow="fold")
    notes(console, made.notes, most=8, longest=500)
    for part in parts_of(made):
        if made.graphs:
            title(console, f"GRAPH {visible(heading(part), longest=60)}: {verdict(part)}")
            notes(console, part.notes, most=8, longest=500)
        for one in tables(part):
            on_terminal(console, one, most=_ROWS)
    where(console, written, "All changes: add -o diff.html or -o diff.json")
    return text_of(out)


def in_summary(console: Console, made: AuditDiff) -> None:
    """The section of an audit's summary: against which report, and the checks that are not the same."""
    title(console, f"AGAINST {visible(made.before, longest=80)}")
    console.print(verdict(made), overflow="fold")
    if line := gate_line(made):
        console.print(line, overflow="fold")
    for one in tables(made):
        if "Severity" in one.head:
            on_terminal(console, one, most=_SECTION)
    notes(console, made.notes, most=4, longest=300)


def markdown(made: AuditDiff) -> str:
    """The diff in Markdown, short enough for a pull request."""
    first = [f"# Audits compared: {md.prose(heading(made))}", f"**{md.escape(verdict(made), longest=600)}**"]
    if line := gate_line(made):
        first.append(md.escape(line, longest=600))
    first += [f"{md.prose(made.before)}, then {md.prose(made.after)}. {HINT}", md.notes(made.notes)]
    last = [f"kgeval {md.escape(made.run.kgeval)}, {md.escape(made.run.started)}"] if made.run else []
    return md.fitted(first, _blocks(made), last)


def _blocks(made: AuditDiff) -> Iterator[str]:
    for part in parts_of(made):
        if made.graphs:
            yield f"# {md.prose(heading(part))}\n\n{md.escape(verdict(part), longest=600)}"
            yield md.notes(part.notes)
        for one in tables(part):
            yield in_markdown(one, most=_COMMENT)


def section(made: AuditDiff | None) -> str:
    """The section of an audit's Markdown; "" without a baseline."""
    if made is None:
        return ""
    head = f"## Against {md.prose(made.before)}\n\n**{md.escape(verdict(made), longest=600)}**"
    lines = [head, md.escape(gate_line(made), longest=600)]
    lines += [in_markdown(one, most=_SECTION).replace("## ", "### ", 1) for one in tables(made) if "Severity" in one.head]
    lines.append("\n".join(f"- {md.prose(note)}" for note in made.notes[:5]))
    return "\n\n".join(line for line in lines if line)
