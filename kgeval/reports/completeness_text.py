"""Completeness on a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.records import CompletenessReport, GoldMatch
from kgeval.reports import completeness as view
from kgeval.reports import markdown as markdown_parts
from kgeval.reports import measures
from kgeval.reports.console import head, more, notes, screen, table, text_of, title, where
from kgeval.reports.display import number, plural, visible
from kgeval.reports.markdown import cell, code, escape, foot, prose
from kgeval.reports.markdown import table as rows_of
from kgeval.reports.usage import usage_line

if TYPE_CHECKING:
    from rich.console import Console

_COLOURS = {"critical": "bold red", "acceptable": "yellow", "strong": "green"}
_SHOWN = 5
_SHOWN_MD = 10


def terminal(report: CompletenessReport, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()) -> str:
    """The summary as text of at most about 45 lines; `written`: the report files that exist now."""
    console, out = screen(width=width, colour=colour)
    head(console, "completeness", report.graph, report)
    gold = report.gold
    size = f"{plural(gold.entities, 'entity')}, {plural(gold.triples, 'triple')}"
    if view.has_gold(report) or report.facts is None:
        console.print(f"{view.against(report)}: {size}", style="dim", overflow="fold")
    worst = min((j.band for j in report.verdicts if j.band), key=list(_COLOURS).index, default=None)
    console.print(view.verdict(report), style=_COLOURS.get(worst or "", "bold"))
    _levels(console, report)
    _parts(console, report)
    _missing(console, report)
    _notes(console, report)
    where(console, written, "What is missing and how each item was matched: add -o report.html")
    return text_of(out)


def _levels(console: Console, report: CompletenessReport) -> None:
    rows = view.level_rows(report)
    if not rows or not view.has_gold(report):
        return
    console.print()
    made = table("FOUND (cumulative)", *(name.lower() for name in view.TITLES.values()))
    for row in rows:
        made.add_row(f"{row.level}{' *' if row.judged else ''}", *(measures.share(value) for value in row.cells))
    made.add_row("of", *(number(value.total) for value in rows[-1].cells), style="dim")
    console.print(made)
    if any(row.judged for row in rows):
        console.print(f"* the level of the verdict ({view.BANDS})", style="dim")


def _parts(console: Console, report: CompletenessReport) -> None:
    console.print()
    if view.has_gold(report):
        console.print(view.control_line(report))
    for name, value in view.bridging(report):
        if value.total:
            console.print(f"Relations found, {name}: {measures.full(value)}")
    if report.facts is not None:
        console.print(view.facts_line(report.facts))
    for line in view.ideal_lines(report):
        console.print(line)


def _missing(console: Console, report: CompletenessReport) -> None:
    for kind, heading in (("entity", "MISSING ENTITIES"), ("relation", "MISSING RELATIONS")):
        items = view.missing(report, kind)
        if items:
            title(console, f"{heading} ({number(len(items))}, {view.against(report)})")
            names = ", ".join(visible(item.name, longest=80) for item in items[:_SHOWN])
            more = f" and {number(len(items) - _SHOWN)} more" if len(items) > _SHOWN else ""
            console.print(names + more, overflow="fold")


def _notes(console: Console, report: CompletenessReport) -> None:
    faults, told = report.gold.faults, _told(report)
    if faults or told:
        console.print()
    for fault in faults[:3]:
        console.print(f"passed over: {visible(fault, longest=160)}", overflow="fold")
    more(console, len(faults) - 3, "faulty row")
    notes(console, told)
    if report.run.model_use:
        console.print(usage_line(report.run), style="dim")


def markdown(report: CompletenessReport) -> str:
    """The report in Markdown, short enough for a comment on a pull request: verdict, levels, parts, examples of what is missing."""
    name = f": {code(report.graph)}" if report.graph else ""
    heads = [f"# Graph completeness{name}", f"**{escape(view.verdict(report), longest=600)}**"]
    lines = [*(_gold(report) if view.has_gold(report) or report.facts is None else []), *view.ideal_lines(report)]
    parts = (*heads, *(prose(line) for line in lines), _md_levels(report), _md_parts(report), _md_facts(report), _md_missing(report))
    use = prose(usage_line(report.run)) if report.run.model_use else ""
    ends = (markdown_parts.notes(_told(report)), use, foot(report.run, report.layout.name))
    return "\n\n".join(part for part in (*parts, *ends) if part) + "\n"


def _gold(report: CompletenessReport) -> list[str]:
    gold = report.gold
    faults = f", {plural(len(gold.faults), 'faulty row')} passed over" if gold.faults else ""
    twice = f", {plural(gold.duplicates, 'duplicate')} dropped" if gold.duplicates else ""
    return [f"Gold set: {view.gold_label(report)} ({number(gold.entities)} entities, {number(gold.triples)} triples{twice}{faults})."]


def _md_levels(report: CompletenessReport) -> str:
    rows = [
        (f"**{row.level}**" if row.judged else row.level, *(cell(measures.share(value)) for value in row.cells), row.apart or "-")
        for row in view.level_rows(report)
    ]
    if not rows or not view.has_gold(report):
        return ""
    totals = ("of", *(number(value.total) for value in view.level_rows(report)[-1].cells), "")
    text = rows_of(("Level (cumulative)", *view.TITLES.values(), "This level alone"), [*rows, totals])
    bands = " The verdict's level is bold. " + view.BANDS[0].upper() + view.BANDS[1:] + "."
    lines = f"{escape(view.pairs_line(report))} {escape(view.control_line(report), longest=600)}{bands}".strip()
    return f"## Found, {escape(view.against(report))}\n\n{text}\n\n{lines}"


def _md_parts(report: CompletenessReport) -> str:
    blocks = []
    for heading, table_ in (("By type", report.by_type), ("By document", report.by_document)):
        rows = [(code(row.name, longest=60), *(_amount(value) for value in row.cells[:2])) for row in view.breakdown(table_)]
        if rows:
            rest = markdown_parts.elsewhere(len(rows) - _SHOWN_MD)
            blocks.append(f"## {heading}\n\n" + rows_of(("Name", "Entities", "Relations"), rows[:_SHOWN_MD]) + rest)
    bridging = [f"- {escape(name)}: {_amount(value)}" for name, value in view.bridging(report)]
    if bridging:
        blocks.append("## Bridging relations\n\n" + "\n".join(bridging))
    return "\n\n".join(blocks)


def _amount(value: object) -> str:
    from kgeval.records import Proportion

    return cell(measures.full(value)) if isinstance(value, Proportion) and value.total else "-"


def _md_facts(report: CompletenessReport) -> str:
    facts = report.facts
    if facts is None:
        return ""
    lost = [fact for fact in facts.facts if fact.value is False][:_SHOWN_MD]
    lines = [f"- {code(fact.fact, longest=160)}" for fact in lost]
    listed = "\n\nDo not follow, for example:\n\n" + "\n".join(lines) if lines else ""
    judge = f"Judge {code(facts.judge)}, embeddings {code(facts.embedding_model)}."
    return f"## Facts\n\n{escape(view.facts_line(facts), longest=600)} {judge}{listed}"


def _md_missing(report: CompletenessReport) -> str:
    blocks = []
    for kind, heading in (("entity", "Missing entities"), ("relation", "Missing relations")):
        items = view.missing(report, kind)
        if items:
            lines = "\n".join(f"- {_md_item(item)}" for item in items[:_SHOWN_MD])
            rest = markdown_parts.more(len(items) - _SHOWN_MD)
            blocks.append(f"## {heading} ({number(len(items))}, {escape(view.against(report))})\n\n{lines}{rest}")
    return "\n\n".join(blocks)


def _told(report: CompletenessReport) -> list[str]:
    """What a reader must know of the figures: documents that the graph lacks, figures that are left out."""
    return [*report.gold.notes, *report.notes, *(report.facts.notes if report.facts else [])]


def _md_item(item: GoldMatch) -> str:
    marks = [*([code(item.type, longest=40)] if item.type else []), *([code(item.document, longest=40)] if item.document else [])]
    return code(item.name, longest=120) + (f" ({', '.join(marks)}{', bridging' if item.bridging else ''})" if marks else "")
