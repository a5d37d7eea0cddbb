"""The proof by simulation on a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.records import SimulatedScenario, SimulationBound, SimulationReport
from kgeval.reports.console import screen, table, text_of, title, where
from kgeval.reports.display import figure, number, percent, plural, visible
from kgeval.reports.markdown import escape
from kgeval.reports.markdown import table as rows_of

if TYPE_CHECKING:
    from rich.console import Console

ACCURACY = ("truth", "estimate", "held", "alarms", "biased", "held", "alarms")
STOPS = ("a", "b", "equal", "open", "wrong", "same", "questions", "calls", "missed", "peeking")
OF_ACCURACY = (
    "Relative win rates: the truth by a fair judge, and the mean estimate of the procedure; held: intervals that hold the truth; alarms: "
    "runs with p < 0.05. biased: one order, one trial, free lengths, no ties, on the same draws."
)
OF_STOPS = (
    "Decisions; wrong: not true; same: what all trials say; questions and calls: means, calls as a share of all trials' calls; missed: the "
    "confidence sequence ever excluded the truth; peeking: an ordinary interval, looked at after every question, did."
)


def terminal(report: SimulationReport, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()) -> str:
    """The figures as text. `written`: the report files that exist now."""
    console, out = screen(width=width, colour=colour)
    console.print(f"kgeval compare --simulate: {_drawn(report)}", style="dim", overflow="fold")
    console.print(verdict(report), style="bold", overflow="fold")
    for bound in _broken(report):
        console.print(_said(bound), overflow="fold")
    _table(console, "THE PROCEDURE, AND THE BIASED BASELINE ON THE SAME DRAWS", ACCURACY, report, accuracy_cells)
    console.print(OF_ACCURACY, style="dim", overflow="fold")
    _table(console, f"STOPPING WHEN SURE ({plural(min(report.stop_trials, report.trials), 'trial')} a question)", STOPS, report, stop_cells)
    console.print(OF_STOPS, style="dim", overflow="fold")
    where(console, written, "Every bound and what the worlds are made of: add -o report.json")
    return text_of(out)


def markdown(report: SimulationReport) -> str:
    """The figures in Markdown, with every bound."""
    parts = ["# Proof by simulation", f"**{escape(verdict(report), longest=300)}** {escape(_drawn(report), longest=300)}."]
    worlds = [(escape(one.name), escape(one.about), number(one.questions), percent(one.kept)) for one in report.scenarios]
    parts.append("## Worlds\n\n" + rows_of(("Scenario", "What", "Questions", "Lengths aligned"), worlds))
    accuracy = [(escape(one.name), *accuracy_cells(one)) for one in report.scenarios]
    parts += ["## The procedure, and the biased baseline\n\n" + rows_of(("Scenario", *ACCURACY), accuracy), _legend(OF_ACCURACY)]
    stops = [(escape(one.name), *stop_cells(one)) for one in report.scenarios]
    parts += ["## Stopping when sure\n\n" + rows_of(("Scenario", *STOPS), stops), _legend(OF_STOPS)]
    bounds = [
        (escape(one.scenario), escape(one.what), percent(one.figure), _range(one), "yes" if one.held else "NO") for one in report.bounds
    ]
    parts.append("## Bounds\n\n" + rows_of(("Scenario", "What", "Figure", "Bound", "Held"), bounds))
    return "\n\n".join(parts) + "\n"


def verdict(report: SimulationReport) -> str:
    """One line: are all bounds held?"""
    broken = len(_broken(report))
    if not broken:
        return f"All {number(len(report.bounds))} bounds are held."
    return f"{number(broken)} of {number(len(report.bounds))} bounds {'is' if broken == 1 else 'are'} NOT held."


def accuracy_cells(one: SimulatedScenario) -> tuple[str, ...]:
    """In the order of ACCURACY."""
    ours, theirs = one.unbiased, one.biased
    return (
        figure(one.truth), figure(ours.mean), percent(ours.covered), percent(ours.alarms), figure(theirs.mean), percent(theirs.covered),
        percent(theirs.alarms),
    )


def stop_cells(one: SimulatedScenario) -> tuple[str, ...]:
    """In the order of STOPS."""
    found = one.sequential
    shares = (found.a, found.b, found.equal, found.open, found.wrong, found.same)
    return *map(percent, shares), f"{found.questions:.1f}", percent(found.calls_share), percent(found.missed), percent(found.peeking)


def _drawn(report: SimulationReport) -> str:
    return (
        f"{plural(report.runs, 'comparison')} a scenario, {plural(report.trials, 'trial')} (M), {report.repeats} calls a position (N), "
        f"{percent(report.confidence)} intervals, tie region {report.tie_region:g}, {number(report.resamples)} resamples, "
        f"seed {report.seed}"
    )


def _legend(text: str) -> str:
    return escape(text, longest=len(text))


def _broken(report: SimulationReport) -> list[SimulationBound]:
    return [bound for bound in report.bounds if not bound.held]


def _said(bound: SimulationBound) -> str:
    name, what = visible(bound.scenario, longest=60), visible(bound.what, longest=80)
    return f"not held: {name}: {what}: {percent(bound.figure)}, wanted {_range(bound)}"


def _range(bound: SimulationBound) -> str:
    if bound.low is None:
        return f"at most {percent(bound.high or 0.0)}"
    return f"at least {percent(bound.low)}" if bound.high is None else f"{percent(bound.low)} to {percent(bound.high)}"


def _table(
    console: Console, heading: str, heads: Sequence[str], report: SimulationReport, cells: Callable[[SimulatedScenario], tuple[str, ...]],
) -> None:
    title(console, heading)
    made = table("SCENARIO", *heads)
    for one in report.scenarios:
        made.add_row(visible(one.name, longest=40), *cells(one))
    console.print(made)
