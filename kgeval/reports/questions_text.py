"""What a run made of questions, on a terminal: a line a kind, and for what is lacking the causes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kgeval.format import joined, number, plural, visible
from kgeval.records import GenerationReport, KindCount
from kgeval.reports.document import Table, Text
from kgeval.reports.render.terminal import notes, screen, show_blocks, text_of
from kgeval.reports.usage import usage_line

HEADS = ("KIND", "asked", "made", "tried", "rejected", "failed", "duplicates")
LONGEST = 160


def terminal(report: GenerationReport, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()) -> str:
    """The result as text. `written`: the files that exist now."""
    console, out = screen(width=width, colour=colour)
    graph = visible(report.graph or "whole database", longest=60)
    about = f"{graph}, seed {report.seed}, profile {visible(report.profile, longest=60)}"
    console.print(f"kgeval questions generate: {about}", style="dim", overflow="fold")
    if not report.complete:
        console.print("Not complete: the run was stopped.", overflow="fold")
    rows = []
    for one in report.kinds:
        lost = (sum(counts.values()) for counts in (one.rejected, one.failed, one.duplicates))
        rows.append((one.kind, *(number(count) for count in (one.asked, one.made, one.structures, *lost))))
    reasons = [Text(line, style="hint") for one in report.kinds for line in why(one)]
    console.print()
    show_blocks(console, [Table(HEADS, rows, short=len(rows)), *reasons])
    console.print()
    notes(console, report.notes)
    if report.run.model_use:
        console.print(usage_line(report.run), style="dim", overflow="fold")
    if written:
        files = joined([visible(str(path), longest=300) for path in written])
        console.print(f"{plural(report.made, 'question')}: {files}", overflow="fold")
    return text_of(out)


def why(kind: KindCount) -> list[str]:
    """What became of the structures of a kind that gave no question, with the first case of each cause."""
    fewer = f"{kind.kind}: {number(kind.asked - kind.made)} fewer than asked"
    lines = [] if kind.why is None else [f"{fewer}: {visible(kind.why, longest=300)}"]
    for what, counts in (("rejected", kind.rejected), ("failed", kind.failed), ("duplicate", kind.duplicates)):
        for cause, count in counts.items():
            example = kind.examples.get(cause)
            lines.append(f"{kind.kind}: {number(count)} {what} ({cause})" + (f": {visible(example, longest=LONGEST)}" if example else ""))
    return lines
