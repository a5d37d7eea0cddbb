"""Accuracy on a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.records import AccuracyReport, Estimate, ItemVerdict
from kgeval.reports import accuracy as view
from kgeval.reports import markdown as markdown_parts
from kgeval.reports.console import head, more, notes, screen, table, text_of, title, where
from kgeval.reports.display import interval, number, percent, visible
from kgeval.reports.markdown import cell, code, escape, foot, prose
from kgeval.reports.markdown import table as rows_of
from kgeval.reports.measures import counted, estimated, who
from kgeval.reports.usage import usage_line

if TYPE_CHECKING:
    from rich.console import Console

_SHOWN = 5
_SHOWN_MD = 10


def terminal(report: AccuracyReport, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()) -> str:
    """The summary as text of at most about 45 lines; `written`: the report files that exist now."""
    console, out = screen(width=width, colour=colour)
    head(console, f"accuracy of {report.kind}", report.graph, report)
    console.print(view.verdict(report), style="bold")
    _estimates(console, report)
    _by_type(console, report)
    _bad(console, report)
    _rest(console, report)
    where(console, written, "All sampled items with their passages: add -o report.html")
    return text_of(out)


def _estimates(console: Console, report: AccuracyReport) -> None:
    if not report.estimates:
        return
    console.print()
    made = table("ESTIMATE", "share", "95 %", "n", "scored")
    for one in report.estimates:
        made.add_row(view.name_of(one), *_numbers(one))
    console.print(made)
    console.print(f"by {'; '.join(view.methods(report))}", style="dim", overflow="fold")


def _numbers(one: Estimate) -> tuple[str, str, str, str]:
    value = "-" if one.value is None else percent(one.value)
    return value, interval(one.low, one.high) or "-", number(one.n), number(one.n_scored)


def _by_type(console: Console, report: AccuracyReport) -> None:
    for heading, rows in (("BY TYPE", report.by_type), ("BY CLASS", report.by_class)):
        if rows:
            console.print()
            made = table(view.split_title(heading, rows), "accuracy", "95 %", "n", "scored")
            for one in rows[:_SHOWN]:
                made.add_row(visible(one.of, longest=40), *_numbers(one))
            console.print(made)
            more(console, len(rows) - _SHOWN)


def _bad(console: Console, report: AccuracyReport) -> None:
    for pile in view.piles(report):
        if pile.bad:
            title(console, f"{pile.title.upper()} ({number(len(pile.items))})")
            for item in pile.items[:_SHOWN]:
                console.print(visible(item.text or item.item.name, longest=160), overflow="fold")
            more(console, len(pile.items) - _SHOWN)


def _rest(console: Console, report: AccuracyReport) -> None:
    console.print()
    if report.labels:
        console.print(f"Sample: {counted(report.labels)}. {view.flag_line(report)}".strip())
    for line in (view.unscored_line(report), *view.design_lines(report)):
        if line:
            console.print(line, overflow="fold")
    if wanted := ", ".join(f"{number(n)} for {width}" for width, n in view.needed_lines(report)):
        console.print(f"Items needed: {wanted}")
    for name, rows in (("Judge and people", report.agreement), ("Pairs", report.duplicates)):
        if rows:
            console.print(f"{name}: " + ", ".join(f"{key} {value}" for key, value in view.agreement_rows(rows)))
    notes(console, report.notes)
    if report.run.model_use:
        console.print(usage_line(report.run), style="dim")


def markdown(report: AccuracyReport) -> str:
    """The report in Markdown, short enough for a comment on a pull request."""
    name = f": {code(report.graph)}" if report.graph else ""
    lines = [view.unscored_line(report), *view.design_lines(report), view.flag_line(report)]
    use = prose(usage_line(report.run)) if report.run.model_use else ""
    parts = (
        f"# Accuracy of {report.kind}{name}", f"**{escape(view.verdict(report), longest=600)}**",
        _md_estimates("Estimates", report.estimates, with_method=True), *(prose(line) for line in lines if line),
        _md_estimates("By type", report.by_type), _md_estimates("By document", report.by_document),
        _md_estimates("By class", report.by_class), _md_figures(report), _md_bad(report), markdown_parts.notes(report.notes),
        use, foot(report.run, report.layout.name),
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _md_estimates(heading: str, rows: Sequence[Estimate], *, with_method: bool = False) -> str:
    if not rows:
        return ""
    heads = ("Of", "Share", "n", "Scored", *(("Labels", "Method") if with_method else ()))
    lines = [
        (
            code(one.of, longest=60), cell(estimated(one)), number(one.n), number(one.n_scored),
            *((who(one), escape(one.method, longest=120)) if with_method else ()),
        )
        for one in rows[:_SHOWN_MD]
    ]
    name = heading if with_method else view.split_title(heading, rows)
    return f"## {name}\n\n{rows_of(heads, lines)}{markdown_parts.elsewhere(len(rows) - _SHOWN_MD)}"


def _md_figures(report: AccuracyReport) -> str:
    rows = [(f"items needed for {escape(width)}", number(n)) for width, n in view.needed_lines(report)]
    rows += [(f"judge and people: {escape(key)}", value) for key, value in view.agreement_rows(report.agreement)]
    rows += [(f"pairs: {escape(key)}", value) for key, value in view.agreement_rows(report.duplicates)]
    return "## Figures\n\n" + rows_of(("Figure", "Value"), rows) if rows else ""


def _md_bad(report: AccuracyReport) -> str:
    blocks = []
    for pile in view.piles(report):
        if pile.bad:
            lines = "\n".join(f"- {_md_item(report, item)}" for item in pile.items[:_SHOWN_MD])
            rest = markdown_parts.more(len(pile.items) - _SHOWN_MD)
            blocks.append(f"## {escape(pile.title)} ({number(len(pile.items))})\n\n{lines}{rest}")
    return "\n\n".join(blocks)


def _md_item(report: AccuracyReport, item: ItemVerdict) -> str:
    passage = next((passage.text for passage in report.passages_of(item)), None)
    return code(item.text or item.item.name, longest=160) + (f": {code(passage, longest=240)}" if passage else "")
