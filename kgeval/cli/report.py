"""`kgeval report`: one report over everything that a run came to. `kgeval report score-matrix`: the scores of all places of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kgeval.cli.audit_group import CommandWithMore, OwnArgument
from kgeval.cli.common import say
from kgeval.cli.derive import flags_of, options_from
from kgeval.cli.options import common_session
from kgeval.cli.show import check_options, report_options, show_report
from kgeval.config import CrossingOptions, ReportOptions


@click.group(cls=CommandWithMore, invoke_without_command=True)
@click.argument("runs", nargs=-1, required=True, cls=OwnArgument, type=click.Path(exists=True, path_type=Path), metavar="RUN...")
@click.option("-c", "--config", "config_file", type=click.Path(path_type=Path), help="Configuration file (default: ./kgeval.toml).")
@flags_of(ReportOptions)
@check_options
def report(runs: tuple[Path, ...], **options: Any) -> int:
    """One report to make a decision from, over all reports in RUN: folders of kgeval run, report files (.json, .html), or several.

    Verdict, what to fix first, a rubric of five scores, every figure with n, interval and signature, cost, what is missing; and against
    --baseline what is better, worse or within noise. Reports are known by what they hold, whatever their names.

    Exit codes: 0 done, 1 a gate is missed (of a report, --threshold, --fail-on, --fail-on-worse), 2 wrong input, 3 a report or a stage of
    the run is not complete or a gate has no answer.
    """
    from kgeval.workflows import report as workflow

    with common_session("report", options, runs=[str(path) for path in runs]) as session:
        result = workflow.run(session, runs, options_from(ReportOptions, options))
    show_report(result.report, options, session.outputs)
    for message in result.messages:
        say(message)
    return result.exit_code


@report.command("score-matrix")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@flags_of(CrossingOptions)
@report_options
def score_matrix(folder: Path, **options: Any) -> int:
    """Every metric of a run of `kgeval run` in FOLDER, by data set and as the mean over them; and what each change does.

    A change is one thing: a setting of a system (an ablation), the graph's construction, the share of the corpus, the reader. Its effect
    is the mean of paired differences, with its interval and a corrected p.

    Exit codes: 0 done, 2 no run there, or no scores.
    """
    from kgeval.workflows import matrix
    from kgeval.workflows.session import Session

    arguments = {"form": options["form"], "folder": str(folder)}
    session = Session("report score-matrix", outputs=options["outputs"], redact=options["redact"], say=say, arguments=arguments)
    result = matrix.run(session, folder, options_from(CrossingOptions, options))
    show_report(result.report, options, options["outputs"])
    return result.exit_code
