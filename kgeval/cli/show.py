"""What all commands that end with a report share: -o, -f, --redact, -q; writing the files, then the result on stdout; dry runs."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import F, coloured, say, silence_stdout, visible
from kgeval.cli.derive import flags_of
from kgeval.config import SessionOptions
from kgeval.config.session import SHOWN

if TYPE_CHECKING:
    from kgeval.reports.page import Report
    from kgeval.workflows.session import Session


def report_options_of(endings: str, forms: Sequence[str], *, without: Sequence[str] = ()) -> Callable[[F], F]:
    """--output, --format, --redact, --quiet: the options that show_report reads. `endings`: of the files that -o takes, for the help."""
    return flags_of(SessionOptions, only=SHOWN, without=without, choices=forms, texts={"outputs": f"{endings} (repeatable)."})


report_options = report_options_of("Report file: .html .json .md", ("text", "json", "md", "html"))
check_options = report_options_of("Report file: .html .json .md .xml (JUnit) .sarif", ("text", "json", "md", "html", "xml", "sarif"))


def form_option(*more: str) -> Callable[[F], F]:
    """--format of a command that prints text or JSON, or `more`."""
    return flags_of(SessionOptions, only=("form",), choices=("text", "json", *more))


quiet_option = flags_of(SessionOptions, only=("quiet",))


def plan_or_run(workflow: ModuleType, session: Session, options: Mapping[str, Any], *given: Any) -> int:
    """Prints the plan of a dry run, or does the task and shows its result. `workflow`: with `plan` and `run`, which take what is `given`.
    The exit code."""
    if session.dry:
        return show_plan(workflow.plan(session, *given))
    return show_result(workflow.run(session, *given), options, session.outputs)


def show_plan(plan: object) -> int:
    """Prints what a dry run came to. The exit code."""
    for line in str(plan).splitlines():
        click.echo(visible(line))
    return 0


def show_result(result: Any, options: Mapping[str, Any], outputs: Sequence[Path]) -> int:
    """Shows a result of the library: the files of rows that it wrote, the report, and what is incomplete or missed. The exit code.

    `outputs`: files for the report. Raises: what went wrong after the report was made; UsageError where a file cannot be written.
    """
    for path in result.written:
        say(f"wrote {path}")
    show_report(result.report, options, outputs)
    for message in result.messages:
        say(message)
    if result.fault is not None:
        raise result.fault
    return int(result.exit_code)


def show_report(report: Report, options: Mapping[str, Any], outputs: Sequence[Path]) -> None:
    """Writes the files, then prints the result; a closed pipe loses nothing that is written.

    `options`: `form`, `redact` and `quiet` as report_options gives them; what is not there is not asked for.
    Raises: KgevalError where a file cannot be written; the others are written and the result is printed all the same.
    """
    from kgeval.errors import KgevalError, raise_together
    from kgeval.reports.write import Screen, rendered, write_report
    from kgeval.tables.output import keep_unsaved

    redact = bool(options.get("redact"))
    written: list[Path] = []
    faults: list[KgevalError] = []
    for path in outputs:
        try:
            write_report(report, path, redact=redact)
            written.append(path)
        except KgevalError as cause:
            faults.append(cause)
    if options["quiet"]:
        for path in written:
            say(f"wrote {path}")
    else:
        screen = Screen(shutil.get_terminal_size((100, 40)).columns, coloured(sys.stdout), written)
        text = rendered(report, options["form"], redact=redact, screen=screen)
        try:
            click.echo(text, nl=False)
            sys.stdout.flush()
        except BrokenPipeError:  # the gate's exit code still counts
            silence_stdout()
        except OSError as cause:  # a full disk, where a shell sends it to a file
            silence_stdout()
            name = f"result.{options['form'].replace('text', 'txt')}"
            faults.append(keep_unsaved("standard output", name, lambda file: file.write(text), cause))
    raise_together(faults)
