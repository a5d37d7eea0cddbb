"""`kgeval sensitivity`: do the metrics tell right answers from wrong ones, on the user's own data?"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.choose import layout_options
from kgeval.cli.common import arguments, connection_options, say
from kgeval.cli.models import embedding_options, limit_options, model_options
from kgeval.cli.score_options import check_places, input_options, metric_options, rows_wanted, selection_of, settings_of
from kgeval.cli.show import report_options_of, show_report

if TYPE_CHECKING:
    from kgeval.cli.score_run import Job
    from kgeval.config import Config
    from kgeval.files.rows import Rows
    from kgeval.metrics.conditions import Conditions
    from kgeval.records import SensitivityReport

INCOMPLETE = 3


@click.command()
@input_options
@metric_options
@connection_options
@layout_options
@model_options("judge")
@limit_options
@embedding_options
@report_options_of("Report file: .json .md", ("text", "json", "md"))
def sensitivity(**options: Any) -> int:
    """Score the ANSWERS, their references and answers to other questions, and say how well each metric tells them apart.

    The contexts stay as they are. A wrong answer is one that the same system gave to another question; --seed draws it. For every
    metric: medians under the three conditions, and AUC against the wrong answers (1: told apart, 0.5: no difference).

    Exit codes: 0 done, 2 wrong input or no connection, 3 incomplete (budget reached, too many failures, nothing to compare), 130
    interrupted; finished calls are never paid twice.
    """
    from kgeval import config as configuration
    from kgeval.cli.score_run import plan
    from kgeval.records import SensitivityReport
    from kgeval.reports.write import check_outputs

    config = configuration.load(options["config_file"])
    options["redact"] = options["redact"] or config.report.redact
    outputs = list(options["outputs"]) or [Path(name) for name in config.report.outputs]
    check_outputs(outputs, SensitivityReport)
    job = _job(config, options)
    check_places(outputs, job.wanted, options["config_file"], options["prices"])
    with ExitStack() as stack:
        from kgeval.metrics.conditions import conditions

        rows = stack.enter_context(job.open_rows())
        made = stack.enter_context(conditions(rows, options["seed"]))
        job.open_tools(stack, config)
        if options["dry_run"]:
            return plan(job, chain.from_iterable(made.values()))
        report = _report(job, rows, made)
        show_report(report, options, outputs)
        if not report.results:
            say("nothing can be compared: " + ("; ".join(made.left_out) or "there are no answers"))
        return report.run.exit_code


def _job(config: Config, options: Mapping[str, Any]) -> Job:
    from kgeval.cli.score_run import Job
    from kgeval.manifest import Started

    return Job(
        options=options, started=Started("sensitivity", arguments(options)), wanted=rows_wanted(options),
        selection=selection_of(config, options), settings=settings_of(config, options), gates=(), results=(), reports=(),
    )


def _report(job: Job, rows: Rows, made: Conditions) -> SensitivityReport:
    from kgeval.metrics.sensitivity import sensitivity as measure
    from kgeval.records import SensitivityReport

    results = measure(made, job.selection, job.tools, job.settings)
    models = job.tools.models
    stopped = models is not None and models.exit_code != 0
    return SensitivityReport(
        run=job.manifest(rows, exit_code=INCOMPLETE if stopped or not results else 0), complete=not stopped, seed=job.options["seed"],
        rows=made.sizes["answered"], left_out=made.left_out, reused=made.reused, metrics=job.infos, results=results,
        notes=[*rows.notes, *(models.notes if models else [])],
    )
