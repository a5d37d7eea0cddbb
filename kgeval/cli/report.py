"""`kgeval report`: one report over everything that a run came to. `kgeval report score-matrix`: the scores of all places of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kgeval.cli.audit_group import CommandWithMore, OwnArgument
from kgeval.cli.derive import flags_of, options_from
from kgeval.cli.options import config_option, session_from
from kgeval.cli.show import check_options, report_options_of, show_result
from kgeval.config import CrossingOptions, ReportOptions


@click.group(cls=CommandWithMore, invoke_without_command=True)
@click.argument("runs", nargs=-1, required=True, cls=OwnArgument, type=click.Path(exists=True, path_type=Path), metavar="RUN...")
@flags_of(ReportOptions)
@check_options
@config_option
def report(runs: tuple[Path, ...], **options: Any) -> int:
    """One report to make a decision from, over all reports in RUN: folders of kgeval run, report files (.json, .html), or several.

    Verdict, what to fix first, a rubric of five scores, every figure with n, interval and signature, cost, what is missing; and against
    --baseline what is better, worse or within noise. Reports are known by what they hold, whatever their names.

    Exit codes: 0 done, 1 a gate is missed (of a report, --threshold, --fail-on, --fail-on-worse), 2 wrong input, 3 a report or a stage of
    the run is not complete or a gate has no answer.
    """
    from kgeval.workflows import report as workflow

    session = session_from("report", options, runs=[str(path) for path in runs])
    return show_result(workflow.run(session, runs, options_from(ReportOptions, options)), options, session.outputs)


@report.command("score-matrix")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@flags_of(CrossingOptions)
@report_options_of("Report file: .html .json .md", ("text", "json", "md", "html"), without=("redact",))
def score_matrix(folder: Path, **options: Any) -> int:
    """Every metric of a run of `kgeval run` in FOLDER, by data set and as the mean over them; and what each change does.

    A change is one thing: a setting of a system (an ablation), the graph's construction, the share of the corpus, the reader. Its effect
    is the mean of paired differences, with its interval and a corrected p.

    Exit codes: 0 done, 2 no run there, or no scores.
    """
    from kgeval.workflows import matrix

    session = session_from("report score-matrix", options, outputs=options["outputs"], folder=str(folder))
    return show_result(matrix.run(session, folder, options_from(CrossingOptions, options)), options, session.outputs)
