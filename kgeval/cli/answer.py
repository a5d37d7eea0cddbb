"""`kgeval answer`: has systems under test answer the questions of a file."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import click

from kgeval.cli.answer_options import question_options, system_options
from kgeval.cli.choose import layout_options
from kgeval.cli.common import arguments, connection_options
from kgeval.cli.models import embedding_options, limit_options, model_options


@click.command()
@question_options
@system_options
@connection_options
@layout_options
@model_options("reader")
@limit_options
@embedding_options
def answer(**options: Any) -> int:
    """Have systems answer the QUESTIONS of a file: closed book, vector, graph, or your own.

    One record an answer, in the order of the questions: answer, contexts, seconds, tokens, calls, cost. kgeval score reads the file.

    Exit codes: 0 done, 2 wrong input or no connection, 3 incomplete (too many answers failed, budget reached), 130 interrupted; what was
    done is kept, --resume goes on.
    """
    from kgeval import config as configuration
    from kgeval.cli.answer_run import carry_out, open_job, plan, sweep
    from kgeval.manifest import Started

    config = configuration.load(options["config_file"])
    started = Started("answer", arguments(options))
    with ExitStack() as stack:
        job = open_job(config, options, started, stack)
        if options["sweep"]:
            return sweep(job)
        return plan(job) if options["dry_run"] else carry_out(job)
