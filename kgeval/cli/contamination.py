"""`kgeval contamination`: what a model knows without any text, and what that does to the scores."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from kgeval.cli.derive import HeadedCommand, flags_of, options_from
from kgeval.cli.options import connection_options, layout_options, model_flags, session_from
from kgeval.cli.show import plan_or_run, report_options
from kgeval.config import ContaminationOptions


@click.command(cls=HeadedCommand)
@click.argument("questions", type=click.Path(path_type=Path))
@flags_of(ContaminationOptions)
@report_options
@model_flags("judge")
@connection_options
@layout_options
def contamination(questions: Path, **options: Any) -> int:
    """What a model answers to QUESTIONS without any text, and every score without the questions that it knows.

    Gives closed-book accuracy by level, kind and document, the questions that the closed book answers, each score with and without
    them, what retrieval gains by document, documents that the model may know against those that it cannot, and how often questions
    without an answer in the texts are answered all the same. Without --model words decide; --scores takes what kgeval score has judged.

    Exit codes: 0 done, 1 a --threshold is missed, 2 wrong input or no connection, 3 incomplete (budget reached, too many failures, a
    threshold without an answer), 130 interrupted.
    """
    from kgeval.workflows import contamination as workflow

    with session_from("contamination", options, questions=str(questions)) as session:
        session.outputs = tuple(options["outputs"])  # the files of [report] are an audit's
        chosen = options_from(ContaminationOptions, options, session.config.contamination, names=partial(workflow.names, session))
        return plan_or_run(workflow, session, options, questions, chosen)
