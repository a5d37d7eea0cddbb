"""The one report in Markdown, short enough for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from kgeval.format import number, percent
from kgeval.records import OverviewPriority, OverviewReport
from kgeval.reports import overview_tables as tables
from kgeval.reports.markdown import MOST_CHARACTERS, code, escape
from kgeval.reports.markdown import table as rows_of
from kgeval.reports.overview_parts import sections
from kgeval.reports.overview_tables import Table

MOST_ROWS = 25
FIRST = ("worse", "better", "noise", "few", "changed", "not_comparable", "new", "gone")
CUT = "*Cut here: {left} parts more are in the HTML and JSON reports.*"


def render(report: OverviewReport) -> str:
    """Verdict, what to mend first, baseline, rubric, then the parts. Whole blocks are left out at the end where it grows too long, and the
    last line says so."""
    blocks = [block for block in _blocks(report) if block]
    kept: list[str] = []
    room = MOST_CHARACTERS - len(CUT) - 200
    for at, block in enumerate(blocks):
        if len(block) + 2 > room:
            kept.append(CUT.format(left=number(len(blocks) - at)))
            break
        kept.append(block)
        room -= len(block) + 2
    foot = f"kgeval {escape(report.run.kgeval)}, {escape(report.run.started)}"
    return "\n\n".join([*kept, foot]) + "\n"


def _said(text: str) -> str:
    """A sentence that may quote anything: in <code> where a renderer could find a mention in it."""
    return code(text, longest=800) if "@" in text else escape(text, longest=800)


def _blocks(report: OverviewReport) -> Iterator[str]:
    yield f"# {escape(report.title) if report.title else 'Report over a run'}"
    yield "\n".join(f"- {_said(line)}" for line in report.verdict)
    yield _mend(report)
    yield from _diff(report)
    yield _table(tables.rubric(report.rubrics), "## Rubric\n\n")
    for section in sections(report):
        lines = "\n".join(f"- {_said(line)}" for line in section.lines[:20])
        yield f"## {section.title}" + (f"\n\n{lines}" if lines else "")
        for one in section.tables:
            yield _table(one, f"### {escape(one.title)}\n\n")
    yield _table(tables.rubric_figures(report.rubrics), "## What the scores rest on\n\n")


def _mend(report: OverviewReport) -> str:
    if not report.priorities:
        return "## What to mend first\n\nNothing that these reports measure asks for it."
    lines = [_line(at, one) for at, one in enumerate(report.priorities[:10], start=1)]
    left = len(report.priorities) - 10
    return "## What to mend first\n\n" + "\n".join(lines) + (f"\n\nand {number(left)} more" if left > 0 else "")


def _line(at: int, one: OverviewPriority) -> str:
    place = f" ({escape(one.where)})" if one.where else ""
    return (
        f"{at}. **{one.severity}** {escape(one.title)}: {_said(one.evidence)}{place}. "
        f"{_said(one.why)} {_said(one.advice)}"
    )


def _diff(report: OverviewReport) -> Iterator[str]:
    diff = report.diff
    if diff is None:
        return
    words = {True: "the judge moved", False: "the judge is the same", None: "whether the judge moved is not known"}
    lines = []
    for one in diff.judge:
        people = "" if one.agreement_before is None or one.agreement_after is None else (
            f"; agreement with people {percent(one.agreement_before)} then, {percent(one.agreement_after)} now"
        )
        lines.append(f"- {words[one.moved]}: {_said(one.why)}{people}")
    lines += [f"- {_said(note)}" for note in diff.notes]
    lines += [f"- fails now and did not: {_said(one)}" for one in diff.findings_new[:20]]
    lines += [f"- failed and does no more: {_said(one)}" for one in diff.findings_gone[:20]]
    same = sum(one.verdict == "same" for one in diff.changes)
    yield "## Against the baseline\n\n" + "\n".join([*lines, f"- {number(same)} figures are the same"])
    yield _table(tables.changes(diff, only=FIRST), "")


def _table(one: Table | None, before: str) -> str:
    if one is None:
        return ""
    rows = [tuple(escape(cell, longest=160) if cell else "" for cell in row) for row in one.rows[:MOST_ROWS]]
    left = len(one.rows) - MOST_ROWS
    return before + rows_of(one.head, rows) + (f"\n\nand {number(left)} rows more in the HTML and JSON reports" if left > 0 else "")
