"""`kgeval questions coverage`: what of a graph the questions of a file touch, and what they miss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kgeval.cli.derive import HeadedCommand, flags_of, options_from
from kgeval.cli.options import connection_options, layout_options, session_from
from kgeval.cli.show import report_options, show_result
from kgeval.config import CoverageOptions


@click.command(cls=HeadedCommand)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE [FILE2]")
@flags_of(CoverageOptions)
@report_options
@connection_options
@layout_options
def coverage(files: tuple[Path, ...], **options: Any) -> int:
    """What of a graph the questions of FILE cover: types, predicates, communities, documents, degrees and hop counts; and what they
    miss. Two files are set side by side.

    A question is found in the graph by what its file records (structure, gold path, chunks of the evidence, document): by element id
    where the entity is still called so, else by key, else by name and type. A file that records nothing is searched for names that
    question, right answers and evidence mention; how many questions were found in which way is said. No model is asked.

    Exit codes: 0 done, 1 a --threshold is missed, 2 wrong input or no connection, 3 a threshold without an answer, 130 interrupted.
    """
    from kgeval.workflows import questions_coverage as workflow

    with session_from("questions coverage", options, files=[str(path) for path in files]) as session:
        session.outputs = tuple(options["outputs"])  # the files of [report] are an audit's
        result = workflow.run(session, files, options_from(CoverageOptions, options))
    return show_result(result, options, session.outputs)
