"""`kgeval accuracy`: is what the graph says true? A sample with its passages, judged by a model, by people, or by both."""

from __future__ import annotations

from typing import Any

import click

from kgeval.cli.common import say
from kgeval.cli.derive import HeadedCommand, flags_of, options_from
from kgeval.cli.options import common_session, connection_options, embedding_options, layout_options, model_flags
from kgeval.cli.show import report_options, show_report
from kgeval.config import AccuracyOptions


@click.command(cls=HeadedCommand)
@flags_of(AccuracyOptions)
@connection_options
@layout_options
@model_flags("judge")
@embedding_options
@report_options
def accuracy(**options: Any) -> int:
    """Measure how much of a graph is true, by a sample of it: each item is read against the passages that it comes from.

    Without --model (or [model.judge] in kgeval.toml) nothing is sent to a model: --sheet writes a sheet for people, --labels
    reads it back. With both, the judge is corrected by the people's labels.

    Exit codes: 0 done, 1 a --threshold is missed, 2 wrong input or no connection, 3 incomplete (no estimate, budget reached,
    too many failures, a threshold without an answer), 130 interrupted.
    """
    from kgeval.workflows import accuracy as workflow

    with common_session("accuracy", options) as session:
        chosen = options_from(AccuracyOptions, options, session.config.accuracy)
        if session.dry:
            click.echo(str(workflow.plan(session, chosen)))
            return 0
        result = workflow.run(session, chosen)
    if result.labelled:  # a sheet alone says what it has to say itself
        show_report(result.report, options, session.outputs)
        for message in result.messages:
            say(message)
    return result.exit_code
