"""`kgeval profile`: what a graph is."""

from __future__ import annotations

from typing import Any

import click

from kgeval.cli.derive import HeadedCommand, flags_of, options_from
from kgeval.cli.options import connection_options, layout_options, session_from
from kgeval.cli.show import report_options, show_result
from kgeval.profiling.options import ProfileOptions


@click.command(cls=HeadedCommand)
@flags_of(ProfileOptions)
@report_options
@connection_options
@layout_options
def profile(**options: Any) -> int:
    """Say what a graph is: its kind, the role of each label, its keys and names, what each relation type says; and why.

    Counts are exact. Properties, their formats and the ends of relations are those of a sample: 300 nodes of each set of labels.
    Nothing is written, no model is asked.

    Exit codes: 0 done, 2 wrong input or no connection, 130 interrupted.
    """
    from kgeval.profiling import task

    with session_from("profile", options) as session:
        session.outputs = tuple(options["outputs"])  # the files of [report] are an audit's
        result = task.run(session, options_from(ProfileOptions, options))
    return show_result(result, options, session.outputs)
