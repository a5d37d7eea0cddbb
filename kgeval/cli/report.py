"""`kgeval report`: one report over everything that a run came to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kgeval.cli.common import common_session, say
from kgeval.cli.derive import HeadedCommand, flags_of, options_from
from kgeval.cli.show import check_options, show_report
from kgeval.config import ReportOptions


@click.command(cls=HeadedCommand)
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="RUN...")
@click.option("-c", "--config", "config_file", type=click.Path(path_type=Path), help="Configuration file (default: ./kgeval.toml).")
@flags_of(ReportOptions)
@check_options
def report(runs: tuple[Path, ...], **options: Any) -> int:
    """One report to make a decision from, over all reports in RUN: folders of kgeval run, report files (.json, .html), or several.

    Verdict, what to mend first, a rubric of five scores, every figure with n, interval and signature, cost, what is missing; and against
    --baseline what is better, worse or within noise. Reports are known by what they hold, whatever their names.

    Exit codes: 0 done, 1 a gate is missed (of a report, --threshold, --fail-on, --fail-if-worse), 2 wrong input, 3 a report or a stage of
    the run is not complete or a gate has no answer.
    """
    from kgeval.workflows import report as workflow

    with common_session("report", options, runs=[str(path) for path in runs]) as session:
        result = workflow.run(session, runs, options_from(ReportOptions, options))
    show_report(result.report, options, session.outputs)
    for message in result.messages:
        say(message)
    return result.exit_code
