"""`kgeval sensitivity`: do the metrics tell right answers from wrong ones, on the user's own data?"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.choose import layout_options
from kgeval.cli.common import arguments, connection_options, say
from kgeval.cli.models import embedding_options, limit_options, model_options, show_plan
from kgeval.cli.score_options import check_places, input_options, metric_options, rows_wanted, selection_of, settings_of
from kgeval.cli.show import report_options_of, show_report

if TYPE_CHECKING:
    from kgeval.cli.score_run import Job
    from kgeval.config import Config
    from kgeval.files.rows import Rows
    from kgeval.metrics.conditions import Conditions
    from kgeval.records import RunManifest, SensitivityReport

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
    from kgeval.records import SensitivityReport
    from kgeval.report.write import check_outputs

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
        job.open_tools(stack, config, rows)
        if options["dry_run"]:
            return _plan(job, made)
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


def _plan(job: Job, made: Conditions) -> int:
    """The dry run: the calls of all three conditions together; what two of them share is counted once."""
    from kgeval.llm.calls import Limits
    from kgeval.llm.plan import Plan
    from kgeval.metrics.definition import Subject
    from kgeval.metrics.engine import row_facts
    from kgeval.metrics.facts import Facts
    from kgeval.metrics.judge.dry import Dry

    models = job.tools.models
    if models is None:
        show_plan(Plan((), Limits()))
        return 0
    dry = Dry(models)
    for rows in made.values():
        for row in rows:
            row_facts(Subject(row, Facts(), job.settings), selection=job.selection, tools=job.tools, asker=dry)
    show_plan(Plan(dry.stages(), models.limits))
    return 0


def _report(job: Job, rows: Rows, made: Conditions) -> SensitivityReport:
    from kgeval.metrics.sensitivity import sensitivity as measure
    from kgeval.records import SensitivityReport

    results = measure(made, job.selection, job.tools, job.settings)
    models = job.tools.models
    stopped = models is not None and models.exit_code != 0
    return SensitivityReport(
        run=_manifest(job, rows, exit_code=INCOMPLETE if stopped or not results else 0), complete=not stopped, seed=job.options["seed"],
        rows=made.sizes["answered"], left_out=made.left_out, reused=made.reused, metrics=job.infos, results=results,
        notes=[*rows.notes, *(models.notes if models else [])],
    )


def _manifest(job: Job, rows: Rows, *, exit_code: int) -> RunManifest:
    from kgeval.config import DEFAULT_FILE

    named = [job.options["config_file"] or DEFAULT_FILE, job.options["layout_option"], *rows.inputs]
    graph, models = job.tools.graph, job.tools.models
    return job.started.manifest(
        server=graph.info if graph else None, inputs=[Path(name) for name in named if name and Path(name).is_file()],
        seed=job.options["seed"], exit_code=exit_code, asked=models.asked() if models else None,
    )
