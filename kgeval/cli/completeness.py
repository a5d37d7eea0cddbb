"""`kgeval completeness`: what a graph lacks of a gold set, by matching level; with a model, also of facts and of an ideal graph."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from kgeval.cli.derive import HeadedCommand, flags_of, options_from
from kgeval.cli.options import embedding_options, model_flags, rest_of_connection, session_from, which_graph
from kgeval.cli.show import plan_or_run, report_options
from kgeval.config import CompletenessOptions


@click.command(cls=HeadedCommand)
@which_graph
@flags_of(CompletenessOptions)
@report_options
@model_flags("judge")
@rest_of_connection
@embedding_options
def completeness(**options: Any) -> int:
    """Find what a graph lacks: hold it against gold entities and triples. Reads only; needs no model, but for --ideal and --facts.

    Exit codes: 0 done, 1 a --threshold is missed, 2 wrong input or no connection, 3 incomplete (a threshold has no answer, a
    budget was reached), 130 interrupted.
    """
    from kgeval.workflows import completeness as workflow

    with session_from("completeness", options) as session:
        chosen = options_from(CompletenessOptions, options, session.config.completeness, names=partial(workflow.names, session))
        return plan_or_run(workflow, session, options, chosen)
