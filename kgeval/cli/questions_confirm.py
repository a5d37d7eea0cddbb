"""`kgeval questions confirm`: what people wrote on the sheet of a question file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from kgeval.cli.common import say
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.questions.sheet import Confirmed

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
INCOMPLETE = 3


@click.command()
@click.argument("questions", type=FILE)
@click.argument("sheets", nargs=-1, type=FILE)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.jsonl", help="The questions that are kept.",
)
@click.option(
    "--undecided", type=click.Choice(["refuse", "keep", "drop"]), default="refuse", show_default=True,
    help="What becomes of questions without a decision, or with as many for as against.",
)
@click.option(
    "--sheet", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.csv", help="Write a sheet for these questions, and stop.",
)
def confirm(
    questions: Path, sheets: tuple[Path, ...], output: Path | None, undecided: Literal["refuse", "keep", "drop"], sheet: Path | None,
) -> int:
    """Take over what people decided: QUESTIONS is a question file, SHEETS are its sheets, filled in (keep or drop, texts mended).

    Several sheets: most people decide. Kept questions have the check `confirmed`; one whose text was changed has its text before in
    `extra`, and loses the checks of that text.

    Exit codes: 0 done, 2 wrong input, 3 questions without a decision (nothing is written).
    """
    from kgeval.files.partial import private
    from kgeval.files.rows import read_questions
    from kgeval.questions.sheet import Confirmed, confirmed, write_sheet

    if sheet is not None:
        write_sheet(sheet, read_questions(questions))
        say(f"wrote {sheet}: fill in the column decision, then give it to kgeval questions confirm")
        return 0
    _check(questions, sheets, output)
    result = Confirmed()
    kept = list(confirmed(read_questions(questions), sheets, undecided, result))
    if result.undecided and undecided == "refuse":
        _tell_undecided(result)
        return INCOMPLETE
    lines = (question.model_dump_json(exclude_defaults=True) + "\n" for question in kept)
    if output is None or str(output) == "-":
        for line in lines:
            click.echo(line, nl=False)
    else:
        with private(output) as file:
            file.writelines(lines)
        say(f"wrote {output}")
    say(f"{result.kept:,} kept ({result.edited:,} with another text), {result.dropped:,} dropped, {len(result.undecided):,} undecided")
    return 0


def _check(questions: Path, sheets: tuple[Path, ...], output: Path | None) -> None:
    if not sheets:
        raise UsageError("no sheet is given", fix="give the sheets that people filled in, or --sheet FILE.csv to write one")
    if output is not None and output.resolve() in {path.resolve() for path in (questions, *sheets)}:
        raise UsageError(f"-o would replace a file that is read: {output}", fix="name another file with -o")


def _tell_undecided(result: Confirmed) -> None:
    first = ", ".join(result.undecided[:5]) + (", ..." if len(result.undecided) > 5 else "")
    say(f"{len(result.undecided):,} questions have no decision: {first}; nothing was written")
    say("Fix: fill in the column decision, or give --undecided keep or --undecided drop")
