"""`kgeval completeness`: what a graph lacks of a gold set, by matching level; with a model, also of facts and of an ideal graph."""

from __future__ import annotations

from typing import Any

import click

from kgeval.cli.common import say
from kgeval.cli.derive import HeadedCommand, flags_of, options_from
from kgeval.cli.options import common_session, connection_options, embedding_options, layout_options, model_flags
from kgeval.cli.show import report_options, show_report
from kgeval.config import CompletenessOptions


@click.command(cls=HeadedCommand)
@flags_of(CompletenessOptions)
@connection_options
@layout_options
@model_flags("judge")
@embedding_options
@report_options
def completeness(**options: Any) -> int:
    """Find what a graph lacks: hold it against gold entities and triples. Reads only; needs no model, but for --ideal and --facts.

    Exit codes: 0 done, 1 a --threshold is missed, 2 wrong input or no connection, 3 incomplete (a threshold has no answer, a
    budget was reached), 130 interrupted.
    """
    from kgeval.workflows import completeness as workflow

    with common_session("completeness", options) as session:
        chosen = options_from(CompletenessOptions, options, session.config.completeness)
        if session.dry:
            click.echo(str(workflow.plan(session, chosen)))
            return 0
        result = workflow.run(session, chosen)
    for message in result.messages:
        say(message)
    show_report(result.report, options, session.outputs)
    return result.exit_code
