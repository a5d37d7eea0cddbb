"""Several graphs side by side: a row a figure or a check, a column a graph [X tables 5 and 13]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kgeval.format import number, percent, plural
from kgeval.overview import priorities
from kgeval.overview.findings import taken_out
from kgeval.overview.structure import figure_of
from kgeval.records import HALF_LOADED, SEVERITIES, CheckCell, CheckRow, FigureRow, GraphsReport, Status
from kgeval.reports import document as blocks
from kgeval.reports.document import Document, Items, Section, Table, Text
from kgeval.reports.plots_graphs import bars
from kgeval.reports.views.parts import gate_tally, gates_section, version_line

COMPARED = (  # in the order of [X table 5, figure 5, table 13]; each has a plot
    "entities", "relations", "entities_per_1k_tokens", "relations_per_1k_tokens", "average_degree", "average_clustering", "isolated_share",
    "degree_above_1", "degree_above_2", "degree_above_3", "component_size_geometric", "giant_share", "components", "modularity",
    "communities",
)
_STATUS: dict[Status, str] = {"skipped": "not measurable", "incomplete": "timed out", "error": "did not run", "passed": "", "failed": ""}
LACKING = "–"


def document(report: GraphsReport) -> Document:
    """The figures that papers compare and the checks; in the long forms all figures, a plot a figure, and why checks have no answer."""
    missing = [f"{row.rule_id}: {why}" for row in report.checks if (why := unanswered(row, report.names))]
    sections = [
        *([gates_section(report.gates)] if report.gates else []), *tables(report),
        Section("", [Text(line)] if (line := lacking(report)) else []),
        Section("Figure by figure", [Items(report.names, ordered=True), *_plots(report)], id="plots", forms="page"),
        Section("Not measurable", [Items(missing)], id="missing", forms="page"),
    ]
    title = f"{plural(len(report.names), 'graph')} side by side"
    return Document(
        "Graphs side by side", "audit", sections, about=title, lead=lead(report), tally=list(gate_tally(report.gates)), notes=report.notes,
        foot=["A check: share and count of hits, * failed. –: not measured there."], more="All tables and plots: add -o graphs.html",
        end=version_line(report.run),
    )


def _plots(report: GraphsReport) -> Iterator[blocks.Figure]:
    rows = {row.id: row for row in report.figures}
    for row in (rows[name] for name in COMPARED if name in rows):
        figure = figure_of(row.id)
        percents = figure.unit == "share"
        values = [None if value is None else 100 * value if percents else value for value in row.values]
        drawing = bars(values, y="%" if percents else "", name=f"bars-{row.id}", texts=[value_of(row, value) for value in row.values])
        if drawing:
            yield blocks.Figure(drawing, figure.title, figure.what)


def lead(report: GraphsReport) -> list[str]:
    """One sentence a graph: its name, size and verdict."""
    lines = []
    for name, one in zip(report.names, report.reports, strict=True):
        known = {what: one.structure.get(what) for what in ("entities", "relations")}
        size = [f"{number(value)} {what}" for what, value in known.items() if isinstance(value, (int, float))]
        about = f" ({', '.join(size)})" if size else ""
        caution = f"Caution: {HALF_LOADED}. " if any(note.startswith(HALF_LOADED) for note in one.notes) else ""
        lines.append(f"{name}{about}: {caution}{priorities.verdict(one)}")
    return lines


def tables(report: GraphsReport) -> Iterator[Section]:
    """The figures that papers compare, the checks, then all other figures."""
    rows = {row.id: row for row in report.figures}
    yield from _figures(report, "Figures", [rows[name] for name in COMPARED if name in rows])
    yield from _checks(report)
    for section in _figures(report, "More figures", [row for row in report.figures if row.id not in COMPARED]):
        yield replace(section, forms="long")


def lacking(report: GraphsReport) -> str:
    """Which of the compared figures no graph has, in a sentence; "" if none."""
    known = {row.id for row in report.figures}
    names = [figure_of(name).title.lower() for name in COMPARED if name not in known]
    if not names or not report.figures:
        return "" if report.figures else "No structure figures were measured."
    return f"Not measured for any graph: {', '.join(names)}" + ("." if "tokens" in known else " (--corpus gives densities).")


def _figures(report: GraphsReport, title: str, rows: Sequence[FigureRow]) -> Iterator[Section]:
    if rows:
        made = [(figure_of(row.id).title, *(value_of(row, value) for value in row.values)) for row in rows]
        yield Section(title, [Table(("Figure", *report.names), made, short=20, long=60)])


def value_of(row: FigureRow, value: float | None) -> str:
    """The value as text; a dash where it could not be measured."""
    return LACKING if value is None else figure_of(row.id).text(value)


def _checks(report: GraphsReport) -> Iterator[Section]:
    """By severity, those that fail somewhere; then those that pass everywhere they have an answer."""
    for title, failing in (("Checks that fail", True), ("Checks that fail nowhere", False)):
        rows = [row for row in report.checks if any(cell.status == "failed" for cell in row.cells) is failing]
        rows.sort(key=lambda row: SEVERITIES.index(row.severity))
        if rows:
            made = [(row.title, row.severity, *map(cell_of, row.cells)) for row in rows]
            table = Table(("Check", "Severity", *report.names), made, words=frozenset({0, 1}), short=20, long=60)
            yield Section(title, [table], forms="all" if failing else "long")


def cell_of(cell: CheckCell) -> str:
    """Share and count, how many of them are waived or known, a star where it failed; else why there is none."""
    if cell.count is None:
        return LACKING if cell.status is None else _STATUS[cell.status] or LACKING
    out = "".join(f"; {part}" for part in taken_out(cell))
    text = f"{number(cell.count)}{out}" if cell.share is None else f"{percent(cell.share)} ({number(cell.count)}{out})"
    return text + (" *" if cell.status == "failed" else "")


def unanswered(row: CheckRow, names: Sequence[str]) -> str:
    """Why graphs have no answer, by their names."""
    return "; ".join(f"{name}: {cell.reason}" for name, cell in zip(names, row.cells, strict=True) if cell.count is None and cell.reason)
