"""`kgeval questions stats`: what sets of questions are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import F, arguments, bad_rows_option, say
from kgeval.cli.score_options import maps_of

if TYPE_CHECKING:
    from kgeval.files.asked import Questions

STDIN = Path("-")


def file_options(command: F) -> F:
    """--map, --allow-duplicates: how files of questions are read."""
    for option in reversed((
        click.option(
            "--map", "maps", multiple=True, metavar="NAME=FIELD",
            help="Which field of the files is what: question=text, reference=gold (repeatable).",
        ),
        click.option("--allow-duplicates", is_flag=True, help="Of several questions with one id, keep the first and count the rest."),
        bad_rows_option,
    )):
        command = option(command)
    return command


def shape_options(what: str) -> Callable[[F], F]:
    """--format and --quiet, for commands whose report holds no user's texts."""
    def decorate(command: F) -> F:
        form = click.Choice(("text", "json", "md"))
        command = click.option("-q", "--quiet", is_flag=True, help="No summary on stdout.")(command)
        return click.option("-f", "--format", "form", type=form, default="text", show_default=True, help=what)(command)

    return decorate


def questions_of(path: Path, options: Mapping[str, Any]) -> Questions:
    """The questions of a file, all checked; what was decided about it is said. `first` of the options: only so many."""
    from kgeval.files.asked import open_questions
    from kgeval.files.wanted import Filters, RowsWanted

    found = open_questions(RowsWanted(
        (), questions=path, maps=maps_of(options["maps"]), filters=Filters(first=options.get("first")),
        allow_duplicates=options["allow_duplicates"], max_bad_rows=options["max_bad_rows"],
    ))
    for note in found.notes:
        say(note)
    return found


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@file_options
@click.option("-o", "--output", "outputs", multiple=True, type=click.Path(path_type=Path), help="Report file: .json .md (repeatable).")
@shape_options("What goes to stdout.")
def stats(**options: Any) -> int:
    """What the question FILES are made of: levels, kinds, breadth and depth, lengths, evidence; several files side by side.

    Files of kgeval, GraphRAG-Bench, HotpotQA and others are read. Breadth (relations that an answer needs) and depth (hops between them)
    are the file's own, else counted from its gold triples. Every figure says how many questions it is over; - : none has it.

    Exit codes: 0 done, 2 wrong input.
    """
    from kgeval.cli.show import show_report
    from kgeval.manifest import Started
    from kgeval.questions.figures import figures
    from kgeval.records import QuestionStats
    from kgeval.reports.write import check_outputs

    files = list(options["files"])
    started = Started("questions stats", arguments(options))
    check_outputs(options["outputs"], QuestionStats)
    from kgeval.reports.write import check_replaced

    check_replaced(options["outputs"], files)
    sets = []
    for path in files:
        with questions_of(path, options) as found:
            sets.append(figures(found, "standard input" if path == STDIN else path))
    report = QuestionStats(run=started.manifest(inputs=[path for path in files if path != STDIN]), sets=sets)
    show_report(report, {**options, "redact": False}, options["outputs"])
    return 0
