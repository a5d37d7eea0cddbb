"""`kgeval questions generate`: questions made from a graph and its texts."""

from __future__ import annotations

import shutil
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import coloured, say
from kgeval.cli.derive import HeadedCommand, flags_of, options_from
from kgeval.cli.options import embedding_options, model_flags, rest_of_connection, session_from, which_graph
from kgeval.cli.show import show_plan
from kgeval.config import GenerateOptions, SessionOptions

if TYPE_CHECKING:
    from kgeval.workflows.questions_generate import GenerateResult

STDOUT = Path("-")


@click.command(cls=HeadedCommand)
@which_graph
@flags_of(GenerateOptions)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), default=STDOUT, show_default=True, metavar="FILE.jsonl",
    help="The questions; FILE.run.json beside it has counts and manifest. - is stdout.",
)
@flags_of(
    SessionOptions, only=("form", "quiet"), choices=("text", "json"), texts={"form": "The counts.", "quiet": "No counts on the screen."},
)
@model_flags("generator")
@rest_of_connection
@embedding_options
def generate(**options: Any) -> int:
    """Make questions from a graph and its texts, each from one piece of the graph, with a reference answer and its evidence.

    Replies of the model are kept: the same command again costs nothing and gives the same file. Where a budget or Ctrl-C ends a run,
    what was made so far is written. Questions that repeat one before are dropped and counted.

    Exit codes: 0 done, 2 wrong input or no connection, 3 incomplete (fewer than asked for, budget reached, too many failures),
    130 interrupted; the same command goes on.
    """
    from kgeval.workflows import questions_generate as workflow

    outputs = () if options["output"] == STDOUT else (options["output"],)
    with session_from("questions generate", options, outputs=outputs) as session:
        chosen = options_from(GenerateOptions, options, session.config.questions, names=partial(workflow.names, session))
        if session.dry:
            return show_plan(workflow.plan(session, chosen))
        result = workflow.run(session, chosen, sys.stdout)
    if not options["quiet"]:
        _show(result, options["form"], err=not outputs)
    for message in result.messages:
        say(message)
    if result.fault is not None:
        raise result.fault
    return result.exit_code


def _show(result: GenerateResult, form: str, *, err: bool) -> None:
    """The counts: on stdout, or on stderr where the questions themselves go there."""
    from kgeval.reports.questions_text import terminal

    if form == "json":
        click.echo(result.rendered("json"), nl=False, err=err)
    else:
        width, colour = shutil.get_terminal_size((100, 40)).columns, coloured(sys.stderr if err else sys.stdout)
        click.echo(terminal(result.report, width=width, colour=colour, written=result.written), nl=False, err=err)
