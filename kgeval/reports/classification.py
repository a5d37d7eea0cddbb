"""The levels that questions got, on a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kgeval.records import Classification, LabelCount
from kgeval.reports.console import notes, screen, table, text_of, title, where
from kgeval.reports.display import figure, joined, number, percent, plural, visible
from kgeval.reports.markdown import code, escape, prose
from kgeval.reports.markdown import table as rows_of
from kgeval.reports.usage import usage_line

_MOST = 20


def terminal(report: Classification, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()) -> str:
    """The shares as text. `written`: the report files that exist now."""
    console, out = screen(width=width, colour=colour)
    console.print(f"kgeval questions classify: {visible(report.file, longest=100)}", style="dim", overflow="fold")
    for line in facts(report):
        console.print(line, overflow="fold")
    if report.levels:
        made = table("LEVEL", "questions", "share")
        for name, count, share in _rows(report):
            made.add_row(name, count, share)
        title(console, "SHARES BY LEVEL")
        console.print(made)
    changed = _changed(report.changes)
    if changed:
        title(console, "ANOTHER LEVEL THAN THE FILE HAD")
        made = table("BEFORE", "now", "questions")
        for one in changed[:_MOST]:
            made.add_row(visible(one.before or "-", longest=40), one.level or "-", number(one.n))
        console.print(made)
    console.print()
    console.print(usage_line(report.run), style="dim", overflow="fold")
    notes(console, report.notes)
    where(console, written, "The same by kind: -f json")
    return text_of(out)


def markdown(report: Classification) -> str:
    """The shares in Markdown."""
    parts = [f"# Levels of questions\n\n{escape(report.file)}", *(prose(line) for line in facts(report))]
    if report.levels:
        parts.append(rows_of(("Level", "questions", "share"), [(code(name), count, share) for name, count, share in _rows(report)]))
    if changed := _changed(report.changes):
        rows = [(code(one.before or "-"), code(one.level or "-"), number(one.n)) for one in changed[:_MOST]]
        parts.append("## Another level than the file had\n\n" + rows_of(("Before", "now", "questions"), rows))
    return "\n\n".join([*parts, prose(usage_line(report.run)), *(f"- {prose(note)}" for note in report.notes)]) + "\n"


def facts(report: Classification) -> list[str]:
    """How many got a level, why others did not, and how far that is what the file had."""
    lines = [] if report.complete else ["Not complete: the run was stopped; the same command goes on where it ended."]
    lines.append(f"{number(report.labelled)} of {plural(report.n, 'question')} got a level.")
    if report.failures:
        causes = [f"{cause} ({number(n)})" for cause, n in sorted(report.failures.items(), key=lambda item: -item[1])]
        lines.append(f"Without one: {joined(causes)}.")
    if report.agreement is not None:
        kappa = "" if report.kappa is None else f", Cohen's kappa {figure(report.kappa, digits=2)}"
        had = plural(report.compared, "question")
        lines.append(f"{had} had one of the levels before: {percent(report.agreement)} got the same{kappa}.")
    return lines


def _rows(report: Classification) -> list[tuple[str, str, str]]:
    return [(level, number(round(share * report.labelled)), percent(share)) for level, share in report.levels.items()]


def _changed(counts: Sequence[LabelCount]) -> list[LabelCount]:
    """Those that had a level and got another. Ones that got none are counted among the failures."""
    return [one for one in counts if None not in (one.before, one.level) and one.before != one.level]
