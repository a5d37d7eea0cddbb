"""`kgeval answer`: has systems under test answer the questions of a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from kgeval.cli.common import say
from kgeval.cli.derive import HeadedCommand, flags_of, options_from
from kgeval.cli.options import connection_options, embedding_options, layout_options, model_flags, session_from
from kgeval.cli.show import plan_or_run, quiet_option, show_plan
from kgeval.config import AnswerOptions, SessionOptions

ANSWERS = "Answers: .jsonl .json .csv .parquet; DIR/ or a name with {system}: one file a system (repeatable) [default: stdout]."


@click.command(cls=HeadedCommand)
@click.argument("questions", type=click.Path(path_type=Path))
@flags_of(AnswerOptions)
@flags_of(SessionOptions, only=("outputs",), texts={"outputs": ANSWERS})
@quiet_option
@model_flags("reader")
@connection_options
@layout_options
@embedding_options
def answer(questions: Path, **options: Any) -> int:
    """Have systems answer the QUESTIONS of a file: closed book, vector, graph, or your own.

    One record an answer, in the order of the questions: answer, contexts, seconds, tokens, calls, cost. kgeval score reads the file.

    Exit codes: 0 done, 2 wrong input or no connection, 3 incomplete (too many answers failed, budget reached), 130 interrupted; what was
    answered is in the journal: the same command goes on.

    --load 1,4,16 measures answers a second and latency instead; -o then takes report files (.html .json .md).
    """
    from kgeval.workflows import answer as workflow

    with session_from("answer", options, outputs=options["outputs"], questions=str(questions)) as session:
        chosen = options_from(AnswerOptions, options)
        if chosen.load:
            from kgeval.workflows import answer_load

            session.outputs = tuple(options["outputs"])
            return plan_or_run(answer_load, session, {**options, "form": "text"}, questions, chosen)
        if chosen.sweep:
            for line in workflow.sweep(session, questions, chosen):
                click.echo(line)
            return 0
        if session.dry:
            return show_plan(workflow.plan(session, questions, chosen))
        result = workflow.run(session, questions, chosen, out=sys.stdout)
        if session.outputs and not options["quiet"]:
            click.echo(result.rendered("text"), nl=False)
    for message in result.messages:
        say(message)
    return result.exit_code
