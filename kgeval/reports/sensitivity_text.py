"""Sensitivity of metrics on a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.records import ConditionScores, Sensitivity, SensitivityReport
from kgeval.reports.console import screen, table, text_of, title, where
from kgeval.reports.display import figure, number, plural, visible
from kgeval.reports.markdown import code, escape, prose
from kgeval.reports.markdown import table as rows_of
from kgeval.reports.usage import usage_line

if TYPE_CHECKING:
    from rich.console import Console

_HEADS = ("reference", "answered", "wrong", "AUC ref", "AUC ans", "scored", "failed")
_MEANING = (
    "Medians under each condition. AUC: the chance that a reference (ref) or an answer (ans) scores better than an answer to another "
    "question; 1: told apart, 0.5: no difference."
)
_ALL = "all systems"


def terminal(report: SensitivityReport, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()) -> str:
    """The result as text: one table a system. `written`: the report files that exist now."""
    console, out = screen(width=width, colour=colour)
    console.print(f"kgeval metrics sensitivity: {plural(report.rows, 'answer')}, seed {report.seed}", style="dim")
    for line in facts(report):
        console.print(line, overflow="fold")
    for system in _systems(report):
        _table(console, system, [one for one in report.results if one.system == system])
    console.print()
    console.print(_MEANING, style="dim", overflow="fold")
    for note in report.notes[:5]:
        console.print(f"note: {visible(note, longest=240)}", style="dim", overflow="fold")
    if report.run.model_use:
        console.print(usage_line(report.run), style="dim", overflow="fold")
    where(console, written, "Distributions and failures by cause: add -o report.json")
    return text_of(out)


def markdown(report: SensitivityReport) -> str:
    """The result in Markdown."""
    parts = [f"# Sensitivity of metrics\n\n{plural(report.rows, 'answer')}, seed {report.seed}.", *(prose(line) for line in facts(report))]
    for system in _systems(report):
        rows = [(code(one.metric), *_cells(one)) for one in report.results if one.system == system]
        parts.append(f"## {escape(_ALL if system is None else system)}\n\n" + rows_of(("Metric", *_HEADS), rows))
    parts += [_MEANING, *(f"- {prose(note)}" for note in report.notes)]
    return "\n\n".join(parts) + "\n"


def facts(report: SensitivityReport) -> list[str]:
    """What a reader must know: an early stop, rows left out, answers used twice."""
    lines = [] if report.complete else ["Not complete: the run was stopped; what is missing counts as failed."]
    lines += [f"{plural(n, 'row')} left out: {why}." for why, n in report.left_out.items()]
    if report.reused:
        lines.append(f"{plural(report.reused, 'wrong answer')} had to be used again: too few answers are wrong there.")
    return lines


def _systems(report: SensitivityReport) -> list[str | None]:
    return list(dict.fromkeys(one.system for one in report.results))


def _table(console: Console, system: str | None, results: Sequence[Sensitivity]) -> None:
    title(console, _ALL if system is None else visible(system, longest=60))
    made = table("METRIC", *_HEADS)
    for one in results:
        made.add_row(visible(one.metric, longest=40), *_cells(one))
    console.print(made)


def _cells(one: Sensitivity) -> tuple[str, ...]:
    parts = {part.condition: part for part in one.conditions}
    scored, wanted = (sum(getattr(part, name) for part in one.conditions) for name in ("n_scored", "n"))
    failed = sum(sum(part.failures.values()) for part in one.conditions)
    return (
        *(figure(_median(parts.get(name))) for name in ("reference", "answered", "wrong")), figure(one.auc_reference),
        figure(one.auc_answered), f"{number(scored)} of {number(wanted)}", number(failed),
    )


def _median(part: ConditionScores | None) -> float | None:
    return part.spread.median if part else None
