"""`kgeval metrics sensitivity`: do the metrics tell right answers from wrong ones, on the user's own data?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kgeval.cli.derive import HeadedCommand, flags_of, options_from
from kgeval.cli.options import connection_options, embedding_options, layout_options, model_flags, session_from
from kgeval.cli.score import ANSWERS
from kgeval.cli.show import plan_or_run, report_options
from kgeval.config import MetricOptions, RowOptions, SensitivityOptions


@click.command(cls=HeadedCommand)
@click.argument("answers", nargs=-1, required=True, type=ANSWERS)
@flags_of(MetricOptions)
@flags_of(SensitivityOptions, only=["wrong_answers"])
@flags_of(RowOptions)
@report_options
@model_flags("judge")
@connection_options
@layout_options
@embedding_options
def sensitivity(answers: tuple[Path, ...], **options: Any) -> int:
    """Score the ANSWERS, their references and wrong answers, and say how well each metric tells them apart.

    The contexts stay as they are. A wrong answer is one that the same system gave to another question, drawn by --seed, or one of
    --wrong-answers.

    For every metric: medians under the three conditions, and AUC against the wrong answers (1: told apart, 0.5: no difference).

    Exit codes: 0 done, 2 wrong input or no connection, 3 incomplete (budget reached, too many failures, nothing to compare), 130
    interrupted; finished calls are never paid twice.
    """
    from kgeval.workflows import sensitivity as workflow

    with session_from("metrics sensitivity", options, answers=[str(path) for path in answers]) as session:
        return plan_or_run(workflow, session, options, answers, options_from(SensitivityOptions, options))
