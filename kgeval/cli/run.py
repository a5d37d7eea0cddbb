"""`kgeval run`: from a graph, documents or answers to the one report, by kgeval.toml."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.audit import SESSION_SECONDS
from kgeval.cli.common import say, silence_stdout, visible
from kgeval.cli.derive import HeadedCommand, flags_of, options_from
from kgeval.cli.interrupts import LONGER, patient, received
from kgeval.cli.options import session_from
from kgeval.cli.show import show_plan
from kgeval.config import DEFAULT_FILE, RunOptions, SessionOptions

if TYPE_CHECKING:
    from kgeval.workflows.run import StageEvent
    from kgeval.workflows.session import Session


DRY_RUN = "As --list, and what the next stages would ask of models; nothing is sent or written."
QUIET = "No word on stdout but the path of the report."


@click.command(cls=HeadedCommand)
@click.argument("config_file", required=False, type=click.Path(path_type=Path), metavar="[KGEVAL.TOML]")
@flags_of(RunOptions)
@click.option("--list", "only_list", is_flag=True, help="Print the stages, their commands and whether they are up to date; run nothing.")
@flags_of(SessionOptions, only=("dry_run", "home", "quiet"), texts={"dry_run": DRY_RUN, "quiet": QUIET}, heading="")
def run(**options: Any) -> int:
    """Carry out everything that KGEVAL.TOML [default: kgeval.toml] describes: graph, questions, answers, scores, comparison, report.

    Each stage is a command of kgeval that is printed and can be run by hand. A stage that is up to date is passed over; one that was
    interrupted goes on; what failed holds up only the stages that need it. [limits] cost and calls are for the run as a whole.

    Exit codes: 0 done, 1 a gate is missed, 2 wrong configuration or a stage failed, 3 a stage is incomplete, 130 interrupted; the same
    command goes on.
    """
    from kgeval import config as configuration
    from kgeval.config import environment
    from kgeval.workflows import run as workflow

    config, faults = configuration.read(options["config_file"])
    file = options["config_file"] or (Path(DEFAULT_FILE) if Path(DEFAULT_FILE).is_file() else None)
    home = options["home"]
    address = {name: None if home else environment(f"NEO4J_{name.upper()}") for name in ("uri", "username", "database")}
    session = session_from("run", {**address, "home": home}, outputs=(), config=config)
    session.config_file = file
    chosen = options_from(RunOptions, options)
    if options["only_list"] or options["dry_run"]:
        # each is printed when it is known; all their codes are 0
        return sum(show_plan(stage) for stage in workflow.plan(session, chosen, faults=faults, ask=options["dry_run"]))
    watched = say if sys.stderr.isatty() else None  # messages of stages are in their logs; a person sees them as they come, too
    with patient():
        result = workflow.run(
            session, chosen, faults=faults, hear=lambda event: _say(event, quiet=options["quiet"]), watch=watched, around=_patient,
            stopped=received,
        )
    if result.report is not None:
        _print(f"report: {result.folder / 'report.html'}")
    return result.exit_code


def _patient(session: Session) -> AbstractContextManager[None]:
    return patient(SESSION_SECONDS if session.gds_session and not session.dry else LONGER)


def _say(event: StageEvent, *, quiet: bool) -> None:
    if event.done is None:
        say(str(event))
    elif not quiet:
        _print(str(event))
    for line in event.last:
        say(f"    {line}")


def _print(line: str) -> None:
    """A line on stdout; a closed pipe stops no run."""
    try:
        click.echo(visible(line))
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
