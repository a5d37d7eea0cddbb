"""The proof by simulation: whether a comparison says what is true in worlds whose truth is known."""

from __future__ import annotations

from kgeval.format import figure, number, percent, plural
from kgeval.records import SimulationBound, SimulationReport
from kgeval.reports.document import Cell, Document, Section, columns

ENOUGH_RUNS = 50  # of fewer, a share of runs moves by more than 2 points with each of them
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
    bounds, broken = number(len(report.bounds)), [bound for bound in report.bounds if not bound.held]
    are = "is" if len(broken) == 1 else "are"
    lead = [f"{number(len(broken))} of {bounds} bounds {are} NOT held." if broken else f"All {bounds} bounds are held."]
    lead += [f"{plural(report.runs, 'comparison')} a scenario are too few to judge bounds by: a bound may be held or not by chance. "
            f"Give --simulate-runs {ENOUGH_RUNS} or more"] if report.runs < ENOUGH_RUNS else []
    lead += [f"not held: {bound.scenario}: {bound.what}: {percent(bound.figure)}, wanted {_range(bound)}" for bound in broken]
    about = (
        f"{plural(report.runs, 'comparison')} a scenario, {plural(report.trials, 'trial')} (M), {report.repeats} calls a position (N), "
        f"{percent(report.confidence)} intervals, tie region {report.tie_region:g}, {number(report.resamples)} resamples, "
        f"seed {report.seed}"
    )
    trials = plural(min(report.stop_trials, report.trials), "trial")
    sections = [
        Section("Worlds", [columns(report.scenarios, {
            "scenario": lambda one: one.name,
            "what": lambda one: one.about,
            "questions": lambda one: number(one.questions),
            "lengths aligned": lambda one: percent(one.kept),
        }, words=frozenset({0, 1}))], forms="long"),
        Section("The procedure, and the biased baseline on the same draws", [columns(report.scenarios, {
            "scenario": lambda one: one.name,
            "truth": lambda one: figure(one.truth),
            "estimate": lambda one: figure(one.unbiased.mean),
            "held": lambda one: percent(one.unbiased.covered),
            "alarms": lambda one: percent(one.unbiased.alarms),
            "biased": lambda one: figure(one.biased.mean),
            "biased held": lambda one: percent(one.biased.covered),
            "biased alarms": lambda one: percent(one.biased.alarms),
        }, hint=_OF_ACCURACY, short=100)]),
        Section(f"Stopping when sure ({trials} a question)", [columns(report.scenarios, {
            "scenario": lambda one: one.name,
            "a": lambda one: percent(one.sequential.a),
            "b": lambda one: percent(one.sequential.b),
            "equal": lambda one: percent(one.sequential.equal),
            "open": lambda one: percent(one.sequential.open),
            "wrong": lambda one: percent(one.sequential.wrong),
            "same": lambda one: percent(one.sequential.same),
            "questions": lambda one: f"{one.sequential.questions:.1f}",
            "calls": lambda one: percent(one.sequential.calls_share),
            "missed": lambda one: percent(one.sequential.missed),
            "peeking": lambda one: percent(one.sequential.peeking),
        }, hint=_OF_STOPS, short=100)]),
        Section("Bounds", [columns(report.bounds, {
            "scenario": lambda one: one.scenario,
            "what": lambda one: one.what,
            "figure": lambda one: percent(one.figure),
            "bound": _range,
            "held": lambda one: "yes" if one.held else Cell("NO", tone="error"),
        }, words=frozenset({0, 1, 3, 4}), long=500)], forms="long"),
    ]
    return Document(
        "Proof by simulation", "compare --simulate", sections, about=about, lead=lead, tone="error" if broken else "",
        more="Every bound and what the worlds are made of: add -o report.html",
    )


def _range(bound: SimulationBound) -> str:
    if bound.low is None:
        return f"at most {percent(bound.high or 0.0)}"
    return f"at least {percent(bound.low)}" if bound.high is None else f"{percent(bound.low)} to {percent(bound.high)}"
