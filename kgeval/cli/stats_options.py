"""The options that the sub-commands of `kgeval stats` share, and what they make of a finished report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import F, arguments
from kgeval.cli.score_options import maps_of
from kgeval.cli.show import report_options_of, show_report
from kgeval.errors import InputError, UsageError

if TYPE_CHECKING:
    from kgeval.comparison.given.tables import Judged
    from kgeval.files.verdict_files import Verdicts
    from kgeval.manifest import Started
    from kgeval.records import StatsKind, StatsReport

FILE = click.Path(path_type=Path)
STDIN = Path("-")
SHOWN = 20  # questions named in a message


class Share(click.ParamType[float]):
    """A number between 0 and 1, ends left out."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if not 0 < number < 1:
            self.fail(f"'{value}' is not between 0 and 1", param, ctx)
        return number


def common_options(*, confidence: bool = True, maps: bool = True) -> Callable[[F], F]:
    """--map, --seed, --confidence, and those of a report: -o, -f, --redact, -q."""

    def decorate(command: F) -> F:
        command = report_options_of("Report file: .json .md", ("text", "json", "md"))(command)
        if confidence:
            command = click.option(
                "--confidence", type=Share(), default=0.95, show_default=True, metavar="SHARE",
                help="Of intervals; the rest to 1 is the error of tests.",
            )(command)
        command = click.option(
            "--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Seed of resampling.",
        )(command)
        if maps:
            command = click.option(
                "--map", "maps", multiple=True, metavar="NAME=FIELD", help="Which field of the files is what (repeatable).",
            )(command)
        return command

    return decorate


def verdict_options(command: F) -> F:
    """FILES of verdicts and how they are read."""
    for option in reversed((
        click.argument("files", nargs=-1, required=True, type=FILE),
        click.option(
            "--winner", "winners", multiple=True, metavar="VALUE=a|b|tie", help="What a value of the winner's field means (repeatable).",
        ),
        click.option(
            "--procedure", type=click.Choice(["scores", "single", "pairwise-choice", "differential", "biased"]),
            help="Which verdicts, where a file holds several kinds [default: the kind of the first].",
        ),
        click.option("--range", "bounds", metavar="LOW,HIGH", help="The points must lie in it, ends included."),
        click.option("--allow-missing", is_flag=True, help="Go on where pairs were judged on different questions."),
    )):
        command = option(command)
    return command


def bounds_of(text: str | None) -> tuple[float, float] | None:
    """--range LOW,HIGH. Raises: UsageError for another form."""
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        low = high = 0.0
    if not low < high or high == float("inf") or low == float("-inf"):
        raise UsageError(f"faulty --range: '{text}'", fix="write LOW,HIGH with LOW below HIGH, e.g. --range 0,1")
    return low, high


def verdicts_of(options: Mapping[str, Any]) -> tuple[Verdicts, Judged]:
    """The verdicts of FILES and their tables. Raises: InputError for faults, and for pairs with different questions unless allowed."""
    from kgeval.comparison.given.tables import judged
    from kgeval.files.verdict_files import VerdictsWanted, read_verdicts
    from kgeval.files.winners import said_by

    check_once(options["files"])
    wanted = VerdictsWanted(maps_of(options["maps"]), said_by(options["winners"]), bounds_of(options["bounds"]))
    found = read_verdicts(options["files"], wanted)
    tables = judged(found.verdicts, procedure=options["procedure"])
    if not tables.tables:
        there = ", ".join(tables.others)
        raise InputError(f"no verdict of the procedure '{options['procedure']}'", fix=f"choose among: {there}")
    if not found.by_row:
        lacking = {" - ".join(pair): gone for pair, gone in tables.lacking.items()}
        refuse_missing(lacking, options, "pairs were judged on different questions")
    return found, tables


def notes_of(found: Verdicts, tables: Judged) -> list[str]:
    """What a reader must know of how the verdicts were read."""
    left = [f"{n} verdicts of the procedure '{name}' left out: --procedure {name} takes them" for name, n in tables.others.items()]
    return [*found.notes, *left, *tables.notes]


def refuse_missing(missing: Mapping[str, Sequence[str]], options: Mapping[str, Any], what: str) -> None:
    """Raises: InputError with the questions that are lacking, unless --allow-missing."""
    if missing and not options["allow_missing"]:
        told = [f"{name} lacks {len(gone)}: {', '.join(gone[:SHOWN])}" + " ..." * (len(gone) > SHOWN) for name, gone in missing.items()]
        raise InputError(what, fix="add what is lacking, or go on with the questions that both have: --allow-missing", faults=told)


def check_once(files: Sequence[Path]) -> None:
    """Raises: UsageError where one file is given twice."""
    twice = sorted({str(path) for path in files if files.count(path) > 1})
    if twice:
        raise UsageError(f"given twice: {', '.join(twice)}", fix="give each file once")


def begin(kind: str, options: Mapping[str, Any]) -> Started:
    """The start of a command, its outputs checked before anything is read."""
    from kgeval.manifest import Started
    from kgeval.records import StatsReport
    from kgeval.reports.write import check_outputs, check_replaced

    check_outputs(options["outputs"], StatsReport)
    check_replaced(options["outputs"], read_files(options))
    return Started(f"stats {kind}", arguments(options))


def read_files(options: Mapping[str, Any]) -> list[Path]:
    """Every file that the command reads."""
    others = [options.get(name) for name in ("anchors", "baseline")]
    return [*options.get("files", ()), *options.get("human", ()), *(path for path in others if path is not None)]


def finish(started: Started, kind: StatsKind, options: Mapping[str, Any], parts: Mapping[str, Any], rows: Mapping[str, int]) -> int:
    """Makes the report, writes and prints it. `parts`: its fields; `rows`: file -> rows read."""
    from kgeval.records import StatsInput, StatsReport

    inputs = [path for path in read_files(options) if path != STDIN]
    report: StatsReport = StatsReport(
        run=started.manifest(inputs=inputs, seed=options["seed"]), kind=kind, seed=options["seed"],
        confidence=options.get("confidence", 0.95), inputs=[StatsInput(file=file, rows=n) for file, n in rows.items()], **parts,
    )
    show_report(report, options, options["outputs"])
    return 0
