"""`kgeval report`: one report over everything that a run came to."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import SEVERITIES, arguments, say
from kgeval.cli.show import check_options, show_report
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.records import OverviewReport
    from kgeval.reports.overview.sources import Sources
    from kgeval.stats.thresholds import Threshold


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="RUN...")
@click.option("-c", "--config", "config_file", type=click.Path(path_type=Path), help="Configuration file (default: ./kgeval.toml).")
@click.option(
    "--baseline", "baselines", multiple=True, type=click.Path(exists=True, path_type=Path), metavar="RUN",
    help="An earlier run to compare with: folder, report files, or an earlier report of this command (repeatable).",
)
@click.option("--fail-if-worse", is_flag=True, help="Exit 1 if a figure is worse than the baseline's beyond noise.")
@click.option("--fail-on", type=click.Choice(SEVERITIES), default=None, help="Exit 1 if a check of this severity or worse failed.")
@click.option(
    "--threshold", "thresholds", multiple=True, metavar="[SYSTEM:]FIGURE>=X",
    help="E.g. entity_coverage>=0.85, graph:faithfulness>=0.9; missed: exit 1 (comma or repeated).",
)
@click.option("--title", help="Heading of the report.")
@check_options
def report(**options: Any) -> int:
    """One report to make a decision from, over all reports in RUN: folders of kgeval run, report files (.json, .html), or several.

    Verdict, what to mend first, a rubric of five scores, every figure with n, interval and signature, cost, what is missing; and against
    --baseline what is better, worse or within noise. Reports are known by what they hold, whatever their names.

    Exit codes: 0 done, 1 a gate is missed (of a report, --threshold, --fail-on, --fail-if-worse), 2 wrong input, 3 a report or a stage of
    the run is not complete or a gate has no answer.
    """
    from kgeval import config as configuration

    section = configuration.load(options["config_file"]).report
    outputs = list(options["outputs"]) or [Path(path) for path in section.outputs]
    options = {**options, "redact": options["redact"] or section.redact}
    made = _with_links(_made(options, outputs), outputs)
    code = exit_code(made)
    made = made.model_copy(update={"run": made.run.model_copy(update={"exit_code": code})})
    show_report(made, options, outputs)
    _say(made)
    return code


def _made(options: Mapping[str, Any], outputs: Sequence[Path]) -> OverviewReport:
    """The report; options and outputs are checked before anything is read."""
    from kgeval.manifest import Started
    from kgeval.reports.overview.sources import read_sources
    from kgeval.reports.overview.whole import Demands, overview

    started = Started("report", arguments(options))
    thresholds = _thresholds(options["thresholds"])
    _check(options, outputs)
    found = read_sources(options["runs"])
    baseline = read_sources(options["baselines"]) if options["baselines"] else None
    _check_found(found, outputs)
    read = [file for file in (*found.files, *(baseline.files if baseline else ())) if file not in outputs]
    demands = Demands(options["title"], options["fail_on"], thresholds, fail_if_worse=options["fail_if_worse"])
    return overview(found, started.manifest(inputs=read), demands, baseline=baseline)


def _thresholds(texts: Sequence[str]) -> list[Threshold]:
    """Raises: UsageError with every fault of all of them."""
    from kgeval.stats.thresholds import parse_thresholds, without_at

    fix = "write FIGURE>=X, FIGURE<=X, FIGURE=X or SYSTEM:FIGURE>=X; the JSON report lists the figures under `name`"
    return parse_thresholds(texts, without_at, fix=fix)


def _check(options: Mapping[str, Any], outputs: Sequence[Path]) -> None:
    from kgeval.records import OverviewReport
    from kgeval.reports.write import check_outputs, check_replaced

    check_outputs(outputs, OverviewReport)
    check_replaced(list(outputs), [path for path in (*options["runs"], *options["baselines"]) if path.is_file()])
    if options["fail_if_worse"] and not options["baselines"]:
        raise UsageError("--fail-if-worse needs a baseline", fix="give it with --baseline RUN")


def _check_found(found: Sources, outputs: Sequence[Path]) -> None:
    """Raises: UsageError where a report is to be made of its own kind alone, and where an output would replace a report that is read."""
    lost = [str(path) for path in outputs if path.resolve() in {one.file.resolve() for one in found.reports}]
    if lost:
        raise UsageError(f"-o would replace a file that is read: {', '.join(lost)}", fix="name another file with -o")
    if not found.reports:
        names = ", ".join(str(path) for path, _ in found.whole)
        raise UsageError(f"{names}: made by kgeval report itself", fix="give the reports that it was made of; it can be a --baseline")


def _with_links(made: OverviewReport, outputs: Sequence[Path]) -> OverviewReport:
    """The report with the pages of its sources as seen from the folder of the first page that is written."""
    page = next((path for path in outputs if path.suffix.lower() == ".html"), None)
    folder = str(page.parent if page is not None else Path())
    sources = [
        one if one.page is None else one.model_copy(update={"page": os.path.relpath(one.page, folder)}) for one in made.sources
    ]
    return made.model_copy(update={"sources": sources})


def exit_code(made: OverviewReport) -> int:
    """3 where something is not complete or a gate has no answer, 1 where a gate is missed, else 0."""
    from kgeval.reports.overview.findings import at_or_above

    if not made.complete or any(gate.met is None for gate in made.gates):
        return 3
    return 1 if any(gate.met is False for gate in made.gates) or at_or_above(made.findings, made.fail_on) else 0


def _say(made: OverviewReport) -> None:
    """What a caller who looks at the exit code alone should know, on stderr."""
    for gate in made.gates:
        if gate.met is not True:
            of = f" of {gate.of}" if gate.of else ""
            say(f"gate {'missed' if gate.met is False else 'without an answer'}: {gate.name}{of} {gate.limit}")
    for stage in made.stages:
        if stage.state not in ("done", "missed"):
            say(f"not complete: stage {stage.id} ({stage.state.replace('_', ' ')})")
    for source in made.sources:
        if not source.complete:
            say(f"not complete: {source.file}: {source.reason}")
