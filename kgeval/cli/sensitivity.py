"""`kgeval metrics sensitivity`: do the metrics tell right answers from wrong ones, on the user's own data?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kgeval.cli.common import say
from kgeval.cli.derive import HeadedCommand, flags_of, options_from
from kgeval.cli.options import common_session, connection_options, embedding_options, layout_options, model_flags
from kgeval.cli.score import ANSWERS
from kgeval.cli.show import report_options, show_report
from kgeval.config import MetricOptions, RowOptions, ScoreOptions


@click.command(cls=HeadedCommand)
@click.argument("answers", nargs=-1, required=True, type=ANSWERS)
@flags_of(MetricOptions)
@flags_of(RowOptions)
@connection_options
@layout_options
@model_flags("judge")
@embedding_options
@report_options
def sensitivity(answers: tuple[Path, ...], **options: Any) -> int:
    """Score the ANSWERS, their references and answers to other questions, and say how well each metric tells them apart.

    The contexts stay as they are. A wrong answer is one that the same system gave to another question; --seed draws it. For every
    metric: medians under the three conditions, and AUC against the wrong answers (1: told apart, 0.5: no difference).

    Exit codes: 0 done, 2 wrong input or no connection, 3 incomplete (budget reached, too many failures, nothing to compare), 130
    interrupted; finished calls are never paid twice.
    """
    from kgeval.workflows import sensitivity as workflow

    with common_session("metrics sensitivity", options, answers=[str(path) for path in answers]) as session:
        chosen = options_from(ScoreOptions, options)
        if session.dry:
            click.echo(str(workflow.plan(session, answers, chosen)))
            return 0
        result = workflow.run(session, answers, chosen)
    show_report(result.report, options, session.outputs)
    for message in result.messages:
        say(message)
    return result.exit_code
