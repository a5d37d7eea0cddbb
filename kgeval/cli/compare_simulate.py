"""`kgeval compare --simulate`: is the procedure unbiased? Judges with known biases, systems with a known difference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kgeval.cli.common import arguments, say
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.comparison.simulate import Simulation, SimulationSettings
    from kgeval.manifest import Started
    from kgeval.records import SimulationReport

NUMBERS = ("runs", "seed", "trials", "repeats", "tie_region", "stop_trials", "resamples")
USED = (*NUMBERS, "n_questions", "effects")
MOST_CELLS = 40_000_000  # questions x trials x calls of one comparison that fit in memory


def simulate_command(options: Mapping[str, Any]) -> int:
    """Runs the proof and shows it. No model is asked and nothing is read.

    `options`, each optional, null as if not given: runs, seed, trials, repeats, tie_region, stop_trials, resamples; n_questions; effects
    (points of an aspect); outputs, form, quiet. Others are not looked at.
    Exit codes: 0 all bounds are held, 1 one is not, 2 wrong input.
    """
    from kgeval.cli.show import show_report
    from kgeval.comparison.simulate import simulate
    from kgeval.manifest import Started
    from kgeval.records import SimulationReport
    from kgeval.reports.write import check_outputs

    outputs = tuple(options.get("outputs") or ())
    used = {**{name: options.get(name) for name in USED}, "outputs": outputs}
    started = Started("compare --simulate", arguments(used))
    check_outputs(outputs, SimulationReport)
    settings = _settings(options)
    form = options.get("form") or "text"
    if form not in ("text", "json", "md"):
        raise UsageError(f"a simulation has no form '{form}'", fix="choose one of: text, json, md")
    if options.get("answers") or options.get("systems"):
        raise UsageError("--simulate draws its own systems: it takes no answers and no --system", fix="leave out these, or --simulate")
    made = simulate(settings, done=None if options.get("quiet") else lambda name: say(f"drawn: {name}"))
    report = _report(made, started)
    show_report(report, {"form": form, "redact": False, "quiet": bool(options.get("quiet"))}, outputs)
    if options.get("quiet") and not report.passed:
        say("not all bounds are held; without -q it is said which")
    return report.run.exit_code


def _settings(options: Mapping[str, Any]) -> SimulationSettings:
    from kgeval.comparison.simulate import SimulationSettings

    given = {name: options[name] for name in NUMBERS if options.get(name) is not None}
    if options.get("n_questions") is not None:
        given["questions"] = options["n_questions"]
    if options.get("effects"):
        given["effects"] = tuple(options["effects"])
    try:
        settings = SimulationSettings(**given)
    except ValueError as cause:
        raise UsageError(f"nothing can be simulated: {cause}", fix="give other numbers, or leave them out") from cause
    if settings.questions * settings.trials * settings.repeats > MOST_CELLS // 16:
        raise UsageError("one comparison of that size does not fit in memory", fix="give fewer questions, --trials or --repeats")
    return settings


def _report(made: Simulation, started: Started) -> SimulationReport:
    from kgeval.records import SimulatedScenario, SimulationBound, SimulationReport

    settings = made.settings
    scenarios = [
        SimulatedScenario(
            name=one.scenario.name, about=one.scenario.about, truth=one.truth, questions=one.questions, kept=one.kept, calls=one.calls,
            judge=asdict(one.scenario.judge), systems=asdict(one.scenario.systems), sequential=one.sequential,
            unbiased=one.unbiased, biased=one.biased,
        )
        for one in made.results
    ]
    return SimulationReport(
        run=started.manifest(seed=settings.seed, exit_code=0 if made.passed else 1), runs=settings.runs, seed=settings.seed,
        trials=settings.trials, repeats=settings.repeats, confidence=settings.confidence, tie_region=settings.tie_region,
        stop_trials=settings.stop_trials, resamples=settings.resamples, passed=made.passed, scenarios=scenarios,
        bounds=[SimulationBound(**asdict(bound), held=bound.held) for bound in made.bounds],
    )
