"""`kgeval score`: the answers of one or several systems, measured by any metrics, with a summary that can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.batching import batch_first, batch_options, check_batch
from kgeval.cli.choose import layout_options
from kgeval.cli.common import arguments, connection_options
from kgeval.cli.models import embedding_options, limit_options, model_options
from kgeval.cli.score_options import (
    FILE,
    check_places,
    check_spread,
    input_options,
    metric_options,
    rows_wanted,
    selection_of,
    settings_of,
    shard_option,
    spread_options,
)
from kgeval.cli.show import report_options_of
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.cli.score_run import Job
    from kgeval.config import Config
    from kgeval.manifest import Started


@click.command()
@input_options
@metric_options
@click.option(
    "--trials", type=click.IntRange(1, 100), default=1, show_default=True, help="Judge everything so many times: spread between runs.",
)
@click.option("--resume", is_flag=True, help="Take over the rows that an interrupted run with the same -o has finished.")
@click.option("--retry-errors", is_flag=True, help="As --resume, but rows with something unscored are done again.")
@click.option("--no-verdicts", is_flag=True, help="Do not keep the verdicts behind the scores.")
@click.option("--against", metavar="SYSTEM", help="The system that the others are compared with in cost and gain [default: every pair].")
@click.option(
    "--audit", "audit_report", type=FILE, metavar="JSON", help="Report of kgeval audit: do questions that touch its findings score worse?",
)
@click.option("--index", "index_records", multiple=True, type=FILE, metavar="JSON", help="Index record: what a system's graph took.")
@click.option(
    "--threshold", "thresholds", multiple=True, metavar="[SYSTEM:]METRIC>=X",
    help="E.g. faithfulness=0.8; missed: exit 1 (comma or repeated).",
)
@click.option("--explain", metavar="QUESTION", help="Print the triple graph of this question's pairs with its paths, and stop.")
@click.option("--write-back", is_flag=True, help="With --explain: write that graph into Neo4j, to look at in Browser.")
@click.option("--sweep", metavar="GRID", help="Print the KG scores over a grid, tau=0.6,0.7;delta=0.3,0.5, and stop.")
@shard_option
@spread_options
@connection_options
@layout_options
@model_options("judge")
@limit_options
@batch_options
@embedding_options
@report_options_of("Results: .jsonl .csv .parquet or DIR/; report: .html .md .json .xml", ("text", "json", "md", "html", "xml"))
def score(**options: Any) -> int:
    """Score the ANSWERS of RAG systems: files of kgeval, ragas, deepeval, RAGChecker, benchmark-qed, GraphRAG-Bench and others.

    One file a system, or one file for several. -o takes result files (.jsonl .csv .parquet, or DIR/ for a run folder) and reports
    (.html .md .json .xml). Finished calls are never paid twice: the same command again costs nothing.

    Exit codes: 0 done, 1 a --threshold is missed, 2 wrong input or no connection, 3 incomplete (budget reached, too many failures, a
    threshold without an answer), 130 interrupted; what was done is kept, --resume goes on.
    """
    from kgeval import config as configuration
    from kgeval.cli.score_run import finish, plan, walk
    from kgeval.manifest import Started

    config = configuration.load(options["config_file"])
    options["redact"] = options["redact"] or config.report.redact
    started = Started("score", arguments(options))
    job = job_of(config, options, started)
    job.read_beside()
    with ExitStack() as stack:
        rows = stack.enter_context(job.open_rows())
        job.check(rows)
        if options["executor"] and not options["dry_run"]:
            from kgeval.cli.score_spread import spread

            return spread(job, rows, config)
        job.open_tools(stack, config)
        if options["explain"] or options["sweep"]:
            from kgeval.cli.score_kg import explain, sweep

            return explain(job, rows) if options["explain"] else sweep(job, rows)
        if options["dry_run"]:
            return plan(job, rows, options["trials"])
        batch_first(job.tools.models, lambda asker: walk(job, rows, asker, options["trials"]), options)
        return finish(job, rows)


def job_of(config: Config, options: Mapping[str, Any], started: Started) -> Job:
    """Everything that can be checked before a file is read."""
    from kgeval.cli.score_run import Job, named_judge
    from kgeval.files.scores import is_result
    from kgeval.metrics.summary.gates import parse_gates
    from kgeval.records import ScoreReport
    from kgeval.reports.write import check_outputs

    if options["write_back"] and not options["explain"]:
        raise UsageError("--write-back needs --explain QUESTION", fix="name the question whose graph shall be written")
    if options["shard"] and (options["explain"] or options["sweep"]):
        raise UsageError("--shard is for scores; --explain and --sweep look at the whole run", fix="leave --shard out")
    check_spread(options)
    check_batch(options)
    selection = selection_of(config, options)
    named_judge(config, options, selection)
    gates = parse_gates([*config.metrics.thresholds, *options["thresholds"]], selection.metrics)
    outputs = list(options["outputs"]) or [Path(name) for name in config.report.outputs]
    reports = [path for path in outputs if not is_result(path)]
    check_outputs(reports, ScoreReport)
    wanted = rows_wanted(options)
    check_places(outputs, wanted, options["audit_report"], *options["index_records"], options["config_file"], options["prices"])
    return Job(
        options=options, started=started, wanted=wanted, selection=selection, settings=settings_of(config, options),
        gates=tuple(gates) if wanted.shard is None else (),  # they are about the whole run: the merge looks at them
        results=tuple(path for path in outputs if is_result(path)), reports=tuple(reports),
    )
