"""`kgeval compare`: which of two or more systems answers better, without the biases of the usual way."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import click

from kgeval.cli.batching import batch_options, check_batch
from kgeval.cli.choose import layout_options
from kgeval.cli.common import arguments, connection_options
from kgeval.cli.compare_options import answer_options, outcome_options, procedure_options
from kgeval.cli.compare_shards import check_shard
from kgeval.cli.models import embedding_options, limit_options, model_options
from kgeval.cli.score_options import shard_option
from kgeval.cli.show import report_options_of


@click.command()
@answer_options
@procedure_options
@outcome_options
@shard_option
@connection_options
@layout_options
@model_options("judge")
@limit_options
@batch_options
@embedding_options
@report_options_of(
    "Report: .html .md .json .xml .csv; verdicts: .jsonl; DIR/: all of it", ("text", "json", "md", "html", "xml"),
)
def compare(**options: Any) -> int:
    """Compare the ANSWERS of two or more systems: answers of one length, both orders, several trials, written grades, ties.

    One file a system, or one for several; --system adds systems that can be called, or gives a file's system its hook for lengths.
    Finished calls are never paid twice: the same command again costs nothing. --dry-run says the number of calls first.

    Exit codes: 0 done, 1 a --threshold is missed (--simulate: a bound is not held), 2 wrong input, 3 incomplete (budget reached, too many
    failures, nothing could be judged, a threshold without an answer), 130 interrupted; what was done is kept, the same command goes on.
    """
    check_shard(options)
    if options["simulate"]:
        from kgeval.cli.compare_simulate import simulate_command

        return simulate_command(options)
    from kgeval import config as configuration
    from kgeval.cli.compare_run import carry_out, in_batches, open_job, show_dry_run
    from kgeval.manifest import Started

    check_batch(options)
    config = configuration.load(options["config_file"])
    options["redact"] = options["redact"] or config.report.redact
    started = Started("compare", arguments(options))
    with ExitStack() as stack:
        job = open_job(config, options, started, stack)
        if options["dry_run"]:
            return show_dry_run(job)
        in_batches(job)
        return carry_out(job)
