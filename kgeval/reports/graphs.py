"""What a report of several graphs says, as tables of texts: a row a figure or a check, a column a graph [X tables 5 and 13]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgeval.records import SEVERITIES, CheckCell, CheckRow, FigureRow, GraphsReport, Status
from kgeval.reports import priorities
from kgeval.reports.display import number, percent
from kgeval.reports.figures import FIGURES, Figure
from kgeval.reports.overview.findings import taken_out
from kgeval.reports.tabled import Table

COMPARED = (  # in the order of [X table 5, figure 5, table 13]; each has a plot
    "entities", "relations", "entities_per_1k_tokens", "relations_per_1k_tokens", "average_degree", "average_clustering", "isolated_share",
    "degree_above_1", "degree_above_2", "degree_above_3", "component_size_geometric", "giant_share", "components", "modularity",
    "communities",
)
SHORT = ("Figures", "Checks that fail")  # the tables of a terminal
_FIGURES = {one.id: one for one in FIGURES}
_STATUS: dict[Status, str] = {"skipped": "not measurable", "incomplete": "timed out", "error": "did not run", "passed": "", "failed": ""}
LACKING = "–"


def figure_of(row: FigureRow) -> Figure:
    """What the figure is called and means."""
    return _FIGURES.get(row.id, Figure(row.id, row.id, ""))


def lead(report: GraphsReport) -> list[str]:
    """One sentence a graph: its name, size and verdict."""
    lines = []
    for name, one in zip(report.names, report.reports, strict=True):
        known = {what: one.structure.get(what) for what in ("entities", "relations")}
        size = [f"{number(value)} {what}" for what, value in known.items() if isinstance(value, (int, float))]
        about = f" ({', '.join(size)})" if size else ""
        lines.append(f"{name}{about}: {priorities.verdict(one)}")
    return lines


def tables(report: GraphsReport) -> Iterator[Table]:
    """The figures that papers compare, the checks, then all other figures."""
    rows = {row.id: row for row in report.figures}
    yield from _figures(report, "Figures", [rows[name] for name in COMPARED if name in rows])
    yield from _checks(report)
    yield from _figures(report, "More figures", [row for row in report.figures if row.id not in COMPARED])


def lacking(report: GraphsReport) -> str:
    """Which of the compared figures no graph has, in a sentence; "" if none."""
    known = {row.id for row in report.figures}
    names = [_FIGURES[name].title.lower() for name in COMPARED if name not in known]
    if not names or not report.figures:
        return "" if report.figures else "No structure figures were measured."
    return f"Not measured for any graph: {', '.join(names)}" + ("." if "tokens" in known else " (--corpus gives densities).")


def _figures(report: GraphsReport, title: str, rows: Sequence[FigureRow]) -> Iterator[Table]:
    if rows:
        made = tuple((figure_of(row).title, *(value_of(row, value) for value in row.values)) for row in rows)
        yield Table(title, ("Figure", *report.names), made)


def value_of(row: FigureRow, value: float | None) -> str:
    """The value as text; a dash where it could not be measured."""
    if value is None:
        return LACKING
    return percent(value) if figure_of(row).unit == "share" else number(value)


def _checks(report: GraphsReport) -> Iterator[Table]:
    """By severity, those that fail somewhere; then those that pass everywhere they have an answer."""
    for title, failing in (("Checks that fail", True), ("Checks that fail nowhere", False)):
        rows = [row for row in report.checks if any(cell.status == "failed" for cell in row.cells) is failing]
        rows.sort(key=lambda row: SEVERITIES.index(row.severity))
        if rows:
            made = tuple((row.title, row.severity, *map(cell_of, row.cells)) for row in rows)
            hint = "Share and count of hits; failed ones are marked *." if failing else ""
            yield Table(title, ("Check", "Severity", *report.names), made, frozenset({0, 1}), hint)


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
