"""What sets of questions cover of a graph."""

from __future__ import annotations

from collections.abc import Iterator

from kgeval.format import code, joined, number, percent, plural, share, visible
from kgeval.records import CoverageFigure, CoverageGroup, CoverageReport, CoverageSet
from kgeval.reports.document import Block, Cell, Code, Document, Items, Section, Table, Text
from kgeval.reports.listing import ended, parameter_lines
from kgeval.reports.views.parts import gates_section, notes_list

_HEADS = ("facet", "covered", "of", "share", "by records", "of the graph", "questions", "")
_MEANING = (
    "covered of: groups that a question touches, of those that the graph has. by records: the share without what was found by names in "
    "texts. of the graph: share of the entities (predicates: relations; documents: chunks) that are in covered groups."
)
_SHOWN = 5  # groups named in the short form
_LONGEST = 1_000_000  # of a line of groups: each name is cut by itself, so that figures and the count of the rest stay


def document(report: CoverageReport) -> Document:
    """A table a file; what is covered most and what is missed; the Cypher that lists all of that (on a terminal with --cypher)."""
    about = f"layout {report.layout.name}, {number(report.entities)} entities, {number(report.relations)} relations"
    statements: list[Block] = [
        Code(text, title=title, forms="all" if report.run.arguments.get("show_cypher") else "long") for title, text in _statements(report)
    ]
    sets = (Section(f"{set_.file}: {plural(set_.n, 'question')}", list(_set(set_))) for set_ in report.sets)
    sections = [gates_section(report.gates), *sets]
    sections.append(Section("Cypher of what is missed", statements))
    return Document(
        "Coverage of questions", "questions coverage", sections,
        name=report.graph or "whole database", about=about, notes=report.notes, foot=[_MEANING],
        more="Longer lists: add -o report.json; the Cypher that lists all that is missing: --cypher, or -o report.md",
    )


def _set(covered_set: CoverageSet) -> Iterator[Block]:
    yield Text(_ways(covered_set), style="hint")
    yield Table(_HEADS, [_row(figure) for figure in covered_set.figures])
    yield Items([line for figure in covered_set.figures for line in _lines(figure, _SHOWN)], short=100, longest=_LONGEST, forms="short")
    every = [line for figure in covered_set.figures for line in _lines(figure, len(figure.groups) + len(figure.missing))]
    yield Items(every, longest=_LONGEST, forms="long")
    yield notes_list(covered_set.notes)


def _statements(report: CoverageReport) -> Iterator[tuple[str, str]]:
    """For each set and facet that misses something: a heading, and the Cypher that lists all of it with its `:param` lines."""
    from kgeval.graph.binding import fields_left

    for set_ in report.sets:
        for figure in set_.figures:
            if figure.query:
                given = parameter_lines({**figure.parameters, **fields_left(figure.query, report.layout)})
                text = "\n".join(filter(None, [given, code(ended(figure.query.strip()))]))
                yield f"All {figure.facet} that {visible(set_.file, longest=60)} misses", text


def _ways(covered_set: CoverageSet) -> str:
    """How the questions were found: `8 by records (element_id 5, name 3), 2 by names in their texts, 0 nowhere; documents: ...`"""
    ways, references = covered_set.ways, _counts(covered_set.ways.references)
    found = f"{number(ways.recorded)} found by records" + (f" ({references})" if references else "")
    lost = f"; {plural(ways.lost, 'reference')} lost" if ways.lost else ""
    documents = f"; documents by {_counts(ways.documents)}" if set(ways.documents) - {"nothing"} else ""
    hops = f"; hops by {_counts(ways.hops)}" if set(ways.hops) - {"nothing"} else ""
    return f"{found}, {number(ways.by_names)} by names in their texts, {number(ways.nowhere)} nowhere{lost}{documents}{hops}"


def _row(figure: CoverageFigure) -> tuple[str | Cell, ...]:
    if figure.total is None:
        return figure.facet, *("-",) * 6, ""
    return (
        figure.facet, number(figure.covered or 0), number(figure.total), percent(figure.share), percent(figure.recorded_share),
        share(figure.size_share), number(figure.questions), Cell("", bar=figure.share),
    )


def _counts(counts: dict[str, int]) -> str:
    return joined([f"{visible(name, longest=40)} {number(n)}" for name, n in counts.items()])


def _lines(figure: CoverageFigure, most: int) -> Iterator[str]:
    """What is covered most, and what is missed, a line each; or why there is no figure."""
    if figure.total is None or figure.covered is None:
        yield f"{figure.facet} not measurable: {visible(figure.reason or 'no reason is known', longest=300)}"
        return
    for what, groups, total in (("covered", figure.groups, figure.covered), ("missed", figure.missing, figure.total - figure.covered)):
        if total:
            named = [_group(group) for group in groups[:most]]
            more = [f"{number(total - len(named))} more"] if total > len(named) else []
            yield f"{figure.facet} {what}: {'; '.join([*named, *more])}"


def _group(group: CoverageGroup) -> str:
    size = "" if group.size is None else f", of {number(group.size)}"
    name = visible(group.name, longest=60)
    if group.questions:
        return f"{name} ({plural(group.questions, 'question')}{size})"
    return name if group.size is None else f"{name} ({number(group.size)})"
