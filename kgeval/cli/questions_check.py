"""`kgeval questions check`: is each question of a file answerable, not known anyway, unique, and said once?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from kgeval.cli.derive import HeadedCommand, flags_of, options_from
from kgeval.cli.options import connection_options, embedding_options, layout_options, model_flags, session_from
from kgeval.cli.show import report_options_of, show_plan, show_result
from kgeval.config import CheckOptions


@click.command(cls=HeadedCommand)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE [FILE2]")
@flags_of(CheckOptions)
@report_options_of("Report: .html .json .md; the questions with their checks: .jsonl", ("text", "json", "md", "html"))
@model_flags("judge")
@connection_options
@layout_options
@embedding_options
def check(files: tuple[Path, ...], **options: Any) -> int:
    """Check the questions of FILE, whoever made them; of two files side by side.

    answerable: a model finds the right answer in the evidence. closed_book: without any text it does not. unique: the question's own
    Cypher or path leads to one right answer in the graph (--graph), whatever its words. unique_wording: its words ask for one thing, as a
    model reads them; "not judged" without a model. not_in_one_passage: no single passage answers a question of several hops. leak: the
    question does not say its answer. duplicate: no earlier question asks the same. no_shortcut: no shorter way joins the ends of its
    path. absent: the Cypher of a negative question finds nothing. A call that fails leaves its check unscored; finished calls are never
    paid twice.

    Exit codes: 0 done, 1 a --threshold is missed, 2 wrong input or no connection, 3 incomplete (budget reached, too many failures, a
    threshold without an answer), 130 interrupted.
    """
    from kgeval.workflows import questions_check as workflow

    with session_from("questions check", options, files=[str(path) for path in files]) as session:
        session.outputs = tuple(options["outputs"])  # the files of [report] are an audit's
        chosen = options_from(CheckOptions, options)
        if session.dry:
            return show_plan(workflow.plan(session, files, chosen, graph=_graph_given()))
        result = workflow.run(session, files, chosen, graph=_graph_given())
    return show_result(result, options, workflow.reports_of(session.outputs))


def _graph_given() -> bool:
    """Whether this command was told of a graph: NEO4J_URI alone does not tell it, for most checks need none."""
    context = click.get_current_context()
    named = any(context.params[name] is not None for name in ("graph_name", "home", "layout"))
    return named or context.get_parameter_source("uri") == ParameterSource.COMMANDLINE
