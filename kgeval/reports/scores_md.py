"""Scores in Markdown, short enough for a comment on a pull request: verdict, gates and scores are open, the rest is folded."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgeval.format import figure
from kgeval.records import ScoreReport
from kgeval.reports.markdown import cell as own
from kgeval.reports.markdown import code, elsewhere, escape, fitted, more, notes, prose
from kgeval.reports.markdown import table as rows_of
from kgeval.reports.scores_grids import Cell, Grid, Section
from kgeval.reports.scores_sections import sections
from kgeval.reports.scores_view import View, verdict, view_of
from kgeval.reports.scores_worst import worst_rows
from kgeval.reports.usage import usage_line

_OPEN = ("gates", "scores", "leaderboard")
_ROWS = {"scores": 40, "gates": 20, "leaderboard": 20}
_OTHERS = 12
_TABLES = 6
_WIDE = 14  # columns: with more, a table for each question type
_FIGURES = re.compile(r"[\d .,\[\]/+<>%-]{1,60}(n/a)?", re.ASCII)  # none of these can open a link, emphasis or formula


def markdown(report: ScoreReport) -> str:
    """The report in Markdown, at most MOST_CHARACTERS long: what does not fit is left out from the end, and that is said."""
    view = view_of(report)
    use = prose(usage_line(report.run)) if report.run.model_use else ""
    first, *others = [escape(line, longest=900) for line in verdict(view)]
    head = ["# Scores", f"**{first}**", "\n".join(f"- {line}" for line in others)]
    tail = [notes(report.notes), use, _foot(report)]
    blocks = [*(_block(section) for section in sections(view)), _worst(view), _definitions(view)]
    return fitted(head, blocks, tail)


def _block(section: Section) -> str:
    grids = [grid for grid in section.grids if grid.main or section.id == "types"]
    if section.id == "types" and all(grid.main for grid in grids):
        grids = _side_by_side(grids)
    most = _ROWS.get(section.id, _OTHERS)
    parts = [escape(section.hint, longest=600), *(_grid(grid, most) for grid in grids[:_TABLES])]
    text = "\n\n".join(parts) + elsewhere(len(grids) - _TABLES)
    if not grids:
        return ""
    return f"## {section.title}\n\n{text}" if section.id in _OPEN else _folded(section.title, text)


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def _side_by_side(grids: Sequence[Grid]) -> list[Grid]:
    """One table with all types, as in the paper, while it has few enough columns."""
    if sum(len(grid.heads) - 1 for grid in grids) > _WIDE:
        return list(grids)
    heads = tuple(f"{grid.title}: {head}" for grid in grids for head in grid.heads[1:])
    rows = tuple(
        (label, tuple(cell for grid in grids for cell in grid.rows[at][1])) for at, (label, _) in enumerate(grids[0].rows)
    )
    return [Grid("", (grids[0].heads[0], *heads), rows, bare=True)]


def _grid(grid: Grid, most: int) -> str:
    heads = [_text(head) for head in grid.heads]
    rows = [(_text(label), *(_cell(cell, bare=grid.bare) for cell in cells)) for label, cells in grid.rows[:most]]
    name = f"**{_text(grid.title)}**\n\n" if grid.title else ""
    return name + rows_of(heads, rows) + elsewhere(len(grid.rows) - most)


def _cell(cell: Cell, *, bare: bool) -> str:
    text = _text(cell.text) + (" \\*" if cell.best else "")
    strong = f"**{text}**" if cell.best or cell.bad else text
    return f"{strong} ({_text(cell.sub)})" if cell.sub and not bare else strong


def _text(text: str) -> str:
    """Figures as they are; everything else may be anybody's text."""
    if _FIGURES.fullmatch(text):
        return own(text)
    return code(text, longest=60) if "@" in text else escape(text, longest=60)


def _worst(view: View) -> str:
    lines = []
    for row in worst_rows(view, most=10):
        name = f"{code(row.question_id, longest=60)}, {_text(row.system)}, {_text(row.metric)} {own(figure(row.value))}"
        reasons = "; ".join(code(reason, longest=160) for reason in row.reasons[:3]) or "no reason given"
        given = (("question", row.question), ("answer", row.answer))
        texts = [f"{title}: {code(text, longest=200)}" for title, text in given if text.strip()]
        lines.append("- " + "; ".join([f"{name}: {reasons}", *texts]))
    return _folded("Worst rows", "\n".join(lines) + more(len(view.report.worst) - len(lines))) if lines else ""


def _definitions(view: View) -> str:
    infos = list(view.info.values())[:60]
    rows = [(_text(one.metric), escape(one.summary, longest=160), escape(one.source, longest=80), code(one.signature)) for one in infos]
    return _folded("Metrics and signatures", rows_of(("Metric", "What it is", "Source", "Signature"), rows)) if rows else ""


def _foot(report: ScoreReport) -> str:
    run = report.run
    models = ", ".join(f"{one.role} {code(one.name, longest=60)}" for one in run.models)
    seed = "" if run.seed is None else f", seed {run.seed}"
    return f"kgeval {escape(run.kgeval)}{seed}, {escape(run.started)}, {run.seconds:.1f} s" + (f", {models}" if models else "")
