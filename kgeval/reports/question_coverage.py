"""What sets of questions cover of a graph, on a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.records import CoverageFigure, CoverageGroup, CoverageReport, CoverageSet
from kgeval.reports.console import notes, screen, table, text_of, title, where
from kgeval.reports.display import code as plain_code
from kgeval.reports.display import joined, number, percent, plural, visible
from kgeval.reports.markdown import code, escape, prose
from kgeval.reports.markdown import table as rows_of

if TYPE_CHECKING:
    from rich.console import Console

HEADS = ("covered", "of", "share", "by records", "of the graph", "questions")
MEANING = (
    "covered of: groups that a question touches, of those that the graph has. by records: the share without what was found by names in "
    "texts. of the graph: share of the entities (predicates: relations; documents: chunks) that are in covered groups."
)
_SHOWN = 5


def terminal(report: CoverageReport, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()) -> str:
    """The figures as text. `written`: the report files that exist now."""
    console, out = screen(width=width, colour=colour)
    console.print(_head(report), style="dim", overflow="fold")
    for one in report.sets:
        title(console, f"{visible(one.file, longest=60)}: {plural(one.n, 'question')}")
        console.print(ways(one), style="dim", overflow="fold")
        made = table("FACET", *HEADS)
        for figure in one.figures:
            made.add_row(figure.facet, *cells(figure))
        console.print(made)
        _lists(console, one)
        notes(console, one.notes)
    console.print()
    notes(console, report.notes)
    console.print(MEANING, style="dim", overflow="fold")
    if report.run.arguments.get("show_cypher"):
        for heading, text in queries(report):
            title(console, heading)
            console.print(text, overflow="fold", soft_wrap=True)
    where(console, written, "Longer lists: add -o report.json; the Cypher that lists all that is missing: --cypher, or -o report.md")
    return text_of(out)


def markdown(report: CoverageReport) -> str:
    """The figures in Markdown, with the Cypher that lists all that is missing."""
    parts = ["# Coverage of questions", prose(_head(report))]
    for one in report.sets:
        rows = [(code(figure.facet), *cells(figure)) for figure in one.figures]
        parts += [f"## {escape(one.file)}: {plural(one.n, 'question')}", prose(ways(one)), rows_of(("Facet", *HEADS), rows)]
        parts += ["\n".join(f"- {line}" for line in _md_lists(one)), *(f"- {prose(note)}" for note in one.notes)]
    parts += [MEANING, *(f"- {prose(note)}" for note in report.notes)]
    for heading, text in queries(report):
        fence = "`" * max(3, 1 + max((len(run) for run in text.split() if set(run) == {"`"}), default=0))
        parts.append(f"### {escape(heading)}\n\n{fence}cypher\n{text}\n{fence}")
    return "\n\n".join(part for part in parts if part) + "\n"


def queries(report: CoverageReport) -> Iterator[tuple[str, str]]:
    """For each set and facet that misses something: a heading, and the Cypher that lists all of it with its `:param` lines."""
    from kgeval.graph.literals import cypher_literal

    layout = f":param layout => {cypher_literal(report.layout.model_dump())}"
    for one in report.sets:
        for figure in one.figures:
            if figure.query:
                given = [f":param {name} => {cypher_literal(value)}" for name, value in sorted(figure.parameters.items())]
                text = "\n".join(plain_code(line) for line in (layout, *given, figure.query.strip()))
                yield f"All {figure.facet} that {visible(one.file, longest=60)} misses", text


def ways(one: CoverageSet) -> str:
    """How the questions were found: `8 by records (element_id 5, name 3), 2 by names in their texts, 0 nowhere; documents: ...`"""
    told, references = one.ways, _counts(one.ways.references)
    found = f"{number(told.recorded)} found by records" + (f" ({references})" if references else "")
    lost = f"; {plural(told.lost, 'reference')} lost" if told.lost else ""
    documents = f"; documents by {_counts(told.documents)}" if set(told.documents) - {"nothing"} else ""
    hops = f"; hops by {_counts(told.hops)}" if set(told.hops) - {"nothing"} else ""
    return f"{found}, {number(told.by_names)} by names in their texts, {number(told.nowhere)} nowhere{lost}{documents}{hops}"


def cells(figure: CoverageFigure) -> tuple[str, ...]:
    """A figure as a row, in the order of HEADS; `-` where there is none."""
    if figure.total is None:
        return ("-",) * len(HEADS)
    size = "-" if figure.size_share is None else percent(figure.size_share)
    return (
        number(figure.covered or 0), number(figure.total), percent(figure.share), percent(figure.recorded_share), size,
        number(figure.questions),
    )


def _head(report: CoverageReport) -> str:
    graph = visible(report.graph or "whole database", longest=60)
    return f"kgeval questions coverage: {graph}, layout {report.layout.name}, {number(report.entities)} entities, " + (
        f"{number(report.relations)} relations"
    )


def _counts(counts: dict[str, int]) -> str:
    return joined([f"{visible(name, longest=40)} {number(n)}" for name, n in counts.items()])


def _lists(console: Console, one: CoverageSet) -> None:
    for figure in one.figures:
        for what, line in _lines(figure, _SHOWN):
            console.print(f"{figure.facet} {what}: {line}", overflow="fold")


def _md_lists(one: CoverageSet) -> Iterator[str]:
    for figure in one.figures:
        for what, line in _lines(figure, len(figure.groups) + len(figure.missing)):
            yield f"{figure.facet} {what}: {prose(line)}"


def _lines(figure: CoverageFigure, most: int) -> Iterator[tuple[str, str]]:
    """What is covered most, and what is missed, a line each; or why there is no figure."""
    if figure.total is None or figure.covered is None:
        yield "not measurable", figure.reason or "no reason is known"
        return
    for what, groups, total in (("covered", figure.groups, figure.covered), ("missed", figure.missing, figure.total - figure.covered)):
        if total:
            shown = [_group(one) for one in groups[:most]]
            more = [f"{number(total - len(shown))} more"] if total > len(shown) else []
            yield what, "; ".join([*shown, *more])


def _group(one: CoverageGroup) -> str:
    size = "" if one.size is None else f", of {number(one.size)}"
    asked = f" ({plural(one.questions, 'question')}{size})" if one.questions else "" if one.size is None else f" ({number(one.size)})"
    return visible(one.name, longest=60) + asked
