"""`kgeval contamination`: what a model knows without any text, and what that does to the scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kgeval.cli.common import say
from kgeval.cli.derive import HeadedCommand, flags_of, options_from
from kgeval.cli.options import common_session, connection_options, layout_options, model_flags
from kgeval.cli.show import report_options, show_report
from kgeval.config import ContaminationOptions


@click.command(cls=HeadedCommand)
@click.argument("questions", type=click.Path(path_type=Path))
@flags_of(ContaminationOptions)
@connection_options
@layout_options
@model_flags("judge")
@report_options
def contamination(questions: Path, **options: Any) -> int:
    """What a model answers to QUESTIONS without any text, and every score without the questions that it knows.

    Gives closed-book accuracy by level, kind and document, the questions that the closed book answers, each score with and without
    them, what retrieval gains by document, documents that the model may know against those that it cannot, and how often questions
    without an answer in the texts are answered all the same. Without --model words decide; --scores takes what kgeval score has judged.

    Exit codes: 0 done, 2 wrong input or no connection, 3 incomplete (budget reached, too many failures), 130 interrupted.
    """
    from kgeval.workflows import contamination as workflow

    with common_session("contamination", options, questions=str(questions)) as session:
        session.outputs = tuple(options["outputs"])  # the files of [report] are an audit's
        chosen = options_from(ContaminationOptions, options, session.config.contamination)
        if session.dry:
            click.echo(str(workflow.plan(session, questions, chosen)))
            return 0
        result = workflow.run(session, questions, chosen)
    show_report(result.report, options, session.outputs)
    for message in result.messages:
        say(message)
    return result.exit_code
