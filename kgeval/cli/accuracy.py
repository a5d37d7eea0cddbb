"""`kgeval accuracy`: is what the graph says true? A sample with its passages, judged by a model, by people, or by both."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from kgeval.cli.derive import HeadedCommand, flags_of, options_from
from kgeval.cli.options import embedding_options, model_flags, rest_of_connection, session_from, which_graph
from kgeval.cli.show import report_options, show_plan, show_result
from kgeval.config import AccuracyOptions


@click.command(cls=HeadedCommand)
@which_graph
@flags_of(AccuracyOptions)
@report_options
@model_flags("judge")
@rest_of_connection
@embedding_options
def accuracy(**options: Any) -> int:
    """Measure how much of a graph is true, by a sample of it: each item is read against the passages that it comes from.

    Without --model (or [model.judge] in kgeval.toml) nothing is sent to a model: --sheet writes a sheet for people, --labels
    reads it back. With both, the judge is corrected by the people's labels.

    Exit codes: 0 done, 1 a --threshold is missed, 2 wrong input or no connection, 3 incomplete (no estimate, budget reached,
    too many failures, a threshold without an answer), 130 interrupted.
    """
    from kgeval.workflows import accuracy as workflow

    with session_from("accuracy", options) as session:
        chosen = options_from(AccuracyOptions, options, session.config.accuracy, names=partial(workflow.names, session))
        if session.dry:
            return show_plan(workflow.plan(session, chosen))
        result = workflow.run(session, chosen)
    return show_result(result, options, session.outputs) if result.labelled else result.exit_code  # a sheet alone says all itself
