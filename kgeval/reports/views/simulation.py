"""The proof by simulation: whether a comparison says what is true in worlds whose truth is known."""

from __future__ import annotations

from kgeval.format import figure, number, percent, plural
from kgeval.records import SimulatedScenario, SimulationBound, SimulationReport
from kgeval.reports.document import Cell, Document, Section, Table

ENOUGH_RUNS = 50  # of fewer, a share of runs moves by more than 2 points with each of them
_ACCURACY = ("scenario", "truth", "estimate", "held", "alarms", "biased", "biased held", "biased alarms")
_STOPS = ("scenario", "a", "b", "equal", "open", "wrong", "same", "questions", "calls", "missed", "peeking")
_OF_ACCURACY = (
    "Relative win rates: the truth by a fair judge, and the mean estimate of the procedure; held: intervals that hold the truth; alarms: "
    "runs with p < 0.05. biased: one order, one trial, free lengths, no ties, on the same draws."
)
_OF_STOPS = (
    "Decisions; wrong: not true; same: what all trials say; questions and calls: means, calls as a share of all trials' calls; missed: the "
    "confidence sequence ever excluded the truth; peeking: an ordinary interval, looked at after every question, did."
)


def document(report: SimulationReport) -> Document:
    """The verdict with the bounds that are broken, the figures of each scenario, every bound."""
    broken = [bound for bound in report.bounds if not bound.held]
    few = report.runs < ENOUGH_RUNS
    lead = [f"{plural(report.runs, 'comparison')} a scenario are too few to judge bounds by: a bound may be held or not by chance. "
            f"Give --simulate-runs {ENOUGH_RUNS} or more"] if few else []
    lead += [f"not held: {bound.scenario}: {bound.what}: {percent(bound.figure)}, wanted {_range(bound)}" for bound in broken]
    about = (
        f"{plural(report.runs, 'comparison')} a scenario, {plural(report.trials, 'trial')} (M), {report.repeats} calls a position (N), "
        f"{percent(report.confidence)} intervals, tie region {report.tie_region:g}, {number(report.resamples)} resamples, "
        f"seed {report.seed}"
    )
    trials = plural(min(report.stop_trials, report.trials), "trial")
    worlds = [(one.name, one.about, number(one.questions), percent(one.kept)) for one in report.scenarios]
    bounds = [
        (bound.scenario, bound.what, percent(bound.figure), _range(bound), "yes" if bound.held else Cell("NO", tone="error"))
        for bound in report.bounds
    ]
    sections = [
        Section("Worlds", [Table(("scenario", "what", "questions", "lengths aligned"), worlds, words=frozenset({0, 1}))], forms="long"),
        Section("The procedure, and the biased baseline on the same draws", [
            Table(_ACCURACY, [(one.name, *_accuracy(one)) for one in report.scenarios], hint=_OF_ACCURACY, short=100),
        ]),
        Section(f"Stopping when sure ({trials} a question)", [
            Table(_STOPS, [(one.name, *_stops(one)) for one in report.scenarios], hint=_OF_STOPS, short=100),
        ]),
        Section("Bounds", [
            Table(("scenario", "what", "figure", "bound", "held"), bounds, words=frozenset({0, 1, 3, 4}), long=500),
        ], forms="long"),
    ]
    return Document(
        "Proof by simulation", "compare --simulate", sections, about=about, lead=[verdict(report), *lead], tone="error" if broken else "",
        more="Every bound and what the worlds are made of: add -o report.html",
    )


def verdict(report: SimulationReport) -> str:
    """One line: are all bounds held?"""
    broken = sum(not bound.held for bound in report.bounds)
    if not broken:
        return f"All {number(len(report.bounds))} bounds are held."
    return f"{number(broken)} of {number(len(report.bounds))} bounds {'is' if broken == 1 else 'are'} NOT held."


def _accuracy(one: SimulatedScenario) -> tuple[str, ...]:
    ours, theirs = one.unbiased, one.biased
    return (
        figure(one.truth), figure(ours.mean), percent(ours.covered), percent(ours.alarms), figure(theirs.mean), percent(theirs.covered),
        percent(theirs.alarms),
    )


def _stops(one: SimulatedScenario) -> tuple[str, ...]:
    stop = one.sequential
    shares = (stop.a, stop.b, stop.equal, stop.open, stop.wrong, stop.same)
    return *map(percent, shares), f"{stop.questions:.1f}", percent(stop.calls_share), percent(stop.missed), percent(stop.peeking)


def _range(bound: SimulationBound) -> str:
    if bound.low is None:
        return f"at most {percent(bound.high or 0.0)}"
    return f"at least {percent(bound.low)}" if bound.high is None else f"{percent(bound.low)} to {percent(bound.high)}"
