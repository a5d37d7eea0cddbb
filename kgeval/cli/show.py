"""What all commands that end with a report share: -o, -f, --redact, -q; writing the files, then the result on stdout."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import F, OutputPath, coloured, say, silence_stdout

if TYPE_CHECKING:
    from kgeval.reports.page import Report


def report_options_of(endings: str, forms: Sequence[str]) -> Callable[[F], F]:
    """--output, --format, --redact, --quiet: the options that show_report reads. `endings`: of the files that -o takes, for the help."""

    def decorate(command: F) -> F:
        for option in reversed((
            click.option(
                "-o", "--output", "outputs", multiple=True, type=OutputPath(path_type=Path), help=f"{endings} (repeatable).",
            ),
            click.option(
                "-f", "--format", "form", type=click.Choice(forms), default="text", show_default=True, help="What goes to stdout.",
            ),
            click.option("--redact", is_flag=True, help="Leave names and texts out of the report."),
            click.option("-q", "--quiet", is_flag=True, help="No summary on stdout."),
        )):
            command = option(command)
        return command

    return decorate


report_options = report_options_of("Report file: .html .json .md", ("text", "json", "md", "html"))
check_options = report_options_of("Report file: .html .json .md .xml (JUnit) .sarif", ("text", "json", "md", "html", "xml", "sarif"))


def show_report(report: Report, options: Mapping[str, Any], outputs: Sequence[Path]) -> None:
    """Writes the files, then prints the result; a closed pipe loses nothing that is written.

    `options`: `form`, `redact` and `quiet` as report_options gives them.
    Raises: UsageError where a file cannot be written; the others are written and the result is printed all the same.
    """
    from kgeval.errors import UsageError
    from kgeval.reports.write import write_report

    written, fault = [], None
    for path in outputs:
        try:
            write_report(report, path, redact=options["redact"])
            written.append(path)
        except UsageError as cause:
            fault = fault or cause
    if options["quiet"]:
        for path in written:
            say(f"wrote {path}")
    else:
        _print(report, options, written)
    if fault:
        raise fault


def _print(report: Report, options: Mapping[str, Any], written: Sequence[Path]) -> None:
    from kgeval.reports.write import Screen, rendered

    screen = Screen(shutil.get_terminal_size((100, 40)).columns, coloured(sys.stdout), written)
    try:
        click.echo(rendered(report, options["form"], redact=options["redact"], screen=screen), nl=False)
        sys.stdout.flush()
    except BrokenPipeError:  # the gate's exit code still counts
        silence_stdout()
